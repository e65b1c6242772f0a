"""`undust cluster`: files in, clusters out, and a summary that names every lie."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import signal
import time
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from tests.cli.command import run, sentence, start
from tests.pages.clustering.sites import shop_full_of_lies, shuffled
from undust.pages.clustering.clusters import CLUSTER_SCHEMA

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl of a shop where much is not as it seems."""
    path = tmp_path_factory.mktemp("crawl") / "shop.jsonl"
    write_json_lines(path, shop_full_of_lies().table())
    return path


def write_json_lines(path: Path, table: pa.Table) -> None:
    """Observations as a crawler writes them."""
    rows = [{name: value for name, value in row.items() if value is not None} for row in table.to_pylist()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def told(*arguments: str | Path) -> dict[str, Any]:
    """What `--json` says, without what depends on the clock."""
    ended = run("cluster", *arguments, "--json")
    assert (ended.code, ended.err) == (0, "")
    summary: dict[str, Any] = json.loads(ended.out)
    assert summary.pop("seconds") >= 0
    return summary


def test_the_summary_names_every_lie(shop: Path, tmp_path: Path) -> None:
    """For people: on stderr, at most 100 wide, with counts, reasons, lies and examples."""
    ended = run("cluster", shop, "-o", tmp_path / "clusters.parquet")
    assert (ended.code, ended.out) == (0, b"")
    text = ended.err
    assert text.startswith("954 URLs of 1 site in ")
    for name in (
        "soft-404 or empty result: 240 URLs",
        "login or consent wall: 60 URLs",
        "site-wide canonical: 863 URLs",
    ):
        assert name in text
    assert "→ http://www.shop.test/\n" in text
    assert "http://www.shop.test/product/0\n" in text
    assert "digest " in text
    assert "equal content" in text
    assert max(map(len, text.splitlines())) <= 100


def test_every_format_holds_the_same_rows(shop: Path, tmp_path: Path) -> None:
    """Parquet, JSON lines and CSV, by name or by word, to a file or to stdout."""
    for name in ("c.parquet", "c.jsonl", "c.csv"):
        assert run("cluster", shop, "-q", "-o", tmp_path / name) == (0, b"", "")
    rows = pq.read_table(tmp_path / "c.parquet")
    assert rows.schema.names == CLUSTER_SCHEMA.names
    lines = (tmp_path / "c.jsonl").read_bytes()
    assert [json.loads(line) for line in lines.splitlines()] == rows.to_pylist()
    with io.StringIO((tmp_path / "c.csv").read_text(encoding="utf-8")) as text:
        as_text = [{name: value or None for name, value in row.items()} for row in csv.DictReader(text)]
    assert [
        row | {name: int(row[name] or 0) for name in ("cluster", "size")} for row in as_text
    ] == rows.to_pylist()
    assert run("cluster", shop, "-q", "-o", "-").out == lines
    assert (
        run("cluster", shop, "-q", "-o", "-", "--output-format", "csv").out
        == (tmp_path / "c.csv").read_bytes()
    )


def test_json_is_all_there_is(shop: Path) -> None:
    """`--json` prints one object; without -o nothing is written."""
    summary = told(shop)
    assert (summary["sites"], summary["urls"], summary["not_urls"]) == (1, 954, 0)
    assert summary["duplicates"] == summary["urls"] - summary["clusters"]
    assert set(summary["distrusted_urls"]) == {
        "soft-404 or empty result", "login or consent wall", "site-wide canonical",
    }  # fmt: skip
    assert all(len(group["examples"]) == 3 for group in summary["distrusted"])


@pytest.mark.parametrize("seed", [1, 2])
def test_order_threads_and_memory_cannot_be_seen(shop: Path, tmp_path: Path, seed: int) -> None:
    """The same bytes, whatever the order of rows and files, the threads, and where rows are held."""
    first = tmp_path / "first.csv"
    summary = told(shop, "-o", first, "--threads", "1")
    rows = shuffled(shop_full_of_lies().table(), seed)
    write_json_lines(tmp_path / "a.jsonl", rows.slice(0, 300))
    write_json_lines(tmp_path / "b.jsonl", rows.slice(300))
    second = tmp_path / "second.csv"
    assert (
        told(tmp_path / "b.jsonl", tmp_path / "a.jsonl", "-o", second, "--threads", "2", "--memory", "1GB")
        == summary
    )
    assert second.read_bytes() == first.read_bytes()


def test_the_format_of_the_crawl_cannot_be_seen(shop: Path, tmp_path: Path) -> None:
    """JSON lines, Parquet and JSON lines packed hold the same crawl, and give the same clusters."""
    seen = shop_full_of_lies().table()
    pq.write_table(seen, tmp_path / "shop.parquet")
    (tmp_path / "shop.jsonl.gz").write_bytes(gzip.compress(shop.read_bytes()))
    results = [run("cluster", path, "-q", "-o", "-").out for path in (shop, *tmp_path.glob("shop.*"))]
    assert len(results) == 3
    assert len(set(results)) == 1
    assert results[0]


def test_fewer_values_make_it_more_suspicious(shop: Path) -> None:
    """`--glue-values` is passed on: with a huge one the soft-404s stay together."""
    lenient = told(shop, "--glue-values", "100000")
    assert "soft-404 or empty result" not in lenient["distrusted_urls"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["missing.jsonl"], 1, "missing.jsonl: there is no such file; check the name"),
        (["SHOP", "-o", "c.xls"], 1, "c.xls: its name shows no format; end it in .parquet, .jsonl or .csv"),
        (["SHOP", "-o", "-", "--json"], 2, "--json needs stdout for itself, so name a file with -o"),
        (["SHOP", "--memory", "lots"], 2, "'lots' is not a size of at least"),
        (["SHOP", "-o", "no/such/folder/c.csv"], 1, "no/such/folder/c.csv: there is no folder"),
        ([], 2, "missing argument"),
    ],
)
def test_one_sentence_when_it_cannot(shop: Path, arguments: list[str], code: int, words: str) -> None:
    """What is wrong, where, and how to mend it."""
    ended = run("cluster", *(str(shop) if word == "SHOP" else word for word in arguments))
    assert words in sentence(ended, code)


def test_a_polite_kill_leaves_no_files(tmp_path: Path) -> None:
    """Ended in the middle, the command removes what it had put aside and writes no output."""
    crawl = tmp_path / "crawl.jsonl"
    with crawl.open("w", encoding="utf-8") as lines:
        for number in range(200_000):
            lines.write(
                json.dumps({"url": f"http://s{number % 5000}.test/{number}", "digest": "x" * 400}) + "\n"
            )
    aside = tmp_path / "aside"
    aside.mkdir()
    os.environ["TMPDIR"] = str(aside)
    try:
        process = start("cluster", crawl, "-o", tmp_path / "c.csv", "--memory", "512MB", "--threads", "1")
    finally:
        del os.environ["TMPDIR"]
    until = time.monotonic() + 200
    while not any(aside.iterdir()) and process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode == 128 + signal.SIGTERM
    assert list(aside.iterdir()) == []
    assert not (tmp_path / "c.csv").exists()
