"""What turns one URL into another, piece by piece."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from undust.showing.words import GONE, KEPT, LONGEST, NEW, pieces

words = st.lists(st.sampled_from(["a", "bc", "/", "?", "=", "%20", "***", "sid"]), max_size=9).map("".join)


@given(before=words, after=words)
def test_the_pieces_are_both_urls(before: str, after: str) -> None:
    """What stays and goes is the old URL, what stays and comes the new one; neighbours differ in kind."""
    found = pieces(before, after)
    assert "".join(text for mark, text in found if mark in {KEPT, GONE}) == before
    assert "".join(text for mark, text in found if mark in {KEPT, NEW}) == after
    assert all(text for _, text in found)
    assert all(one != other for (one, _), (other, _) in pairwise(found))


def test_equal_ends_stay() -> None:
    """What both begin and end with is not shown as changed, and the middle is compared word by word."""
    assert pieces("a/x/b", "a/b") == [(KEPT, "a/"), (GONE, "x/"), (KEPT, "b")]
    assert pieces("a.b-c-d", "a.e-c-f") == [
        *((KEPT, "a."), (GONE, "b"), (NEW, "e"), (KEPT, "-c-"), (GONE, "d"), (NEW, "f")),
    ]


def test_a_long_middle_is_taken_as_a_whole() -> None:
    """Comparing thousands of words one by one would take as long as their square."""
    old, new = "/".join(["x"] * LONGEST), "/".join(["y"] * LONGEST)
    assert pieces(f"<{old}>", f"<{new}>") == [(KEPT, "<"), (GONE, old), (NEW, new), (KEPT, ">")]
