"""`apply`, `normalize` and `explain` read what `learn` reads, packed or plain, from files and pipes."""

from __future__ import annotations

import csv
import gzip
import io
import json
import subprocess
import sys
from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from tests.cli.command import run, sentence, start
from tests.reading.formats.damage import URLS, WHOLE
from undust.cli import main
from undust.files.streams import ZSTD
from undust.reading.formats import SOURCES, ReadOptions, format_of, named_format
from undust.rules import Rule, RuleSet

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

DROP_ID = "rewrite {s}://{h}/{p**}?id={**}&{rest**} → {s}://{h}/{p}?{rest}"
CANONICAL = [url.partition("?")[0] for url in URLS]
LINKED = [f"{url}&y=1" for url in URLS]
"""What the pages of the sample of links link to."""
TABLES = [source.name for source in SOURCES if source.is_table]
LOG = b'203.0.113.7 - - [15/Nov/2026:00:23:57 +0000] "GET /a?id=7 HTTP/1.1" 200 5120 "-" "-"\n'


def zstd(data: bytes) -> bytes:
    """Data as a .zst file holds it."""
    packer = ZSTD.new_packer()
    return packer.compress(data) + packer.flush()


PACKED: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.compress, ".zst": zstd}


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A rule file."""
    path: Path = tmp_path_factory.mktemp("rules") / "rules.json"
    RuleSet([Rule.parse(DROP_ID, site="shop.test")]).save(path)
    return str(path)


def ran(*words: str | Path, data: bytes = b"") -> Result:
    """Run the command in this process, where a traceback is never right."""
    result = CliRunner().invoke(main, [str(word) for word in words], input=data)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@cache
def _upper(name: str) -> bytes:
    """A sample whose URLs are not in their standard form; as long as before, so that lengths stay true."""
    if name == "parquet":
        table = pq.read_table(io.BytesIO(WHOLE[name]))
        urls = pa.array([url.replace("http:", "HTTP:") for url in table["url"].to_pylist()])
        out = io.BytesIO()
        pq.write_table(table.set_column(0, "url", urls), out, row_group_size=2)
        return out.getvalue()
    # ARC has no mark of its own before a record but its URL, which warcio wants in lower case.
    return WHOLE[name] if name == "arc" else WHOLE[name].replace(b"http://", b"HTTP://")


def results_of(name: str, out: bytes, column: str) -> list[str | None]:  # noqa: PLR0911 -- one a format
    """The results in what a command wrote for an input of a format."""
    if name == "parquet":
        found: list[str | None] = pq.read_table(io.BytesIO(out))[column].to_pylist()
        return found
    text = out.decode()
    if name == "json":
        return [row[column] for row in json.loads(text)]
    if name == "jsonl":
        return [json.loads(line)[column] for line in text.splitlines()]
    if name == "cdxj":
        return [json.loads(line.split(" ", 2)[2])[column] for line in text.splitlines()]
    if name == "cdx":
        header, *lines = text.splitlines()
        assert header.endswith(f" {column}")
        return [line.rpartition(" ")[2] for line in lines]
    if name in {"csv", "tsv"}:
        delimiter = "," if name == "csv" else "\t"
        return [row[column] for row in csv.DictReader(io.StringIO(text), delimiter=delimiter)]
    return list(text.splitlines())


@pytest.mark.parametrize("suffix", PACKED)
@pytest.mark.parametrize("name", WHOLE)
def test_every_format_in_every_packing(name: str, suffix: str, rules: str, tmp_path: Path) -> None:
    """Each command gives the same for a file, for a pipe, and with the format named."""
    path = tmp_path / f"download{suffix}"
    path.write_bytes(PACKED[suffix](_upper(name)))
    expected = {"apply": CANONICAL, "normalize": URLS}
    named: tuple[str, ...] = ()
    if name == "links":  # a WARC file is one of pages until a person asks for their links
        named = ("--format", name)
        expected = {"apply": [url.replace("id=7&", "") for url in LINKED], "normalize": LINKED}
    for command, column in (("apply", "canonical_url"), ("normalize", "normalized_url")):
        words = [command, *named, rules] if command == "apply" else [command, *named]
        by_name = ran(*words, path)
        assert by_name.exit_code == 0, by_name.stderr
        assert (by_name.stderr == "") == (name != "arc")  # whose header is a record, and passed over
        assert results_of(name, by_name.stdout_bytes, column) == expected[command]
        assert ran(*words, path, "--format", name).stdout_bytes == by_name.stdout_bytes
        assert ran(*words, data=path.read_bytes()).stdout_bytes == by_name.stdout_bytes
        as_lines = ran(*words, path, "--output-format", "lines", "-o", tmp_path / "out")
        assert (as_lines.exit_code, as_lines.stdout) == (0, "")
        assert (tmp_path / "out").read_text().split() == expected[command]
    for words, data in (([str(path)], b""), (["-"], path.read_bytes())):
        explained = ran("explain", "--json", *named, rules, *words, data=data)
        assert explained.exit_code == 0, explained.stderr
        told = [json.loads(line)["canonical"] for line in explained.stdout.splitlines()]
        assert told == expected["apply"]


def test_no_format_is_forgotten() -> None:
    """Whoever adds a format adds it for all commands."""
    assert set(WHOLE) == {source.name for source in SOURCES}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_keeps_all_else(name: str, rules: str, tmp_path: Path) -> None:
    """A column more, or a column changed in its place; every other byte stays."""
    path = tmp_path / "table"
    path.write_bytes(WHOLE[name])
    place = "a" if name == "cdx" else "url"
    changed = ran("apply", rules, path, "--into", place).stdout_bytes
    if name == "parquet":
        before, after = pq.read_table(path), pq.read_table(io.BytesIO(changed))
        assert after.drop_columns(["url"]).equals(before.drop_columns(["url"]))
        assert after["url"].to_pylist() == CANONICAL
        return
    assert changed == WHOLE[name].replace(b"?id=7", b"")
    some = ran("apply", rules, path, "--only-changed", "--stats")
    assert "distinct: 4 before, 4 after" in some.stderr
    assert some.stdout_bytes == ran("apply", rules, path).stdout_bytes or name == "json"
    assert results_of(name, some.stdout_bytes, "canonical_url") == CANONICAL
    none = ran("normalize", path, "--json", "-o", tmp_path / "out")
    assert {key: json.loads(none.stdout)[key] for key in ("lines", "changed", "not_urls")} == {
        "lines": 4,
        "changed": 0,
        "not_urls": 0,
    }


ODD_CSV = b'\xef\xbb\xbfid;"link";note\r\n1;"HTTP://a.test/;x";"two\nlines; ""q"""\r\n\r\n2;HTTP://b.test;caf\xe9\n3\n'


