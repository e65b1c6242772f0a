"""What is not taken: candidates that were refused, with the reason, and rules that a person switched off.

A person who reviews rules asks for the reasons first. Any rule that would do the work of one that is switched
off is not wanted either.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from undust.rules import RuleSet, program_of
from undust.rules.verdict import first_of_each_reason

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from undust.learning.state import Effect
    from undust.rules import Rule

    Work = tuple[tuple[str, str], ...]


MERGED = "merged different pages"
NOWHERE = "leads to where the site has no page"
MADE_UP_URLS = "creates URLs that were not observed"
AGAINST = "works against another rule"
TOGETHER = "the rules together would exceed --max-fpr"
MOST_REFUSED = 100
"""Of a site, those that concern most pages, and one of each reason; all are counted."""
_SHOWN = 200
"""A sample of this many URLs that a rule changes, from all over the site; and the first this
many, among which are neighbours that it brings together."""


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


def work_of(rules: Sequence[Rule], urls: pa.Array) -> Work:
    """Return what rules would do, if they were on: some of the URLs that they change, and to what."""
    found: list[tuple[str, str]] = []
    for rule in rules:
        canonical = RuleSet([_alone(rule.with_status("active"))]).compile()
        rows = np.unique(canonical.touched(urls)[0].to_numpy())
        spread = np.linspace(0, max(len(rows) - 1, 0), _SHOWN).astype(np.int64)
        some = rows[np.union1d(spread, np.arange(_SHOWN))] if len(rows) > _SHOWN else rows
        found += ((url, canonical(url)) for url in urls.take(pa.array(some)).to_pylist())
    return tuple(found)


def does(rule: Rule, work: Iterable[tuple[str, str]]) -> bool:
    """Return whether a rule does any of this work, or a part of it.

    One that changes a URL, and leaves alone what the work would make of it, is about the same part.
    """
    pairs = tuple(work)
    if not pairs:
        return False
    canonical = RuleSet([_alone(rule)]).compile()
    return any(
        (image := canonical(url)) == becomes or (image != url and canonical(becomes) == becomes)
        for url, becomes in pairs
    )


def _alone(rule: Rule) -> Rule:
    """Return a rule that acts, whatever it needs and whether or not its results are to be fetched."""
    return replace(rule, fetch=True, needs=())


class Unwanted:
    """Rules that are off, and URLs of a site that they would bring together."""

    def __init__(self, rules: Sequence[Rule], urls: pa.Array) -> None:
        self.rules = [_alone(rule.with_status("active")) for rule in rules]
        self.urls = pa.array(
            sorted({url for pair in work_of(rules, urls) for url in pair}), pa.large_string()
        )

    def done_by(self, rule: Rule, others: Sequence[Rule]) -> bool:
        """Return whether a rule beside others brings together what was to stay apart, in whatever form."""
        if not len(self.urls):
            return False
        together, before, after = (
            pa.array(program_of(rules).batch(self.urls, keys=True)).to_pylist()
            for rules in ([*others, *self.rules], others, [*others, rule])
        )
        met: dict[tuple[str, str], str] = {}
        return any(
            met.setdefault((group, now), stood) != stood
            for group, now, stood in zip(together, after, before, strict=True)
        )
