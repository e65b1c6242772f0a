"""Sketches around hubs, against comparing all with all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undust.pages.clustering import near_copies
from undust.pages.clustering.near_copies import agreement, near_stars, needed

sketches = st.integers(2, 8).flatmap(
    lambda size: st.lists(st.lists(st.integers(0, 2), min_size=size, max_size=size), min_size=1, max_size=40)
)


def agreeing(
    rows: np.ndarray[tuple[int, int], np.dtype[np.uint32]],
) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """In how many minima each two rows agree, all with all."""
    return np.asarray((rows[:, None, :] == rows[None, :, :]).sum(axis=2))


@given(sketches, st.sampled_from([1.0, 31 / 32, 0.75, 0.5]))
def test_stars_say_what_all_pairs_say(drawn: list[list[int]], share: float) -> None:
    """Every member agrees with its hub, no hub is a member, and two that agree are not both alone."""
    rows = np.array(drawn, np.uint32)
    least = needed(rows.shape[1], share)
    every = agreeing(rows)
    hub, member = near_stars(rows, share)
    equal = every[hub, member] == rows.shape[1]
    assert (every[hub, member] >= least).all()
    assert len(set(member.tolist())) == len(member)
    assert not set(hub[~equal].tolist()) & set(member.tolist())
    alone = np.setdiff1d(np.arange(len(rows)), np.concatenate((hub, member)))
    # Two that belong to nobody cannot agree: bands miss no pair.
    assert (every[np.ix_(alone, alone)] - np.eye(len(alone), dtype=np.int64) * rows.shape[1] < least).all()


@given(sketches)
def test_equal_sketches_are_always_together(drawn: list[list[int]]) -> None:
    """Copies go with the copy of the smallest row."""
    rows = np.array(drawn, np.uint32)
    hub, member = near_stars(rows, 1.0)
    expected = {i: drawn.index(row) for i, row in enumerate(drawn) if drawn.index(row) != i}
    assert dict(zip(member.tolist(), hub.tolist(), strict=True)) == expected


def test_a_band_that_thousands_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a band is shared by very many, representatives find the copies, and few comparisons are made."""
    chance = np.random.default_rng(3)
    base = chance.integers(0, 1 << 30, 32).astype(np.uint32)
    rows = np.repeat(base[None, :], 3000, axis=0)
    rows[:, 31] = np.arange(3000)
    compared = 0

    def counting(
        sketches: near_copies.Sketches, left: near_copies.Ints, right: near_copies.Ints
    ) -> near_copies.Ints:
        nonlocal compared
        compared += len(left)
        return agreement(sketches, left, right)

    monkeypatch.setattr(near_copies, "agreement", counting)
    hub, member = near_stars(rows)
    assert len(member) == 2999
    assert set(hub.tolist()) == {0}
    assert compared < 20 * 3000


def test_a_copy_of_a_copy_of_a_copy_is_another_page() -> None:
    """Each differs from the next in one place; only those next to the hub belong to it."""
    rows = np.zeros((6, 32), np.uint32)
    for row in range(6):
        rows[row, :row] = 1
    hub, member = near_stars(rows)
    together = agreeing(rows)[hub, member]
    assert (together >= 31).all()
    assert set(zip(hub.tolist(), member.tolist(), strict=True)) == {(0, 1), (2, 3), (4, 5)}


def test_the_form_with_most_copies_is_the_hub() -> None:
    """What most URLs show is what the others are compared with."""
    rows = np.zeros((5, 32), np.uint32)
    rows[0, 0], rows[4, 1] = 1, 1
    hub, member = near_stars(rows)
    assert set(zip(hub.tolist(), member.tolist(), strict=True)) == {(1, 2), (1, 3), (1, 0), (1, 4)}


@pytest.mark.parametrize(("size", "least"), [(32, 31), (4, 4), (64, 62), (1, 1)])
def test_the_threshold_scales(size: int, least: int) -> None:
    """31 of 32, and as published all of 4."""
    assert needed(size) == least


def test_nothing_in_nothing_out() -> None:
    """No sketches, no stars."""
    hub, member = near_stars(np.zeros((0, 0), np.uint32))
    assert (len(hub), len(member)) == (0, 0)
