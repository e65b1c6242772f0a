"""Rules that were learned again beside those of before: which of them to use from now on.

What a crawl has fetched is not a fair sample: duplicates that a rule skips are missing from it. So a rule
that is right may not be learned a second time, and without it everything that it skipped would be fetched.
Rules of before stay if they go together with the new ones on all that was fetched, and if fewer URLs come
back with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from undust.crawling.rules_in_use import keys_by, until_one

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.crawling.fetched import Fetched
    from undust.crawling.rules_in_use import RulesInUse
    from undust.rules import Rule, RuleSet

WRONG_COSTS = 10
"""Fetches that one pair of different pages under one key counts for: others like it would never be seen."""


class CrawledUrls(NamedTuple):
    """What is known of the URLs of a site."""

    fetched: Fetched
    pending: list[str]
    skipped: list[str]

    def wrong_pairs(self, rules: RuleSet) -> set[tuple[str, str]]:
        """Return fetched URLs that rules make one though they showed different pages."""
        pages = self.fetched.pages()
        first: dict[str, str] = {}
        found = set()
        for url, key in zip(pages, keys_by(rules.program, pages), strict=True):
            other = first.setdefault(key, url)
            if other != url and self.fetched.compare(url, other) == "different":
                found.add((url, other))
        return found

    def uncovered(self, rules: RuleSet) -> int:
        """Return how many URLs would be handed back under rules."""
        covered = keys_by(rules.program, [*self.fetched.pages(), *self.pending])
        return len(set(keys_by(rules.program, self.skipped)).difference(covered))


def best_of(own: Sequence[Rule], before: RulesInUse, known: CrawledUrls) -> RuleSet:
    """Return rules that were learned now, with those of before that cost less than they save.

    Args:
        own: The rules that were learned now.
        before: The rules that are used so far.
        known: What they are compared on.

    """
    guessed = before.guessed()
    only_new = before.ordered(own, guessed)
    fresh = {rule.id for rule in own}
    old = [rule for rule in before.learned() if rule.id not in fresh | before.given_ids]
    if not old or not known.skipped:
        return only_new
    wrong = known.wrong_pairs(only_new)
    best, least = only_new, known.uncovered(only_new) + WRONG_COSTS * len(wrong)
    for together in ([*own, *old], [*old, *own]):
        rules = before.ordered(together, guessed)
        pairs = known.wrong_pairs(rules)
        if len(pairs) > len(wrong):
            blamed = _that_join(rules, pairs - wrong)
            kept = [rule for rule in together if rule.id in fresh or rule.id not in blamed]
            rules = before.ordered(kept, guessed)
            pairs = known.wrong_pairs(rules)
        cost = known.uncovered(rules) + WRONG_COSTS * len(pairs)
        if cost < least:
            best, least = rules, cost
    return best


def _that_join(rules: RuleSet, pairs: set[tuple[str, str]]) -> set[str]:
    """Return the ids of the rules that make the URLs of pairs one."""
    explain, ids = rules.program.explain, rules.ids
    return {ids[step[0]] for one, other in pairs for step in until_one(explain(one), explain(other))}
