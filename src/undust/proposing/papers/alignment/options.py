"""What can be set about alignment, and what each decision is that the paper leaves open.

Published are the steps; scoring, gap costs, the size of samples and the generalization are not to be had
(section 6 of the specification names what other sources say). So each is an option, and `bench/alignment.py`
measures what the others would do.
"""

from __future__ import annotations

from dataclasses import dataclass

from undust.errors import UndustError

ALIGNERS = ("plain", "anchored", "banded")
SCORINGS = ("typed", "jaccard")
ORDERS = ("score", "share")
CHOICES = {"aligner": ALIGNERS, "scoring": SCORINGS, "order": ORDERS}
PAIR = 2
_BOUNDS = {
    "sample": (PAIR, 1_000),
    "samples": (1, 1 << 30),
    "band": (1, 1 << 30),
    "max_members": (1, 1_000),
    "max_forms": (1, 64),
    "min_clusters": (1, 1 << 30),
    "max_tokens": (1, 5_000),
}
"""So that no setting asks for more time or memory than a machine has."""


@dataclass(frozen=True)
class AlignmentOptions:
    """As published, where something was published."""

    sample: int = 10
    """URLs of a cluster that are aligned with each other (K); 2 aligns pairs."""
    samples: int = 3
    """How many such samples of a larger cluster are taken."""
    aligner: str = "plain"
    """`plain` looks at all ways; `anchored` matches common beginnings and ends first, which costs no score,
    but decides between ways that are equally good; `banded` stays near the diagonal."""
    band: int = 8
    """How far `banded` may leave the diagonal, in tokens."""
    scoring: str = "typed"
    """`typed` punishes what cannot be the same: letters over digits, punctuation over anything else;
    `jaccard` does not."""
    order: str = "score"
    """Which two are aligned first: those with the highest `score`, or its highest `share` of the length."""
    gaps_count: bool = False
    """Whether a gap is a member of its column when columns are compared."""
    triplets: bool = True
    """Whether a percent triplet is one token; the paper mentions punctuation and digits only."""
    whole_parts: bool = True
    """Whether a part of a URL in which tokens vary and others come and go is taken as a whole."""
    word_runs: bool = True
    """Whether such a unit ends where the changes end, so that an id beside a title stays apart, and a title
    of any number of words is one unit."""
    either_reading: bool = True
    """With `word_runs`, whether URLs are read without them as well, and the better reading is used."""
    across_hosts: bool = False
    """Whether rules are pooled over the hosts of a site."""
    max_members: int = 5
    """Texts up to which a place is a list of them; with more it is a class (C_max)."""
    max_forms: int = 8
    """Forms that the optional parts of a rule may make; a sample with more is refused."""
    halves: bool = True
    """Whether a refused sample is tried again in halves, down to pairs."""
    min_clusters: int = 2
    """Clusters that a rule must be seen in."""
    constant_share: float = 0.5
    """In more than this share of its clusters a text must have been seen, to be written for all."""
    max_tokens: int = 500
    """Longer URLs are not aligned: the work grows with the square."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name, known in CHOICES.items():
            if getattr(self, name) not in known:
                message = f"alignment.{name}={getattr(self, name)} is unknown; there are {', '.join(known)}"
                raise UndustError(message)
        for name, (least, most) in _BOUNDS.items():
            if not least <= getattr(self, name) <= most:
                message = f"alignment.{name}={getattr(self, name)} should be between {least:,} and {most:,}"
                raise UndustError(message)
