"""Generated sites, proved over HTTP on loopback: how true rules and tempting false ones fare."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import undust
from bench.sites import Crawl, Site
from bench.sites.server import LOOPBACK, serving

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.asking.outcome import RuleOutcome, Validation


class Proved(NamedTuple):
    """What came of one site."""

    done: Validation
    true: frozenset[str]
    """The ids of the rules that are true."""
    requests: int
    """As the server counted them."""

    @property
    def true_fetches(self) -> int:
        """Requests that were made for true rules."""
        return sum(outcome.fetches for outcome in self.done.outcomes if outcome.rule.id in self.true)

    @property
    def wrong(self) -> list[str]:
        """True rules that were refuted and false ones that were confirmed."""
        return [
            _told(outcome) for outcome in self.done.outcomes if outcome.verdict == self._opposite(outcome)
        ]

    @property
    def undecided(self) -> list[str]:
        """Rules without a verdict."""
        return [_told(outcome) for outcome in self.done.outcomes if outcome.verdict == "undecided"]

    def _opposite(self, outcome: RuleOutcome) -> str:
        return "refuted" if outcome.rule.id in self.true else "confirmed"


def _told(outcome: RuleOutcome) -> str:
    return f"{outcome.rule.site}: {outcome.rule} is {outcome.verdict}, for {outcome.reason}"


def prove(
    made: Site,
    samples: int,
    true: Sequence[undust.Rule] | None = None,
    false: Sequence[undust.Rule] | None = None,
) -> Proved:
    """Prove rules of a site, its own true and false ones if not said, on a bare list of its URLs."""
    right = list(made.rules if true is None else true)
    known = frozenset(rule.id for rule in right)
    wrong = [rule for rule in (made.false_rules if false is None else false) if rule.id not in known]
    seen = made.observations(Crawl(evidence=())).select(["url"])
    hosts = {url.split("/")[2] for url in seen.column("url").to_pylist()} | {
        made.domain,
        f"www.{made.domain}",
    }
    with serving(made) as server:
        done = undust.validate(
            undust.RuleSet([*right, *wrong]),
            seen,
            live=True,
            samples=samples,
            delay=0,
            max_fetches=100_000,
            connect_to=[f"{host}={LOOPBACK}:{server.port}" for host in sorted(hosts)],
        )
    return Proved(done, known, len(server.requests))
