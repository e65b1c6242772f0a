"""`undust apply` as people run it: lists and tables in, in order, whatever their state."""

from __future__ import annotations

import csv
import gzip
import io
import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.command import peak_memory_bytes, run, sentence, start
from undust.rules import Rule, RuleSet
from undust.statistics import Distinct

DROP_SID = "rewrite {s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p}?{rest}"
PHP3 = 'replace ".php3?" → "?"'
MASK = "rewrite {s}://{h}/u/{x}?{rest**} → {s}://{h}/u/{x:any}?{rest}"

URLS = [
    "http://shop.test/a?sid=1&b=2",
    "HTTP://Shop.test/a?b=2",
    "",
    "not a URL",
    "http://shop.test/x.php3?y&sid",
    "http://other.test/a?sid=1",
    "http://shop.test/u/7",
    "http://shop.test/a?sid=3&b=2",
]
CANONICAL = [
    "http://shop.test/a?b=2",
    "http://shop.test/a?b=2",
    "",
    "not a URL",
    "http://shop.test/x?y",
    "http://other.test/a?sid=1",
    "http://shop.test/u/7",
    "http://shop.test/a?b=2",
]
KEYS = [*CANONICAL[:6], "http://shop.test/u/*", CANONICAL[7]]


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A rule file."""
    path: Path = tmp_path_factory.mktemp("rules") / "rules.json"
    RuleSet([Rule.parse(line, site="shop.test") for line in (DROP_SID, PHP3, MASK)]).save(path)
    return path


def lines(*texts: str) -> bytes:
    """Texts as lines."""
    return "".join(f"{text}\n" for text in texts).encode()


def test_lines_in_lines_out(rules: Path) -> None:
    """One line for each line, in the same order."""
    ended = run("apply", rules, data=lines(*URLS))
    assert (ended.code, ended.out, ended.err) == (0, lines(*CANONICAL), "")


def test_keys(rules: Path) -> None:
    """Keys differ from canonical forms by the masks."""
    assert run("apply", rules, "--key", data=lines(*URLS)).out == lines(*KEYS)


def test_only_what_changes(rules: Path) -> None:
    """Lines that stay as they are, too long ones among them, are left out."""
    long = "http://shop.test/" + "a" * (1 << 20)
    changed = [new for old, new in zip(URLS, CANONICAL, strict=True) if old != new]
    assert run("apply", rules, "--only-changed", data=lines(*URLS, long)).out == lines(*changed)


def test_without_rules_apply_is_normalize(tmp_path: Path) -> None:
    """An empty rule file leaves standard normalization, byte for byte."""
    (tmp_path / "none.json").write_bytes(RuleSet().dumps())
    data = (
        lines(*URLS, "http://a.test/%7e#x\r", "http://b.test/\u00fc") + b"http://c.test/\xff\nhttp://d.test"
    )
    assert run("apply", tmp_path / "none.json", data=data).out == run("normalize", data=data).out


def test_several_files_and_packed_ones(rules: Path, tmp_path: Path) -> None:
    """Files are read one after the other; a missing line feed at the end of one glues nothing."""
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"http://shop.test/?sid=1"))
    (tmp_path / "b.txt").write_bytes(b"http://shop.test/?sid=2\n")
    ended = run("apply", rules, tmp_path / "a.txt.gz", tmp_path / "b.txt", "-o", tmp_path / "out.gz")
    assert (ended.code, ended.out) == (0, b"")
    assert gzip.decompress((tmp_path / "out.gz").read_bytes()) == lines(*["http://shop.test/"] * 2)


def test_threads_keep_the_order(rules: Path) -> None:
    """Any number of threads gives the same bytes."""
    data = lines(*(f"http://shop.test/{number}?sid={number}&n={number * 7}" for number in range(60_000)))
    expected = lines(*(f"http://shop.test/{number}?n={number * 7}" for number in range(60_000)))
    for threads in (1, 2, 5):
        assert run("apply", rules, "--threads", str(threads), data=data).out == expected


def test_statistics(rules: Path) -> None:
    """How many URLs, how many differ, and what each rule did, on stderr."""
    ended = run("apply", rules, "--key", "--stats", data=lines(*URLS))
    assert ended.out == lines(*KEYS)
    first, second, *by_rule = ended.err.splitlines()
    assert first.startswith("8 URLs: 5 changed, 2 not URLs; ")
    assert second == "distinct: 8 before, 6 after"
    shop = RuleSet.load(rules)
    assert by_rule == [
        f"3  rule 1 ({shop[0].id[:8]})  {DROP_SID}",
        f"1  rule 2 ({shop[1].id[:8]})  {PHP3}",
        f"1  rule 3 ({shop[2].id[:8]})  {MASK}",
    ]


def test_counts_as_json(rules: Path, tmp_path: Path) -> None:
    """A machine reads the same, and stdout holds nothing else."""
    ended = run("apply", rules, "--stats", "--json", data=lines(*URLS, "http://u@shop.test/"))
    told: dict[str, Any] = json.loads(ended.out)
    assert ended.err == ""
    assert told.pop("seconds") >= 0
    assert [(rule["number"], rule["urls"]) for rule in told.pop("rules")] == [(1, 3), (2, 1)]
    assert told == {
        "urls": 9,
        "changed": 4,
        "not_urls": 2,
        "skipped": 1,
        "unresolved": 0,
        "too_long": 0,
        "distinct_before": 9,
        "distinct_after": 7,
        "distinct_is_exact": True,
    }
    ended = run("apply", rules, "--json", "-o", tmp_path / "out.txt", data=lines(*URLS))
    assert json.loads(ended.out)["urls"] == 8
    assert (tmp_path / "out.txt").read_bytes() == lines(*CANONICAL)


@pytest.mark.parametrize("options", [[], ["--only-changed"]])
def test_a_list_becomes_a_table(rules: Path, tmp_path: Path, options: list[str]) -> None:
    """Two columns: the URL as it was, and what it became."""
    pairs = [
        {"url": old, "canonical_url": new}
        for old, new in zip(URLS, CANONICAL, strict=True)
        if not options or old != new
    ]
    (tmp_path / "urls.txt").write_bytes(lines(*URLS))
    command = ["apply", str(rules), str(tmp_path / "urls.txt"), *options, "--output-format"]
    out = run(*command, "jsonl").out.decode()
    assert [json.loads(line) for line in out.splitlines()] == pairs
    assert list(csv.DictReader(io.StringIO(run(*command, "csv").out.decode()))) == pairs
    assert run(*command, "parquet", "-o", tmp_path / "out.parquet").code == 0
    assert pq.read_table(tmp_path / "out.parquet").to_pylist() == pairs


JSON_LINES = b"""{"n": 1.50, "url": "http://shop.test/a?sid=1", "x": "\\u00fc"}

