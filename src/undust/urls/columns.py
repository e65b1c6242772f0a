"""What people call a column, brought to the one form the core takes."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from undust.extras import missing_extra

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    import pyarrow as pa

    from undust._core import Column


def one_array(urls: Any) -> pa.Array:  # noqa: ANN401 -- any Arrow object
    """Return `urls` as a single Arrow array; only chunks have to be copied together."""
    pa = _arrow()
    if isinstance(urls, pa.Array) or hasattr(urls, "__arrow_c_array__"):
        return _handed_over(urls if isinstance(urls, pa.Array) else pa.array(urls))
    if hasattr(urls, "__arrow_c_stream__"):
        chunks = _chunks(urls)
        return _handed_over(
            pa.concat_arrays(chunks.chunks) if chunks.num_chunks else pa.array([], chunks.type)
        )
    return pa.array(urls, pa.string())


def map_column(urls: Any, work: Callable[[Any], Column]) -> pa.Array | pa.ChunkedArray:  # noqa: ANN401
    """Return the result of `work` on an array, or on each chunk of a chunked one."""
    pa = _arrow()
    if not hasattr(urls, "__arrow_c_array__") and hasattr(urls, "__arrow_c_stream__"):
        column = _chunks(urls)
        chunks = column.chunks or [pa.array([], column.type)]
        return pa.chunked_array([pa.array(work(_handed_over(chunk))) for chunk in chunks])
    return pa.array(work(one_array(urls)))


def _arrow() -> ModuleType:
    """Return pyarrow, which is slow to load and not part of the base; a single URL does without."""
    try:
        return import_module("pyarrow")
    except ModuleNotFoundError as error:
        raise missing_extra(error) or error from None


def _chunks(urls: Any) -> pa.ChunkedArray:  # noqa: ANN401 -- any Arrow object
    import pyarrow as pa  # noqa: PLC0415

    return urls if isinstance(urls, pa.ChunkedArray) else pa.chunked_array(urls)


def _handed_over(array: pa.Array) -> pa.Array:
    """Return an array as it can be given to others: before 25, Arrow crashed at views of nothing but ""."""
    import pyarrow as pa  # noqa: PLC0415

    kind = array.type
    is_view = pa.types.is_string_view(kind) or pa.types.is_binary_view(kind)
    if is_view and any(buffer is None for buffer in array.buffers()[2:]):
        return array.cast(pa.large_string() if pa.types.is_string_view(kind) else pa.large_binary())
    return array