def test_odd_csv_is_kept_byte_for_byte(tmp_path: Path) -> None:
    """Another delimiter, quotes, line breaks in values, both ends of lines, bytes that are no UTF-8."""
    path = tmp_path / "odd"
    path.write_bytes(ODD_CSV)
    assert ran("normalize", path).stdout_bytes == (
        b'id;"link";note;normalized_url\r\n'
        b'1;"HTTP://a.test/;x";"two\nlines; ""q""";"http://a.test/;x"\r\n'
        b"2;HTTP://b.test;caf\xe9;http://b.test/\n3;;;\n"
    )
    assert ran("normalize", path, "--column", "url=link", "--into", "id").stdout_bytes == (
        b'id;"link";note\r\n"http://a.test/;x";"HTTP://a.test/;x";"two\nlines; ""q"""\r\n'
        b"http://b.test/;HTTP://b.test;caf\xe9\n;;\n"
    )
    assert ran("normalize", path, "--into", "note").stdout_bytes.endswith(
        b"2;HTTP://b.test;http://b.test/\n3;;\n"
    )
    assert ran("normalize", path, "--into", "link").stdout_bytes.startswith(
        b'id;"link";note\r\n1;"http://a.test/;x"'
    )


def test_a_record_may_lie_in_two_blocks(tmp_path: Path) -> None:
    """A quoted value with line breaks is whole, wherever the blocks of the file end."""
    rows = "".join(f'{n},HTTP://a.test/{n},"{"x" * 50}\n{"y" * 50}"\n' for n in range(30_000))
    (tmp_path / "large").write_text(f"id,url,note\n{rows}")
    out = ran("normalize", tmp_path / "large").stdout
    read = list(csv.DictReader(io.StringIO(out, newline="")))
    assert [row["normalized_url"] for row in read] == [f"http://a.test/{n}" for n in range(30_000)]
    assert {row["note"] for row in read} == {"x" * 50 + "\n" + "y" * 50}


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ('{"a": {"url": "HTTP://no.test"}, "url": "HTTP://a.test"}', '"url": "http://a.test/"}'),
        ('{"url": "HTTP:\\/\\/a.test", "b": [1e2, [[{}]]]}', '{"url": "http://a.test/", "b": [1e2, [[{}]]]}'),
        ('{"\\u0075rl": "HTTP://a.test"}', '{"\\u0075rl": "http://a.test/"}'),
        ('{"url": ["HTTP://a.test"], "n": 1.50}', '{"url": "http://a.test/", "n": 1.50}'),
        ('{"x": "\\"url\\": \\"HTTP://no.test\\"", "url": "HTTP://a.test"}', '"url": "http://a.test/"}'),
        ('{ "url" : "HTTP://a.test" , "x": -0.10 }', '{ "url" : "http://a.test/" , "x": -0.10 }'),
    ],
)  # fmt: skip
def test_nested_json_is_changed_where_it_should_be(line: str, changed: str) -> None:
    """The member of the object itself, however it is written, and not a byte besides."""
    out = ran("normalize", "--into", "url", data=line.encode() + b"\r\n").stdout_bytes.decode()
    assert out.endswith(f"{changed}\r\n"), out
    assert "HTTP://a" not in out
    assert out.count("HTTP://no.test") == line.count("HTTP://no.test")
    in_array = ran("normalize", "--into", "url", data=f"[\n {line},\n {line} ]".encode()).stdout
    assert in_array == f"[\n {out.strip()},\n {out.strip()} ]"


