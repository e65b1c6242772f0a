"""Guards: how URLs meet them, and which of them an edit gets."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import undust
from undust.edits import making
from undust.judging import KeyState, Site, effects
from undust.rules import RuleSet
from undust.searching import learn_site
from undust.searching.classes import GuardIndex
from undust.searching.guards import Guards

URLS = st.lists(
    st.builds(
        "http://{}.test/{}{}".format,
        st.sampled_from(["a", "b"]),
        st.sampled_from(["", "x", "x/y", "y/1.html"]),
        st.sampled_from(["", "?p=1", "?p=2&q=a-b", "?p=1;sort=2", "?p=1;sort=3;desc"]),
    ),
    max_size=8,
)


@given(URLS, URLS)
def test_guards_met_are_counted(before: list[str], urls: list[str]) -> None:
    """Counting, asking and choosing give what the guards of each URL say, whatever was asked before."""
    index = GuardIndex()
    index.met_by(before)
    met = index.met_by(urls)
    each = [set(index.of(url).tolist()) for url in urls]
    known = len(index.guards)
    assert met.counted(known).tolist() == [sum(number in some for some in each) for number in range(known)]
    chosen = np.array([len(url) % 2 == 0 for url in urls], bool)
    some = met.only(chosen)
    assert some.size == chosen.sum()
    for number in range(known):
        assert met.meets(number).tolist() == [number in guards for guards in each]
        kept = [number in guards for guards, stays in zip(each, chosen, strict=True) if stays]
        assert some.meets(number).tolist() == kept


@given(URLS)
def test_classes_hold_each_guard_once(urls: list[str]) -> None:
    """The guards of a parameter with a `;` in its value make one class; no URL meets two of them."""
    index = GuardIndex()
    index.met_by(urls)
    classes = index.classes(len(index.guards))
    assert classes[: len(index.guards)] == [(number,) for number in range(len(index.guards))]
    for together in classes[len(index.guards) :]:
        for url in urls:
            assert len(set(together) & set(index.of(url).tolist())) <= 1


def two_guards() -> dict[str, str]:
    """Return pages on which `id` does nothing in one kind of view of one kind of file, and elsewhere does."""
    pages = {}
    for n in range(40):
        for view, ending in (("tree", "txt"), ("tree", "c"), ("log", "txt"), ("log", "c")):
            url = f"http://s.test/repo/{view}/f{n}.{ending}"
            is_idle = (view, ending) == ("tree", "txt")
            if n % 4 and not is_idle:
                continue
            pages[url] = url
            pages[f"{url}?id={n + 10}"] = url if is_idle else f"{url} at {n}"
    return pages


def test_an_edit_may_need_two_guards() -> None:
    """Where neither guard is enough, both together are found."""
    pages = two_guards()
    table = pa.table({"url": list(pages), "cluster": list(pages.values())})
    (found,) = undust.find_duplicates(table).sites
    state = KeyState(Site.of(found))
    (effect,) = effects(state, [making.dropped("id")])
    tried = [narrowed.edit for narrowed in Guards().where_it_holds(state, effect, 5)]
    both = [
        edit for edit in tried if {str(guard) for guard in edit.when} == {"/{*}/tree/{**}", "/{**}/{*}.txt"}
    ]
    assert both
    (right,) = effects(state, both[:1])
    assert (right.pages, right.lost) == (40, 0)


def test_lists_that_change_are_kept_whatever_is_behind_a_semicolon() -> None:
    """A class of pages that change at every fetch is left alone; the rest of the site is learned."""
    pages: dict[str, str] = {}
    forms = ["", "&sid=77aa12bc", "&ref=home", "&from=mail", "&v=3"]
    for n in range(40):
        pages |= {f"http://s.test/i?topic={n}{form}": f"topic {n}" for form in forms}
        for behind in ("", ";sort=views", ";sort=views;desc"):
            url = f"http://s.test/i?board={n}{behind}"
            pages |= {f"{url}{form}": f"{url} fetch {place}" for place, form in enumerate(forms)}
    table = pa.table({"url": list(pages), "cluster": list(pages.values())})
    (found,) = undust.find_duplicates(table).sites
    canonical = RuleSet(learn_site(found).rules).compile()
    assert canonical.key("http://s.test/i?topic=99&ref=home") == canonical.key("http://s.test/i?topic=99")
    for behind in ("", ";sort=views", ";sort=views;desc"):
        url = f"http://s.test/i?board=99{behind}"
        assert canonical.key(f"{url}&ref=home") != canonical.key(url)


def test_a_class_where_one_edit_fails_is_known_to_others() -> None:
    """Edit forms show another lock at every fetch: what fails there twice is no worse for it elsewhere."""
    pages = {f"http://a.test/p{n}{tail}": str(n) for n in range(60) for tail in ("", "/", "?ref=x{n}")}
    pages = {url.replace("{n}", str(place)): page for place, (url, page) in enumerate(pages.items())}
    forms = {f"http://a.test/p{n}{tail}?do=edit": f"form {n}{tail}" for n in range(12) for tail in ("", "/")}
    few = {f"http://a.test/p{n}?do=edit&ref=y{n}": f"form {n} again" for n in (3, 7)}
    table = pa.table(
        {"url": [*pages, *forms, *few], "cluster": [*pages.values(), *forms.values(), *few.values()]}
    )
    (found,) = undust.find_duplicates(table).sites
    canonical = RuleSet(learn_site(found).rules).compile()
    assert canonical.key("http://a.test/p70/") == "http://a.test/p70"
    assert canonical.key("http://a.test/p70?ref=other") == "http://a.test/p70"
    kept = "http://a.test/p70?do=edit&ref=other"
    assert canonical.key(kept) == kept


def test_no_guard_is_chosen_because_it_was_lucky() -> None:
    """One of many names under which an edit does not happen to fail says nothing of its other pages."""
    names = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "ivory", "jade")
    pages: dict[str, str] = {}
    for n in range(160):
        name = f"{names[(7 * n + n // 9) % len(names)]}-{n}"
        pages[f"http://s.test/doc/{name}"] = name
        # The name does not matter: every fifth page was translated.
        pages[f"http://s.test/fr/doc/{name}"] = f"{name} in French" if (n * n + n // 3) % 5 == 0 else name
    table = pa.table({"url": list(pages), "cluster": list(pages.values())})
    (found,) = undust.find_duplicates(table).sites
    learned = learn_site(found)
    assert learned.candidates
    assert [str(rule) for rule in learned.rules] == []


def test_a_guard_that_explains_the_failures_is_no_luck() -> None:
    """A parameter that matters in one of two folders is removed in the other, however few the folders."""
    pages = {f"http://s.test/shop/{n}?z={n % 3}{k}{n}": f"item {n}" for n in range(24) for k in (1, 2)}
    pages |= {f"http://s.test/news/{n}?z={n % 3}{k}{n}": f"news {n} {k}" for n in range(12) for k in (1, 2)}
    table = pa.table({"url": list(pages), "cluster": list(pages.values())})
    (found,) = undust.find_duplicates(table).sites
    canonical = RuleSet(learn_site(found).rules).compile()
    assert canonical.key("http://s.test/shop/99?z=5") == canonical.key("http://s.test/shop/99?z=67")
    assert canonical.key("http://s.test/news/99?z=5") != canonical.key("http://s.test/news/99?z=67")


@pytest.mark.parametrize("folders", [("u",), ("u", "v")])
def test_one_persons_folders_say_nothing_of_capitals_elsewhere(folders: tuple[str, ...]) -> None:
    """Links of letters in both cases stay two pages, whatever other folders show."""
    pages = {
        f"http://s.test/{folder}/{name}{n}/{n}": f"{folder} {n}"
        for n in range(9)
        for folder in folders
        for name in ("eve", "Eve", "EVE")
    }
    links = {f"{chr(97 + n % 26)}{chr(65 + n % 23)}x{n}": f"link {n}" for n in range(300)}
    pages |= {
        f"http://s.test/{'abcdefgh'[n % 8]}/{link}/{n}": page for n, (link, page) in enumerate(links.items())
    }
    table = pa.table({"url": list(pages), "cluster": list(pages.values())})
    (found,) = undust.find_duplicates(table).sites
    for rules in (undust.learn(table), RuleSet(learn_site(found).rules)):
        key = rules.compile().key
        assert key("http://s.test/u/Eve5/7") == key("http://s.test/u/eve5/7")
        for left, right in (("aBx", "abx"), ("h/aBx/7", "h/abx/7"), ("about/Us/1", "about/us/1")):
            assert key(f"http://s.test/{left}") != key(f"http://s.test/{right}")
