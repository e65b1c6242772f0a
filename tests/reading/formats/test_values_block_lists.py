"""Blocks in tables of other people: lists, texts with lists, and what is neither."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from undust.reading.formats.values import block_lists, blocks_array


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([1, 5, 9], [1, 5, 9]),
        ([5, 1], None),
        ([1, 1], None),
        ([-1, 2], None),
        (list(range(256)), list(range(256))),
        (list(range(257)), None),
    ],
)
def test_lists_ascend_and_are_bounded(value: list[int], expected: list[int] | None) -> None:
    """What was not made as documented is left out and reported, as a list and as a text."""
    columns: list[Any] = [pa.array([value, None]), pa.array([str(value), None])]
    for column in columns:
        got, failed = block_lists(column)
        assert got.to_pylist() == [expected, None]
        assert failed.to_pylist() == ([] if expected else [0])


@pytest.mark.parametrize("text", ["x", "[1", "{}", "[1.5]", '["a"]', "[true]"])
def test_texts_that_hold_no_list_are_reported(text: str) -> None:
    """A text that is no list of whole numbers is null, and its row is named."""
    got, failed = block_lists(pa.array(["[]", text]))
    assert got.to_pylist() == [None, None]
    assert failed.to_pylist() == [1]


def test_pages_without_blocks_are_null() -> None:
    """No block is not the same as an empty list."""
    numbers = (3).to_bytes(8, "little") + (7).to_bytes(8, "little")
    assert blocks_array([None, numbers, b""]).to_pylist() == [None, [3, 7], None]