@pytest.mark.parametrize(
    "kind",
    [
        *(pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary()),
        pa.dictionary(pa.int8(), pa.string()),
    ],
    ids=str,
)
def test_parquet_of_any_type_of_text(kind: pa.DataType, tmp_path: Path) -> None:
    """The column may be any kind of text, keeps it, and the other columns theirs, over row groups."""
    urls = ["HTTP://a.test", None, "HTTP://b.test", "HTTP://a.test"]
    table = pa.table(
        {
            "n": pa.array([[1], None, [], [2, 3]], pa.list_(pa.int8())),
            "url": pa.array(urls).dictionary_encode().cast(kind)
            if pa.types.is_dictionary(kind)
            else pa.array(urls).cast(kind),
            "when": pa.array([1, 2, None, 4], pa.timestamp("ms", "UTC")),
        }
    )
    pq.write_table(table, tmp_path / "in", row_group_size=2)
    for words in ([], ["--into", "url"]):
        out = ran("normalize", tmp_path / "in", *words, data=b"")
        assert out.exit_code == 0, out.stderr
        read = pq.read_table(io.BytesIO(out.stdout_bytes))
        column = read["url" if words else "normalized_url"]
        texts = [value.decode() if isinstance(value, bytes) else value for value in column.to_pylist()]
        assert texts == ["http://a.test/", None, "http://b.test/", "http://a.test/"]
        assert read.select(["n", "when"]).equals(table.select(["n", "when"]))
        if words:
            assert read.schema.field("url").type == pq.read_table(tmp_path / "in").schema.field("url").type


@pytest.mark.parametrize(
    "first",
    [" CDX N b a m s k S", "urlkey timestamp original mimetype statuscode digest length", None],
)
def test_cdx_with_and_without_a_header(first: str | None) -> None:
    """The fields of a capture stay, and one comes behind them."""
    line = "test,a)/ 20261115002357 HTTP://a.test:80/ text/html 200 ABC 512"
    data = "".join(f"{each}\n" for each in (first, line, line) if each is not None)
    out = ran("normalize", data=data.encode())
    assert (out.exit_code, out.stderr) == (0, "")
    header = [] if first is None else [f"{first} normalized_url"]
    assert out.stdout.splitlines() == [*header, *[f"{line} http://a.test/"] * 2]
    replaced = ran("normalize", "--into", "original", data=data.encode()).stdout
    assert replaced == data.replace("HTTP://a.test:80/", "http://a.test/")


