"""The result of a proof by sampling for the rules of a file, and how it is written into them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from undust.rules.language import RETIRED
from undust.statistics import upper_bound

if TYPE_CHECKING:
    from undust.rules import Rule, RuleSet
    from undust.rules.language import Status

Verdict = Literal["confirmed", "refuted", "undecided"]
How = Literal["live", "archive", "held-out"]


@dataclass(frozen=True)
class RuleOutcome:
    """One rule and the result of its samples."""

    rule: Rule
    """As the file has it afterwards."""
    verdict: Verdict
    reason: str
    positives: int = 0
    negatives: int = 0
    unknown: int = 0
    fetches: int = 0
    """Requests that were made for it; what was fetched for a rule before it counts there."""
    switched_off: str | None = None
    """Why the set can do without the rule, if it can."""

    def to_json(self) -> dict[str, Any]:
        """Return it as an object."""
        return {
            "id": self.rule.id,
            "rule": str(self.rule),
            "site": self.rule.site,
            "confirmed": self.verdict == "confirmed",
            "refuted": self.verdict == "refuted",
            "undecided": self.verdict == "undecided",
            "positives": self.positives,
            "negatives": self.negatives,
            "unknown": self.unknown,
            "fetches": self.fetches,
            "reason": self.reason,
        } | ({"switched_off": self.switched_off} if self.switched_off else {})

    def with_evidence(self, how: How, time: float) -> RuleOutcome:
        """Return it with the rule marked: refuted ones are off, those once refuted and now confirmed on."""
        if self.verdict == "undecided":
            return self
        decided = self.positives + self.negatives
        validated = {
            "when": datetime.fromtimestamp(time, UTC).isoformat(timespec="seconds"),
            "how": how,
            "outcome": self.verdict,
            "positives": self.positives,
            "negatives": self.negatives,
            "unknown": self.unknown,
            "fpr": round(self.negatives / decided, 6),
            "fpr_upper": round(upper_bound(self.negatives, decided), 6),
            "reason": self.reason,
        }
        status: Status = "disabled" if self.verdict == "refuted" else "active"
        return replace(self, rule=replace(self.rule, validated=validated, status=status))

    def retired(self, reason: str | None, when: str | None) -> RuleOutcome:
        """Return it with the rule switched off for a reason; as it is without one."""
        if reason is None:
            return self
        said = ({"when": when} if when else {}) | {"reason": reason}
        rule = replace(self.rule, status="disabled", extra={**self.rule.extra, RETIRED: said})
        return replace(self, rule=rule, switched_off=reason)


def is_tried(rule: Rule) -> bool:
    """Return whether a rule is to be proved: one that is on or proposed, or that only a proof put off."""
    was_refuted = (rule.validated or {}).get("outcome") == "refuted"
    return rule.kind != "keep" and (rule.status != "disabled" or was_refuted)


@dataclass(frozen=True)
class Validation:
    """The rules after their proof, and what it found."""

    rules: RuleSet
    outcomes: tuple[RuleOutcome, ...]
    """In the order of the file; rules that were added, because only they hold, after those they replace."""
    fetches: int = 0
    hosts: int = 0
    """Hosts that were asked."""

    @property
    def retired(self) -> int:
        """How many rules are off because the set can do without them."""
        return sum(outcome.switched_off is not None for outcome in self.outcomes)

    def count(self, verdict: Verdict) -> int:
        """Return how many rules have a verdict."""
        return sum(outcome.verdict == verdict for outcome in self.outcomes)

    def to_json(self) -> dict[str, Any]:
        """Return it as an object."""
        return {
            "confirmed": self.count("confirmed"),
            "refuted": self.count("refuted"),
            "undecided": self.count("undecided"),
            "retired": self.retired,
            "fetches": self.fetches,
            "hosts": self.hosts,
            "rules": [outcome.to_json() for outcome in self.outcomes],
        }
