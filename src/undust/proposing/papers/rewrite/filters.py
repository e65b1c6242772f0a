"""Which generalizations are made: the four filters of the paper (Algorithm 1 and section 4.1), and one more.

* `fanout`: enough different values at the place (published: 10, and 30 beside it).
* `covered`: the same, counted only over rules that the new rule covers. The paper counts all of Δ(r, k), so
  that ten pages that are each `/name` and `/NAME` add up to "any name will do".
* `entropy`: the values are nearly uniform. No threshold is published; here the entropy is at least 0.9 of
  the largest possible, over at least five values.
* `estimate`: e = 1 - |T| / |S| is below `max_fpr`, with S the URLs that have the context of the new rule
  and T those of them that are in its pairs. The pairs are those of all rules that lead to it.
* `ideal`: the new rule, or some rule more general than it, has at most `max_fpr` false pairs on the whole
  site (the listing prints "less than", Problem 6 "at most"). All rules more general than those of pairs
  have to be measured for that, so it is for small key spaces.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from undust.errors import UndustError
from undust.proposing.papers.rewrite.maps import ANY, hashes_of, offsets_of, spans, sums
from undust.proposing.papers.rewrite.measures import in_context, matching, measure
from undust.proposing.papers.rewrite.pairs import STAR, Rules, is_open_action, is_open_context, pooled, united

if TYPE_CHECKING:
    from undust.proposing.papers.rewrite.maps import Bools, Hashes, Ints
    from undust.proposing.papers.rewrite.measures import Sites
    from undust.proposing.papers.rewrite.sampling import SampledPairs

    Floats = np.ndarray[tuple[int], np.dtype[np.float64]]


class Filter(Protocol):
    """Decides on places before rules are made, and on the rules once they are."""

    @property
    def least(self) -> int:
        """Fewer values than these never pass."""

    @property
    def tries_both(self) -> bool:
        """Whether context and action are generalized independently, not one after the other."""

    @property
    def counts_covered(self) -> bool:
        """Whether only values of rules that the new rule covers are counted, not all of Δ(r, k)."""

    def keeps(self, values: Ints, evenness: Floats) -> Bools:
        """Whether a place with this many values, this even, may be generalized."""

    def judge(self, rules: Rules) -> Bools:
        """Which of the new rules stay."""


@dataclass(frozen=True)
class ByValues:
    """Fan-out, over all rules of a bucket or those that are covered; and entropy if evenness is asked for."""

    least: int
    evenness: float = 0.0
    counts_covered: bool = False
    tries_both: bool = False

    def keeps(self, values: Ints, evenness: Floats) -> Bools:
        """Return where there are enough values, even enough."""
        return (values >= self.least) & (evenness >= self.evenness - 1e-9)

    def judge(self, rules: Rules) -> Bools:
        """Return that all stay."""
        return np.ones(len(rules), np.bool_)


@dataclass(frozen=True, eq=False)
class ByEstimate:
    """Estimated false positives."""

    site: Sites
    pairs: SampledPairs
    max_fpr: float
    least: int = 2
    tries_both: bool = False
    counts_covered: bool = False

    def keeps(self, values: Ints, evenness: Floats) -> Bools:  # noqa: ARG002 -- the contract's
        """Return that all places are tried."""
        return np.ones(len(values), np.bool_)

    def judge(self, rules: Rules) -> Bools:
        """Return the rules whose pairs hold nearly all URLs that have the context."""
        owner = np.tile(np.repeat(np.arange(len(rules)), rules.supports), 2)
        rows = np.concatenate((self.pairs.left[rules.support], self.pairs.right[rules.support]))
        inside = in_context(self.site, rules, owner, rows)
        offsets, _ = united(owner[inside], rows[inside], len(rules))
        return 1 - np.diff(offsets) / np.maximum(matching(self.site, rules), 1) < self.max_fpr


class Ideal:
    """True false positives, of the rule or of any that is more general."""

    least = 2
    tries_both = True
    counts_covered = False

    def __init__(self, site: Sites, rules: Rules, max_fpr: float, budget: int) -> None:
        self.good = _good(site, rules, max_fpr, budget)

    def keeps(self, values: Ints, evenness: Floats) -> Bools:  # noqa: ARG002 -- the contract's
        """Return that all places are tried."""
        return np.ones(len(values), np.bool_)

    def judge(self, rules: Rules) -> Bools:
        """Return the rules that have a good one above them, or are good themselves."""
        return np.isin(rules.hashes(), self.good)


def _good(site: Sites, rules: Rules, max_fpr: float, budget: int) -> Hashes:
    generations, parents, spent = [rules], [], len(rules.keys)
    while len(generations[-1]):
        above, owner, place = _all_above(generations[-1], site.maps.open)
        generations.append(above)
        parents.append((owner, place))
        spent += len(above.keys)
        if spent > budget:
            message = (
                "rewrite.filter=ideal measures every rule above those of pairs, and here these are more than "
                f"rewrite.budget={budget} entries; take rewrite.filter=fanout"
            )
            raise UndustError(message)
    found: list[Hashes] = []
    above_fpr = np.empty(0)
    for number in range(len(generations) - 1, -1, -1):
        best = measure(site, generations[number]).fpr
        if number < len(parents):
            owner, place = parents[number]
            np.minimum.at(best, owner, above_fpr[place])
        found.append(generations[number].hashes()[best <= max_fpr])
        above_fpr = best
    return np.concatenate(found)


def _all_above(rules: Rules, is_open: Bools) -> tuple[Rules, Ints, Ints]:
    """Return all rules with one wildcard more, and which rule is below which of them."""
    starred = np.flatnonzero(is_open_context(rules.context, is_open))
    acted = np.flatnonzero(is_open_action(rules.context, rules.action, is_open))
    owner = np.repeat(np.arange(len(rules)), np.diff(rules.offsets))
    entry = np.concatenate((starred, acted))
    rule = owner[entry]
    lengths = np.diff(rules.offsets)[rule]
    offsets = offsets_of(lengths)
    entries = spans(rules.offsets[rule], lengths)
    context, action = rules.context[entries], rules.action[entries]
    changed = offsets[:-1] + entry - rules.offsets[rule]
    context[changed[: len(starred)]] = ANY
    action[changed[len(starred) :]] = STAR
    nothing = np.zeros(len(rule) + 1, np.int64)
    every = Rules(offsets, rules.keys[entries], context, action, nothing, np.empty(0, np.int64))
    hashes = sums(hashes_of(every.keys, context, action), offsets)
    place = np.unique(hashes, return_inverse=True)[1].reshape(-1)
    return pooled(every, hashes), rule, place
