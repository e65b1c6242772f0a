"""One crawl in every format gives the same observations, however it is cut into blocks."""

from __future__ import annotations

import csv
import gzip
import io
import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import undust
from tests.reading.formats.rendered import rows_of
from undust.errors import SourceError
from undust.files.streams import LONGEST_LINE
from undust.reading.formats import SOURCES, Reading, ReadOptions, format_of, json_lines, named_format
from undust.reading.observations import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CRAWL = [
    {
        "url": f'http://shop.test/p{number}?q=a,b;c|d&e="{number}"é',
        "status": (200, 301, 404, None)[number % 4],
        "size": number * 100 if number % 3 else None,
        "digest": f"D{number % 7}" if number % 5 else None,
        "redirect": "http://shop.test/target" if number % 4 == 1 else None,
        "time": f"2026-11-15T00:{number % 60:02}:57Z",
    }
    for number in range(300)
]
MORE = [
    row
    | {"sketch": [number, 1 << 20], "canonical": "http://shop.test/c", "cluster": str(number)}
    | {"listed": (True, False, None)[number % 3]}
    for number, row in enumerate(CRAWL)
]


def known(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows without what is not known of them, columns in the order of the table."""
    return [{name: row[name] for name in SCHEMA.names if row.get(name) is not None} for row in rows]


def as_jsonl(rows: list[dict[str, Any]]) -> bytes:
    """Our columns as JSON lines."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def as_json(rows: list[dict[str, Any]]) -> bytes:
    """Our columns as one JSON array, indented as Scrapy can."""
    return json.dumps(rows, indent=4, ensure_ascii=False).encode()


def as_delimited(rows: list[dict[str, Any]], delimiter: str) -> bytes:
    """Our columns as CSV or TSV, as Python's own module writes it; a sketch is JSON text."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(
        [
            {name: json.dumps(value) if name == "sketch" else value for name, value in row.items()}
            for row in rows
        ]
    )
    return out.getvalue().encode()


def as_parquet(rows: list[dict[str, Any]]) -> bytes:
    """Our columns as Parquet with several row groups."""
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out, row_group_size=70)
    return out.getvalue()


def as_cdxj(rows: list[dict[str, Any]]) -> bytes:
    """What a CDXJ file can say of a crawl."""
    lines = []
    for row in rows:
        said = {
            "url": row["url"],
            "status": row["status"],
            "digest": row["digest"],
            "length": row["size"],
            "redirect": row["redirect"],
        }
        stamp = "".join(char for char in row["time"] if char.isdigit())
        lines.append(
            f"test,shop)/ {stamp} {json.dumps({key: str(value) for key, value in said.items() if value})}\n"
        )
    return "".join(lines).encode()


def as_cdx(rows: list[dict[str, Any]]) -> bytes:
    """What a CDX file of eleven fields can say of a crawl."""
    lines = [" CDX N b a m s k r M S V g\n"]
    for row in rows:
        stamp = "".join(char for char in row["time"] if char.isdigit())
        values = [row[name] or "-" for name in ("status", "digest", "redirect")]
        lines.append(
            "key {} {} text/html {} {} {} - {} 0 f\n".format(stamp, row["url"], *values, row["size"] or "-")
        )
    return "".join(lines).encode()


def as_columnar_index(rows: list[dict[str, Any]]) -> bytes:
    """The columns of the Common Crawl index."""
    names = {
        "url": "url",
        "status": "fetch_status",
        "size": "warc_record_length",
        "digest": "content_digest",
        "redirect": "fetch_redirect",
        "time": "fetch_time",
    }
    table = pa.Table.from_pylist([{names[name]: value for name, value in row.items()} for row in rows])
    times = table["fetch_time"].cast(pa.timestamp("ms", "UTC"))
    out = io.BytesIO()
    pq.write_table(table.set_column(table.schema.get_field_index("fetch_time"), "fetch_time", times), out)
    return out.getvalue()


WRITERS: dict[str, Callable[[list[dict[str, Any]]], bytes]] = {
    "crawl.jsonl": as_jsonl,
    "crawl.json": as_json,
    "crawl.csv": lambda rows: as_delimited(rows, ","),
    "semicolons.csv": lambda rows: as_delimited(rows, ";"),
    "crawl.tsv": lambda rows: as_delimited(rows, "\t"),
    "crawl.parquet": as_parquet,
    "crawl.cdxj": as_cdxj,
    "crawl.cdx": as_cdx,
    "index.parquet": as_columnar_index,
}


@pytest.mark.parametrize("name", WRITERS)
def test_one_crawl_in_every_format_is_the_same(name: str, tmp_path: Path) -> None:
    """The format makes no difference, and neither does the file's name."""
    for path in (tmp_path / name, tmp_path / "download"):
        path.write_bytes(WRITERS[name](CRAWL))
        assert rows_of(undust.read(path)) == known(CRAWL)


@pytest.mark.parametrize("name", list(WRITERS)[:6])
def test_formats_with_our_columns_hold_all_of_them(name: str, tmp_path: Path) -> None:
    """Sketches, canonical URLs and labels pass through every format that can hold them."""
    path = tmp_path / name
    path.write_bytes(WRITERS[name](MORE))
    assert rows_of(undust.read(path)) == known(MORE)


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("block", [7, 100, 4096])
def test_blocks_make_no_difference(name: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever a stream is cut, the rows are the same."""
    crawl = CRAWL[:40]
    data = WRITERS[name](crawl)
    monkeypatch.setattr("undust.reading.formats.rows.BLOCK_BYTES", block)
    source = named_format(name.partition(".")[2])
    table = pa.Table.from_batches(source.read(io.BytesIO(data), Reading(name)), SCHEMA)
    assert table["url"].to_pylist() == [row["url"] for row in crawl]


def test_words_and_numbers_say_whether_a_url_is_listed(tmp_path: Path) -> None:
    """Whatever a spreadsheet writes for true and false; anything else is counted."""
    path = tmp_path / "crawl.csv"
    words = ("yes", "No", " TRUE", "0", "1.0", "", "maybe")
    path.write_text("url,listed\n" + "".join(f"http://a.test/{at},{word}\n" for at, word in enumerate(words)))
    seen = undust.read(path)
    assert seen.table["listed"].to_pylist() == [True, False, True, False, True, None, None]
    assert "1 lost: listed is neither true nor false" in seen.report()


def test_columns_are_mapped_as_the_person_says(tmp_path: Path) -> None:
    """`--column url=address` and the like win over every guess."""
    path = tmp_path / "pages.csv"
    path.write_text("address,url,label\nhttp://shop.test/a,http://other.test/,7\n")
    seen = undust.read(path, columns={"url": "address", "cluster": "label"})
    assert rows_of(seen) == [{"url": "http://shop.test/a", "cluster": "7"}]


@pytest.mark.parametrize("name", ["crawl.csv", "crawl.jsonl", "crawl.parquet"])
def test_column_that_is_not_there_is_named(name: str, tmp_path: Path) -> None:
    """A wrong name is one sentence, with the names that there are."""
    path = tmp_path / name
    path.write_bytes(WRITERS[name]([{"seite": "x", "n": 1}, {"seite": "y", "n": 2}]))
    with pytest.raises(
        SourceError, match=r"no column is called url; .*--column url=NAME \(its columns are seite, n\)"
    ):
        undust.read(path, format=name.partition(".")[2])
    with pytest.raises(SourceError, match="there is no column 'colour'; undust knows url, status"):
        undust.read(path, columns={"colour": "n"}, format=name.partition(".")[2])


@pytest.mark.parametrize("name", ["crawl.jsonl", "crawl.json"])
def test_column_that_no_record_has_is_said(name: str, tmp_path: Path) -> None:
    """Every line of JSON may have other columns, so one that was named and never met is reported."""
    path = tmp_path / name
    path.write_bytes(WRITERS[name](CRAWL))
    report = undust.read(path, columns={"cluster": "label", "digest": "digest"}).report()
    assert "1 lost: no record has the column 'label'\n    the whole file" in report
    assert "'digest'" not in report


def test_only_column_that_holds_urls_is_taken(tmp_path: Path) -> None:
    """A table whose URL column has a name of its own needs no help if no other column holds URLs."""
    for name, text in (
        ("a.csv", "id,seite\n1,http://shop.test/a\n"),
        ("b.jsonl", '{"id": 1, "seite": "http://shop.test/a"}\n'),
    ):
        (tmp_path / name).write_text(text)
        assert undust.read(tmp_path / name).table["url"].to_pylist() == ["http://shop.test/a"]


values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(1 << 70), 1 << 70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(
        ["200", "2026-11-15T00:23:57Z", "20261115002357", "http://a.test/x", "[1, 2]", "-", "sha1:AB"]
    ),
    st.lists(st.integers(0, 1 << 66), max_size=3),
)
objects = st.dictionaries(st.sampled_from([*SCHEMA.names, "other"]), values, max_size=5)


@given(
    st.lists(
        st.one_of(objects, objects.map(lambda row: row | {"url": "http://a.test/"})), min_size=1, max_size=6
    )
)
def test_quick_and_slow_reading_of_json_agree(rows: list[dict[str, Any]]) -> None:
    """Arrow and Python read the same observations out of JSON lines, and object to the same values."""
    rows = [{"url": "http://a.test/first"}, *rows]
    results = []
    for at_once in (True, False):
        reading = Reading("lines", ReadOptions())
        batches = []
        with pytest.MonkeyPatch.context() as patch:
            if not at_once:
                patch.setattr(json_lines, "_by_arrow", lambda *_: None)
            batches = list(named_format("jsonl").read(io.BytesIO(as_jsonl(rows)), reading))
        counts = [
            {reason: noted.count for reason, noted in group.items()}
            for group in (reading.skipped, reading.lost)
        ]
        results.append((pa.Table.from_batches(batches, SCHEMA).to_pylist(), counts))
    assert results[0] == results[1]


def test_arrow_is_really_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines in order do not take the slow way, not even with gaps in them."""
    monkeypatch.setattr(json_lines, "_by_python", None)
    for rows in (MORE, CRAWL):
        assert list(named_format("jsonl").read(io.BytesIO(as_jsonl(rows)), Reading("lines")))


def test_long_records_are_skipped_as_one(tmp_path: Path) -> None:
    """A record of more than a mebibyte costs itself and nothing else, in every format of text."""
    long = "a" * (LONGEST_LINE + 10)
    a, b = "http://shop.test/a", "http://shop.test/b"
    texts = {
        "urls": f"{a}\nhttp://shop.test/{long}\n{b}\n",
        "jsonl": f'{{"url": "{a}"}}\n{{"url": "http://shop.test/{long}"}}\n{{"url": "{b}"}}\n',
        "json": f'[{{"url": "{a}"}},\n{{"url": "http://shop.test/{long}{long}"}},\n{{"url": "{b}"}}]',
        "csv": f"url,n\n{a},1\nhttp://shop.test/{long},2\n{b},3\n",
        "tsv": f"url\tn\n{a}\t1\nhttp://shop.test/{long}\t2\n{b}\t3\n",
        "cdxj": f'k 2026 {{"url": "{a}"}}\nk 2026 {{"url": "http://shop.test/{long}"}}\n'
        f'k 2026 {{"url": "{b}"}}\n',
        "sitemap": f"<urlset><url><loc>{a}</loc></url><url><loc>http://shop.test/{long}{long}</loc></url>"
        f"<url><loc>{b}</loc></url></urlset>",
    }
    for name, text in texts.items():
        path = tmp_path / name
        path.write_text(text)
        seen = undust.read(path, format=name)
        assert seen.table["url"].to_pylist() == [a, b], name
        assert seen.counts()["skipped"] == 1, name


def test_shelf_is_sorted_and_each_format_recognises_its_own() -> None:
    """Names are unique and in order; every writer's bytes are told from all other formats'."""
    assert [source.name for source in SOURCES] == sorted({source.name for source in SOURCES})
    for name, write in WRITERS.items():
        head = write(CRAWL)[:65536]
        scores = {source.name: source.recognises(head, "download") for source in SOURCES}
        assert max(scores, key=scores.__getitem__) == name.partition(".")[2], scores


@pytest.mark.parametrize(
    "text",
    [
        b"\x1b]0;title\x07 and more\nhttp://a.test/\x1b]0;title\x07?sid=1\n",
        b"\x00;b\nhttp://a.test/1;2\n",
        b"what, is this\nhttp://a.test/1\n",
        b"a; b; c\nhttp://a.test/1;v=2\n",
        b"a|b\nhttp://a.test/1\nhttp://a.test/2\nhttp://a.test/3\n",
    ],
)
def test_text_beside_urls_is_no_header(text: bytes) -> None:
    """Control characters name no column, and rows have a value for each name: this is a list."""
    scores = {source.name: source.recognises(text, "download") for source in SOURCES}
    assert max(scores, key=scores.__getitem__) == "urls", scores
    assert scores["urls"]


def test_a_table_whose_columns_have_names_of_their_own_is_a_table() -> None:
    """It is told by rows that have as many values as the header has names."""
    for text in (b"where;code\nhttp://a.test/1;200\n", b"n,where\n1,http://a.test/1\n2,http://a.test/2\n"):
        assert format_of(text, "download").name == "csv"


def test_real_tables_lose_nothing(needs_data: Callable[[str], Path]) -> None:
    """As many rows as an independent count finds, in real JSON lines, CDX answers and log tables."""
    for name in ("crawls/trac.jsonl.gz", "mirrors/momopeds.jsonl.gz", "cdx/cdx_avalanches_forum.tsv.gz"):
        path = needs_data(name)
        with gzip.open(path) as file:
            lines = file.read().splitlines()
        seen = undust.read(path)
        assert len(seen) == len(lines) - name.endswith(".tsv.gz")
        assert not any(seen.counts().values())
    with gzip.open(needs_data("logs/log_dabeaz.tsv.gz"), "rt") as file:
        methods = [line.split("\t")[0] for line in file][1:]
    seen = undust.read(needs_data("logs/log_dabeaz.tsv.gz"), base="http://www.dabeaz.test")
    assert len(seen) == sum(method in {"GET", "HEAD"} for method in methods)
    assert seen.counts() == {"skipped": 0, "passed over": len(methods) - len(seen), "lost": 0}


def test_real_crawl_keeps_its_values(needs_data: Callable[[str], Path]) -> None:
    """Each value of a real crawl comes out as Python's own JSON module reads it."""
    path = needs_data("crawls/trac.jsonl.gz")
    with gzip.open(path) as file:
        rows = [json.loads(line) for line in file]
    table = undust.read(path).table
    for name in ("url", "status", "size", "digest", "sketch"):
        assert table[name].to_pylist() == [row.get(name) for row in rows], name