{"url":null}
{}
{ "url" : "http://shop.test/b?sid", "canonical_url": 7, "y": [1e2] }
"""


def test_json_lines_keep_everything_else(rules: Path, tmp_path: Path) -> None:
    """The bytes of other columns stay; a column that is there is replaced."""
    (tmp_path / "crawl.jsonl").write_bytes(JSON_LINES)
    ended = run("apply", rules, tmp_path / "crawl.jsonl")
    assert ended.out == (
        b'{"n": 1.50, "url": "http://shop.test/a?sid=1", "x": "\\u00fc", "canonical_url": "http://shop.test/a"}\n'
        b'{"url":null, "canonical_url": null}\n'
        b'{"canonical_url": null}\n'
        b'{ "url" : "http://shop.test/b?sid", "canonical_url": "http://shop.test/b", "y": [1e2] }\n'
    )
    ended = run("apply", rules, tmp_path / "crawl.jsonl", "--output-format", "lines", "--only-changed")
    assert ended.out == lines("http://shop.test/a", "http://shop.test/b")
    piped = run("apply", rules, "--output-format", "jsonl", "--into", "url", data=JSON_LINES).out
    assert [json.loads(line).get("url") for line in piped.splitlines()] == [
        "http://shop.test/a",
        None,
        None,
        "http://shop.test/b",
    ]


REMOVE = "remove it, or give --format lines for a list of URLs"
NAME = "name the column of the URLs with --column"
CSV = (
    b"\xef\xbb\xbfid,link,note\r\n"
    b'007,http://shop.test/a?sid=1,"two\nlines, ""quoted"""\r\n'
    b"8,nothing,\r\n9\r\n"
)


