"""Rows that the core changes as bytes: the same bytes as row by row in Python, for any table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from undust.errors import DamagedSource
from undust.files.change import TableChange
from undust.files.delimited import Layout, change_delimited, raw_values
from undust.files.objects import change_cdxj, change_json_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from undust.files.change import Cell

    Change = Callable[[Iterable[bytes], TableChange], None]

NEW = {b"": b"", b"http://a.test/same": b"http://a.test/same"}
"""Texts that stay; every other one changes."""
ODD_RESULTS = {b"http://a.test/quote": b'say "a,b"', b"http://a.test/slash": b"back\\slash\x01"}


def result_of(cell: bytes) -> bytes:
    """Return what becomes of a text."""
    return NEW.get(cell) or ODD_RESULTS.get(cell) or (cell and cell + b"!")


def outcome(
    change_rows: Change, blocks: list[bytes], *, only_changed: bool, by_core: bool, into: str
) -> object:
    """Return the bytes that are written, or the sentence of the error."""
    written: list[bytes] = []
    asked: list[Cell] = []

    def work(cells: Sequence[Cell]) -> tuple[list[Cell], list[bool] | None]:
        asked.extend(cells)
        results = [None if cell is None else result_of(cell) for cell in cells]
        return results, [
            old != new for old, new in zip(cells, results, strict=True)
        ] if only_changed else None

    def work_lines(data: bytes) -> bytes:
        lines = data.removesuffix(b"\n").split(b"\n")
        asked.extend(lines)
        return b"".join(result_of(line) + b"\n" for line in lines)

    change = TableChange(
        *("table", lambda _, __: "url", None, into, work, written.append),
        drops_rows=only_changed,
        only_changed=only_changed,
        work_lines=work_lines if by_core else None,
    )
    try:
        change_rows(blocks, change)
    except DamagedSource as error:
        return str(error)
    return b"".join(written), asked


def same_both_ways(change_rows: Change, data: bytes, into: str) -> None:
    """Raise if the core and Python disagree; the table comes whole and cut into two blocks."""
    for only_changed in (False, True):
        for blocks in ([data], [data[: len(data) // 2], data[len(data) // 2 :]])[only_changed:]:
            told = [
                outcome(change_rows, blocks, only_changed=only_changed, by_core=by_core, into=into)
                for by_core in (True, False)
            ]
            assert told[0] == told[1]


URLS = st.sampled_from(
    [
        "http://a.test/",
        "http://a.test/same",
        "http://a.test/quote",
        "http://a.test/slash",
        "",
        "/p",
        "é\u20ac😀",
    ]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
OBJECTS = st.dictionaries(
    st.sampled_from(["id", "url", "new", "q\\"]) | st.text(max_size=3), VALUES | URLS, max_size=4
)
SPACES = st.sampled_from([(", ", ": "), (",", ":"), (" ,\t", " :  ")])


@st.composite
def object_lines(draw: st.DrawFn) -> bytes:
    """Return lines of JSON, most of them whole."""
    lines = []
    for _ in range(draw(st.integers(0, 6))):
        held = draw(OBJECTS)
        if draw(st.integers(0, 9)):
            held["url"] = draw(URLS)
        text = json.dumps(held, ensure_ascii=draw(st.booleans()), separators=draw(SPACES))
        text = text.replace("/", "\\/") if draw(st.booleans()) else text
        line = (
            draw(st.sampled_from(["", "", "", " ", "com,a)/ 2020 ", "! "]))
            + text
            + draw(st.sampled_from(["", "", "\r", " "]))
        )
        cut = draw(st.integers(0, 60))
        lines.append(line[:-1] if not cut else line)
    end = draw(st.sampled_from(["\n", "\n", ""]))
    return ("\n".join(lines) + end).encode("utf-8", "surrogatepass")


@settings(max_examples=60)
@given(object_lines(), st.sampled_from(["url", "new"]))
@example(b'{"url": "http:\\/\\/a.test\\u002f\\ud83d\\ude00"}\n{"url": "a\\nb"}\n{"url": "\\ud800"}\n', "new")
@example(b'{"url": "a", "x": [1, {"y": [2]}], "z": "\\u00zz", "n": -0.5e+3}\n{"url": "a", "n": 01}\n', "new")
@example(b'{"url": "a", "url": "b"}\n\n{"url": null}\n{"url": ["c"]}\n{"new": 1, "url": "d"}\n', "url")
def test_objects_are_changed_the_same(data: bytes, into: str) -> None:
    """Whatever the lines, the core writes what the regular expression and `json` write."""
    same_both_ways(change_json_lines, data, into)
    same_both_ways(change_cdxj, data, into)


def delimited(delimiter: bytes, *, quotes: bool) -> Change:
    """Return the change of a delimited file with a header."""

    def header(record: bytes) -> tuple[bytes, list[bytes]]:
        return b"", raw_values(record, delimiter) if quotes else record.split(delimiter)

    return lambda blocks, change: change_delimited(blocks, change, Layout(delimiter, quotes, header))


FIELDS = st.sampled_from(
    [
        b"1",
        b"",
        b"http://a.test/",
        b"http://a.test/same",
        b"http://a.test/quote",
        b'"a,b"',
        b'"a""b"',
        b'"x\ny"',
    ]
) | st.text('a",;\r\n\t ', max_size=4).map(str.encode)
HEADERS = [b"id,url,title", b"url", b"new,id,url", b"url,new", b'"url",id']


@settings(max_examples=60)
@given(
    st.sampled_from(HEADERS),
    st.lists(st.lists(FIELDS, min_size=1, max_size=4), max_size=6),
    st.sampled_from([b"\n", b"\r\n"]),
    st.booleans(),
    st.sampled_from(["url", "new"]),
)
@example(b"url,id", [[b'"http://a.test/"', b"1"], [b'"a', b'b"', b"2"]], b"\n", True, "new")  # noqa: FBT003 -- given
@example(b"url", [[b""], [b'""'], [b'"'], [b"\r"]], b"\r\n", False, "new")  # noqa: FBT003 -- given
def test_values_are_changed_the_same(
    header: bytes,
    rows: list[list[bytes]],
    end: bytes,
    has_last_end: bool,  # noqa: FBT001 -- drawn
    into: str,
) -> None:
    """Whatever the quotes and line ends, the core writes what the regular expression writes."""
    for mark, quotes in ((b",", True), (b"\t", False)):
        lines = [header.replace(b",", mark), *(mark.join(row) for row in rows)]
        data = end.join(lines) + (end if has_last_end else b"")
        same_both_ways(delimited(mark, quotes=quotes), data, into)


@pytest.mark.parametrize("into", ["url", "new"])
def test_most_rows_are_the_core_s(into: str) -> None:
    """Usual rows come as lines: were they odd, the slow way would be taken and no test would notice."""
    objects = b"".join(
        b'{"id": %d, "url": "http:\\/\\/a.test\\/", "list": [{"a": 1}]}\n' % n for n in range(50)
    )
    table = b"id,url,title\n" + b'1,http://a.test/,"a, ""b"""\r\n' * 50
    for change_rows, data in ((change_json_lines, objects), (delimited(b",", quotes=True), table)):
        lines: list[bytes] = []
        change = TableChange(
            *("table", lambda _, __: "url", None, into, _refusing, len), work_lines=_noting(lines)
        )
        change_rows([data], change)
        assert b"".join(lines) == b"http://a.test/\n" * 50


def _refusing(cells: Sequence[Cell]) -> tuple[Sequence[Cell], None]:
    assert not cells, "a usual row is not for the slow way"
    return cells, None


def _noting(seen: list[bytes]) -> Callable[[bytes], bytes]:
    def work(data: bytes) -> bytes:
        seen.append(data)
        return data

    return work
