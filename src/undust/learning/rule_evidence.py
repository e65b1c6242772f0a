"""What is written beside each rule: measured on held-out pages, and added up over several inputs.

A rule is measured at the place where it works, and anew whenever an input is given with `--update`. Its
figures are sums over all inputs, so a small input does not replace what a large one has shown. Inputs may
overlap: the same crawl twice, a crawl and the same one a month later, old files and new ones together. Each
learned rule therefore carries a record of the URLs of its site that were counted: the names of the inputs,
and the smallest hashes of their URLs. The smallest k hashes are a uniform sample of a set, from which the
overlap with another set can be estimated (Bar-Yossef et al., "Counting distinct elements in a data stream",
2002).
"""

from __future__ import annotations

import hashlib
import math
from base64 import b64decode, b64encode
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from undust.privacy.masking import Masks, forgotten_names, removed_from
from undust.rules.language import ANY_SITE
from undust.statistics import upper_bound

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from undust.learning.site_pages import SitePages
    from undust.learning.state import Effect, State
    from undust.pages.clustering import SiteClusters
    from undust.rules import Rule

    Ints = NDArray[np.int64]
    Hashes = NDArray[np.uint64]


COUNTED = "counted"
"""The key of a rule under which the record is."""
SAMPLED = 32
"""Hashes that are kept: the overlap is estimated to within 0.18 (two standard errors), exact at both ends."""
INPUTS = 20
"""Names of inputs that are kept, the newest ones."""
_HASH_BYTES = 6
_EXAMPLES = 3


class Ledger:
    """The evidence of the rules that were accepted."""

    def __init__(self, pages: SitePages) -> None:
        self.pages = pages
        self.held = np.flatnonzero(pages.is_held[pages.of_url])
        self.rows: dict[str, Rule] = {}
        self._last: tuple[Ints, tuple[int, int, int]] | None = None

    @cached_property
    def seen(self) -> SeenUrls:
        """The URLs of the evidence; made at first use, because many sites accept no rule."""
        return SeenUrls.of(self.pages.site)

    def note(self, rule: Rule, effect: Effect, before: Ints, texts: pa.Array, state: State) -> None:
        """Write down what a rule did when it was accepted."""
        support_before, false_before, left_before = self._held_pairs(before)
        support_after, false_after, left_after = self._held_pairs(state.image)
        false = max(0, false_after - false_before) if effect.lost_held else 0
        support = max(0, support_after - support_before) + false
        saves = left_before - left_after
        measured = replace(
            rule,
            support=support,
            false_positives=false,
            fpr=false / support if support else 0.0,
            fpr_upper=round(upper_bound(effect.lost, effect.lost + effect.pages), 6),
            saves=max(0, saves),
            examples=tuple(self._examples(effect, before, texts, state)),
        )
        self.rows[rule.id] = counted(measured, self.seen, effect.pages, effect.lost)

    def _held_pairs(self, image: Ints) -> tuple[int, int, int]:
        """Return the pairs of held-out URLs, right and wrong, and how many images they have."""
        # What one rule left is what the next one finds.
        if self._last is None or self._last[0] is not image:
            held = image[self.held]
            support, false = pairs_of(held, self.pages.of_url[self.held])
            self._last = image, (support, false, int(np.count_nonzero(np.bincount(held))))
        return self._last[1]

    def _examples(
        self, effect: Effect, before: Ints, texts: pa.Array, state: State
    ) -> Iterator[tuple[str, str]]:
        """Yield a few of the forms it changes, with what became of them."""
        proofs = effect.sources[effect.merging & ~effect.failing]
        few = (
            proofs[np.unique(np.linspace(0, len(proofs) - 1, _EXAMPLES).astype(np.int64))]
            if len(proofs)
            else ()
        )
        for source in few:
            url = np.argmax(before == source)
            yield str(texts[int(source)]), str(state.images[int(state.image[url])])

    def has_false_pairs(self, rule: Rule) -> bool:
        """Return whether a rule was seen to send two held-out pages to one form."""
        return rule.id in self.rows and self.rows[rule.id].false_positives > 0  # type: ignore[operator]

    def with_evidence(self, rules: Iterable[Rule]) -> Iterator[Rule]:
        """Yield the rules with what was written down of them."""
        yield from (self.rows.get(rule.id, rule) for rule in rules)