def test_csv_keeps_everything_else(rules: Path, tmp_path: Path) -> None:
    """Values stay texts, short rows are filled, a column that is there is replaced in its place."""
    (tmp_path / "crawl.csv.gz").write_bytes(gzip.compress(CSV))
    ended = run("apply", rules, tmp_path / "crawl.csv.gz", "--column", "link", "--key")
    assert list(csv.reader(io.StringIO(ended.out.decode(), newline=""))) == [
        ["id", "link", "note", "key"],
        ["007", "http://shop.test/a?sid=1", 'two\nlines, "quoted"', "http://shop.test/a"],
        ["8", "nothing", "", "nothing"],
        ["9", "", "", ""],
    ]
    ended = run("apply", rules, "--output-format", "csv", "--column", "link", "--into", "link", data=CSV)
    assert ended.out.splitlines()[:2] == [b"id,link,note", b'007,http://shop.test/a,"two']


def test_parquet_keeps_everything_else(rules: Path, tmp_path: Path) -> None:
    """Columns keep their types, and nulls stay nulls."""
    table = pa.table(
        {
            "url": pa.array(["http://shop.test/a?sid=1", None, "x"], pa.large_string()),
            "n": pa.array([1, None, 3], pa.int16()),
        }
    )
    pq.write_table(table, tmp_path / "in.parquet")
    ended = run("apply", rules, tmp_path / "in.parquet", "-o", tmp_path / "out.parquet")
    assert (ended.code, ended.err) == (0, "")
    expected = table.append_column("canonical_url", pa.array(["http://shop.test/a", None, "x"]))
    assert pq.read_table(tmp_path / "out.parquet").equals(expected)
    pq.write_table(table.slice(0, 0), tmp_path / "empty.parquet")
    assert run("apply", rules, tmp_path / "empty.parquet", "-o", tmp_path / "out.parquet").code == 0
    assert pq.read_table(tmp_path / "out.parquet").schema.names == ["url", "n", "canonical_url"]


@pytest.mark.parametrize(
    ("name", "content", "options", "expected"),
    [
        ("a.jsonl", b'{"url": "x"}\n[1]\n', [], f"row 2 is not a JSON object; {REMOVE}"),
        ("a.jsonl", b'{"url": 7}\n', [], f"'url' in row 1 is not text; {NAME}"),
        ("a.csv", b"id,url\n", ["--column", "link"], "there is no column 'link'; its columns are id, url"),
        ("a.csv", b"", [], "no column 'url'; name one with --column (there are: none)"),
        ("a.csv", b"url\n\xff\n", [], f"1 of 1 values of the column 'url' are not URLs; {NAME}"),
        ("a.parquet", b"PAR1 and no more", [], None),
        ("a.parquet", b"", [], None),
    ],
)  # fmt: skip
def test_a_damaged_table_is_told_in_one_sentence(
    rules: Path, tmp_path: Path, name: str, content: bytes, options: list[str], expected: str | None
) -> None:
    """File, place and mend; and no half-written output."""
    (tmp_path / name).write_bytes(content)
    told = sentence(run("apply", rules, tmp_path / name, *options, "-o", tmp_path / "out"))
    assert told.startswith(f"{tmp_path / name}:")
    assert expected is None or told.removeprefix(f"{tmp_path / name}:").removeprefix("2:") == f" {expected}"
    assert sorted(path.name for path in tmp_path.iterdir()) == [name]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["-"], "stdin can be read once, so name a file for the rules or for the URLs"),
        (["R", "--json", "-o", "-"], "--json needs stdout for itself, so name a file with -o"),
        (["R", "R", "R", "--format", "csv"], "tables have columns of their own, so give one FILE at a time"),
        (
            ["R", "R", "--format", "csv", "--output-format", "jsonl"],
            "a table keeps its format: --output-format csv or lines for this FILE, not jsonl",
        ),
    ],
)
def test_wrong_usage(rules: Path, options: list[str], expected: str) -> None:
    """What makes no sense is said before anything is done."""
    words = [str(rules) if word == "R" else word for word in options]
    assert sentence(run("apply", *words), 2) == f"{expected}; see 'undust apply --help'"


