"""What a learner proposes: rules with what was seen of them, before they are proved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undust.rules import Rule

Counted = Literal["instances", "pairs", "urls"]
"""What a learner counts as support: envelopes (DustBuster), pairs of URLs (rewrite rules, alignment), or
URLs it can change (pattern tree). Figures of different learners must never be compared unseen."""


@dataclass(frozen=True)
class Candidate:
    """Rules that only make sense together, mostly one, and what the learner saw of them.

    A mapping between two patterns needs the target's own normal form beside it, and an optional part
    needs a rule with it and a rule without: such rules are proved, and taken or left, as one.
    """

    rules: tuple[Rule, ...]
    support: int
    counted: Counted
    pages: int = 0
    """Distinct pages among the support, where the learner knows them."""
    fpr: float | None = None
    """On the data it was learned from, where the learner measures it."""

    @property
    def text(self) -> str:
        """The rules as lines; two candidates that say the same have the same text."""
        return "\n".join(f"{rule.site} {rule}" for rule in self.rules)


@dataclass(frozen=True)
class Proposal:
    """All that a learner has to say about one site, the best first."""

    candidates: tuple[Candidate, ...] = ()
    cut: Mapping[str, int] = field(default_factory=dict)
    """What was left out, and how much of it: a budget that was used up, a form that no rule can say."""
    notes: tuple[str, ...] = ()
    """What a person should know: a sample instead of the whole site, evidence that was missing."""