def test_a_table_of_a_cdx_server_by_its_column(tmp_path: Path) -> None:
    """`--column original` of a table with tabs, which was glued together."""
    path = tmp_path / "cdx.tsv.gz"
    path.write_bytes(
        gzip.compress(b"original\ttimestamp\tstatuscode\nHTTP://a.test:80/x\t20070202194534\t200\n")
    )
    out = ran("normalize", path, "--column", "original").stdout
    assert out.splitlines()[1] == "HTTP://a.test:80/x\t20070202194534\t200\thttp://a.test/x"


def test_logs_give_one_url_a_record(rules: str, tmp_path: Path) -> None:
    """With a virtual host, or with --base; what is not a page request is reported and left out."""
    post = LOG.replace(b"GET", b"POST")
    (tmp_path / "log").write_bytes(LOG + post + LOG)
    ended = ran("apply", rules, tmp_path / "log")
    assert (ended.exit_code, ended.stdout) == (1, "")
    assert "--base https://your.site" in ended.stderr
    ended = ran("apply", rules, tmp_path / "log", "--base", "http://shop.test")
    assert ended.stdout == "http://shop.test/a\n" * 2
    assert "1 passed over: neither a GET nor a HEAD request" in ended.stderr
    assert ran("apply", rules, tmp_path / "log", "--base", "http://shop.test", "-q").stderr == ""
    told = json.loads(
        ran("apply", rules, tmp_path / "log", "--base", "http://shop.test", "--json", "-q").stdout
    )
    assert (told["urls"], told["records_passed_over"]) == (2, 1)
    hosts = b"shop.test:443 " + LOG + b"www.shop.test:80 " + LOG
    assert ran("normalize", data=hosts).stdout == "https://shop.test/a?id=7\nhttp://www.shop.test/a?id=7\n"
    own = ran("normalize", "--log-format", "$host|$request_uri", data=b"shop.test|/a\nshop.test|/b\n")
    assert own.stdout == "http://shop.test/a\nhttp://shop.test/b\n"
    table = ran("normalize", "--output-format", "csv", data=hosts).stdout
    assert table.splitlines()[:2] == [
        "url,normalized_url",
        "https://shop.test/a?id=7,https://shop.test/a?id=7",
    ]


def test_paths_get_the_base(tmp_path: Path) -> None:
    """In lists and tables as in logs; without it, it is asked for."""
    paths = pa.table({"url": ["/a", "/b?c", None, "HTTP://a.test/"]})
    pq.write_table(paths, tmp_path / "parquet")
    (tmp_path / "tsv").write_bytes(b"method\turl\nGET\t/a\nGET\t/b?c\nGET\t\nGET\tHTTP://a.test/\n")
    (tmp_path / "urls").write_bytes(b"/a\n/b?c\n\nHTTP://a.test/\n")
    for name in ("parquet", "tsv", "urls"):
        words = ["normalize", str(tmp_path / name), "--output-format", "lines", "--format", name]
        ended = ran(*words, "--base", "HTTPS://shop.test/")
        assert ended.stdout == "https://shop.test/a\nhttps://shop.test/b?c\n\nhttp://a.test/\n", name
    (tmp_path / "tsv").write_bytes(b"method\turl\nGET\t/a\nGET\t/b?c\n")
    ended = ran("normalize", tmp_path / "tsv")
    assert ended.exit_code == 1
    assert (
        "2 of 2 values of the column 'url' are not URLs; they are paths; say whose they are: --base"
        in ended.stderr
    )


# What does not fit


def test_a_line_with_a_tab_is_not_a_url() -> None:
    """It is neither glued together nor lost: alone it is an error, among URLs it passes as it is."""
    row = b"http://a.test/x\t200\tOK\n"
    told = sentence(run("normalize", data=row))
    assert told.startswith("standard input: 1 of its first 1 lines are not URLs; its lines have tabs")
    assert run("normalize", "--format", "lines", data=row).code == 1
    mixed = b"HTTP://a.test\n" + row + b"\tHTTP://b.test \r\n"
    ended = run("normalize", data=mixed)
    assert ended == (0, b"http://a.test/\n" + row + b"http://b.test/\r\n", "")
    told = json.loads(run("normalize", "--json", data=mixed).out)
    assert (told["lines"], told["changed"], told["not_urls"]) == (3, 2, 1)


