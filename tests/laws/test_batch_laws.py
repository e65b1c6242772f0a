"""A batch equals one at a time, however its column lies in memory."""

from __future__ import annotations

import itertools

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.laws.texts import columns, storable_texts
from tests.urls.hostile import hostile_urls
from undust import _core, normalize
from undust.urls import STEPS, Url, site_of, steps_without

KINDS = (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view())
LINES = st.lists(
    st.builds(bytes.__add__, storable_texts().map(str.encode), st.sampled_from([b"", b"\r"])), max_size=8
)
MANY = 12_500
"""Enough rows that three threads get a part each."""


def one_by_one(column: list[str | None], skip: set[str] | frozenset[str] = frozenset()) -> list[str | None]:
    """Return the normal forms as the single-URL function gives them."""
    return [None if text is None else normalize(text, skip=skip) for text in column]


def as_texts(column: pa.Array | pa.ChunkedArray) -> list[str | None]:
    """Return the rows as Python strings, also those of a column of bytes."""
    return [row.decode() if isinstance(row, bytes) else row for row in column.to_pylist()]


@given(columns(), st.sampled_from(KINDS), st.sets(st.sampled_from(sorted(STEPS))), st.integers(1, 3))
def test_batch_equals_single(
    column: list[str | None], kind: pa.DataType, skip: set[str], threads: int
) -> None:
    """A column of any text type gives row by row what its texts give alone, and nulls stay nulls."""
    result = normalize(pa.array(column, pa.string()).cast(kind), skip=skip, threads=threads)
    result.validate(full=True)
    assert as_texts(result) == one_by_one(column, skip)
    assert result.type == {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}.get(
        kind, kind
    )


@given(columns(), st.sampled_from(KINDS), st.integers(0, 12), st.integers(0, 12))
def test_slices_equal_copies(column: list[str | None], kind: pa.DataType, begin: int, length: int) -> None:
    """A slice of a column, or a slice of a slice, gives what a copy of its rows gives."""
    part = pa.array(column, pa.string()).cast(kind)[begin:]
    rows = column[begin:]
    assert as_texts(normalize(part)) == one_by_one(rows)
    assert as_texts(normalize(part[:length])) == one_by_one(rows[:length])
    assert as_texts(site_of(part[:length])) == [
        None if row is None else site_of(row) for row in rows[:length]
    ]


@given(columns(), st.sampled_from(KINDS), st.lists(st.integers(0, 12), max_size=3))
def test_chunks_equal_the_whole(column: list[str | None], kind: pa.DataType, cuts: list[int]) -> None:
    """A chunked column stays chunked as it was, empty chunks included, and gives the same rows."""
    whole = pa.array(column, pa.string()).cast(kind)
    places = [0, *sorted(cuts), len(column)]
    chunks = [whole[begin:end] for begin, end in itertools.pairwise(places)]
    result = normalize(pa.chunked_array(chunks, whole.type))
    assert [len(chunk) for chunk in result.chunks] == [len(chunk) for chunk in chunks]
    assert as_texts(result) == one_by_one(column)
    assert result.type == normalize(whole).type


@given(columns())
def test_counts_are_the_counts(column: list[str | None]) -> None:
    """The core counts what changed and what is no URL; a null is neither."""
    result, changed, not_urls = _core.normalize(pa.array(column, pa.string()))
    rows = [
        (row, new) for row, new in zip(column, pa.array(result).to_pylist(), strict=True) if row is not None
    ]
    assert len(result) == len(column)
    assert changed == sum(row != new for row, new in rows)
    assert not_urls == sum(Url.parse(row) is None for row, _ in rows)


