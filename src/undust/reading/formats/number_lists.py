"""Sketches and blocks as tables hold them: lists of whole numbers, or a text with such a list.

Of a sketch we keep 32 bits a number. A larger one is folded, its words in an exclusive or: equal numbers stay
equal, and different ones stay different but for one pair in four thousand million. Blocks are ascending
numbers of 63 bits.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.reading.content.sketch import MOST_BLOCKS
from undust.reading.formats.values import no_rows, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from undust.reading.formats.values import Converted

SKETCH = pa.list_(pa.uint32())
WORD_BITS = 32
WORD = (1 << WORD_BITS) - 1


def sketches(column: pa.Array) -> Converted:
    """Return sketches as lists of 32-bit numbers; a larger number is folded, word upon word."""
    column = plain(column)
    kind = column.type
    if pa.types.is_null(kind):
        return column.cast(SKETCH), no_rows()
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    if is_list and pa.types.is_integer(kind.value_type):
        lists = column.cast(pa.list_(kind.value_type))
        if not lists.flatten().null_count:
            is_ours = kind.value_type == SKETCH.value_type
            return _no_empty_lists(lists.cast(SKETCH) if is_ours else _folded_lists(lists)), no_rows()
    convert = _sketch_of_values if is_list else _sketch_of_text
    values = column.to_pylist()
    got = pa.array([None if value is None else convert(value) for value in values], SKETCH)
    is_absent = pa.array([value is None or value in ("", b"", []) for value in values], pa.bool_())
    return _no_empty_lists(got), pc.indices_nonzero(pc.and_not(pc.is_null(got), is_absent))


def _no_empty_lists(lists: pa.Array) -> pa.Array:
    return pc.if_else(pc.equal(pc.list_value_length(lists), 0), pa.scalar(None, SKETCH), lists)


def _folded_lists(lists: pa.Array) -> pa.Array:
    words = lists.flatten().cast(pa.int64(), safe=False).cast(pa.uint64(), safe=False)
    high = pc.shift_right(words, pa.scalar(WORD_BITS, pa.uint64()))
    folded = pc.bit_wise_and(pc.bit_wise_xor(words, high), pa.scalar(WORD, pa.uint64())).cast(pa.uint32())
    # Lengths, not offsets: those of a slice start anywhere.
    ends = pc.cumulative_sum(pc.fill_null(pc.list_value_length(lists), 0)).cast(pa.int32())
    offsets = pa.concat_arrays([pa.array([0], pa.int32()), ends])
    return pa.ListArray.from_arrays(offsets, folded, mask=lists.is_null() if lists.null_count else None)


def fold(number: int) -> int:
    """Return a number of any size as one of 32 bits: its words in an exclusive or; -1 has 64 bits.

    >>> fold(7), fold(1 << 32), fold((5 << 32) + 1)
    (7, 1, 4)
    """
    rest = number % (1 << 64) if number < 0 else number
    folded = 0
    while rest:
        folded ^= rest & WORD
        rest >>= WORD_BITS
    return folded


def _sketch_of_values(values: Any) -> list[int] | None:  # noqa: ANN401 -- whatever a table holds
    numbers = [_number_of(value) for value in values] if isinstance(values, list) else [None]
    return None if None in numbers else [fold(number) for number in numbers if number is not None]


def _number_of(value: Any) -> int | None:  # noqa: ANN401 -- whatever a table holds
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or (isinstance(value, float) and (not math.isfinite(value) or value != int(value))):
        return None
    return int(value)


def _sketch_of_text(text: Any) -> list[int] | None:  # noqa: ANN401 -- whatever a table holds
    try:
        written = text.decode() if isinstance(text, bytes) else str(text)
        if not written.lstrip().startswith("["):
            written = f"[{','.join(re.split(r'[,; ]+', written.strip()))}]"
        return _sketch_of_values(json.loads(written))
    except (ValueError, RecursionError):
        return None


BLOCKS = pa.list_(pa.int64())
_LARGEST = (1 << 63) - 1


def blocks_array(blocks: Sequence[bytes | None]) -> pa.Array:
    """Return the blocks of pages, 64 bits each, as a column; null for pages without any."""
    sizes = np.fromiter((len(each) // 8 if each else 0 for each in blocks), np.int64, len(blocks))
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes))).astype(np.int32)
    values = np.frombuffer(b"".join(each for each in blocks if each), np.int64)
    mask = pa.array(sizes == 0)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values), mask=mask)


def block_lists(column: pa.Array) -> Converted:
    """Return lists of blocks; what is not an ascending list of at most 256 whole numbers is null."""
    column = plain(column)
    kind = column.type
    if pa.types.is_null(kind):
        return column.cast(BLOCKS), no_rows()
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    if is_list and pa.types.is_integer(kind.value_type) and not pa.types.is_uint64(kind.value_type):
        return _checked(column.cast(BLOCKS))
    got = [None if value is None else _numbers(value) for value in column.to_pylist()]
    lists, failed = _checked(pa.array(got, BLOCKS))
    is_lost = pc.and_(pc.is_valid(column), pa.array([each is None for each in got], pa.bool_()))
    return lists, pa.concat_arrays([failed, pc.indices_nonzero(is_lost)])


def _checked(lists: pa.Array) -> Converted:
    sizes = np.asarray(pc.fill_null(pc.list_value_length(lists), 0), np.int64)
    flat = lists.flatten()
    numbers: NDArray[np.int64] = np.asarray(flat.fill_null(-1), np.int64)
    row = np.repeat(np.arange(len(lists)), sizes)
    is_bad = numbers < 0
    is_bad[1:] |= (numbers[1:] <= numbers[:-1]) & (row[1:] == row[:-1])
    bad = (np.bincount(row[is_bad], minlength=len(lists)) > 0) | (sizes > MOST_BLOCKS)
    kept = pc.if_else(pa.array(bad | (sizes == 0)), pa.scalar(None, BLOCKS), lists)
    return kept, pa.array(np.flatnonzero(bad).astype(np.uint64))


def _numbers(value: Any) -> list[int] | None:  # noqa: ANN401 -- whatever a table holds
    try:
        found = json.loads(value) if isinstance(value, str | bytes) else value
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list) or not all(type(each) is int and 0 <= each <= _LARGEST for each in found):
        return None
    return found
