"""What the search accepts, how far a rule reaches, and what is left when rules are switched off."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import undust
from undust.edits import Edit, making
from undust.errors import UndustError
from undust.rules import RuleSet
from undust.searching import Objective, learn_site
from undust.searching.kinds import GUARDED, IN_OTHER_FOLDERS, SEARCH_KINDS, look_of_texts
from undust.searching.objective import RISK
from undust.searching.removed_texts import texts_forgotten

if TYPE_CHECKING:
    from collections.abc import Callable

HEX = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"


def table_of(pages: dict[str, str]) -> pa.Table:
    """Return the pages that URLs show as observations."""
    return pa.table({"url": list(pages), "cluster": list(pages.values())})


def rules_of(pages: dict[str, str]) -> RuleSet:
    """Return what is learned of the pages that URLs show."""
    (found,) = undust.find_duplicates(table_of(pages)).sites
    return RuleSet(learn_site(found).rules)


def code(number: int) -> str:
    """Return what looks like a session."""
    return HEX[number % 40 : number % 40 + 16] + f"{number:04x}"


def shop(count: int = 60) -> dict[str, str]:
    """Return pages in several folders, with a session id now and then."""
    pages = {f"http://s.test/{'abcd'[n % 4]}/{n}": str(n) for n in range(count)}
    return pages | {f"http://s.test/{'abcd'[n % 4]}/{n}?sid={code(n)}": str(n) for n in range(count)}


def test_a_parameter_that_does_nothing_is_dropped_everywhere() -> None:
    """Witnesses in several folders prove an edit for all of them."""
    (rule,) = rules_of(shop())
    assert str(rule) == "rewrite {s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p}?{rest}"


def test_the_job_learns_with_the_method_that_was_asked_for() -> None:
    """`learn` with this method gives the rules of the search, and not those of another learner."""
    pages = shop()
    rules = undust.learn(table_of(pages), methods="edits")
    assert list(map(str, rules)) == list(map(str, rules_of(pages)))
    assert {rule.learned_by for rule in rules} == {"edits"}


def slashes(known: int, unknown: int) -> pa.Table:
    """Return pages with and without a slash at the end, some of them without content."""
    known_urls = [f"http://s.test/tag/{n}{end}" for n in range(known) for end in ("", "/")]
    unknown_urls = [f"http://s.test/tag/x{n}{end}" for n in range(unknown) for end in ("", "/")]
    digests = [f"{n // 2:016x}" for n in range(2 * known)]
    urls = [*known_urls, *unknown_urls]
    return pa.table({"url": urls, "digest": [*digests, *[None] * (2 * unknown)], "status": [200] * len(urls)})


@pytest.mark.parametrize(("known", "unknown", "is_taken"), [(10, 0, True), (10, 8, False), (60, 8, True)])
def test_pages_with_content_say_little_of_pages_without(known: int, unknown: int, is_taken: bool) -> None:  # noqa: FBT001
    """Where half of what a rule merges has no content, half of it is unproved."""
    canonical = undust.learn(slashes(known, unknown), methods="edits").compile()
    assert (canonical.key("http://s.test/tag/x3/") == canonical.key("http://s.test/tag/x3")) == is_taken


def test_a_rule_holds_where_pages_have_content() -> None:
    """Feeds have content, and lists have none."""
    name = "http://s.test/{}?owner={}".format
    feeds = [f"{name('query', n)}&format=rss{end}" for n in range(60) for end in ("", "&x=1", "&x=2", "&x=w")]
    lists = [f"{name('query', n)}{end}" for n in range(60) for end in ("", "&x=1", "&x=2", "&x=w")]
    digests = [f"{n // 4:016x}" for n in range(len(feeds))]
    urls = [*feeds, *lists]
    seen = pa.table({"url": urls, "digest": [*digests, *[None] * len(lists)], "status": [200] * len(urls)})
    canonical = undust.learn(seen, methods="edits").compile()
    feed, one_list = f"{name('query', 7)}&format=rss", name("query", 7)
    assert canonical.key(f"{feed}&x=2") == canonical.key(feed)
    assert canonical.key(f"{one_list}&x=2") != canonical.key(one_list)


def test_one_folder_speaks_for_itself() -> None:
    """What one user shows under a folder of their own merges no pages of others."""
    pages = {f"http://s.test/shop/list/{n}": f"list {n}" for n in range(400)}
    pages |= {f"http://s.test/users/eve/{n}": f"eve {n}" for n in range(12)}
    pages |= {f"http://s.test/users/eve/{n}?item={code(n)}": f"eve {n}" for n in range(12)}
    canonical = rules_of(pages).compile()
    assert canonical.key("http://s.test/users/eve/3?item=77") == "http://s.test/users/eve/3"
    honest = [f"http://s.test/show?item={n}" for n in range(50)]
    assert len({canonical.key(url) for url in honest}) == len(honest)


def test_one_host_speaks_for_itself() -> None:
    """What one of several hosts shows merges no pages of another."""
    pages = {f"http://a.s.test/{n}/x": f"a {n}" for n in range(40)}
    pages |= {f"http://eve.s.test/{n}/x": f"eve {n}" for n in range(12)}
    pages |= {f"http://eve.s.test/{n}/x?p={code(n)}": f"eve {n}" for n in range(12)}
    canonical = rules_of(pages).compile()
    assert canonical.key("http://a.s.test/1/x?p=2") != canonical.key("http://a.s.test/1/x?p=3")


def test_what_nobody_saw_is_left_alone() -> None:
    """An edit that was seen to hold beside one value of another parameter holds there only."""
    pages: dict[str, str] = {}
    for n in range(30):
        pages[f"http://s.test/query?owner={n}&format=rss"] = f"feed {n}"
        pages[f"http://s.test/query?owner={n}&format=rss&desc=1"] = f"feed {n}"
    silent = [f"http://s.test/query?owner={n}{desc}" for n in range(30) for desc in ("", "&desc=1")]
    urls = [*pages, *silent]
    table = pa.table({"url": urls, "cluster": [pages.get(url) for url in urls]})
    (found,) = undust.find_duplicates(table).sites
    canonical = RuleSet(learn_site(found).rules).compile()
    assert canonical.key("http://s.test/query?owner=77&format=rss&desc=1").endswith("owner=77&format=rss")
    assert canonical.key("http://s.test/query?owner=77&desc=1").endswith("desc=1")


def test_one_wrong_page_among_many_is_no_cliff() -> None:
    """157 pages right and one wrong are not worse than five right and none wrong."""
    pages = shop(158)
    wrong = next(url for url in pages if "sid" in url)
    pages[wrong] = "another page"
    assert any("sid" in rule.source for rule in rules_of(pages))


def test_every_rule_is_safe_without_the_others() -> None:
    """Switching any one rule off costs savings, and merges no pages."""
    pages: dict[str, str] = {}
    for n in range(60):
        form = f"?q=node{n}"
        for start in ("", "index.php"):
            pages[f"http://s.test/{start}{form}"] = str(n)
        pages[f"http://s.test/{'abcde'[n % 5]}/x{n}"] = f"tag {n}"
        pages[f"http://s.test/{'abcde'[n % 5]}/x{n}?q=w{n % 7}"] = f"tag {n}"
    rules = rules_of(pages)
    assert len(rules) > 1
    for off in rules:
        canonical = RuleSet([rule for rule in rules if rule is not off]).compile()
        shown: dict[str, set[str]] = {}
        for url, page in pages.items():
            shown.setdefault(canonical.key(url), set()).add(page)
        assert max(map(len, shown.values())) == 1, f"without {off}"


def test_a_small_site_is_timid() -> None:
    """Two pages prove nothing about a word; a dozen with a session id suffice."""
    few = {f"http://s.test/{'abcd'[n % 4]}/{n}{end}": str(n) for n in range(2) for end in ("", "?x=word")}
    assert not rules_of(few)
    assert rules_of(shop(12))


@given(st.sampled_from(SEARCH_KINDS), st.integers(0, 200), st.integers(0, 20))
def test_more_support_is_less_risk(kind: str, right: int, wrong: int) -> None:
    """Every page that is right makes an edit safer, and every one that is wrong makes it riskier."""
    edit = making.dropped("x")
    here = RISK.rate(kind, edit, right, wrong)
    assert RISK.rate(kind, edit, right + 1, wrong) <= here + 1e-12
    assert RISK.rate(kind, edit, right, wrong + 1) >= here - 1e-12


def test_longer_edits_are_riskier() -> None:
    """Of two edits with the same support, the one that takes more to say is believed less."""
    short, long = making.dropped("x"), making.dropped("a_long_and_special_name")
    assert RISK.rate("drop word", long, 10, 0) > RISK.rate("drop word", short, 10, 0)


def test_every_kind_has_a_prior() -> None:
    """The file that undust ships knows all kinds, says when it was fitted, and names no site."""
    data = json.loads((files("undust.searching") / "priors.json").read_text(encoding="utf-8"))
    endings = ("", GUARDED, IN_OTHER_FOLDERS)
    assert set(data["kinds"]) == {f"{kind}{ending}" for kind in SEARCH_KINDS for ending in endings}
    assert data["date"]
    assert ".test" not in data["data"]


def test_looks() -> None:
    """Sessions, numbers and words are told apart."""
    assert look_of_texts([code(n) for n in range(9)]) == "random"
    assert look_of_texts(["1", "2", "30"]) == "number"
    assert look_of_texts(["price", "name"]) == "word"
    assert look_of_texts([]) == "word"


def test_the_method_is_one_of_compare_and_learn() -> None:
    """`edits` learns from Python and from `compare`, and stands alone."""
    pages = shop()
    table = pa.table({"url": list(pages), "cluster": list(pages.values())})
    rules = undust.learn(table, methods="edits")
    assert len(rules) == 1
    compared = undust.compare(table, methods=["standard", "edits"])
    removed = {row.method: row.total.removed for row in compared.rows}
    assert removed["edits"] == 1.0 > removed["standard"]
    with pytest.raises(UndustError, match="works by itself"):
        undust.learn(table, methods=["edits", "tree"])


def test_rules_from_before_stay_and_what_is_off_stays_off() -> None:
    """An update proves old rules again, adds what is new, and learns nothing that does what is off."""
    pages = shop()
    table = pa.table({"url": list(pages), "cluster": list(pages.values())})
    rules = undust.learn(table, methods="edits")
    more = pages | {f"{url}?ref=mail-{url[-1]}": page for url, page in pages.items() if "?" not in url}
    grown = pa.table({"url": list(more), "cluster": list(more.values())})
    after = undust.learn(grown, methods="edits", update=rules)
    assert [rule.id for rule in after][:1] == [rule.id for rule in rules]
    assert after.compile().key("http://s.test/a/99?ref=x&sid=77") == "http://s.test/a/99"
    off = RuleSet([rule.with_status("disabled") for rule in rules])
    without = undust.learn(grown, methods="edits", update=off)
    assert [rule.status for rule in without][:1] == ["disabled"]
    canonical = without.compile()
    assert canonical.key("http://s.test/a/99?ref=x") == "http://s.test/a/99"
    assert canonical.key("http://s.test/a/99?sid=1") != canonical.key("http://s.test/a/99?sid=2")


def test_what_many_sites_show_is_a_rule_for_all() -> None:
    """Sites that agree give rules for sites that nobody saw, with this method too."""
    pages = {
        url.replace("s.test", f"site{number}.test"): f"{number} {page}"
        for number in range(30)
        for url, page in shop(24).items()
    }
    table = pa.table({"url": list(pages), "cluster": list(pages.values())})
    canonical = undust.learn(table, methods="edits").compile()
    assert canonical.key(f"http://unseen.test/x/1?sid={code(3)}") == "http://unseen.test/x/1"


def test_a_person_may_ask_for_more_care() -> None:
    """A smaller share of wrong merges lets fewer edits pass."""
    assert Objective.under(0.001).most < Objective.under(0.01).most


def forum(topics: int = 60) -> dict[str, str]:
    """Return topics with the forum in the URL or not, and one forum of which the list was seen."""
    pages = {f"http://s.test/viewtopic.php?t={n}": f"topic {n}" for n in range(topics)}
    pages |= {f"http://s.test/viewtopic.php?f={n % 7}&t={n}": f"topic {n}" for n in range(topics)}
    return pages | {
        "http://s.test/viewforum.php?f=3": "forum",
        "http://s.test/viewforum.php?f=3&start=50": "more",
        "http://s.test/posting.php?t=3": "post",
        "http://s.test/posting.php?f=3&t=3": "post",
    }


def test_what_holds_on_one_script_is_not_done_on_another() -> None:
    """A parameter that does nothing beside a topic names the page of a list, which nobody saw without it."""
    canonical = rules_of(forum()).compile()
    assert canonical.key("http://s.test/viewtopic.php?f=9&t=77") == "http://s.test/viewtopic.php?t=77"
    lists = [f"http://s.test/viewforum.php?f={n}" for n in range(20)]
    assert len({canonical.key(url) for url in lists}) == len(lists)


def test_larger_numbers_must_be_seen_to_do_nothing() -> None:
    """What is behind the number of a topic does nothing; but one topic has pages, which a number names."""
    pages = {f"http://s.test/?topic={n}.0": f"{n}" for n in range(80)}
    pages |= {f"http://s.test/?topic={n}.msg{n * 37 + at}": f"{n}" for n in range(80) for at in (1, 2)}
    pages |= {"http://s.test/?topic=7.15": "7 more", "http://s.test/?topic=7.30": "7 most"}
    canonical = rules_of(pages).compile()
    others = [f"http://s.test/?topic=93.{n}" for n in (0, 45, 60)]
    assert len({canonical.key(url) for url in others}) == len(others)


@pytest.mark.parametrize(
    ("edit", "url", "texts"),
    [
        (making.dropped("page"), "http://s.test/x?page=2&id=5", ["2"]),
        (making.only("id"), "http://s.test/x?page=2&id=5&n=7", ["2", "7"]),
        (making.dropped("utm_*", "n"), "http://s.test/x?utm_a=1&n=2&id=3", ["1", "2"]),
        (making.masked("sid"), "http://s.test/x?sid=ab12", ["ab12"]),
        (making.respelled("sorted"), "http://s.test/x?b=1&a=2", []),
    ],
)
def test_forgotten_texts_are_found(edit: Edit, url: str, texts: list[str]) -> None:
    """What an edit forgets in a URL is what it takes and does not write."""
    assert list(texts_forgotten(edit, url)) == texts


def test_two_places_that_differ_somewhere_are_two_places() -> None:
    """What is equal in both of them is so by chance; two places that are equal everywhere are one."""
    same = {
        f"http://s.test/{view}/{n}?plain=1": f"plain {n}" for n in range(30) for view in ("blame", "tree")
    }
    other = {f"http://s.test/{view}/{n}": f"{view} {n}" for n in range(40) for view in ("blame", "tree")}
    canonical = rules_of(same | other).compile()
    assert len({canonical.key(f"http://s.test/{view}/77?plain=1") for view in ("blame", "tree")}) == 2
    canonical = rules_of(same).compile()
    assert len({canonical.key(f"http://s.test/{view}/77?plain=1") for view in ("blame", "tree")}) == 1


def manual(*, translated: bool) -> dict[str, str]:
    """Return a manual of which nobody translated the reference; the guide beside it perhaps."""
    names = [f"{one}{two}" for one in ("alpha", "beta", "gamma", "delta") for two in "klmnopqrst"]
    pages = {f"http://s.test/docs/mod/{name}.html": f"mod {name}" for name in names}
    pages |= {f"http://s.test/manual/de/mod/{name}.html": f"mod {name}" for name in names}
    pages |= {f"http://s.test/docs/{name}.html": f"guide {name}" for name in names}
    german = "guide auf deutsch" if translated else "guide"
    return pages | {f"http://s.test/manual/de/{name}.html": f"{german} {name}" for name in names}


@pytest.mark.parametrize("learned", [rules_of, lambda pages: undust.learn(table_of(pages))])
def test_what_is_translated_elsewhere_is_a_translation(learned: Callable[[dict[str, str]], RuleSet]) -> None:
    """A folder where two languages are one shows what was not translated yet."""
    urls = [f"http://s.test/{place}/mod/omega.html" for place in ("docs", "manual/de")]
    canonical = learned(manual(translated=True)).compile()
    assert len({canonical.key(url) for url in urls}) == 2
    canonical = learned(manual(translated=False)).compile()
    assert {canonical.key(url) for url in urls} == {urls[0]}


@pytest.mark.parametrize("learned", [rules_of, lambda pages: undust.learn(table_of(pages))])
def test_no_page_is_sent_to_another_language(learned: Callable[[dict[str, str]], RuleSet]) -> None:
    """Pages that most URLs name with a language are not written with one where a URL names none."""
    pages = {f"http://s.test/da/{n}": f"page {n}" for n in range(80)}
    pages |= {f"http://s.test/{n}": f"page {n}" for n in range(30)}
    canonical = learned(pages).compile()
    assert canonical("http://s.test/97") == "http://s.test/97"


def test_a_site_that_sends_visitors_to_a_language_is_followed() -> None:
    """Its redirects say which form it prefers."""
    rows = [{"url": f"http://s.test/da/{n}", "status": 200, "digest": f"page {n}"} for n in range(60)]
    rows += [
        {"url": f"http://s.test/{n}", "status": 301, "redirect": f"http://s.test/da/{n}"} for n in range(60)
    ]
    names = ("url", "status", "digest", "redirect")
    table = pa.table({name: [row.get(name) for row in rows] for name in names})
    canonical = undust.learn(table).compile()
    assert canonical("http://s.test/97") == "http://s.test/da/97"