def test_bad_rules_are_told_before_anything_is_read(tmp_path: Path) -> None:
    """The sentence of the rule file, and exit code 1."""
    (tmp_path / "bad.json").write_text('{"format": "undust-rules", "version": 9, "rules": []}')
    told = sentence(run("apply", tmp_path / "bad.json", data=b"http://a.test\n"))
    reason = "version 9 of the rule format, and this undust reads versions 1 and 2; update undust"
    assert told == f"{tmp_path / 'bad.json'}: {reason}"
    assert (
        sentence(run("apply", tmp_path / "none.json"))
        == f"{tmp_path / 'none.json'}: there is no such file; check the name"
    )


def test_a_closed_pipe_ends_cleanly(rules: Path, tmp_path: Path) -> None:
    """`| head` is not an error, in any format."""
    (tmp_path / "urls.txt").write_bytes(lines(*URLS) * 50_000)
    for options in ([], ["--output-format", "jsonl"], ["--output-format", "csv", "--stats"]):
        with start("apply", rules, tmp_path / "urls.txt", *options, stdin=subprocess.DEVNULL) as process:
            assert process.stdout
            assert process.stderr
            process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b""
        assert process.returncode == 0


@pytest.mark.parametrize("options", [[], ["--output-format", "csv"], ["--output-format", "parquet"]])
def test_a_full_disk_ends_in_one_sentence(rules: Path, tmp_path: Path, options: list[str]) -> None:
    """Nothing half-written stays, and stdout on a full disk is told too."""
    (tmp_path / "urls.txt").write_bytes(
        b"".join(b"http://shop.test/%d\n" % number for number in range(60_000))
    )
    ended = run("apply", rules, tmp_path / "urls.txt", "-o", tmp_path / "out", *options, file_blocks=8)
    assert sentence(ended).startswith(f"{tmp_path / 'out'}: it grew beyond the size allowed for a file")
    assert [path.name for path in tmp_path.iterdir()] == ["urls.txt"]
    with Path("/dev/full").open("wb") as full:
        ended = run("apply", rules, tmp_path / "urls.txt", *options, stdout=full)
    assert sentence(ended) == "standard output: the disk is full; free some space and start again"


@pytest.mark.slow
def test_memory_does_not_grow_with_the_input(rules: Path, tmp_path: Path) -> None:
    """Four times the lines, the same memory, statistics included."""
    sizes: dict[int, tuple[int, int]] = {}
    for times in (1, 4):
        path = tmp_path / f"{times}.txt"
        with path.open("wb") as file:
            for number in range(150_000 * times):
                file.write(b"http://shop.test/%d?sid=%d&b=%d\n" % (number, number, number))
        command = ("apply", rules, path, "-o", tmp_path / "out")
        options = ("--stats", "--json", "--output-format", "csv")
        sizes[times] = peak_memory_bytes(*command), peak_memory_bytes(*command, *options)
    assert sizes[4][0] <= sizes[1][0] * 1.1
    # The shorter input does not fill all batches; one that is held is 18 MB longer, 1.26 times as much.
    assert sizes[4][1] <= sizes[1][1] * 1.2


@given(st.integers(1, 40_000), st.integers(0, 5))
def test_distinct_counts_are_exact_up_to_a_bound_and_close_beyond(texts: int, repeats: int) -> None:
    """Exact while everything fits; then within five standard errors; never dependent on order."""
    distinct, backwards = Distinct(kept=1024), Distinct(kept=1024)
    names = [b"http://shop.test/%d" % number for number in range(texts)]
    for at in range(0, texts, 7_000):
        distinct.add(names[at : at + 7_000] * (repeats + 1))
    for at in range(texts, 0, -3_000):
        backwards.add(names[max(at - 3_000, 0) : at])
    assert distinct.is_exact == (texts <= 1024)
    assert distinct.count == backwards.count
    assert abs(distinct.count - texts) <= (0 if distinct.is_exact else 5 * texts / 1024**0.5)


def test_texts_are_counted_from_several_threads() -> None:
    """The core has a lock of its own: it counts without the GIL, and a free-threaded Python has none."""
    distinct = Distinct(kept=1 << 14)
    parts = [
        b"".join(b"http://shop.test/%d\n" % number for number in range(at, at + 4_000))
        for at in range(0, 16_000, 2_000)
    ]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(distinct.add_lines, parts * 4))
    assert not distinct.is_exact
    assert distinct.count == pytest.approx(18_000, rel=0.05)
    fewer = Distinct(kept=1 << 15)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(fewer.add_lines, parts * 4))
    assert (fewer.is_exact, fewer.count) == (True, 18_000)
