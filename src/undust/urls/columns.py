"""What people call a column, brought to the one form the core takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from undust._core import Column


def one_array(urls: Any) -> pa.Array:  # noqa: ANN401 -- any Arrow object
    """Return `urls` as a single Arrow array; only chunks have to be copied together."""
    import pyarrow as pa  # noqa: PLC0415 -- slow to load, and a single URL does without

    if hasattr(urls, "__arrow_c_array__"):
        return pa.array(urls)
    if hasattr(urls, "__arrow_c_stream__"):
        chunks = pa.chunked_array(urls)
        return pa.concat_arrays(chunks.chunks) if chunks.num_chunks else pa.array([], chunks.type)
    return pa.array(urls, pa.string())


def map_column(urls: Any, work: Callable[[Any], Column]) -> pa.Array | pa.ChunkedArray:  # noqa: ANN401
    """Return the result of `work` on an array, or on each chunk of a chunked one."""
    import pyarrow as pa  # noqa: PLC0415

    if not hasattr(urls, "__arrow_c_array__") and hasattr(urls, "__arrow_c_stream__"):
        column = pa.chunked_array(urls)
        return pa.chunked_array(
            [pa.array(work(chunk)) for chunk in column.chunks or [pa.array([], column.type)]]
        )
    return pa.array(work(one_array(urls)))
