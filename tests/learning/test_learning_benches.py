"""The benchmarks of learning run, and tell what they promise to tell."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from bench.lost import NORMALIZED, OTHER, UNDISPUTED, lost_among

if TYPE_CHECKING:
    from pathlib import Path


def lines_of(repository: Path, command: str) -> list[dict[str, Any]]:
    """The JSON lines that a benchmark prints."""
    words = [sys.executable, "-m", *command.split(), "--json"]
    done = subprocess.run(
        words, cwd=repository, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, timeout=800
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.slow
def test_rules_for_all_sites_reach_a_kind_left_out(repository: Path) -> None:
    """What four kinds of sites teach removes something on a fifth, and loses nothing there."""
    kinds = "blog cms mirrors news academic"
    rows = lines_of(repository, f"bench.across --generated --copies 1 --urls 1200 --kinds {kinds}")
    assert [row["site"] for row in rows] == [*kinds.split(), "macro"]
    mean = rows[-1]["never seen"]
    assert mean["removed"] > rows[-1]["standard form"]["removed"] + 0.02
    assert mean["lost"] <= 0.001
    assert rows[-1]["halvings"]["never seen"] == [mean]


@pytest.mark.slow
def test_where_rules_lead_is_counted(repository: Path) -> None:
    """Of a shop: each part is a part of the whole."""
    shop, mean = lines_of(repository, "bench.targets --kinds shop --urls 2000")
    assert shop["urls"] > shop["changed"] > shop["works"] > shop["wrong"]
    assert shop["removed_by_key"] > shop["removed_by_canonical"] > 0
    assert mean == shop  # of one site


@pytest.mark.slow
def test_time_is_told_by_stage(repository: Path) -> None:
    """The shares are those of the whole, and the counts those of the outcome."""
    (run,) = lines_of(repository, "bench.learn --rows 900 --sites 3 --no-growth")
    assert (run["rows"], run["sites"]) == (900, 3)
    assert abs(sum(run["stages"].values()) - 1) < 0.01
    assert run["stages"]["learning"] > run["stages"]["writing"]


@pytest.mark.slow
def test_a_part_of_the_rules_is_as_safe_as_the_whole(repository: Path) -> None:
    """Of a tracker, rules that were proved together lose pages without each other; those written do not."""
    command = "bench.subsets --groups kinds --sites tracker --split 2 --parts 20"
    (row,) = lines_of(repository, command)
    before, after = row["before"], row["after"]
    assert min(before["without_one"], before["of_parts"], before["above"]) > 0.001
    assert max(after["without_one"], after["of_parts"]) <= 0.001
    assert (after["removed"], after["lost"]) == (before["removed"], before["lost"])
    assert after["above"] == 0
    assert 0 < after["out"] <= 1
    assert after["kept"] > 0.3


def test_lost_pages_are_sorted_by_cause() -> None:
    """A session that hides a change, two spellings of one URL, and a rule that merges two pages."""
    pages = {
        "same key": {
            "1": ["http://a.test/x", "http://a.test/x?sid=1"],
            "2": ["http://A.test/x"],
            "3": ["http://a.test/x?sid=2"],
            "4": ["http://a.test/x?page=2"],
        }
    }
    normal = {url: url.replace("A.", "a.") for some in pages["same key"].values() for url in some}
    found = {each.url: each.cause for each in lost_among(pages, {}, normal)}
    assert found == {
        "http://A.test/x": NORMALIZED,
        "http://a.test/x?sid=2": UNDISPUTED,
        "http://a.test/x?page=2": OTHER,
    }
