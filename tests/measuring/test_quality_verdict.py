"""The verdict of the benchmark of quality: who is the best single learner, and whether it keeps its pages."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from bench.quality_verdict import as_json, print_verdicts, verdicts


def rows(**figures: list[tuple[float, float]]) -> Any:  # noqa: ANN401 -- what stands for rows
    """Return for each method what it removes and loses on each site."""
    return {
        method: [
            SimpleNamespace(
                method=method,
                max_fpr=None if method == "standard" else 0.01,
                total=SimpleNamespace(removed=removed, lost=lost),
            )
            for removed, lost in sites
        ]
        for method, sites in figures.items()
    }


def test_the_best_and_the_best_that_loses_little(capsys: pytest.CaptureFixture[str]) -> None:
    """A reckless learner is the best and not within the loss; what learns nothing is no learner."""
    seen = rows(
        standard=[(0.99, 0.0), (0.99, 0.0)],
        tree=[(0.9, 0.2), (0.3, 0.0)],
        substring=[(0.5, 0.01), (0.2, 0.0)],
        undust=[(0.6, 0.001), (0.295, 0.0)],
    )
    first, second = found = list(verdicts("crawls", seen, ["a", "b"]))
    assert as_json(first) == {
        "site": "a",
        "best_single": "tree",
        "difference": pytest.approx(-0.3),
        "is_within_loss": False,
        "best_within_loss": "substring",
        "difference_within_loss": pytest.approx(0.1),
    }
    assert (second.best.method, second.is_safe) == ("tree", True)
    assert second.difference == pytest.approx(-0.005)
    print_verdicts(found)
    told = capsys.readouterr().out
    assert (
        "| a | 60.0 / 0.10 | `tree` | 90.0 / 20.00 | no | -30.0 | `substring` | 50.0 / 1.00 | +10.0 |" in told
    )
    assert "More than a point less than the best: a." in told
    assert "More than a point less than the best within the loss: nowhere." in told


def test_mirrors_may_lose_less() -> None:
    """There half a per cent is the most, and where no learner keeps within it there is nothing to beat."""
    (only,) = verdicts("mirrors", rows(tree=[(0.9, 0.006)], undust=[(0.1, 0.0)]), ["a"])
    assert only.safe is None
    assert only.safe_difference == pytest.approx(0.1)


def test_without_both_sides_there_is_no_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is said where there is nothing to compare."""
    assert list(verdicts("crawls", rows(tree=[(0.9, 0.0)]), ["a"])) == []
    assert list(verdicts("crawls", rows(undust=[(0.9, 0.0)], standard=[(0.1, 0.0)]), ["a"])) == []
    print_verdicts([])
    assert capsys.readouterr().out == ""
