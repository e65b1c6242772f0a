"""What `undust.learn(..., details=True)` returns, and the limits that Python can set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import undust
from bench.sites import site
from undust.jobs import one_site
from undust.judging.checked import NOT_CHECKED
from undust.learning.edited import combined_rules

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def seen() -> pa.Table:
    """Two sites with rules."""
    return pa.concat_tables(site(kind, urls=200, seed=1).observations() for kind in ("forum", "wiki"))


@pytest.fixture(scope="module")
def result(seen: pa.Table) -> undust.LearnResult:
    """What all methods together give."""
    return undust.learn(seen, details=True)


def test_details_do_not_change_the_rules(seen: pa.Table, result: undust.LearnResult) -> None:
    """The rules are those that come without details, byte for byte."""
    assert len(result.rules) > 1
    assert result.rules.dumps() == undust.learn(seen).dumps()


def test_counts_are_those_of_the_command(result: undust.LearnResult) -> None:
    """Counts by site add up to the summary, and the bound is that of the summary."""
    assert sorted(result.sites) == ["forum1.test", "wiki1.test"]
    for name in ("urls", "canonical_urls", "candidates"):
        assert sum(counts[name] for counts in result.sites.values()) == result.summary[name]
    assert result.summary["fpr_upper"] == round(result.fpr_upper, 6)
    assert result.failed == {}
    assert result.drift is None
    assert sum(result.seconds.values()) > 0


def test_refused_candidates_have_reasons(result: undust.LearnResult) -> None:
    """Each reason is counted, and no refused candidate is among the rules."""
    for name, refused in result.refused.items():
        assert refused
        assert {one.reason for one in refused} <= set(result.reasons[name])
        assert not {one.rule.id for one in refused} & set(result.rules.ids)


def test_the_report_shows_what_was_refused(
    seen: pa.Table, result: undust.LearnResult, tmp_path: Path
) -> None:
    """A result on the page brings more than its rules: the candidates that were not taken."""
    with_refused = undust.report(result, seen, tmp_path / "report.html").html()
    reason = result.refused["forum1.test"][0].reason
    assert reason in with_refused
    assert reason not in undust.report(result.rules, seen).html()


def test_drift_is_that_of_the_update(seen: pa.Table, result: undust.LearnResult) -> None:
    """Rules from before are proved again, and the result says what became of them."""
    again = undust.learn(seen, update=result.rules, today="2026-11-15", details=True)
    assert again.drift is not None
    assert len(again.drift.of("holds")) > 0


def test_a_single_method_has_details_too(seen: pa.Table) -> None:
    """Refused candidates come from the verdicts, with a count for each reason."""
    found = undust.learn(seen, methods="substring", details=True)
    assert found.rules.dumps() == undust.learn(seen, methods="substring").dumps()
    for name, counts in found.sites.items():
        refused = found.refused[name]
        assert sum(found.reasons[name].values()) == len(refused) <= counts["candidates"]
    assert found.fpr_upper == found.summary["fpr_upper"] == 1.0
    assert str(found.bound) == found.summary["checked"]["says"] == NOT_CHECKED


def test_the_bound_is_in_words_and_in_the_file(result: undust.LearnResult) -> None:
    """It holds for the rules as they are switched, and for no others."""
    assert result.bound.pages > 0
    assert result.summary["checked"] == result.bound.as_json()
    assert result.fpr_upper == result.bound.upper < 1
    by_site = [counts["checked"]["pages"] for counts in result.sites.values()]
    assert sum(by_site) == result.bound.pages
    said = undust.RuleSet.loads(result.rules.dumps()).checked
    assert said is not None
    assert said["says"] == str(result.bound)
    changed = result.rules.disable(result.rules.ids[0])
    assert changed.checked is None
    assert changed.enable(result.rules.ids[0]).checked == said


def test_progress_counts_the_sites(seen: pa.Table) -> None:
    """Each site is reported once, with how many are done and how many there are."""
    heard: list[tuple[int, int, str]] = []
    undust.learn(seen, progress=lambda *told: heard.append(told))
    assert [told[:2] for told in heard] == [(1, 2), (2, 2)]
    assert {told[2] for told in heard} == {"forum1.test", "wiki1.test"}


def test_memory_can_be_limited(seen: pa.Table, result: undust.LearnResult) -> None:
    """A limit that is large enough changes nothing; beside an engine it is refused."""
    assert undust.learn(seen, memory="2GB").dumps() == result.rules.dumps()
    with (
        undust.LocalEngine() as engine,
        pytest.raises(undust.UndustError, match="give it to the engine"),
    ):
        undust.learn(seen, memory="2GB", engine=engine)


def test_a_failed_site_is_named_and_not_raised(seen: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """With details, the other sites keep their rules; without, a failed site is an error."""

    def failing(found: object, *args: object, **told: object) -> object:
        if getattr(found, "site", "") == "forum1.test":
            message = "the disk is full; free some space"
            raise undust.UndustError(message)
        return combined_rules(found, *args, **told)  # type: ignore[arg-type]

    monkeypatch.setattr(one_site, "combined_rules", failing)
    found = undust.learn(seen, details=True)
    assert list(found.failed) == ["forum1.test"]
    assert {rule.site for rule in found.rules} == {"wiki1.test"}
    with pytest.raises(undust.UndustError, match=r"forum1\.test"):
        undust.learn(seen)
