"""The rules of one site at a moment of a crawl: those given, learned, guessed, and those of most sites."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from undust.crawling.guesses import GUESS
from undust.crawling.prior import PRIOR, PriorRules
from undust.rules import program_of
from undust.rules.language import ANY_SITE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from undust.crawling.rule_tests import RuleTests
    from undust.rules import Rule, RuleSet

MOST_WITHDRAWN = 2
"""A rule that was withdrawn may come back if it is learned again, for what refuted it was seen then; not a
rule that was withdrawn this often."""


@dataclass
class RulesInUse:
    """The rules of one site, in their order."""

    site: str
    base: RuleSet
    """The rules that the crawl was started with, of this site and for all sites."""
    prior: PriorRules
    withdrawn: dict[str, int] = field(default_factory=dict)
    """Ids of rules that failed, with how often each did."""

    def __post_init__(self) -> None:
        self._given = tuple(self.base)
        self._given_ids = frozenset(self.base.ids)
        off = [rule.with_status("active") for rule in self._given if rule.status == "disabled"]
        self._off = program_of(off) if off else None
        self.use(self.base)

    def use(self, rules: RuleSet) -> None:
        """Use other rules from now on."""
        self.all = rules
        self.ids = rules.ids
        self.tentative = {
            id_
            for id_, raw in zip(self.ids, rules.raw, strict=True)
            if raw.get("learned_by") in {PRIOR, GUESS}
        }
        self.program = rules.program

    @property
    def supports(self) -> list[tuple[str, int]]:
        """The ids, each with the pages that supported the rule when it was learned."""
        return [(id_, int(raw.get("support") or 0)) for id_, raw in zip(self.ids, self.all.raw, strict=True)]

    # Which rules there are

    def of_site(self) -> list[dict[str, Any]]:
        """Return the rules of this site that only this crawl knows, as a rule file has them."""
        return [raw for raw in self.all.raw if raw["site"] != ANY_SITE and raw.get("learned_by") != PRIOR]

    def shared(self) -> list[str]:
        """Return the ids of the others: rules for all sites, and rules of most sites."""
        own = {raw["id"] for raw in self.of_site()}
        return [id_ for id_ in self.ids if id_ not in own]

    def believed(self, tests: RuleTests) -> list[dict[str, Any]]:
        """Return the rules of this site that held for enough pages, and what a person gave."""
        found = []
        for id_, raw in zip(self.ids, self.all.raw, strict=True):
            test = tests.of[id_]
            if id_ not in self.tentative:
                found += [raw] if raw["site"] != ANY_SITE else []
            elif test.is_proven:
                found.append(raw | {"support": test.good})
        return found

    def given(self) -> tuple[list[Rule], list[Rule]]:
        """Return the rules that the crawl was started with: those to learn beside, and those to avoid."""
        own = [rule for rule in self._given if rule.site == self.site and rule.id not in self.withdrawn]
        off = [rule for rule in own if rule.status == "disabled"]
        return [rule for rule in own if rule.status == "active"], off

    def guessed(self) -> list[Rule]:
        """Return those that are guesses."""
        return [rule for rule in self.all if rule.learned_by == GUESS]

    def learned(self) -> list[Rule]:
        """Return those of this site that are neither guesses nor rules of most sites."""
        return [rule for rule in self.all if rule.learned_by not in {GUESS, PRIOR} and rule.site != ANY_SITE]

    # Which rules there should be

    def wakes(self, form: str) -> bool:
        """Return whether rules of most sites concern a new form, and did not concern any other before."""
        return self.prior.wake(form, self._given_ids, self._off)

    def with_awake(self) -> RuleSet:
        """Return the rules with those of most sites that are awake now."""
        return self.ordered(self.learned(), self.guessed())

    def ordered(self, own: Sequence[Rule], guessed: Sequence[Rule]) -> RuleSet:
        """Return the rules to use: given ones, learned ones, guesses, and those of most sites."""
        found = {rule.id: rule for rule in own}
        given = [rule for rule in self._given if rule.id not in self.withdrawn]
        prior = [rule for rule in self.prior.awake if rule.id not in self.withdrawn]
        for_all = [rule for rule in given if rule.site == ANY_SITE]
        start = [rule for rule in given if rule.site != ANY_SITE and rule.id not in found]
        rest = [rule for rule in (*guessed, *prior, *for_all) if rule.id not in found]
        return self.base.with_rules({rule.id: rule for rule in (*start, *own, *rest)}.values())

    def without(self, ids: set[str]) -> RuleSet:
        """Return the rules without some, which have failed."""
        for id_ in sorted(ids):
            self.withdrawn[id_] = self.withdrawn.get(id_, 0) + 1
        return self.all.with_rules(rule for rule in self.all if rule.id not in ids)

    def may_return(self, rule: Rule) -> bool:
        """Return whether a rule that was learned may be used: it did not fail too often."""
        return self.withdrawn.get(rule.id, 0) < MOST_WITHDRAWN

    def restored(self, own: list[Rule], withdrawn: dict[str, int], shared: Sequence[str]) -> RuleSet:
        """Return the rules as they were: those of this site, and the shared ones that had not failed."""
        self.withdrawn = withdrawn
        self.prior.wake_again({*shared, *withdrawn})
        kept = [rule for rule in self.prior.awake if rule.id not in self.withdrawn]
        kept += [rule for rule in self._given if rule.site == ANY_SITE and rule.id in shared]
        known = {rule.id for rule in own}
        return self.base.with_rules([*own, *(rule for rule in kept if rule.id not in known)])


def idle_guesses(rules: RuleSet, urls: Iterable[str]) -> set[str]:
    """Return the ids of guesses that others have made redundant: no URL needs them."""
    column = pa.array(urls, pa.large_string())
    used = set(pa.array(rules.program.used(column)[1]).unique().to_pylist())
    return {
        id_
        for place, (id_, raw) in enumerate(zip(rules.ids, rules.raw, strict=True))
        if raw.get("learned_by") == GUESS and place not in used
    }
