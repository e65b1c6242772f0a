"""How pages of a site differ from themselves, and how two different pages of it differ, from their blocks.

Every kind of witness that two sightings are one page is a sample of pairs. There is also a sample of
pairs of different pages, so that a reader sees whether the two can be distinguished on this site.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from undust.pages.facts import equal_pairs, other_pairs
from undust.reading.text import DIGITS_MASK, DIGITS_SHIFT, KEY_SHIFT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from undust.pages import SiteEvidence

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Pairs = tuple[Ints, Ints]

MOST_COMPARED_PAIRS = 1000
"""Pairs of each kind that are compared; of more, some from all over the site."""
NO_DIFFERENCE = 0.999
"""Share from which two pages are equal in a feature."""
FETCHED_TWICE, ONE_HOME, ONE_CLUSTER, TWO_PAGES = "again", "home", "cluster", "different"
"""Pairs of one URL seen twice, of URLs that the site sends to one place, of one cluster, of two pages."""
WORDS_FEATURE, NUMBERS_FEATURE, ORDER_FEATURE, TITLE_FEATURE = 0, 3, 4, 5
"""Features of a pair, see `SiteEvidence.features`."""


@dataclass(frozen=True)
class PairSample:
    """How alike the pairs of one kind are."""

    kind: str
    left: Ints
    right: Ints
    features: Floats

    def __len__(self) -> int:
        return len(self.left)

    @property
    def median_words(self) -> float:
        """The median share of words that both pages have, without those of the template."""
        return float(np.median(self.features[:, WORDS_FEATURE]))

    @property
    def equal(self) -> int:
        """Pairs without any difference."""
        return int((self.features[:, : TITLE_FEATURE + 1] >= NO_DIFFERENCE).all(axis=1).sum())

    def differing(self, feature: int) -> int:
        """Return how many pairs differ in a feature."""
        return int((self.features[:, feature] < NO_DIFFERENCE).sum())


@dataclass(frozen=True)
class BlockChanges:
    """What differs between two sightings, in blocks."""

    shared: int
    """Blocks with the same words and any numbers."""
    numbers: int
    """… of which the numbers differ."""
    only_left: int
    only_right: int


def samples(evidence: SiteEvidence, together: Pairs, cluster: Ints) -> Iterator[PairSample]:
    """Yield a sample of pairs for each kind that the site has.

    Args:
        evidence: Of the site.
        together: Rows that are in one cluster, as pairs.
        cluster: The cluster of each row.

    """
    facts = evidence.facts
    rows = np.flatnonzero(facts.shows)
    again = facts.earlier.row, len(facts) + np.arange(len(facts.earlier.row))
    random, near = other_pairs(facts, rows)
    left, right = (np.concatenate(sides) for sides in zip(random, near, strict=True))
    apart = cluster[left] != cluster[right]
    different = left[apart], right[apart]
    kinds = {
        FETCHED_TWICE: again,
        ONE_HOME: equal_pairs(facts.home, rows),
        ONE_CLUSTER: together,
        TWO_PAGES: different,
    }
    for kind, pairs in kinds.items():
        left, right = _some(*_with_blocks(evidence, *pairs))
        if len(left):
            yield PairSample(kind, left, right, evidence.features(left, right))


def block_changes(evidence: SiteEvidence, left: int, right: int) -> BlockChanges:
    """Return what differs between two rows; rows after the last are earlier sightings."""
    one, other = (_words_and_numbers(evidence, row) for row in (left, right))
    shared = one.keys() & other.keys()
    return BlockChanges(
        len(shared),
        sum(one[key] != other[key] for key in shared),
        len(one.keys() - shared),
        len(other.keys() - shared),
    )


def _words_and_numbers(evidence: SiteEvidence, row: int) -> dict[int, frozenset[int]]:
    facts = evidence.facts
    blocks = facts.blocks[row] if row < len(facts) else facts.earlier.blocks[row - len(facts)]
    found: dict[int, frozenset[int]] = {}
    for block in blocks.as_py() or ():
        numbers = frozenset({block >> DIGITS_SHIFT & DIGITS_MASK})
        found[block >> KEY_SHIFT] = found.get(block >> KEY_SHIFT, frozenset()) | numbers
    return found


def _with_blocks(evidence: SiteEvidence, left: Ints, right: Ints) -> Pairs:
    has_blocks = evidence.composition.last_key >= 0
    both = has_blocks[left] & has_blocks[right]
    return left[both], right[both]


def _some(left: Ints, right: Ints) -> Pairs:
    places = np.linspace(0, len(left) - 1, min(len(left), MOST_COMPARED_PAIRS)).astype(np.int64)
    return left[places], right[places]
