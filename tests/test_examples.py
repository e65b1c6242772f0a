"""The examples run, and the sample crawl is what its script writes."""

from __future__ import annotations

import gzip
import json
import runpy
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import undust

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def rows(repository: Path) -> list[dict[str, Any]]:
    """Give the sample's observations as they are committed."""
    with gzip.open(repository / "examples" / "shop.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_the_sample_is_what_its_script_writes(repository: Path, rows: list[dict[str, Any]]) -> None:
    """Whoever changes the script also writes the sample again."""
    script = runpy.run_path(str(repository / "examples" / "make_sample.py"))
    assert list(script["observations"]()) == rows


def test_the_list_has_the_urls_of_the_sample(repository: Path, rows: list[dict[str, Any]]) -> None:
    """`shop.txt` and `shop.jsonl.gz` are one crawl."""
    listed = (repository / "examples" / "shop.txt").read_text(encoding="utf-8").splitlines()
    assert listed == [row["url"] for row in rows]


def test_the_rules_of_the_sample_join_only_what_is_one_page(
    repository: Path, rows: list[dict[str, Any]]
) -> None:
    """Canonical URLs are far fewer, and none stands for two different texts."""
    canonicalize = undust.load(repository / "examples" / "rules.json").compile()
    texts: dict[str, set[str]] = {}
    for row in rows:
        texts.setdefault(canonicalize(row["url"]), set()).update([row["digest"]] if "digest" in row else [])
    assert len(texts) == 199
    assert all(len(digests) <= 1 for digests in texts.values())


def test_the_tour_runs(repository: Path) -> None:
    """`make run` has something to show, and says how much was saved."""
    done = subprocess.run(
        [sys.executable, str(repository / "examples" / "tour.py")],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=800,
    )
    seen, normalized, ruled = (int(line.split()[-1]) for line in done.stdout.splitlines() if "█" in line)
    assert (seen, normalized) == (616, 535)
    assert ruled < 220
    assert len(undust.load(repository / "rules.json")) > 5
    assert "teapots.test" in (repository / "report.html").read_text(encoding="utf-8")
