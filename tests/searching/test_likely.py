"""Rules that are likely where nobody kept the pages: from sizes, from URLs alone, and from nothing."""

from __future__ import annotations

import pyarrow as pa
import pytest

from undust.edits import Rewrite, Several, ShapeCapture, making
from undust.edits.shapes import Shape
from undust.pages.clustering import SiteClusters, find_in_site
from undust.reading.observations import table_of
from undust.rules import Rule
from undust.searching.likely import (
    MOST_LIKELY,
    forgets_too_much,
    forgotten_by,
    likely_of,
    likely_rules,
    of_visits,
    with_plain_names,
)
from undust.searching.sized_site import clusters_by_size, has_raw_digests

SITE = "a.test"


def clusters(sizes: dict[str, int | None], digests: list[str | None] | None = None) -> SiteClusters:
    """A site with these URLs and sizes."""
    columns = {"url": list(sizes), "size": pa.array(list(sizes.values()), pa.int64())}
    return find_in_site(table_of(pa.table(columns | {"digest": digests or [None] * len(sizes)})), SITE)


def shop(pages: int = 40) -> dict[str, int | None]:
    """Articles with a session id that does nothing, and lists whose pages are pages of their own."""
    sizes: dict[str, int | None] = {}
    for n in range(pages):
        for form in ("", f"?sid={n:06x}", f"?sid=f{n:05x}"):
            sizes[f"http://a.test/article/{n}{form}"] = 4000 + 137 * n
        for page in (1, 2, 3):
            sizes[f"http://a.test/list/{n}?page={page}"] = 9000 + 211 * n + 3400 * page
    return sizes


def test_sizes_tell_what_is_likely() -> None:
    """With the counts that speak for it; a page number whose pages have other sizes is not among it."""
    found = likely_rules(clusters(shop()))
    assert [rule.urls for rule in found] == sorted((rule.urls for rule in found), reverse=True)
    (sid,) = [rule for rule in found if "sid" in rule.rule.source]
    assert (sid.urls, sid.unlike) == (80, 0)
    assert sid.alike >= 40
    assert sid.examples[0][1].startswith("http://a.test/article/")
    assert not any("page" in rule.rule.source for rule in found)
    assert found == likely_rules(clusters(shop()))


def test_what_the_site_refuted_is_not_proposed_again() -> None:
    """Neither the rule nor, if it was too wide, its wide form."""
    (sid,) = [rule for rule in likely_rules(clusters(shop())) if "sid" in rule.rule.source]
    again = likely_rules(clusters(shop()), refuted=[sid.edit])
    assert all(sid.edit not in {rule.edit, str(rule.rule)} for rule in again)
    narrow = [rule for rule in likely_rules(clusters(shop()), too_wide=[sid.edit]) if "sid" in rule.edit]
    assert all(str(rule.rule) != sid.edit for rule in narrow)


def test_no_two_rules_undo_each_other() -> None:
    """Of two forms of a page one is written, and not each of them as the other."""
    sizes: dict[str, int | None] = {}
    for n in range(30):
        for form in (f"/story_{n}", f"/story?id={n}"):
            sizes[f"http://a.test{form}"] = 4000 + 137 * n
    found = likely_rules(clusters(sizes))
    pairs = {(rule.rule.source, rule.rule.target) for rule in found}
    assert pairs
    assert not any((target, source) in pairs for source, target in pairs)


def test_rules_that_differ_in_names_alone_are_one() -> None:
    """One of them is proposed, and asked about."""
    sizes: dict[str, int | None] = {
        f"http://a.test/{folder}/{n}/x{n}": 4000 + 137 * n for n in range(30) for folder in ("old", "new")
    }
    texts = [
        f"rewrite {{s}}://{{h}}/old/{a}/{b} → {{s}}://{{h}}/new/{a}/{b}"
        for a, b in (("{a}", "{b}"), ("{b}", "{a}"))
    ]
    rules = [Rule.parse(text, site=SITE) for text in texts]
    assert len({rule.id for rule in rules}) == 2
    assert [each.rule for each in likely_of(clusters(sizes), rules)] == rules[:1]
    named = [with_plain_names(str(each.rule)) for each in likely_rules(clusters(sizes))]
    assert len(named) == len(set(named)) > 0


