"""What was proposed and not taken, with the reason: a person who reviews rules asks for it first."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from undust.rules.verdict import first_of_each_reason

if TYPE_CHECKING:
    from collections.abc import Iterable

    from undust.learning.state import Effect
    from undust.rules import Rule

MERGED = "merged different pages"
NOWHERE = "leads to where the site has no page"
MADE_UP_URLS = "creates URLs that were not observed"
AGAINST = "works against another rule"
TOGETHER = "the rules together would exceed --max-fpr"
MOST_REFUSED = 100
"""Of a site, those that concern most pages, and one of each reason; all are counted."""


@dataclass(frozen=True)
class RefusedRule:
    """A candidate that was not taken."""

    rule: Rule
    reason: str
    pages: int
    """Pages that would need fewer URLs under it."""
    lost: int
    """Pages that it would lose."""
    saved: int
    """URLs that it would remove."""


def refused(rule: Rule, reason: str, effect: Effect) -> RefusedRule:
    """Return why a candidate is not taken, without the columns of what it would have done."""
    return RefusedRule(rule, reason, effect.pages, effect.lost, effect.saved)


@dataclass
class Refusals:
    """The refusals of one site: each candidate once, the weightiest kept."""

    found: dict[str, RefusedRule] = field(default_factory=dict)
    """By the text of the rule; what is refused twice keeps its last reason."""

    def note(self, one: RefusedRule) -> None:
        """Write down why a candidate was not taken."""
        self.found[str(one.rule)] = one

    def counts(self, taken: set[str]) -> dict[str, int]:
        """Return how many candidates were not taken, by reason, without those accepted later."""
        counts = Counter(one.reason for text, one in self.found.items() if text not in taken)
        return dict(sorted(counts.items()))

    def weightiest(self, taken: set[str]) -> tuple[RefusedRule, ...]:
        """Return those that concern most pages, without those accepted later."""
        return weightiest(refused for text, refused in self.found.items() if text not in taken)


def weightiest(some: Iterable[RefusedRule]) -> tuple[RefusedRule, ...]:
    """Return the refused candidates that concern most pages, and at least one of each reason."""
    ranked = sorted(some, key=lambda one: (-one.pages, -one.lost, str(one.rule)))
    return tuple(ranked[at] for at in first_of_each_reason([one.reason for one in ranked], MOST_REFUSED))
