"""Edits that are right wherever they were seen to do something, and are not to be trusted."""

from __future__ import annotations

from itertools import permutations

import pytest

import undust
from tests.searching.test_search import code, rules_of, shop, table_of
from undust.edits import Given, making
from undust.judging import KeyState, Site, effects
from undust.judging.effect import lost_in
from undust.searching.classes import context_of
from undust.searching.doubts import OtherNumbers, left_alone, left_out_by_guards, other_numbers

TAGS = [f"{one}{two}" for one in ("alpha", "beta", "gamma", "delta") for two in "klmnop"]


def lists(*, are_long: bool) -> dict[str, str]:
    """Return lists with and without a number: short ones, which any number shows whole, or long ones."""
    pages: dict[str, str] = {}
    for tag in TAGS:
        bare = f"http://s.test/tags/{tag}"
        pages |= {bare: tag, f"{bare}?page=1": tag, f"{bare}?page=2": f"{tag} 2" if are_long else tag}
    return pages


def test_short_lists_do_not_tell_which_page_is_the_first() -> None:
    """Here the first page has the number 0, and three lists are long enough to show it."""
    long = {f"http://s.test/tags/{tag}?page={n}": f"{tag} {n}" for tag in ("x", "y", "z") for n in range(3)}
    canonical = rules_of(lists(are_long=False) | long).compile()
    assert canonical.key("http://s.test/tags/omega?page=1") != canonical.key("http://s.test/tags/omega")
    assert len({canonical.key(url) for url in long}) == len(long)


def test_long_lists_tell_it() -> None:
    """Another number shows another page of each."""
    canonical = rules_of(lists(are_long=True)).compile()
    assert canonical.key("http://s.test/tags/omega?page=1") == canonical.key("http://s.test/tags/omega")
    assert canonical.key("http://s.test/tags/omega?page=2") != canonical.key("http://s.test/tags/omega")


def threads(count: int) -> dict[str, str]:
    """Return threads of one page, of which any number shows the same; each has the numbers of five others."""
    return {
        f"http://s.test/go?thread={6 * n + alias}&page={page}": f"thread {n}"
        for n in range(count)
        for alias in range(6)
        for page in (2, 3)
    }


def test_a_list_is_heard_once() -> None:
    """Eight threads that are short say as little under six numbers as under one; many threads say more."""
    urls = [f"http://s.test/go?thread=9999&page={page}" for page in (2, 3)]
    canonical = rules_of(threads(8)).compile()
    assert len({canonical.key(url) for url in urls}) == 2
    canonical = rules_of(threads(90)).compile()
    assert len({canonical.key(url) for url in urls}) == 1


def urls(*values: str) -> list[str]:
    """Return a list without `p` and with each value."""
    return ["http://a.test/l?s=1", *(f"http://a.test/l?p={value}&s=1" for value in values)]


@pytest.mark.parametrize(
    ("pages", "found"),
    [
        ([1, 1, 1, 1], OtherNumbers(idle=1, telling=0, agree=0)),
        ([1, 1, 2, 3], OtherNumbers(idle=0, telling=1, agree=1)),
        ([1, 2, 1, 3], OtherNumbers(idle=0, telling=1, agree=0)),
    ],
)
def test_each_list_is_short_or_identifies_the_default(pages: list[int], found: OtherNumbers) -> None:
    """The order of the rows does not matter, nor the place of the parameter in the query."""
    shown = list(zip(urls("1", "2", "3"), pages, strict=True))
    for rows in permutations(shown):
        assert other_numbers(rows, "p", "1") == found
    moved = [(url.replace("s=1", "").replace("?", "?s=1&").rstrip("&"), page) for url, page in shown]
    assert other_numbers(moved, "p", "1") == found


def test_a_list_seen_with_its_default_alone_says_nothing() -> None:
    """Nor does one without the parameter, nor a parameter whose name ends alike."""
    assert other_numbers(zip(urls("1"), (1, 1), strict=True), "p", "1") == OtherNumbers(0, 0, 0)
    assert other_numbers([("http://a.test/l?up=2", 1), ("http://a.test/l", 1)], "p", "1") == OtherNumbers(
        0, 0, 0
    )


