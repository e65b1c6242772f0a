"""What a person may set of the substring learner; the defaults are the published values."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from undust.errors import UndustError

if TYPE_CHECKING:
    from undust.proposing.papers.resources import Resources
    from undust.urls.views import TokenStyle

Cue = Literal["auto", "content", "size", "none"]
CUES: tuple[Cue, ...] = get_args(Cue)
_STYLES: tuple[TokenStyle, ...] = ("triplets", "words")
COUNTING_SHARE = 0.25
"""Of the memory that the program may use, what envelopes and counted pairs get."""
BYTES_OF_URL = 4096
"""One URL is learned from for each of these bytes of memory; above that a sample."""


@dataclass(frozen=True)
class SubstringOptions:
    """The parameters of DustBuster, by what they do; the paper's names follow each."""

    max_length: int = 35
    """S: tokens in a piece. It counts tokens, so 10 is enough for `http://www.cnn.com` (A5)."""
    max_bucket: int = 6
    """T_low: pieces that may share an envelope before it recommends nothing."""
    max_bucket_compared: int = 11
    """T_high: the same, for the supports that elimination compares (A8)."""
    min_support: int = 3
    """MS: envelopes that a pair, or a parameter, needs; as many are enough (A6)."""
    relative_deficiency: float = 0.05
    """MRD: share of its support that a redundant pair may have beyond the one that keeps the context."""
    absolute_deficiency: float = 1.0
    """MAD: the same as a number; the larger of the two counts."""
    window: int = 1100
    """MW: pairs down the list that each is compared with."""
    evidence: Cue = "auto"
    """What shows that two URLs are different pages: `content` (labels, sketches, digests), `size` (ranges
    that do not meet), `none`, or `auto`: content where both have it, else sizes."""
    delta: float = 0.0
    """Share of a sketch's minima in which two pages may differ; 0.5 in the paper's relaxed runs."""
    tokens: TokenStyle = "triplets"
    """`words` as published, or `triplets`: a percent triplet is one token, as in the rule language."""
    substitutions: bool = True
    parameters: bool = True
    semicolons: bool = True
    """Whether `;` separates parameters too, where more of them are found so."""
    compared_values: int = 64
    """Values of a parameter in one envelope that are compared with each other."""
    max_urls: int = 1_000_000
    """Above that a sample of whole clusters is taken."""
    max_pairs: int = 10_000
    """Pairs proposed, the best first."""
    memory_mb: int = 1024
    """For envelopes and counted pairs; what does not fit is counted in passes or on disk."""
    threads: int = 1
    folder: str = ""
    """For counted pairs that do not fit; without it, that of the system for temporary files."""

    @classmethod
    def within(cls, resources: Resources) -> dict[str, object]:
        """Return what follows from bounds on the whole program: the site and its clusters take the rest."""
        chosen: dict[str, object] = {"threads": resources.threads, "folder": resources.folder or ""}
        if resources.memory is not None:
            chosen["memory_mb"] = max(1, int(resources.memory * COUNTING_SHARE) >> 20)
            chosen["max_urls"] = max(1, resources.memory // BYTES_OF_URL)
        return chosen

    def __post_init__(self) -> None:
        for name, known in (("evidence", CUES), ("tokens", _STYLES)):
            if getattr(self, name) not in known:
                message = (
                    f"the option substring.{name} is one of {', '.join(known)}, not {getattr(self, name)}"
                )
                raise UndustError(message)
        least = {"max_length": 0, "max_bucket": 0, "max_bucket_compared": 0, "min_support": 1, "window": 0}
        least |= {"compared_values": 2, "max_urls": 1, "max_pairs": 0, "memory_mb": 1, "threads": 1}
        for name, smallest in least.items():
            if getattr(self, name) < smallest:
                message = f"the option substring.{name} is at least {smallest}, not {getattr(self, name)}"
                raise UndustError(message)
        if self.folder and not Path(self.folder).is_dir():
            message = f"the option substring.folder names {self.folder}, which is not a folder; make it first"
            raise UndustError(message)
        if not 0 <= self.delta <= 1:
            message = f"the option substring.delta is a share between 0 and 1, not {self.delta}"
            raise UndustError(message)
