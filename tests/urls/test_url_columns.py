"""Columns across the border: whatever speaks Arrow comes in, what goes out outlives us."""

from __future__ import annotations

import gc
import threading
import time
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from tests.urls.hostile import hostile_urls
from undust import _core, normalize
from undust.urls import KeyValueView, TokenView, site_of

if TYPE_CHECKING:
    from collections.abc import Callable

URLS = ["HTTP://h", None, "x", "http://www.h.co.uk/%7e"]
NORMAL = ["http://h/", None, "x", "http://www.h.co.uk/~"]


class ArrayOfAnotherLibrary:
    """Has the array half of the Arrow PyCapsule protocol and nothing else."""

    def __init__(self, array: pa.Array) -> None:
        self.array = array

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        result: tuple[object, object] = self.array.__arrow_c_array__(requested_schema)
        return result


class StreamOfAnotherLibrary:
    """Has the stream half of the Arrow PyCapsule protocol, as data frames have."""

    def __init__(self, chunks: pa.ChunkedArray) -> None:
        self.chunks = chunks

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.chunks.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_any_arrow_object(kind: pa.DataType) -> None:
    """Another library's arrays and streams are taken like pyarrow's."""
    array = pa.array(URLS, kind)
    stream = pa.chunked_array([array[:1], array[1:]])
    for column in (array, ArrayOfAnotherLibrary(array), stream, StreamOfAnotherLibrary(stream), URLS):
        assert normalize(column).to_pylist() == NORMAL
        assert site_of(column).to_pylist() == ["h", None, None, "h.co.uk"]
        assert TokenView.of(column).urls().to_pylist() == URLS
        assert KeyValueView.of(column).urls().to_pylist() == [None, None, None, URLS[3]]


def test_what_is_no_column_is_named() -> None:
    """Something without Arrow in it is a type error, not a crash."""
    with pytest.raises(TypeError, match="expected an Arrow array"):
        _core.normalize(URLS)
    with pytest.raises(TypeError):
        normalize(5)


def test_a_result_can_be_taken_many_times() -> None:
    """Each taker owns what it took: it outlives the column and the other takers."""
    column = _core.normalize(pa.array(URLS))[0]
    first, second = pa.array(column), pa.array(column)
    del column, first
    gc.collect()
    assert second.to_pylist() == NORMAL


def test_capsules_nobody_takes() -> None:
    """Capsules that are asked for and dropped take their share with them, and no more."""
    column = _core.normalize(pa.array(URLS))[0]
    for _ in range(1000):
        column.__arrow_c_array__()
        column.__arrow_c_schema__()
    assert pa.array(column).to_pylist() == NORMAL
    assert pa.DataType._import_from_c_capsule(column.__arrow_c_schema__()) == pa.string()  # noqa: SLF001


def test_no_copy_comes_in() -> None:
    """Reading a column allocates nothing of Arrow's, and lets go of it afterwards."""
    array = pa.array(URLS * 10_000)
    gc.collect()
    before = pa.total_allocated_bytes()
    for _ in range(3):
        _core.normalize(array)
    assert pa.total_allocated_bytes() == before
    del array
    gc.collect()
    assert pa.total_allocated_bytes() < before


def test_empty_and_all_null_columns() -> None:
    """Columns without a text have results without a text."""
    for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.binary()):
        assert normalize(pa.array([], kind)).to_pylist() == []
        assert normalize(pa.nulls(9, kind)).to_pylist() == [None] * 9
        assert (
            normalize(pa.array(["", ""], pa.string()).cast(kind)).to_pylist()
            == pa.array(["", ""]).cast(kind).to_pylist()
        )


def python_runs_meanwhile(work: Callable[[], Any]) -> bool:
    """Return whether Python code ran in the middle of the work, as it can if the lock is free.

    On a busy machine this thread may not get its turn in time, so it is tried several times; while the lock
    is held it never does.
    """
    return any(_ran_meanwhile(work) for _ in range(20))


def _ran_meanwhile(work: Callable[[], Any]) -> bool:
    times: list[float] = []

    def timed() -> None:
        times.append(time.perf_counter())
        work()
        times.append(time.perf_counter())

    worker = threading.Thread(target=timed)
    worker.start()
    moments = []
    while worker.is_alive():
        moments.append(time.perf_counter())
    begin, end = times
    quarter = (end - begin) / 4
    return any(begin + quarter < moment < end - quarter for moment in moments)


def test_python_runs_while_the_core_works() -> None:
    """The interpreter lock is free while a batch is worked on."""
    column = pa.array(list(hostile_urls(20_000)) * 10)
    data = "\n".join(column.to_pylist()).encode()
    for work in (
        lambda: _core.normalize(column),
        lambda: _core.normalize_lines(data),
        lambda: _core.tokens(column, 0),
        lambda: _core.key_values(column, semicolons=False),
    ):
        # A busy machine may keep the other thread waiting once, but not each time.
        assert any(python_runs_meanwhile(work) for _ in range(5))