@pytest.mark.parametrize(
    ("others", "is_default"),
    [
        (OtherNumbers(idle=0, telling=0, agree=0), True),
        (OtherNumbers(idle=9, telling=4, agree=2), False),
        (OtherNumbers(idle=9, telling=4, agree=3), True),
        (OtherNumbers(idle=4, telling=4, agree=0), True),
    ],
)
def test_enough_lists_must_identify_it(others: OtherNumbers, *, is_default: bool) -> None:
    """Three lists are asked for here, unless no more lists are short than long."""
    assert others.confirm(3) is is_default


@pytest.mark.parametrize(("failing", "left_out"), [(0, 0.0), (1, 1.0), (2, 2.0), (6, 0.25), (30, 0.1)])
def test_what_guards_leave_out_counts_if_they_name_few_pages(failing: int, left_out: float) -> None:
    """Where an edit fails on one or two pages, it may fail on others; thirty of a folder are a class."""
    pages = {f"http://s.test/p/{n}{end}": f"p{n}" for n in range(40) for end in ("", "?v=1")}
    for n in range(failing):
        pages |= {f"http://s.test/list/{n}": f"list {n}", f"http://s.test/list/{n}?v=1": f"list {n} of one"}
    (found,) = undust.find_duplicates(table_of(pages))
    state = KeyState(Site.of(found))
    drop = making.dropped("v")
    for edit, expected in (
        (drop, 0.0),
        (drop.guarded(unless=[context_of("http://s.test/list/1")]), left_out),
    ):
        (effect,) = effects(state, [edit])
        assert left_out_by_guards(state, effect) == pytest.approx(expected)


def finished(pages: dict[str, str]) -> KeyState:
    """Return a site without its sessions."""
    (found,) = undust.find_duplicates(table_of(pages)).sites
    (rule,) = making.dropped("sid").rules("s.test") or ()
    return KeyState(Site.of(found), (Given(rule=rule),))


def clocks(count: int) -> dict[str, str]:
    """Return pages that every fetch shows in another form."""
    return {
        url: url
        for n in range(count)
        for url in (f"http://s.test/now/{n}", f"http://s.test/now/{n}?sid={code(n)}")
    }


def test_a_finished_set_leaves_alone_what_it_merges_wrongly() -> None:
    """Nothing but pages with a clock is under `/now/`: no URL of it needs to be merged."""
    state = finished(shop() | clocks(2))
    assert lost_in(state) == 2
    kept = left_alone(state)
    assert [str(rule) for rule in kept.rules][:-1] == ["keep {s}://{h}/{p**}?{rest**} when /now/{**}"]
    assert lost_in(kept) == 0
    assert len(kept.keys) == len(state.keys) + 2


@pytest.mark.parametrize(("right", "is_kept"), [(8, True), (9, False)])
def test_a_page_lost_weighs_as_much_as_ten_urls_removed(right: int, is_kept: bool) -> None:  # noqa: FBT001
    """One page with a clock stands among others; its name is too long for a class. It counts as removed."""
    pages = {f"http://s.test/now/{'now' * 9}/{n}": f"now {n}" for n in range(1, right + 1)}
    pages |= {f"{url}?sid={code(at)}": page for at, (url, page) in enumerate(pages.items())}
    clock = f"http://s.test/now/{'clock' * 6}"
    state = finished(shop() | pages | {clock: "six", f"{clock}?sid={code(99)}": "seven"})
    assert lost_in(state) == 1
    assert [str(guard) for edit in left_alone(state).edits for guard in edit.when] == ["/now/{**}"] * is_kept


def test_a_set_that_loses_nothing_stays_as_it_is() -> None:
    """No class is looked for."""
    state = finished(shop())
    assert left_alone(state) is state


def test_what_is_left_alone_comes_before_all_learned_rules() -> None:
    """A rule that stands before it would merge the pages all the same."""
    canonical = undust.learn(table_of(shop(400) | clocks(1))).compile()
    assert canonical.key(f"http://s.test/a/0?sid={code(0)}") == "http://s.test/a/0"
    assert canonical.key(f"http://s.test/now/0?sid={code(0)}") != "http://s.test/now/0"
