"""What the core counts for the pattern tree, beside counting in the plainest way."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undust import _core

CODES = st.dictionaries(st.integers(0, 60), st.integers(1, 9), max_size=40)


def columns(counts: dict[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return codes in order and how often each is there."""
    codes = sorted(counts)
    return np.array(codes, np.int64), np.array([counts[code] for code in codes], np.int64)


@given(CODES, CODES | st.dictionaries(st.integers(0, 2000), st.integers(1, 3), min_size=300, max_size=300))
def test_equal_codes_meet(left: dict[int, int], right: dict[int, int]) -> None:
    """As many as both sides share, and every one of one side with every one of the other."""
    (one, ones), (other, others) = columns(left), columns(right)
    assert _core.shared_codes(one.astype(np.int32), other.astype(np.int32)) == len(left.keys() & right)
    assert _core.meetings(one, ones, other, others) == sum(n * right.get(code, 0) for code, n in left.items())


ROWS = st.lists(
    st.tuples(
        st.booleans(), st.booleans(), st.integers(0, 1), st.lists(st.integers(-1, 2), min_size=4, max_size=4)
    ),
    max_size=30,
)


@given(ROWS, st.integers(0, 2))
def test_pairs_with_one_image_are_counted(
    rows: list[tuple[bool, bool, int, list[int]]], carried: int
) -> None:
    """Rows, images, pairs, pairs of one page and the pages of these, as pair by pair."""
    page = np.cumsum([step for _, _, step, _ in rows], dtype=np.int64)
    taken = np.flatnonzero([is_taken for is_taken, _, _, _ in rows]).astype(np.int64)
    own = np.flatnonzero([is_own for _, is_own, _, _ in rows]).astype(np.int64)
    values = np.array([each for _, _, _, each in rows], np.int32).reshape(-1, 4).T.copy()
    arriving, staying = list(values[:carried]), list(values[2 : 2 + carried])
    images = {
        row: tuple(each[:carried] if is_taken else each[2 : 2 + carried])
        for row, (is_taken, is_own, _, each) in enumerate(rows)
        if is_taken or is_own
    }
    pairs = [(i, j) for i, j in combinations(images, 2) if images[i] == images[j]]
    same = [page[i] for i, j in pairs if page[i] == page[j]]
    expected = (len(images), len(set(images.values())), len(pairs), len(same), len(set(same)))
    assert _core.image_pairs(taken, own, arriving, staying, page) == expected


def test_rows_that_cannot_be_counted_are_told() -> None:
    """Rows out of order or out of range, and columns of another length, are refused and not read."""
    page, value = np.arange(3), np.zeros(3, np.int32)
    none = np.zeros(0, np.int64)
    with pytest.raises(ValueError, match="ascend"):
        _core.image_pairs(np.array([2, 1]), none, [value], [value], page)
    with pytest.raises(IndexError, match="no such row"):
        _core.image_pairs(np.array([1, 3]), none, [value], [value], page)
    with pytest.raises(ValueError, match="a value for each row"):
        _core.image_pairs(none, none, [value], [value[:2]], page)
    with pytest.raises(ValueError, match="needs its count"):
        _core.meetings(none, page, none, none)
