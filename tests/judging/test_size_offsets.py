"""What a form of a page adds to its size is found where it is always the same, and nowhere else."""

from __future__ import annotations

import numpy as np

from undust.judging.size_offsets import LEAST_PAIRS, size_offsets


def offsets(sizes: dict[str, int]) -> dict[str, int]:
    """What is added, by URL."""
    return dict(zip(sizes, size_offsets(list(sizes), np.array(list(sizes.values()))).tolist(), strict=True))


def test_what_a_form_always_adds_belongs_to_the_form() -> None:
    """The usual form adds nothing; a rare one with two parameters adds what each of them does."""
    sizes = {f"http://a.test/story/{n}": 4000 + 137 * n for n in range(30)}
    sizes |= {f"http://a.test/story/{n}?view=print": 4011 + 137 * n for n in range(10)}
    sizes |= {f"http://a.test/amp/story/{n}": 4018 + 137 * n for n in range(10)}
    sizes |= {f"http://a.test/story/{n}?ref=mail": 4000 + 137 * n for n in range(10)}
    sizes["http://a.test/story/3?ref=mail&view=print"] = 4011 + 137 * 3
    found = offsets(sizes)
    assert found["http://a.test/story/3"] == found["http://a.test/story/3?ref=mail"] == 0
    assert found["http://a.test/story/3?view=print"] == 11
    assert found["http://a.test/amp/story/3"] == 18
    assert found["http://a.test/story/3?ref=mail&view=print"] == 11


def test_what_differs_from_page_to_page_is_left_as_it_is() -> None:
    """Nor is anything said from fewer pairs than tell."""
    sizes = {f"http://a.test/story/{n}": 4000 + 137 * n for n in range(30)}
    other = sizes | {f"http://a.test/story/{n}?page=x": 4000 + 71 * n * n for n in range(10)}
    assert set(offsets(other).values()) == {0}
    few = sizes | {f"http://a.test/amp/story/{n}": 4018 + 137 * n for n in range(LEAST_PAIRS - 1)}
    assert set(offsets(few).values()) == {0}


def test_sizes_that_are_not_known_say_nothing() -> None:
    """A list has none."""
    assert set(offsets({f"http://a.test/{n}": -1 for n in range(9)}).values()) == {0}
    assert size_offsets([], np.zeros(0, np.int64)).tolist() == []