def test_a_column_of_plain_lines_is_an_error(rules: str, tmp_path: Path) -> None:
    """So it is for logs and for URLs on the command line; a table made of a list has columns."""
    (tmp_path / "urls").write_bytes(WHOLE["urls"])
    for words in (["apply", rules], ["normalize"], ["explain", rules]):
        told = sentence(run(*words, tmp_path / "urls", "--column", "url"), 2)
        assert told.startswith(
            f"{tmp_path / 'urls'} has no columns, as it is plain lines; leave out --column"
        )
    assert "leave out --into" in sentence(run("normalize", tmp_path / "urls", "--into", "x"), 2)
    assert "a URL has no columns" in sentence(run("explain", rules, URLS[0], "--column", "url"), 2)
    out = ran("normalize", tmp_path / "urls", "--column", "a", "--into", "b", "--output-format", "csv").stdout
    assert out.splitlines()[0] == "a,b"


@pytest.mark.parametrize("name", TABLES)
def test_a_missing_column_is_an_error(name: str, tmp_path: Path) -> None:
    """One sentence that names the columns there are, and no output."""
    (tmp_path / "table").write_bytes(WHOLE[name])
    ended = ran("normalize", tmp_path / "table", "--column", "nowhere", "-o", tmp_path / "out")
    assert ended.exit_code == 1
    assert ended.stderr.startswith(
        f"undust: {tmp_path / 'table'}: there is no column 'nowhere'; its columns are "
    )
    assert not (tmp_path / "out").exists()


def test_a_format_that_fits_badly_is_an_error(rules: str, tmp_path: Path) -> None:
    """How many do not fit, what it looks like, what to give; exit code 1, and no output."""
    (tmp_path / "log").write_bytes(LOG * 2000)
    (tmp_path / "out").write_bytes(b"old")
    told = sentence(run("apply", rules, tmp_path / "log", "--format", "lines", "-o", tmp_path / "out"))
    expected = "2,000 of 2,000 lines are not URLs; this looks like an access log: give --format log"
    assert told == f"{tmp_path / 'log'}: {expected}"
    assert (tmp_path / "out").read_bytes() == b"old"
    told = sentence(run("normalize", "--format", "log", data=WHOLE["csv"]))
    assert told.startswith(
        "standard input: 5 of 5 records are not in the format access-log; this looks like CSV"
    )
    told = sentence(run("normalize", "--column", "digest", data=WHOLE["csv"]))
    assert told.startswith(
        "standard input: 4 of 4 values of the column 'digest' are not URLs; name the column"
    )
    for command in (["apply", rules], ["normalize"], ["explain", rules, "-"]):
        assert sentence(run(*command, data=b"one\n")).startswith("standard input: 1 of 1 lines are not URLs")


def test_the_threshold_is_more_than_half() -> None:
    """Half of the lines may be something else, blank ones aside; if the person said lines, all but one."""
    bad, good = b"mailto:me@a.test\n", b"http://a.test/\n"
    assert ran("normalize", data=good + bad + b"\n\n \n").exit_code == 0
    ended = ran("normalize", data=good + bad * 2)
    assert ended.exit_code == 1
    assert "give --format lines to pass them on unchanged" in ended.stderr or "--format" in ended.stderr
    assert ran("normalize", "--format", "lines", data=good + bad * 2).stdout_bytes == good + bad * 2
    assert ran("normalize", "--format", "lines", data=bad * 2).exit_code == 1
    assert ran("normalize", data=b"\n\n").exit_code == 0


def test_empty_input(rules: str, tmp_path: Path) -> None:
    """Nothing in, nothing out."""
    (tmp_path / "none").write_bytes(b"")
    for words in (["apply", rules], ["normalize"], ["explain", rules]):
        ended = ran(*words, tmp_path / "none")
        assert (ended.exit_code, ended.stdout, ended.stderr) == (0, "", "")


