"""Rows of generated sites: the same bytes however they are made, seen in every way that can be asked for."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

import undust
from bench.sites import KINDS, Crawl, crowd, site
from bench.sites.__main__ import main
from bench.sites.archive import write_archive
from bench.sites.chance import shuffled, unshuffled
from bench.sites.output import write
from bench.sites.text import BANK, SENTENCES, TAILS, Text, sentences_of
from undust.reading.page import text_digest
from undust.reading.text import sketch

if TYPE_CHECKING:
    from pathlib import Path

MAKING = """
import hashlib, sys
import pyarrow as pa
from bench.sites import KINDS, Crawl, site
size = int(sys.argv[1])
for kind in KINDS:
    batches = list(site(kind, 400, seed=9).batches(Crawl(noise=0.1, coverage=0.8, sightings=1.7), rows=size))
    table = pa.Table.from_batches([rows.observations for rows in batches]).combine_chunks()
    pages = pa.concat_arrays([rows.page for rows in batches])
    minima = table["sketch"].combine_chunks().flatten().to_numpy().tobytes()
    made = repr([table.drop_columns("sketch").to_pylist(), pages.to_pylist()]).encode() + minima
    print(kind, hashlib.sha256(made).hexdigest())
"""


def test_same_seed_same_rows(repository: Path) -> None:
    """Two processes with different hash seeds and batches make the same rows; another seed does not."""
    said = [
        subprocess.run(
            [sys.executable, "-c", MAKING, size],
            capture_output=True,
            text=True,
            check=True,
            cwd=repository,
            env={"PYTHONHASHSEED": size, "PYTHONPATH": str(repository)},
        ).stdout
        for size in ("311", "100000")
    ]
    assert said[0] == said[1]
    assert len(said[0].splitlines()) == len(KINDS)
    one, other = (site("forum", 1500, seed=seed).observations()["digest"] for seed in (1, 2))
    assert one != other


@pytest.mark.parametrize("kind", KINDS)
def test_few_rows_are_written_as_many_are(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """URLs that are written one by one are those that are written in columns."""
    urls = []
    for few in (0, 1 << 30):
        monkeypatch.setattr("bench.sites.rows._FEW", few)
        urls.append(site(kind, 700, seed=4).observations(Crawl(evidence=()))["url"])
    assert urls[0] == urls[1]


def test_same_bytes_in_files(tmp_path: Path, repository: Path) -> None:
    """The command writes the same file twice, and undust reads all formats alike, the truth beside them."""
    names = ("a.jsonl.gz", "b.jsonl.gz", "a.csv", "a.parquet")
    arguments = ["shop", "--urls", "400", "--seed", "2", "--coverage", "0.9", "-o", str(tmp_path / names[0])]
    arguments += ["--labels", str(tmp_path / "labels.tsv"), "--log", str(tmp_path / "access.log")]
    subprocess.run([sys.executable, "-m", "bench.sites", *arguments], check=True, cwd=repository)
    for name in names[1:]:
        write(site("shop", 400, seed=2).batches(Crawl(coverage=0.9), rows=77), str(tmp_path / name))
    made = {name: (tmp_path / name).read_bytes() for name in names}
    assert made["a.jsonl.gz"] == made["b.jsonl.gz"]
    tables = [undust.read(str(tmp_path / name)).table for name in ("a.jsonl.gz", "a.csv", "a.parquet")]
    assert tables[0].num_rows > 300
    assert tables[0].to_pylist() == tables[1].to_pylist() == tables[2].to_pylist()
    assert "cluster" not in made["a.csv"].splitlines()[0].decode().split(",")
    labels = [line.split("\t") for line in (tmp_path / "labels.tsv").read_text(encoding="utf-8").splitlines()]
    assert labels[0] == ["url", "cluster"]
    assert [url for url, _ in labels[1:]] == tables[0]["url"].to_pylist()
    log = undust.read(str(tmp_path / "access.log"))
    assert log.counts() == {"skipped": 0, "passed over": 0, "lost": 0}
    for column in ("url", "status", "size", "time"):
        assert log.table[column].to_pylist() == tables[0][column].to_pylist()


def test_coverage_and_sightings() -> None:
    """Half of the URLs are half of the URLs; popular ones are seen far more often than others."""
    shop = site("shop", 4000, seed=1)
    bare = Crawl(coverage=0.5, sightings=3.0, evidence=())
    urls = pa.concat_arrays([rows.observations["url"] for rows in shop.batches(bare)]).to_pylist()
    counts = Counter(urls)
    assert 0.45 < len(counts) / 4000 < 0.55
    assert 2.4 < len(urls) / len(counts) < 3.6
    top = [count for _, count in counts.most_common(40)]
    assert sum(top) > 0.15 * len(urls)
    assert set(urls) <= set(shop.observations(Crawl(evidence=()))["url"].to_pylist())


def test_many_sites_at_once() -> None:
    """A crowd has as many sites and URLs as asked for, one of them large, and all kinds."""
    sites = list(crowd(list(KINDS.values()), urls=3000, sites=60, seed=2))
    assert sum(each.urls for each in sites) == 3000
    assert len({each.domain for each in sites}) == 60
    assert sites[0].urls > 10 * sites[30].urls
    assert {each.kind.name for each in sites} == set(KINDS)
    seen = [url for each in sites[::9] for url in each.observations(Crawl(evidence=()))["url"].to_pylist()]
    assert len(set(seen)) == len(seen) == sum(each.urls for each in sites[::9])
    with pytest.raises(ValueError, match="too few for 60 sites"):
        list(crowd(list(KINDS.values()), urls=599, sites=60))


def test_an_archive_of_the_site_says_the_same(tmp_path: Path) -> None:
    """What the server answers, put into a WARC and read by undust, gives the rows that were generated."""
    news = site("news", 300, seed=4)
    path = tmp_path / "news.warc.gz"
    assert write_archive([news], Crawl(), str(path)) == 300
    columns = ("url", "status", "digest", "canonical", "redirect")
    read, made = undust.read(str(path)).table, news.observations()
    assert read.select(columns).to_pylist() == made.select(columns).to_pylist()
    # A notice that is seen often is a template to undust, and has no sketch.
    both = [
        (one, other)
        for one, other in zip(read["sketch"].to_pylist(), made["sketch"].to_pylist(), strict=True)
        if one is not None
    ]
    assert len(both) > 200
    assert all(one == other for one, other in both)


def test_a_giant_cluster() -> None:
    """So many URLs as asked for show one page, all different."""
    forum = site("forum", 5000, seed=3, giant=2000)
    truth = forum.truth()
    assert len(set(truth["url"].to_pylist())) == 5000
    page, count = Counter(truth["page"].to_pylist()).most_common(1)[0]
    assert count >= 2000
    row = next(row for row in forum.observations().to_pylist() if forum.answer(row["url"]).page == page)
    assert row["status"] in {200, 301}
    with pytest.raises(ValueError, match="cannot show one page"):
        site("forum", 10, giant=10)


def test_only_the_evidence_that_was_asked_for() -> None:
    """A crawl without sketches has none, and the same sizes."""
    news = site("news", 500)
    bare = news.observations(Crawl(evidence=("status", "size")))
    assert bare["digest"].null_count == bare["sketch"].null_count == bare["canonical"].null_count == 500
    assert bare["size"] == news.observations()["size"]


def test_texts_are_what_digests_and_sketches_say() -> None:
    """The tables give the very digest and sketch that undust makes of the text."""
    numbers = np.arange(200)
    text = Text(sentences_of(numbers * 977, seed=4), numbers % len(TAILS))
    digests, minima, sizes = BANK.digests(text), BANK.sketches(text), BANK.sizes(text)
    for row in range(len(numbers)):
        one = BANK.text(Text(text.sentences[row : row + 1], text.tail[row : row + 1]))
        expected = sketch(one)
        assert expected is not None
        assert digests[row] == text_digest(one)
        assert minima[row].tolist() == expected.tolist()
        assert sizes[row] == len(one)
    assert text.sentences.shape == (200, SENTENCES)
    assert len(set(digests)) == 200


@pytest.mark.parametrize("bits", [4, 30, 40, 56])
def test_shuffling_is_a_permutation(bits: int) -> None:
    """Every number comes out once, and leads back."""
    numbers = np.arange(min(1 << bits, 5000))
    there = shuffled(numbers, bits, key=3)
    assert len(set(there.tolist())) == len(numbers)
    assert int(there.max()) < 1 << bits
    assert unshuffled(there, bits, key=3).tolist() == numbers.tolist()


def test_there_are_enough_kinds(repository: Path) -> None:
    """A dozen kinds and more, several with duplicates that no rule can express; the docs know them all."""
    assert len(KINDS) >= 12
    assert sum(bool(kind.inexpressible) for kind in KINDS.values()) >= 4
    page = (repository / "docs" / "sites.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \|", page.partition("## Where")[0], re.MULTILINE) == list(KINDS)


def test_unknown_kinds_are_named() -> None:
    """A kind that there is not is refused with those that there are."""
    with pytest.raises(ValueError, match="choose one of forum, shop"):
        site("casino", 10)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["casino", "-o", "a.csv"], "there is no kind of site called 'casino'"),
        (["-o", "a.csv"], "name a kind of site: forum, shop"),
        (["forum"], "say what to do"),
        (["forum", "-o", "a.xls"], "end it in .parquet, .jsonl or .csv"),
        (
            ["forum", "--log", "a.log", "--evidence", "size", "-o", "a.csv"],
            "a log needs status, size and time",
        ),
        (["--sites", "100", "--urls", "50", "-o", "a.csv"], "50 URLs are too few for 100 sites"),
    ],
)
def test_mistakes_are_told_in_a_sentence(
    arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be done is told with the mend, and nothing is written."""
    monkeypatch.setattr(sys, "argv", ["bench.sites", *arguments])
    with pytest.raises(SystemExit, match=re.escape(said)):
        main()
