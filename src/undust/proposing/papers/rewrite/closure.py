"""GeneralizeRules: from the rules of single pairs to all that they add up to, and the filters between.

Rules that differ at one key only are found as rows with one residual: the sum of the hashes of a rule's
entries less the one at that key. So the work is a group-by for each generation of rules, never a comparison
of all pairs of rules. 64 bits represent a rule; among ten million residuals two meet by chance once in four
hundred thousand runs, and then a candidate fails its proof.

Settled here, where Algorithm 3 leaves it open (A19, A21, A23):

* The loop goes by generations: the n-th has the rules with n wildcards, and its Δ(r, k) are rules of the
  same generation. Any rule with n wildcards that the loop can reach is reached from two of its children,
  which have one less; so a generation is whole before the next begins, and the loop ends.
* Where the contexts at k differ, the context is generalized, else the action. Once a context is the
  wildcard they do not differ any more, and the action follows: two steps at one key.
* A rule covers another if it is equal or more general on both sides (A19: definition 3 compares contexts
  only, and would call rules with other results less general).
* The fan-out is the number of different values at the place that is generalized, the rule's own included;
  also those of rules with another result there, for Δ(r, k) has them too (not with the filter `covered`).
* An absent or empty value is not a value of a fan-out, because no wildcard covers it.
* Under the ideal filter both places are tried, as the proof of Theorem 9 wants: only that filter separates
  a good rule from a bad one by itself.

A filter decides which generalizations are made: the four of the paper (Algorithm 1 and section 4.1), and one
more.

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
    from collections.abc import Callable

    from undust.proposing.papers.rewrite.maps import Bools, Codes, Hashes, Ints
    from undust.proposing.papers.rewrite.measures import Sites
    from undust.proposing.papers.rewrite.pairs import SampledPairs

    Judge = Callable[[Rules], Bools]
    Floats = np.ndarray[tuple[int], np.dtype[np.float64]]


_SALT = -9


@dataclass(frozen=True, eq=False)
class Generation:
    """The rules with one number of wildcards, and which of the generation before each one covers."""

    rules: Rules
    covering: Ints
    """A rule of this generation, …"""
    covered: Ints
    """… and one of the last that it covers."""


@dataclass(frozen=True, eq=False)
class _Buckets:
    """Entries that share their residual with others, sorted by bucket, context and action."""

    entry: Ints
    rule: Ints
    bucket: Ints
    context: Codes
    action: Codes
    is_literal: Bools
    is_action_open: Bools
    literals: Ints
    """Of each entry's bucket: the different values that contexts have there."""
    covered: Ints
    """The same, of the entries of the bucket that have the action of this one."""
    evenness: np.ndarray[tuple[int], np.dtype[np.float64]]
    """Of each entry's bucket: how even they are, 1 if each is there as often as the others."""
    actions: Ints
    """Of the entries of a bucket with the same context: how many different actions."""


def generalize(rules: Rules, is_open: Bools, chosen: Filter, budget: int) -> tuple[list[Generation], int]:
    """Return all generations, the given one first, and how many rules did not fit into the budget.

    The budget counts pairs in supports, of all generations together: that is what takes memory. Where it
    ends, the rules with the largest supports stay.
    """
    none = np.empty(0, np.int64)
    generations = [Generation(rules, none, none)]
    left, cut = budget - len(rules.support), 0
    while len(generations[-1].rules):
        following = _next(generations[-1].rules, is_open, chosen)
        fitting = _fitting(following.rules.supports, left)
        cut += len(following.rules) - len(fitting)
        if len(fitting) < len(following.rules):
            following = _part(following, fitting)
        left -= len(following.rules.support)
        generations.append(following)
    return generations[: max(1, len(generations) - 1)], cut


def _next(rules: Rules, is_open: Bools, chosen: Filter) -> Generation:
    hashes = rules.entry_hashes()
    found = _buckets(rules, hashes, is_open, max(2, chosen.least))
    starred, acted = _places(found, chosen)
    if not (starred.any() or acted.any()):
        none = np.empty(0, np.int64)
        return Generation(rules.take(none), none, none)
    at = np.concatenate((np.flatnonzero(starred), np.flatnonzero(acted)))
    context = np.where(np.arange(len(at)) < starred.sum(), ANY, found.context[at]).astype(np.int32)
    action = np.where(np.arange(len(at)) < starred.sum(), found.action[at], STAR).astype(np.int32)
    entry, rule = found.entry[at], found.rule[at]
    whole = sums(hashes, rules.offsets)[rule] - hashes[entry] + hashes_of(rules.keys[entry], context, action)
    _, first, place = np.unique(whole, return_index=True, return_inverse=True)
    place = place.reshape(-1)
    covering, covered = _covered(found, at, place, context, action)
    fresh = _written(rules, rule[first], entry[first], context[first], action[first])
    counts = rules.supports[covered]
    members = rules.support[spans(rules.support_offsets[covered], counts)]
    offsets, support = united(np.repeat(covering, counts), members, len(first))
    whole_rules = Rules(fresh.offsets, fresh.keys, fresh.context, fresh.action, offsets, support)
    generation = Generation(whole_rules, covering, covered)
    kept = chosen.judge(whole_rules)
    return generation if kept.all() else _part(generation, np.flatnonzero(kept))