def pairs_of(image: Ints, page: Ints) -> tuple[int, int]:
    """Return how many pairs of URLs have one image and one page, and one image and two pages."""
    together = np.bincount(image)
    same = np.unique(image * (int(page.max(initial=0)) + 1) + page, return_counts=True)[1]
    support = int((same * (same - 1) // 2).sum())
    return support, int((together * (together - 1) // 2).sum()) - support


def masked(rules: Iterable[Rule]) -> list[Rule]:
    """Return rules whose examples show nothing that looks secret."""
    found = list(rules)
    by_site: dict[str, list[Rule]] = {}
    for rule in found:
        by_site.setdefault(rule.site, []).append(rule)
    for_all = forgotten_names(by_site.get(ANY_SITE, ()))
    # The examples of a rule for all sites are of any of them.
    names = {site: (*forgotten_names(some), *for_all) for site, some in by_site.items()}
    names[ANY_SITE] = forgotten_names(found)
    masks = Masks()
    return [without_secrets(rule, names[rule.site], masks) for rule in found]


def without_secrets(rule: Rule, names: Sequence[str], masks: Masks) -> Rule:
    """Return a rule whose examples show nothing that looks secret; rules remove these names."""
    examples = tuple(
        (masks.text(url, removed_from(url, names)), masks.text(becomes, removed_from(becomes, names)))
        for url, becomes in rule.examples
    )
    return replace(rule, examples=examples) if examples != rule.examples else rule


@dataclass(frozen=True)
class SeenUrls:
    """The URLs of one site in one input."""

    name: str
    """The same for the same URLs."""
    hashes: Hashes
    """Of the URLs in normal form, sorted."""

    @classmethod
    def of(cls, site: SiteClusters) -> SeenUrls:
        """Return what an input holds of a site."""
        nodes = np.flatnonzero(site.cluster_of_node >= 0)
        urls = site.node_urls.take(pa.array(nodes)).to_pylist()
        hashes = np.unique(np.fromiter(map(_hash, urls), np.uint64, len(urls)))
        return cls(hashlib.blake2b(_bytes(hashes), digest_size=8).hexdigest(), hashes)


@dataclass(frozen=True)
class Record:
    """What was counted for a rule so far."""

    inputs: tuple[str, ...] = ()
    sample: Hashes = field(default_factory=lambda: np.empty(0, np.uint64))
    pages: int = 0
    """Pages that showed the rule to be right, and …"""
    lost: int = 0
    """… to be wrong."""
    left_out: float = 0.0
    """Pages that its conditions leave out, as far as they count against it all the same."""

    @classmethod
    def from_json(cls, said: object) -> Record | None:
        """Return the record that a file holds; None without one, or if it is damaged."""
        if not isinstance(said, dict):
            return None
        names, pages, lost = said.get("inputs"), said.get("pages"), said.get("lost")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            return None
        if not all(isinstance(each, int) and each >= 0 for each in (pages, lost)):
            return None
        try:
            sample = _hashes_from(b64decode(said["urls"], validate=True))
        except (KeyError, TypeError, ValueError):
            return None
        left_out = said.get("left_out", 0.0)
        if not isinstance(left_out, int | float) or not 0.0 <= left_out < math.inf:
            return None
        return cls(tuple(names), sample, pages, lost, float(left_out))  # type: ignore[arg-type]

    def to_json(self) -> dict[str, Any]:
        """Return the record as a file holds it."""
        urls = b64encode(_bytes(self.sample)).decode("ascii")
        said = {"inputs": list(self.inputs), "urls": urls, "pages": self.pages, "lost": self.lost}
        return said | ({"left_out": round(self.left_out, 3)} if self.left_out else {})

    def new_share(self, seen: SeenUrls) -> float:
        """Return which share of the URLs of an input was not counted before."""
        if seen.name in self.inputs:
            return 0.0
        is_whole = len(self.sample) < SAMPLED
        compared = seen.hashes if is_whole else seen.hashes[seen.hashes <= self.sample[-1]]
        if not len(compared):
            return 1.0  # far fewer URLs than were counted, so their overlap cannot be estimated
        return 1.0 - float(np.isin(compared, self.sample).mean())

    def with_input(self, seen: SeenUrls) -> Record:
        """Return the record with one more input."""
        names = (*(name for name in self.inputs if name != seen.name), seen.name)
        return replace(
            self, inputs=names[-INPUTS:], sample=np.union1d(self.sample, seen.hashes[:SAMPLED])[:SAMPLED]
        )


def counted(rule: Rule, seen: SeenUrls, pages: int, lost: int, left_out: float = 0.0) -> Rule:
    """Return a rule whose figures are those of one input, with the record of it."""
    record = replace(Record().with_input(seen), pages=pages, lost=lost, left_out=left_out)
    return replace(rule, extra={**rule.extra, COUNTED: record.to_json()})


def accumulated(rule: Rule, new: Rule, seen: SeenUrls) -> Rule:
    """Return a rule with the figures of all inputs: those that it had, and those of a new measurement.

    What is new adds its share. What contradicts a rule counts even where its URLs were counted before: a
    page may have changed. Without a record nothing is known of the overlap, and the larger body of evidence
    is used alone.
    """
    measured = Record.from_json(new.extra[COUNTED]) or Record()
    before = Record.from_json(rule.extra.get(COUNTED))
    share = before.new_share(seen) if before else 0.0

    def added(old: int | None, more: int | None) -> int:
        total = (old or 0) + round((more or 0) * share)
        return total if before else max(total, more or 0)

    def against(old: int | None, more: int | None) -> int:
        return max(added(old, more), more or 0)

    support, saves = added(rule.support, new.support), added(rule.saves, new.saves)
    false = against(rule.false_positives, new.false_positives)
    known = before or Record()
    record = replace(
        known.with_input(seen),
        pages=added(known.pages, measured.pages),
        lost=against(known.lost, measured.lost),
        left_out=max(known.left_out, measured.left_out),
    )
    upper = upper_bound(record.lost, record.lost + record.pages)
    if before is None and rule.fpr_upper is not None and not record.lost:
        upper = min(upper, rule.fpr_upper)  # of pages that were not counted
    return replace(
        new,
        support=support,
        false_positives=false,
        saves=saves,
        fpr=round(false / support, 6) if support else 0.0,
        fpr_upper=round(upper, 6),
        extra={**rule.extra, COUNTED: record.to_json()},
    )


def _hash(url: str) -> int:
    text = url.encode(errors="surrogateescape")
    return int.from_bytes(hashlib.blake2b(text, digest_size=_HASH_BYTES).digest())


def _bytes(hashes: Hashes) -> bytes:
    return b"".join(int(each).to_bytes(_HASH_BYTES) for each in hashes)


def _hashes_from(data: bytes) -> Hashes:
    if len(data) % _HASH_BYTES or len(data) > SAMPLED * _HASH_BYTES:
        raise ValueError
    numbers = [int.from_bytes(data[at : at + _HASH_BYTES]) for at in range(0, len(data), _HASH_BYTES)]
    return np.unique(np.array(numbers, np.uint64))