def test_a_parameter_that_matters_is_not_masked() -> None:
    """A list in another order is another page, unless it has one row; a few answers may not show that."""
    sizes: dict[str, int | None] = {
        f"http://a.test/list/{n}?order={order}": 4000 + 137 * n
        for n in range(30)
        for order in ("id", "age", "by")
    }
    masks = [each for each in likely_rules(clusters(sizes)) if ":any" in (each.rule.target or "")]
    assert masks
    assert [each for each in likely_rules(clusters(sizes), matters=["order"]) if each in masks] == []


def test_sizes_say_nothing_of_the_pages_of_lists() -> None:
    """Short lists are alike on all their pages: ignoring the number is no likelier for it."""
    sizes: dict[str, int | None] = {
        f"http://a.test/tags/{n}?page={page}": 4000 + 137 * n for n in range(12) for page in range(3)
    }
    some = [each for each in likely_rules(clusters(sizes)) if "page" in each.rule.source]
    assert some
    assert all(each.true <= 0.25 for each in some if "page={" in each.rule.source)
    words = {url.replace("page=", "sort=x"): size for url, size in sizes.items()}
    assert any(each.true > 0.5 for each in likely_rules(clusters(words)) if "sort={" in each.rule.source)


def test_what_names_visits_is_asked_about_wherever_it_stands() -> None:
    """Also if no two URLs of the input are one without it; not after the site has refuted it."""
    sizes: dict[str, int | None] = {f"http://a.test/p/{n}?gclid=Cj0{n}x": 1000 + 37 * n for n in range(9)}
    assert not any("gclid" in each.rule.source for each in likely_rules(clusters(sizes)))
    (gclid,) = of_visits(clusters(sizes))
    assert (gclid.urls, gclid.alike, gclid.unlike) == (0, 0, 0)
    assert forgotten_by(gclid.rule) == {"gclid"}
    assert of_visits(clusters(sizes), refuted={gclid.rule.id}) == []
    assert of_visits(clusters(dict(list(sizes.items())[:2]))) == []


def test_what_is_likely_is_seen_behind_rules_that_hold() -> None:
    """Two URLs that differ in what a rule removes, and in a value, show what the value does."""
    sizes: dict[str, int | None] = {}
    for n in range(30):
        sizes[f"http://a.test/p/{n}?tok=a{n:06x}"] = 4000 + 137 * n
        sizes[f"http://a.test/p/{n}?full=yes&tok=b{n:06x}"] = 4000 + 137 * n
    text = "rewrite {s}://{h}/{p**}?tok={**}&{rest**} → {s}://{h}/{p}?{rest}"
    held = Rule.parse(text, site=SITE)
    behind = likely_rules(clusters(sizes), given=[held])
    assert any("full=yes" in each.rule.source for each in behind)
    assert held.id not in {each.rule.id for each in behind}


def test_few_urls_give_nothing() -> None:
    """And neither do pages that differ in everything."""
    assert likely_rules(clusters({"http://a.test/": 5})) == []
    assert likely_rules(clusters({f"http://a.test/p/{n}": 1000 + 37 * n for n in range(50)})) == []


def test_rules_of_others_are_judged_and_thinned() -> None:
    """What speaks against a rule keeps it out, and so does another that does the same."""
    site = clusters(shop())
    drop, again, false = (
        making.dropped("sid").rules(SITE) or (),
        making.dropped("sid", "nothing").rules(SITE) or (),
        making.dropped("page").rules(SITE) or (),
    )
    found = likely_of(site, [*false, *drop, *again])
    assert len(found) == 1
    assert "sid" in found[0].rule.source
    assert len(likely_of(site, drop * 3, most=MOST_LIKELY)) == 1


def test_what_forgets_without_a_name_is_not_asked_about() -> None:
    """Ten answers tell of one parameter, not of all that may ever come."""
    assert forgets_too_much(making.only("id"))
    assert not forgets_too_much(making.dropped("sid"))
    a, b, c = (ShapeCapture(name) for name in "abc")
    path = Shape(path=((a,), (b,), (c,)))
    assert forgets_too_much(making.hidden(path, ["a", "c"]))
    assert forgets_too_much(making.hidden(path, ["b"]))
    assert not forgets_too_much(making.masked("sid"))
    assert forgets_too_much(Several(parts=(Rewrite(), making.only("id"))))


