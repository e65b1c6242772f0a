"""Asking many sites at once: who may ask how much, who is told, and what is written down."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import undust
from undust.asking.answers import Answer
from undust.asking.limits import Manners
from undust.asking.live_judge import Asking
from undust.asking.rule_file import SiteSamples, run
from undust.asking.samples import samples_from
from undust.asking.sampling import Sampling

if TYPE_CHECKING:
    from pathlib import Path

    from undust.asking.answers import Why
    from undust.rules import Rule

NAMES = ("x", "y", "z")
SITES = {"one.test": NAMES[:1], "many.test": NAMES}
"""The parameters of each site, of which its rules say that they may be dropped."""
RULES = [
    undust.Rule.parse(f"rewrite {{s}}://{{h}}/{{p}}?{name}={{*}} -> {{s}}://{{h}}/{{p}}", site=site)
    for site, names in SITES.items()
    for name in names
]


def address(site: str, page: int, query: str = "") -> str:
    """A URL of a page."""
    return f"http://{site}/{page}{query}"


class Network:
    """Sites on which `y` alone leads to other pages."""

    is_live = True

    def fetch(self, url: str, turn: int, why: Why) -> Answer:
        """Return a page of its own words; nobody forbids anything."""
        if why == "robots":
            return Answer(url, turn, why, 1.0, 404)
        page, _, query = url.partition("?")
        text = " ".join(f"{page} {query.startswith('y')} {number}" for number in range(100)).encode()
        return Answer(url, turn, why, 1.0, 200, digest=text.decode(), text=text)

    def close(self) -> None:
        """Do nothing."""


class Job:
    """A proof of all rules, and all that is told of it."""

    def __init__(self, journal: Path, **manners: Any) -> None:  # noqa: ANN401
        self.journal = journal
        self.watched: list[tuple[Rule, str, int]] = []
        groups = []
        for site in SITES:
            own = tuple(rule for rule in RULES if rule.site == site)
            urls = pa.array([address(site, page, f"?{name}=1") for page in range(30) for name in NAMES])
            samples = samples_from(urls, pa.nulls(len(urls), pa.int64()), own)
            groups.append(SiteSamples(site, own, samples, len(own)))
        asking = Asking(
            Manners(delay_s=0.0, **manners),
            None,
            journal,
            job="a proof",
            resume=False,
            watch=lambda *told: self.watched.append(told),
        )
        with asking:
            self.done = run(undust.RuleSet(RULES), groups, asking, Sampling(samples=10), "live")

    def noted(self, kind: str) -> list[dict[str, Any]]:
        """What the journal holds of a kind."""
        lines = map(json.loads, self.journal.read_text(encoding="utf-8").splitlines())
        return [line[kind] for line in lines if kind in line]


@pytest.fixture(autouse=True)
def _network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("undust.asking.live_judge.Fetcher", lambda _: Network())


def test_everything_is_written_down(tmp_path: Path) -> None:
    """Each answer, each pair with what was thought of it and why, each verdict, and that it is done."""
    job = Job(tmp_path / "journal", max_fetches=10_000)
    done = {outcome.rule.id: outcome for outcome in job.done.outcomes}
    assert [outcome.verdict for outcome in job.done.outcomes] == [
        "confirmed",
        "confirmed",
        "refuted",
        "confirmed",
    ]
    assert job.done.hosts == len(SITES)
    assert job.done.fetches == len(job.noted("answer")) > 0
    pairs = job.noted("pair")
    for rule_id, outcome in done.items():
        said = [pair["said"] for pair in pairs if pair["rule"] == rule_id]
        assert (said.count("same"), said.count("different")) == (outcome.positives, outcome.negatives)
    for pair in pairs:
        name = pair["from"].partition("?")[2][:1]
        assert pair["to"] == pair["from"].partition("?")[0]
        assert pair["said"] == ("different" if name == "y" else "same")
        assert pair["because"] == ("another content" if name == "y" else "the same content")
        assert [pair[side]["url"] for side in ("left", "right")] == [pair["from"], pair["to"]]
        assert pair["left"].keys() == {"url", "status", "digest", "sketch"}
        assert (pair["left"]["sketch"] == pair["right"]["sketch"]) == (name != "y")
    assert job.noted("verdict") == [
        outcome.to_json() | {"rule": outcome.rule.id} for outcome in job.done.outcomes
    ]
    assert job.noted("done") == [{"rules": len(RULES)}]


def test_whoever_watches_is_told_whose_turn_it_is(tmp_path: Path) -> None:
    """Before each request: the rule, the URL, and how many there were."""
    job = Job(tmp_path / "journal", max_fetches=10_000)
    assert len(job.watched) == job.done.fetches
    assert all(url.startswith(f"http://{rule.site}/") for rule, url, _ in job.watched)
    assert {rule.id for rule, _, _ in job.watched} == {rule.id for rule in RULES}
    assert {url for _, url, _ in job.watched} == {answer["url"] for answer in job.noted("answer")}
    assert max(count for _, _, count in job.watched) <= job.done.fetches


def test_the_budget_is_shared_out_by_rules(tmp_path: Path) -> None:
    """The site with three rules of four may ask three times as much, whoever comes first."""
    job = Job(tmp_path / "journal", max_fetches=16)
    asked = [answer["url"].split("/")[2] for answer in job.noted("answer")]
    assert {site: asked.count(site) for site in SITES} == {"one.test": 4, "many.test": 12}
    assert job.done.fetches == 16
