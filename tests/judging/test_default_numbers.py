"""Which numbers are defaults: other values of the same parameter show it."""

from __future__ import annotations

from itertools import permutations

import pytest

from undust.judging.default_numbers import OtherNumbers, other_numbers


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
