"""A rule that a target can say: its steps, what it matches and writes, which parts of a URL it looks at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from undust.exchange.exports import ending
from undust.exchange.exports.fixpoint import settles
from undust.exchange.exports.overlap import is_listed, may_meet
from undust.rules.language import ANY_SITE
from undust.rules.pattern import Pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from undust.exchange.exports.contract import ExportedRule
    from undust.exchange.exports.parts import Parts
    from undust.exchange.exports.steps import Compiled, ExpressionStep
    from undust.rules import Rule


@dataclass(frozen=True)
class ExpressedRule:
    """A rule that the target can say: its steps, and which rules may act on its result."""

    numbered: ExportedRule
    compiled: Compiled
    source: Pattern
    target: Pattern | None
    """Its right side, if it is a rewrite."""
    image: Pattern | None
    """What it can write; None for a `keep`."""
    touches: Parts
    """The parts of a URL that it may change."""
    watches: Parts
    """The parts of a URL that decide whether it acts, keeps aside."""

    @property
    def rule(self) -> Rule:
        """The rule itself."""
        return self.numbered.rule

    @property
    def steps(self) -> tuple[ExpressionStep, ...]:
        """All steps, in the order in which they are tried."""
        return (*self.compiled.escaping, *self.compiled.steps)

    @cached_property
    def matches_own_result(self) -> bool:
        """Whether the rule may match what it wrote."""
        return self.image is not None and may_meet(self.image, self.source)

    @cached_property
    def acts_on_own_result(self) -> bool:
        """Whether the rule may have to act again on what it wrote."""
        return self.matches_own_result and not self.settles

    @cached_property
    def settles(self) -> bool:
        """Whether it leaves its own result alone."""
        return self.target is not None and settles(self.source, self.target)

    @cached_property
    def only_takes_parameters(self) -> bool:
        """Whether it adds no parameter to a query."""
        return self.target is not None and all(entry.several for entry in self.target.query or ())

    @cached_property
    def needs_parameters(self) -> bool:
        """Whether it acts because of parameters that are there, and never because others are not."""
        conditions = [Pattern.parse(text, is_condition=True) for text in self.rule.unless]
        if self.target is None or any(pattern.query for pattern in conditions):
            return False
        takes_some = (ending.parameters((self.source, self.target)) or 0) < 0
        return self.source.is_open and (takes_some or self.settles)

    def takes_none_of(self, other: ExpressedRule) -> bool:
        """Whether it takes no parameter away that the other rule names."""
        names = [entry.name for entry in other.source.query or () if entry.several is None]
        for entry in self.source.query or ():
            taken = entry.name if entry.several is None else entry.several.detail
            if taken and any(is_listed(name, taken) for name in names):
                return False
        return True


def in_order(rules: Iterable[ExportedRule]) -> list[ExportedRule]:
    """Return rules as they are tried: those of sites first, each in the order of the file."""
    return sorted(rules, key=lambda each: each.rule.site == ANY_SITE)


def by_site(found: Sequence[ExpressedRule]) -> Iterator[list[int]]:
    """Yield for each site the places of its rules and of those of all sites, in order."""
    shared = [place for place, each in enumerate(found) if each.rule.site == ANY_SITE]
    sites: dict[str, list[int]] = {}
    for place, each in enumerate(found):
        if each.rule.site != ANY_SITE:
            sites.setdefault(each.rule.site, []).append(place)
    for own in sites.values():
        yield sorted([*own, *shared])
    if shared and not sites:
        yield shared