@given(LINES, st.sampled_from([b"", b"\n"]), st.integers(1, 3))
def test_lines_equal_single(lines: list[bytes], end: bytes, threads: int) -> None:
    """Lines come out in order, each as it would alone, with the line ends that they had."""
    data = b"\n".join(lines) + end
    result, count, _, not_urls = _core.normalize_lines(data, threads=threads)
    rows = data.split(b"\n")
    rows = rows[:-1] if rows[-1] == b"" else rows
    line_ends = [row[len(row.removesuffix(b"\r")) :] for row in rows]
    expected = [normalize(row.removesuffix(b"\r").decode()).encode() for row in rows]
    assert count == len(rows)
    assert result == b"\n".join(map(bytes.__add__, expected, line_ends)) + b"\n" * data.endswith(b"\n")
    assert not_urls == sum(Url.parse(row.decode().removesuffix("\r")) is None for row in rows)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", (b"", 0, 0, 0)),
        (b"\n", (b"\n", 1, 0, 1)),
        (b"HTTP://h\r\n\r\nx", (b"http://h/\r\n\r\nx", 3, 1, 2)),
        (b"HTTP://h\r", (b"http://h/\r", 1, 1, 0)),
        (b"http://h/\r\r\n", (b"http://h/\r\n", 1, 1, 0)),
        (b"http://h/\n\nHTTP://h", (b"http://h/\n\nhttp://h/", 3, 1, 1)),
        (b"http://h/\xff\n\xff\n", (b"http://h/%FF\n\xff\n", 2, 1, 1)),
    ],
)
def test_line_ends(data: bytes, expected: tuple[bytes, int, int, int]) -> None:
    """Each line ends as it ended, and empty lines are lines."""
    assert _core.normalize_lines(data) == expected


@pytest.fixture(scope="module")
def many() -> list[str | None]:
    """Return rows enough for several threads, with nulls among them."""
    return [None if place % 7 == 3 else text for place, text in enumerate(hostile_urls(MANY, seed=4))]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("threads", [2, 3, 64, 2**31 - 1, 0, -1])
def test_threads_change_nothing(many: list[str | None], kind: pa.DataType, threads: int) -> None:
    """Any number of threads, also an absurd one, gives the rows of one thread, in order."""
    column = pa.array(many, pa.string()).cast(kind)
    one, several = normalize(column), normalize(column, threads=threads)
    several.validate(full=True)
    assert several.equals(one)
    assert several[5000:9001].equals(normalize(column[5000:9001], threads=threads))
    assert _core.normalize(column, threads=threads)[1:] == _core.normalize(column)[1:]


def test_many_equal_single(many: list[str | None]) -> None:
    """Thousands of rows on several threads give what each gives alone."""
    assert normalize(pa.array(many), threads=3).to_pylist() == one_by_one(many)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_threads_change_no_lines(many: list[str | None], end: bytes) -> None:
    """Lines cut between threads anywhere are the lines of one thread."""
    texts_of_lines = (text.replace("\n", "").replace("\r", "") for text in many if text is not None)
    data = (end or b"\n").join(text.encode() for text in texts_of_lines) + end
    for piece in (data, data[:9001], data[4095:], data[: 3 * 4096], b"http://h/#" + data.replace(b"\n", b"")):
        assert _core.normalize_lines(piece, threads=3) == _core.normalize_lines(piece)


@settings(max_examples=30)
@given(
    st.lists(st.sampled_from([b"\n", b"\r\n", b"http://H/\n", b"\r", b"x"]), max_size=6), st.integers(1, 5)
)
def test_threads_meet_at_line_breaks(pieces: list[bytes], threads: int) -> None:
    """Texts of nothing but line breaks and the shortest lines are cut well too."""
    data = b"".join(pieces) * 3000
    assert _core.normalize_lines(data, threads=threads) == _core.normalize_lines(data)


def test_steps_reach_the_batch() -> None:
    """Steps left out are left out in a batch, in lines and alone."""
    url = "HTTP://h:80/%7e#f"
    for step in STEPS:
        alone = normalize(url, skip=[step])
        assert normalize([url], skip=[step]).to_pylist() == [alone]
        assert _core.normalize_lines(url.encode(), steps_without([step]))[0] == alone.encode()


def test_wrong_columns_are_refused_in_words() -> None:
    """A column that holds no texts is an error that says what to do."""
    for column in (pa.array([1]), pa.array([["http://h/"]]), pa.array(["a", "a"]).dictionary_encode()):
        with pytest.raises(
            ValueError, match=r"expected a column of strings, got .*; cast it to string first"
        ):
            normalize(column)


def test_views_over_several_buffers() -> None:
    """Texts of a string view may lie in many buffers."""
    urls = [f"http://h/{letter * 20}/%7e" for letter in "abc"]
    parts = [pa.array([url, None, "short"]).cast(pa.string_view()) for url in urls]
    column = pa.concat_arrays(parts)
    assert len(column.buffers()) > 3
    expected = [text for url in urls for text in (url.replace("%7e", "~"), None, "short")]
    assert normalize(column).to_pylist() == expected
    assert normalize(column[3:7]).to_pylist() == expected[3:7]
