"""DustBuster: substitutions of substrings and of parameters, mined from a list of URLs.

Z. Bar-Yossef, I. Keidar, U. Schonfeld: Do Not Crawl in the DUST (2006; WWW 2007). Phases 1 to 3 are here;
phase 4 proves what they propose, on held-out data or live: `undust.asking.sampling`.

1. Pieces of URLs with a common envelope (the text before and after) are a bucket. A small
   bucket is one recommendation for each pair of its pieces that may be one page; pairs with
   enough of them are likely rules.
2. A pair is redundant if another one is the same with more context and about as much support.
3. A parameter is promising if in enough envelopes some two of its values may be one page. Large
   buckets are usual here, so they count.

Where the paper leaves a choice, or errs (the numbers are those of the issue list in the docs):

* A1, A8b, A8c concern phase 4. A2, A3 are figures. A4: pieces of length 0 are the gaps between
  tokens, never before the start or behind the end, and counts of empty or semiperiodic pieces are
  those of shared envelopes, as printed, though they may exceed the number of instances.
* A5: lengths count tokens. A6: a support of exactly `min_support` is enough. A7: `delta` is how
  unlike two pages may be, and the refutation threshold of phase 4 is another parameter.
* A8: candidates are taken and ranked by the support in small buckets. Elimination compares the supports
  in larger ones, and goes through the list in their order: in the order of the others its window would
  end at the first pair that has few. A removed pair is still compared with.
* Order: pieces compare by their number of tokens, then token by token; the list by support, then
  longer pieces first, then token by token.
* Phase 3 is not printed. A parameter is `name=value` behind the first `?`, between `&`s; where more of them
  are found when `;` separates too, the candidate also respells `;` as `&` (`semicolons`); the value
  that `set` writes is the most frequent one, of equals the smallest, in front of the others or behind
  them, wherever the name stands more often; the support is the number of
  envelopes with a likely pair, of a large bucket among evenly spaced values.
* The pages of a candidate are those with two URLs that it turns into each other, or that differ in the
  value of the parameter alone, whatever the size of the bucket; without known pages none exist.

Cost for n URLs of m tokens: O(n·m·S) envelopes, none of which is ever a text: 24 bytes each in passes that
hold as many as half of `memory_mb` can, and 40 bytes for each distinct pair in the other half, in files where
it is too small. Besides that, 10 bytes a token and about 80 bytes a URL.

Signs that two URLs are unlikely to be one page: the third heuristic, as columns for the core. The paper asks
a sketch where there is one, else the range of sizes, and takes everything else for likely. So does the core,
row against row, and in this order:

    one cluster                     likely
    two labels of a person          likely if equal
    two sketches                    likely if all minima agree except for a share of `delta`
    two digests (no sketch)         not likely, or they would be one cluster
    two ranges of sizes             likely if they meet; only where one side has no content
    anything missing                likely
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust._core import (
    likely_substitutions,
    pages_of_substitutions,
    parameter_supports,
    redundant_substitutions,
)
from undust.errors import UndustError
from undust.files.temporary import temporary_folder
from undust.judging.verdict import Proposal
from undust.proposing.papers.substring.replacements import ParameterSupport, Saying, TokenPieces
from undust.urls.views import TokenView

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from undust.judging.verdict import Candidate, Resources
    from undust.pages.clustering import SiteClusters
    from undust.urls.views import TokenStyle

    Ints = NDArray[np.int64]
    TokenRows = tuple[NDArray[np.int64], NDArray[np.uint32]]

__all__ = ["LikelyPairs", "SubstringOptions", "likely_pairs", "propose_substrings"]

LONGEST_URL = 1 << 16
"""Bytes; no rule changes a longer URL."""
NO_TOKEN = 0xFFFFFFFF


def propose_substrings(site: SiteClusters, options: SubstringOptions) -> Proposal:
    """Return the likely substitutions and parameter rules of a site, by falling support."""
    sampled, notes = _sampled(site, options.max_urls)
    nodes, cut = _nodes(sampled)
    urls = sampled.node_urls.take(pa.array(nodes))
    view = TokenView.of(urls, options.tokens)
    cues = cues_of(sampled, nodes, options.evidence, options.delta)
    notes += _notes_on(cues, len(nodes), options)
    saying = Saying(site.site, TokenPieces(view))
    found: list[Candidate] = []
    if options.parameters:
        found += _parameters(view, cues, options, saying)
    if options.substitutions:
        pairs = likely_pairs(view, cues, options)
        notes.append(pairs.note)
        left = np.flatnonzero(~pairs.is_redundant)
        if len(left) > options.max_pairs:
            cut["pairs below the best that were asked for"] = len(left) - options.max_pairs
        found += pairs.candidates(left[: options.max_pairs], saying, cues)
    found.sort(key=lambda each: -each.support)
    return Proposal(tuple(found), cut | dict(sorted(saying.unsaid.items())), tuple(notes))


class LikelyPairs:
    """The likely pairs of a site, ranked, and which of them are redundant."""

    def __init__(self, view: TokenView, cues: Cues, options: SubstringOptions) -> None:
        self.rows = rows = _rows(view)
        with temporary_folder("undust-", options.folder or None) as folder:
            columns = likely_substitutions(
                *rows,
                cues.columns,
                cues.sketches,
                cues.agreeing,
                options.max_length,
                options.max_bucket,
                options.max_bucket_compared,
                options.min_support,
                options.memory_mb << 20,
                options.threads,
                folder,
            )
        self.longer, self.shorter, self.support, self.compared = (
            np.asarray(pa.array(column)) for column in columns[:4]
        )
        self.envelopes, self.envelopes_compared, self.passes, self.spilled_bytes = columns[4:]
        is_redundant = redundant_substitutions(
            *rows,
            self.longer,
            self.shorter,
            self.compared,
            options.relative_deficiency,
            options.absolute_deficiency,
            options.window,
        )
        self.is_redundant = np.asarray(pa.array(is_redundant)) > 0

    def __len__(self) -> int:
        return len(self.longer)

    @property
    def note(self) -> str:
        """What was counted, in one sentence."""
        left = len(self) - int(self.is_redundant.sum())
        told = (
            f"{self.envelopes:,} envelopes, {self.envelopes_compared:,} of them worth comparing, gave "
            f"{len(self):,} likely pairs, {left:,} of them not redundant"
        )
        return f"{told}; {self.spilled_bytes >> 20:,} MB of temporary files" if self.spilled_bytes else told

    def candidates(self, chosen: Ints, saying: Saying, cues: Cues) -> Iterator[Candidate]:
        """Yield the rules of some pairs."""
        counts = zip(self.support[chosen].tolist(), self.pages(chosen, cues).tolist(), strict=True)
        return saying.substitutions(self.longer[chosen], self.shorter[chosen], counts)

    def pages(self, chosen: Ints, cues: Cues) -> Ints:
        """Return how many pages show each of some pairs."""
        if not len(cues.columns):
            return np.zeros(len(chosen), np.int64)
        known = np.ascontiguousarray(cues.columns[PAGE])
        counts = pages_of_substitutions(*self.rows, known, self.longer[chosen], self.shorter[chosen])
        return np.asarray(pa.array(counts)).astype(np.int64)


def likely_pairs(view: TokenView, cues: Cues, options: SubstringOptions) -> LikelyPairs:
    """Return what phases 1 and 2 find."""
    return LikelyPairs(view, cues, options)


def _parameters(
    view: TokenView, cues: Cues, options: SubstringOptions, saying: Saying
) -> Iterable[Candidate]:
    question, ampersand, equals, semicolon = _codes_of(view, "?", "&", "=", ";")
    plain = _supported(_rows(view), cues, options, (question, ampersand, equals))
    yield from itertools.chain.from_iterable(map(saying.parameter, plain))
    if not options.semicolons or semicolon == NO_TOKEN:
        return
    offsets, codes = _rows(view)
    as_one = np.where(codes == ampersand, np.uint32(semicolon), codes)
    known = {saying.pieces.text(each.name): each.support for each in plain}
    for each in _supported((offsets, as_one), cues, options, (question, semicolon, equals)):
        if each.support > known.get(saying.pieces.text(each.name), 0):
            yield from saying.parameter(each, is_behind_semicolons=True)


def _codes_of(view: TokenView, *texts: str) -> list[int]:
    codes = pc.index_in(pa.array(texts, view.vocabulary.type), view.vocabulary).to_pylist()
    return [NO_TOKEN if code is None else int(code) for code in codes]


def _supported(
    rows: TokenRows, cues: Cues, options: SubstringOptions, marks: tuple[int, int, int]
) -> list[ParameterSupport]:
    """Return the parameters with enough envelopes, between these marks: `?`, a separator, `=`."""
    columns = parameter_supports(
        *rows, cues.columns, cues.sketches, cues.agreeing, marks, options.compared_values
    )
    found = zip(*(pa.array(column).to_pylist() for column in columns), strict=True)
    every = itertools.starmap(ParameterSupport, found)
    return [each for each in every if each.support >= options.min_support]


def _rows(view: TokenView) -> TokenRows:
    return np.asarray(view.offsets), np.asarray(view.codes)


def _nodes(site: SiteClusters) -> tuple[Ints, dict[str, int]]:
    seen = site.cluster_of_node >= 0
    is_long = np.asarray(pc.greater(pc.binary_length(site.node_urls), LONGEST_URL), np.bool_)
    too_long = int((seen & is_long).sum())
    return np.flatnonzero(seen & ~is_long), {"URLs of more than 64 KiB": too_long} if too_long else {}


def _sampled(site: SiteClusters, most: int) -> tuple[SiteClusters, list[str]]:
    count = int((site.cluster_of_node >= 0).sum())
    if count <= most:
        return site, []
    # Pages kept for the proof were drawn by a hash already, and this must be another one.
    sample = site.split(1 - most / count, purpose="sample")[0]
    taken = int((sample.cluster_of_node >= 0).sum())
    return sample, [f"learned from {taken:,} of {count:,} URLs: whole clusters, chosen by a stable hash"]


def _notes_on(cues: Cues, count: int, options: SubstringOptions) -> list[str]:
    if options.evidence == "none" or not count:
        return ["no evidence was looked at: a support counts URLs that differ so, not that they are one page"]
    if not cues.without:
        return []
    who = f"the pages of {cues.without:,} of {count:,} URLs"
    return [f"nothing is known of {who}: for them a support counts URLs that differ so, no more than that"]


PAGE = 0
"""The column of pages."""


@dataclass(frozen=True, eq=False)
class Cues:
    """The rows of the table above for the URLs that are learned from; no rows at all for `none`."""

    columns: Ints
    """Page, label, row of the sketch, whether content and a digest are known, sizes from and to."""
    sketches: NDArray[np.uint32]
    agreeing: int
    """Minima of two sketches that must be equal."""

    @property
    def without(self) -> int:
        """How many URLs have no evidence about their page."""
        if not len(self.columns):
            return 0
        _, label, _, known, _, _, size_max = self.columns
        return int(((known == 0) & (label < 0) & (size_max < 0)).sum())


def cues_of(site: SiteClusters, nodes: Ints, cue: Cue, delta: float) -> Cues:
    """Return what is known of some nodes of a site, as far as it may be looked at."""
    width = site.sketches.shape[1] if site.sketches.ndim > 1 else 0
    sketches = np.ascontiguousarray(
        site.sketches.reshape(-1, width) if width else np.zeros((0, 1), np.uint32)
    )
    agreeing = math.ceil((1 - delta) * width)
    if cue == "none":
        return Cues(np.zeros((0, len(nodes)), np.int64), sketches, agreeing)
    # A redirect shows what the rest of its cluster shows.
    speaker = site.speakers[nodes]
    known = site.known[speaker]
    has_size = ~site.distrusted[speaker] & (site.size_max[speaker] >= 0)
    nothing = np.full(len(nodes), -1, np.int64)
    by_content = cue != "size"
    by_size = cue != "content"
    columns = [
        site.cluster_of_node[nodes] if by_content else nothing,
        site.label[speaker] if by_content else nothing,
        np.where(known, site.sketch_row[speaker], -1) if by_content else nothing,
        known if by_content else nothing + 1,
        known & (site.digest[speaker] >= 0) & ~site.is_changing[speaker],
        np.where(has_size, site.size_min[speaker], -1) if by_size else nothing,
        np.where(has_size, site.size_max[speaker], -1) if by_size else nothing,
    ]
    return Cues(np.ascontiguousarray(np.stack(columns).astype(np.int64)), sketches, agreeing)


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
