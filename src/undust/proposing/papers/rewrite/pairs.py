"""The rule that each pair of URLs makes, and rules as rows of codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from undust._core import pair_rules
from undust.proposing.papers.rewrite.maps import distinct, hashes_of, offsets_of, spans, sums

if TYPE_CHECKING:
    from undust.proposing.papers.rewrite.maps import Bools, Codes, Hashes, Ints, Maps
    from undust.proposing.papers.rewrite.sampling import SampledPairs


@dataclass(frozen=True, eq=False)
class Rules:
    """Rules as rows: entry `e` of rule `r` says what the context and the action have at a key.

    A context is a value's code, -1 (the key is absent) or a wildcard. An action is a value's code, -1,
    -2 (the wildcard), or -3 less the key whose value is taken. Each rule is there once.
    """

    offsets: Ints
    keys: Codes
    context: Codes
    action: Codes
    support_offsets: Ints
    support: Ints
    """The numbers of the pairs behind each rule, ascending."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def supports(self) -> Ints:
        """How many pairs each rule has."""
        return np.diff(self.support_offsets)

    def entry_hashes(self) -> Hashes:
        """Return a number for each entry."""
        return hashes_of(self.keys, self.context, self.action)

    def hashes(self) -> Hashes:
        """Return a number for each rule."""
        return sums(self.entry_hashes(), self.offsets)

    def take(self, rules: Ints) -> Rules:
        """Return some of the rules, in the given order."""
        lengths = np.diff(self.offsets)[rules]
        entries = spans(self.offsets[rules], lengths)
        counts = self.supports[rules]
        support = self.support[spans(self.support_offsets[rules], counts)]
        columns = (self.keys[entries], self.context[entries], self.action[entries])
        return Rules(offsets_of(lengths), *columns, offsets_of(counts), support)


def rules_of_pairs(maps: Maps, pairs: SampledPairs) -> Rules:
    """Return GenerateRule (Algorithm 2) of each pair, equal ones pooled (Algorithm 4).

    Where several keys of the source have the wanted value, the same key comes first, then the key
    order; a reference that other pairs contradict is in another rule than they are, and stays behind
    with its few pairs (A20).
    """
    columns = pair_rules(maps.offsets, maps.keys, maps.values, maps.linked, pairs.left, pairs.right)
    offsets, keys, context, action = (pa.array(column).to_numpy() for column in columns)
    number = np.arange(len(pairs.left), dtype=np.int64)
    every = Rules(offsets, keys, context, action, np.arange(len(number) + 1), number)
    return pooled(every, every.hashes())


def pooled(rules: Rules, hashes: Hashes) -> Rules:
    """Return each rule once, with the pairs of all its copies; in the order of the hashes."""
    _, first, place = np.unique(hashes, return_index=True, return_inverse=True)
    if len(first) == len(rules):
        return rules.take(first)
    once = rules.take(first)
    members = np.repeat(place.reshape(-1), rules.supports)
    offsets, support = united(members, rules.support, len(first))
    return Rules(once.offsets, once.keys, once.context, once.action, offsets, support)


def united(owners: Ints, members: Ints, count: int) -> tuple[Ints, Ints]:
    """Return for each of `count` owners its members, sorted and each once, as offsets and members."""
    span = int(members.max(initial=0)) + 1
    both = distinct(owners.astype(np.int64) * span + members)
    return offsets_of(np.bincount(both // span, minlength=count)), both % span


def is_open_action(context: Codes, action: Codes, is_open: Bools) -> Bools:
    """Whether a wildcard may take the place of each action: what it writes is a value that one covers."""
    writes = is_open[np.maximum(action, 0)]
    copies = ~((context >= 0) & ~is_open[np.maximum(context, 0)])
    return np.where(action >= 0, writes, (action <= FIRST_REFERENCE) & copies)


def is_open_context(context: Codes, is_open: Bools) -> Bools:
    """Whether a wildcard may take the place of each context."""
    return (context >= 0) & is_open[np.maximum(context, 0)]


KEY_ABSENT, STAR, FIRST_REFERENCE = -1, -2, -3


def source_key(action: Any) -> Any:  # noqa: ANN401 -- a number or an array
    """Return the key whose value an action takes."""
    return FIRST_REFERENCE - action
