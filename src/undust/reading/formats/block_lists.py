"""Lists of blocks as tables hold them: ascending whole numbers of 63 bits, or a text with such a list."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.reading.content.blocks import MOST_BLOCKS
from undust.reading.formats.values import no_rows, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from undust.reading.formats.values import Converted

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
