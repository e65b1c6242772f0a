"""Edits that are right wherever they were seen to do something, and are not to be trusted."""

from __future__ import annotations

from tests.searching.test_search import rules_of

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