def test_digests_that_change_at_every_visit_tell_no_pages_apart() -> None:
    """An index of raw bytes says of every visit that it is another page."""
    urls = [f"http://a.test/{n}" for n in range(20)] * 2
    raw = pa.table({"url": urls, "digest": [str(n) for n in range(40)]})
    steady = pa.table({"url": urls, "digest": [str(n % 20) for n in range(40)]})
    assert has_raw_digests(find_in_site(table_of(raw), SITE))
    assert not has_raw_digests(find_in_site(table_of(steady), SITE))


def test_clusters_by_size_are_clusters_for_any_learner() -> None:
    """Numbers from 0 in the order of the URLs, one for URLs of one size."""
    site = clusters_by_size(clusters({"http://a.test/a": 7, "http://a.test/b": 9, "http://a.test/c": 7}))
    assert site.cluster_of_node.tolist() == [0, 1, 0]
    assert site.label.tolist() == [0, 1, 0]


@pytest.mark.parametrize("form", ["/story_{}", "/news/story?id={}"])
def test_the_urls_of_a_sitemap_are_what_others_become(form: str) -> None:
    """Whichever form the site lists there, even the longer one."""
    forms = ("/story_{}", "/news/story?id={}")
    urls: list[tuple[str, int | None, bool | None]]
    urls = [(f"http://a.test{each.format(n)}", 4000 + 137 * n, None) for n in range(30) for each in forms]
    urls += [(f"http://a.test{form.format(n)}", None, True) for n in range(30)]
    names = ("url", "size", "listed")
    rows = pa.table(dict(zip(names, (list(column) for column in zip(*urls, strict=True)), strict=True)))
    (found,) = likely_rules(find_in_site(table_of(rows), SITE))
    (example, *_) = found.examples
    assert example[1] in {f"http://a.test{form.format(n)}" for n in range(30)}


def test_forms_of_pages_are_seen_behind_rules_that_hold() -> None:
    """What a page for the printer adds is told where sessions no longer make every URL a shape of its own."""
    sizes: dict[str, int | None] = {}
    for n in range(24):
        own, other = (f"{name}{n:05x}" for name in ("a", "b"))
        session = ("sid", "gclid", "cid", "ref")[n % 4]
        sizes[f"http://a.test/story/{n}?{session}={own}"] = 4000 + 137 * n
        sizes[f"http://a.test/story/{n}?view=print&utm_source={other}"] = 4011 + 137 * n
    names = ("sid", "gclid", "cid", "ref", "utm_source")
    given = [rule for name in names for rule in making.dropped(name).rules(SITE) or ()]
    found = likely_rules(clusters(sizes), given=given)
    (view,) = [rule for rule in found if "view=" in rule.rule.source]
    assert (view.alike, view.unlike) == (24, 0)
    assert not any("view=" in rule.rule.source for rule in likely_rules(clusters(sizes)))


def test_few_sizes_say_little_of_a_kind_that_is_seldom_true() -> None:
    """Four lists that are as long on their second page do not make page numbers idle."""
    sizes = {url: size for url, size in shop().items() if "page=" not in url}
    for n in range(4):
        sizes |= {f"http://a.test/list/{n}?page={page}": 90_000 + 2110 * n for page in (1, 2, 3)}
    true = {str(each.rule): each.true for each in likely_rules(clusters(sizes))}
    numbers = [said for rule, said in true.items() if "page=" in rule]
    assert numbers
    assert max(numbers) < 0.9
    assert max(said for rule, said in true.items() if "sid=" in rule) == 0.95


def test_what_names_visits_is_asked_about_where_sizes_change_at_every_visit() -> None:
    """Sizes refute nothing; such a rule only starts as a doubtful one."""
    sizes: dict[str, int | None] = {
        f"http://a.test/t/{n}?gclid={n:04x}{form}": 4000 + 137 * n + 900 * form
        for n in range(20)
        for form in (1, 2)
    }
    (found,) = of_visits(clusters(sizes))
    assert "gclid" in found.rule.source
    assert found.unlike > found.alike
    assert found.true < 0.5
