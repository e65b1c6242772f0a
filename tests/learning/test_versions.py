"""A number that belongs to one page may name a version of it, and is not removed."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import undust
from bench.raw.changes import SITE, page_row, words

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.raw.changes import Row


def wiki(numbers_of: Callable[[int], list[int]]) -> list[Row]:
    """Pages, and beside each the same text with a note, at addresses with these numbers."""
    rows = []
    for page in range(80):
        own = random.Random(page)
        title, parts = words(own, 3), [f"<p>{words(own, 14)}" for _ in range(6)]
        name = title.replace(" ", "_")
        rows.append(page_row(f"{SITE}/{name}", title, parts))
        for number in numbers_of(page):
            note = f"<p>Seen in the state of day {own.randrange(1, 28)} by {words(own, 1)}"
            rows.append(page_row(f"{SITE}/{name}?state={number}", title, [note, *parts]))
    return rows


@pytest.mark.parametrize(
    ("numbers_of", "is_removed"),
    [
        (lambda page: [400 + page * 7], False),
        (lambda page: [400 + page * 7, 2000 + page * 3], True),
        (lambda page: [1 + page % 4], True),
    ],
    ids=["one number a page", "several numbers a page", "one number on several pages"],
)
def test_a_number_is_removed_if_it_was_seen_not_to_matter(
    numbers_of: Callable[[int], list[int]], *, is_removed: bool
) -> None:
    """A number that is the only one of its page, and of no other page, may name a revision."""
    key = undust.learn(pa.Table.from_pylist(wiki(numbers_of))).compile().key
    urls = f"{SITE}/some_other_page?state=77", f"{SITE}/some_other_page"
    assert (key(urls[0]) == key(urls[1])) == is_removed
