"""One crawl in five formats: the same observations and, of the same evidence, the same clusters.

The crawl is a WARC, and what `read` makes of it is written in the other formats. Of these, Parquet, JSON
lines and CSV hold every column. CDXJ holds no sketches, canonicals and labels: with it the others
are compared after they have lost these columns too, so that all have the same evidence.
"""

from __future__ import annotations

import csv
import json
import random
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import undust
from tests.reading.formats.archives import HTML, Answer, by_hand, packed, page
from tests.reading.formats.rendered import rows_of
from undust.engines import LocalEngine, local
from undust.jobs.find_duplicates import write_clusters

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Rows = list[dict[str, Any]]

PRODUCTS = 120
IN_CDXJ = ("url", "status", "size", "digest", "redirect", "time")
SITES = ("shop.test", "forum.test", "blog.test")


def words(*seed: object, paragraphs: int = 6) -> str:
    """A text of its own, in paragraphs; its words have no digits, which are read as counters."""
    chance = random.Random(repr(seed))
    lines = [["".join(chance.choices(ascii_lowercase, k=6)) for _ in range(10)] for _ in range(paragraphs)]
    return "".join(f"<p>{' '.join(line)}</p>" for line in lines)


def answers(host: str) -> list[Answer]:
    """A site with copies, near copies, canonicals, redirects, soft-404s and a failure."""
    found = []
    for number in range(PRODUCTS):
        is_gone = number % 4 == 0
        text = "this product is gone for good" if is_gone else words(host, number)
        canonical = f'<link rel="canonical" href="/p/{number}">' if number % 3 == 0 else ""
        near = text if is_gone else f"{text}<p>seen {number} times</p>"
        for path, body in (("", text), (f"?sid={number * 7919}", text), ("?view=print", near)):
            found.append(Answer(f"http://{host}/p/{number}{path}", page(body, canonical)))
        moved = [("Location", f"/p/{number}"), ("Content-Type", HTML)]
        found.append(Answer(f"http://{host}/old/{number}", status="301 Moved", headers=moved))
    found.append(Answer(f"http://{host}/broken", page(words(host, "broken")), status="500 Error"))
    return found


def records() -> list[bytes]:
    """All sites, one record an answer."""
    return [by_hand(answer) for host in SITES for answer in answers(host)]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The crawl as an archive."""
    path = tmp_path_factory.mktemp("crawl") / "crawl.warc.gz"
    path.write_bytes(packed(records()))
    return path


@pytest.fixture(scope="module")
def crawl(archive: Path) -> Rows:
    """What is read of the archive, row by row."""
    seen = undust.read(archive)
    rows = rows_of(seen)
    assert seen.counts()["skipped"] == 0
    assert len(rows) == len(SITES) * (4 * PRODUCTS + 1)
    assert sum("sketch" in row for row in rows) > len(rows) / 2
    assert sum("canonical" in row for row in rows) == len(SITES) * PRODUCTS
    return rows


def write_jsonl(rows: Rows, path: Path) -> None:
    """One object a line."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_csv(rows: Rows, path: Path) -> None:
    """A sketch is a list in brackets."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)


def write_parquet(rows: Rows, path: Path) -> None:
    """In several row groups."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: [row.get(name) for row in rows] for name in names}
    pq.write_table(pa.table(columns), path, row_group_size=170)


def write_cdxj(rows: Rows, path: Path) -> None:
    """A sort key, a time, and an object with the rest."""
    names = {"url": "url", "status": "status", "digest": "digest", "size": "length", "redirect": "redirect"}
    lines = []
    for row in rows:
        stamp = "".join(char for char in row["time"] if char.isdigit())[:14]
        said = {theirs: str(row[ours]) for ours, theirs in names.items() if ours in row}
        lines.append(f"test,site)/ {stamp} {json.dumps(said)}\n")
    path.write_text("".join(lines), encoding="utf-8")


WRITERS: dict[str, Callable[[Rows, Path], None]] = {
    "crawl.jsonl": write_jsonl,
    "crawl.csv": write_csv,
    "crawl.parquet": write_parquet,
    "crawl.cdxj": write_cdxj,
}


def as_in_an_index(rows: Rows) -> Rows:
    """What CDXJ can hold of the rows."""
    return [{name: row[name] for name in IN_CDXJ if name in row} for row in rows]


def shuffled(rows: Rows, seed: int) -> Rows:
    """The same rows in another order."""
    return random.Random(seed).sample(rows, len(rows))


def clusters_of(path: Path, output: Path, threads: int) -> bytes:
    """The clusters of a file as the command writes them."""
    with LocalEngine(threads=threads) as engine:
        write_clusters(undust.read(path, engine=engine), str(output), engine)
    return output.read_bytes()


@pytest.mark.parametrize("name", WRITERS)
def test_the_observations_are_the_same(name: str, crawl: Rows, tmp_path: Path) -> None:
    """Each format gives back what the archive gave, as far as it can hold it."""
    WRITERS[name](crawl, tmp_path / name)
    expected = as_in_an_index(crawl) if name.endswith(".cdxj") else crawl
    assert rows_of(undust.read(tmp_path / name)) == expected


@pytest.mark.parametrize("threads", [1, 2])
def test_with_all_evidence_the_clusters_are_the_same(
    threads: int, archive: Path, crawl: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """WARC, Parquet, JSON lines and CSV, in any order of rows, in one process or several."""
    monkeypatch.setattr(local, "WORTH_PROCESSES", 0)
    expected = clusters_of(archive, tmp_path / "archive.csv", 1)
    for kind in ("digest", "blocks", "canonical", "redirect"):
        assert kind.encode() in expected
    for seed, name in enumerate(("crawl.jsonl", "crawl.csv", "crawl.parquet")):
        WRITERS[name](shuffled(crawl, seed), tmp_path / name)
        assert clusters_of(tmp_path / name, tmp_path / "other.csv", threads) == expected
    (tmp_path / "other.warc").write_bytes(b"".join(random.Random(5).sample(records(), len(crawl))))
    assert clusters_of(tmp_path / "other.warc", tmp_path / "other.csv", threads) == expected


@pytest.mark.parametrize("threads", [1, 2])
def test_with_the_evidence_of_an_index_the_clusters_are_the_same(
    threads: int, crawl: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CDXJ and the others without the columns that it does not have; in any order, on any threads."""
    monkeypatch.setattr(local, "WORTH_PROCESSES", 0)
    rows = as_in_an_index(crawl)
    write_cdxj(rows, tmp_path / "index.cdxj")
    expected = clusters_of(tmp_path / "index.cdxj", tmp_path / "index.csv", 1)
    assert b"digest+redirect" in expected
    assert b"blocks" not in expected
    assert b"sketch" not in expected
    for seed, name in enumerate(WRITERS):
        WRITERS[name](shuffled(rows, seed), tmp_path / name)
        assert clusters_of(tmp_path / name, tmp_path / "other.csv", threads) == expected