def test_a_mark_of_utf8_is_no_part_of_a_url(rules: str) -> None:
    """Windows puts it before everything."""
    mark = b"\xef\xbb\xbf"
    for name in ("urls", "csv", "tsv", "jsonl", "json", "cdxj"):
        assert (
            ran("apply", rules, data=mark + WHOLE[name]).stdout_bytes
            == ran("apply", rules, data=WHOLE[name]).stdout_bytes
        )


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"url,n\nhttp://a.test/,1,2\n", ":2: it has 3 values and the header names 2; correct the line"),
        (b'url,n\n"http://a.test/,1\n', ":2: a quote that is never closed; close it, or give --format"),
        (b'[{"url": "http://a.test/"}, {"url": ', "cut off in the middle"),
        (b'[{"url": "http://a.test/"}\n', "the array has no end; get the file again"),
        (b'{"url": "http://a.test/"}\n{"url": "http://a.te', "row 2 is not a JSON object"),
        (b'{"url": "http://a.test/"}\n{"url": "http://a.test/", "x": {bad}}\n', "row 2 is not a JSON object"),
    ],
)  # fmt: skip
def test_a_damaged_row_is_an_error(data: bytes, told: str) -> None:
    """A table that passes through is written whole or not at all."""
    ended = ran("normalize", data=data)
    assert ended.exit_code == 1
    assert told in ended.stderr


# Pipes, and what is loaded


def test_a_pipe_of_lines_is_answered_line_by_line(rules: str) -> None:
    """Also if the first question is not a URL, and also for JSON lines."""
    questions = (
        (b"mailto:x\n", b"mailto:x\n", b"HTTP://shop.test/?id=1\n", b"http://shop.test/\n"),
        (
            b'{"url": "HTTP://shop.test"}\n',
            b'{"url": "HTTP://shop.test", "canonical_url": "http://shop.test/"}\n',
            b'{"url": null}\n',
            b'{"url": null, "canonical_url": null}\n',
        ),
    )
    for first, answer, second, last in questions:
        with start("apply", rules) as process:
            assert process.stdin
            assert process.stdout
            for question, expected in ((first, answer), (second, last)):
                process.stdin.write(question)
                process.stdin.flush()
                assert process.stdout.readline() == expected
            process.stdin.close()
        assert process.returncode == 0


@pytest.mark.parametrize("name", ["urls", "csv", "tsv", "jsonl", "json", "cdx", "cdxj"])
def test_text_needs_no_pyarrow(name: str, rules: str, tmp_path: Path) -> None:
    """What is lines of text passes without the seconds that Arrow takes to load."""
    (tmp_path / "in").write_bytes(WHOLE[name])
    program = (
        "import sys\nfrom undust.cli import main\n"
        f"main(['apply', {rules!r}, {str(tmp_path / 'in')!r}, '-o', '/dev/null'], standalone_mode=False)\n"
        "print(*(name for name in ('pyarrow', 'rich', 'numpy', 'duckdb') if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize("name", WHOLE)
def test_one_place_decides_what_a_file_is(name: str, rules: str, tmp_path: Path) -> None:
    """The commands take a file for what `learn` takes it for; links are read only if they are named."""
    (tmp_path / "download").write_bytes(WHOLE[name])
    recognised = "warc" if name == "links" else name
    assert format_of(WHOLE[name][:65_536], "download", ReadOptions()).name == recognised
    assert named_format({"urls": "lines", "access-log": "log"}.get(name, name)).name == name
    assert ran("explain", "--json", rules, tmp_path / "download").stdout.count("\n") == len(URLS)


def test_several_files(rules: str, tmp_path: Path) -> None:
    """Lists and records follow each other; a table is alone, which is said before anything is written."""
    for name in ("urls", "warc", "access-log", "csv"):
        (tmp_path / name).write_bytes(WHOLE[name].removesuffix(b"\n") if name == "urls" else WHOLE[name])
    words = ["apply", rules, *(str(tmp_path / name) for name in ("urls", "warc", "access-log"))]
    assert ran(*words).stdout.splitlines() == CANONICAL * 3
    ended = ran(*words, tmp_path / "csv")
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "give one FILE at a time" in ended.stderr


def test_explaining_urls_and_files_together(rules: str, tmp_path: Path) -> None:
    """In the order in which they are named; a URL is a URL even if there is a file of that name."""
    (tmp_path / "urls").write_bytes(WHOLE["urls"] + b"\n")
    ended = ran("explain", rules, "HTTP://shop.test/first", tmp_path / "urls", "no-such-file")
    shown = [line.removeprefix("canonical  ") for line in ended.stdout.splitlines() if "canonical" in line]
    assert shown == ["http://shop.test/first", *CANONICAL, "no-such-file"]