def _buckets(rules: Rules, hashes: Hashes, is_open: Bools, least: int) -> _Buckets:
    lengths = np.diff(rules.offsets)
    salts = hashes_of(np.arange(int(rules.keys.max(initial=0)) + 1), _SALT, _SALT)
    residual = np.repeat(sums(hashes, rules.offsets), lengths) - hashes + salts[rules.keys]
    entry = _crowded(residual, least)
    entry = entry[np.argsort(residual[entry], kind="stable")]
    bucket = _numbered(residual[entry])
    crowded = np.bincount(bucket)[bucket] >= least if len(bucket) else np.empty(0, np.bool_)
    entry, bucket = entry[crowded], bucket[crowded]
    order = np.lexsort((rules.action[entry], rules.context[entry], bucket))
    entry, bucket = entry[order], _numbered(bucket[order])
    context, action = rules.context[entry], rules.action[entry]
    is_literal = is_open_context(context, is_open)
    is_action_open = is_open_action(context, action, is_open)
    place = _numbered(bucket, context)
    first = np.flatnonzero(np.diff(place, prepend=-1))
    literal = first[is_literal[first]]
    total = int(bucket[-1]) + 1 if len(bucket) else 0
    per_place = np.bincount(place)[place[literal]] if len(place) else np.empty(0, np.int64)
    literals = np.bincount(bucket[literal], minlength=total)
    return _Buckets(
        entry,
        np.repeat(np.arange(len(rules)), lengths)[entry],
        bucket,
        context,
        action,
        is_literal,
        is_action_open,
        literals[bucket],
        _alike(bucket, action, is_literal),
        _evenness(bucket[literal], per_place, literals)[bucket],
        np.bincount(place, weights=is_action_open).astype(np.int64)[place],
    )


def _crowded(residual: Hashes, least: int) -> Ints:
    # Most residuals are alone; a small table of counters finds them without sorting.
    bits = max(10, len(residual).bit_length() + 1)
    slot = (residual >> np.uint64(64 - bits)).astype(np.int64)
    return np.flatnonzero(np.bincount(slot, minlength=1 << bits)[slot] >= least)


def _numbered(*columns: Ints | Hashes | Codes) -> Ints:
    changes = np.zeros(len(columns[0]), np.bool_)
    for column in columns:
        changes[1:] |= column[1:] != column[:-1]
    return np.cumsum(changes)


def _alike(bucket: Ints, action: Codes, is_literal: Bools) -> Ints:
    """Return of each entry how many literal contexts its bucket has with the same action."""
    # Rules are unique, so entries are contexts.
    if not len(bucket):
        return bucket
    order = np.lexsort((action, bucket))
    group = np.empty(len(order), np.int64)
    group[order] = _numbered(bucket[order], action[order])
    return np.bincount(group, weights=is_literal).astype(np.int64)[group]


def _evenness(bucket: Ints, counts: Ints, literals: Ints) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    total = np.bincount(bucket, weights=counts, minlength=len(literals))
    share = counts / total[bucket]
    entropy = np.bincount(bucket, weights=-share * np.log(share), minlength=len(literals))
    return np.where(literals > 1, entropy / np.log(np.maximum(literals, 2)), 1.0)


def _places(found: _Buckets, chosen: Filter) -> tuple[Bools, Bools]:
    """Return at which entries the context, and at which the action, is generalized."""
    differ = found.is_literal & (found.literals > 1)
    values = found.covered if chosen.counts_covered else found.literals
    starred = differ & chosen.keeps(values, found.evenness)
    acted = found.is_action_open & (found.actions > 1)
    if not chosen.tries_both:
        acted &= ~differ
    return starred, acted & chosen.keeps(found.actions, np.ones(len(acted)))


def _covered(found: _Buckets, at: Ints, place: Ints, context: Codes, action: Codes) -> tuple[Ints, Ints]:
    """Return which new rule covers which rule, by their numbers, each pair once."""
    covering, covered = [place], [found.rule[at]]
    both = np.flatnonzero((context == ANY) & (action == STAR))
    if len(both):
        # A wildcard on both sides covers what has one on either, whichever of them led to it.
        owner = np.full(int(found.bucket[-1]) + 1, -1, np.int64)
        owner[found.bucket[at[both]]] = place[both]
        half = (found.context == ANY) & found.is_action_open
        half |= found.is_literal & (found.action == STAR)
        half &= owner[found.bucket] >= 0
        covering.append(owner[found.bucket[half]])
        covered.append(found.rule[half])
    offsets, members = united(np.concatenate(covering), np.concatenate(covered), int(place.max()) + 1)
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)), members


def _written(rules: Rules, rule: Ints, entry: Ints, context: Codes, action: Codes) -> Rules:
    lengths = np.diff(rules.offsets)[rule]
    offsets = offsets_of(lengths)
    entries = spans(rules.offsets[rule], lengths)
    changed = offsets[:-1] + (entry - rules.offsets[rule])
    contexts, actions = rules.context[entries], rules.action[entries]
    contexts[changed], actions[changed] = context, action
    none = np.empty(0, np.int64)
    return Rules(offsets, rules.keys[entries], contexts, actions, np.zeros(len(rule) + 1, np.int64), none)


def _fitting(supports: Ints, left: int) -> Ints:
    order = np.argsort(-supports, kind="stable")
    return np.sort(order[np.cumsum(supports[order]) <= left])


def _part(generation: Generation, kept: Ints) -> Generation:
    number = np.full(len(generation.rules), -1, np.int64)
    number[kept] = np.arange(len(kept))
    stays = number[generation.covering] >= 0
    covering = number[generation.covering[stays]]
    return Generation(generation.rules.take(kept), covering, generation.covered[stays])


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
    """Fan-out, over all rules of a bucket or those that are covered; and entropy if evenness is required."""

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
