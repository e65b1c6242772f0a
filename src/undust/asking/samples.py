"""Which URLs a rule is tried on, in which order: few fetches, many pages.

Rules of one site share what was fetched. So all of them draw from the same pages in the same order: the
URLs are shuffled once, their pages are what the rules together make of them, and each rule takes of each
page a URL that it changes. A URL that two rules change is fetched once, and so is a target that both lead
to. One URL of each page comes before the second of any, or a single page with a thousand addresses would
decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.rules import RuleSet
from undust.urls import normalize

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from undust.rules import Canonicalizer, Rule

    Ints = NDArray[np.int64]

EXAMPLE, _SHOWN, LISTED, NOT_SHOWN = range(4)
"""How promising a URL is: of the rule's own examples; seen with a page; only listed; seen without a page."""
_OK = 200
_MASK = ":any"
"""What only rules have that change no URL, but its key."""
_HIDDEN = "***"
"""What stands in examples for values that nobody should see; such a URL leads nowhere."""


@dataclass(frozen=True)
class Samples:
    """The URLs of one site, in normal form and sorted, each with its place in the common order."""

    urls: pa.Array
    promise: NDArray[np.int8]
    page: Ints
    """The first place of its page: that of a URL of the page."""
    place: Ints
    """Its own place in the shuffled order of all URLs."""

    def pairs(self, rule: Rule, attempts: int) -> Iterator[tuple[str, str]]:
        """Yield URLs that a rule changes, with the outcome; for a mask, pairs of URLs that it makes equal."""
        canonicalizer = RuleSet([rule.with_status("active")]).compile()
        if _MASK in (rule.target or ""):
            yield from self._masked(canonicalizer, attempts)
            return
        rows = canonicalizer.touched(self.urls)[0].to_numpy()
        examples = {normalize(url) for url, _ in rule.examples if _HIDDEN not in url}
        own = pc.is_in(self.urls.take(pa.array(rows)), pa.array(sorted(examples), self.urls.type))
        promise = np.where(np.asarray(own, np.bool_), EXAMPLE, self.promise[rows])
        for row in self._in_order(rows, promise)[:attempts]:
            url = self.urls[row].as_py()
            yield url, canonicalizer.program.step(url)[1]

    def _masked(self, canonicalizer: Canonicalizer, attempts: int) -> Iterator[tuple[str, str]]:
        """Yield neighbours among URLs that have one key and are not the same."""
        keys = canonicalizer.batch(self.urls, keys=True)
        rows = np.flatnonzero(np.asarray(pc.not_equal(keys, self.urls), np.bool_))
        rows = self._in_order(rows, self.promise[rows])
        before: dict[str, str] = {}
        for row in rows:
            url, key = self.urls[row].as_py(), keys[row].as_py()
            if attempts and key in before:
                attempts -= 1
                yield url, before[key]
            before[key] = url

    def _in_order(self, rows: Ints, promise: NDArray[np.int8]) -> Ints:
        """Return rows by their promise, one of each page, then the next one of each page, and so on."""
        order = np.lexsort((self.place[rows], self.page[rows]))
        rows, promise = rows[order], promise[order]
        starts = np.flatnonzero(np.diff(self.page[rows], prepend=-1))
        turn = np.arange(len(rows)) - np.repeat(starts, np.diff(np.append(starts, len(rows))))
        return rows[np.lexsort((self.page[rows], turn, promise))]

    def scattered(self, rules: Sequence[Rule]) -> Iterator[str]:
        """Yield URLs that some rule changes, whatever their page: a fair look at the site."""
        active = RuleSet([rule.with_status("active") for rule in rules])
        rows = np.unique(active.compile().touched(self.urls)[0].to_numpy())
        for row in rows[np.lexsort((self.place[rows], self.promise[rows]))]:
            yield self.urls[row].as_py()


def samples_from(urls: pa.Array, statuses: pa.Array, rules: Sequence[Rule], seed: int = 0) -> Samples:
    """Return the URLs of one site to try its rules on: those listed, and those of the rules' examples."""
    of_rules = [url for rule in rules for pair in rule.examples for url in pair[:1] if _HIDDEN not in url]
    seen = pa.table({"url": normalize(urls.cast(pa.string())), "status": statuses.cast(pa.int64())})
    told = pa.table(
        {"url": normalize(pa.array(of_rules, pa.string())), "status": pa.nulls(len(of_rules), pa.int64())}
    )
    each = pa.concat_tables([seen, told]).group_by("url").aggregate([("status", "min")]).sort_by("url")
    every = each.column("url").combine_chunks()
    status = each.column("status_min").combine_chunks()
    known = np.asarray(pc.is_valid(status), np.bool_)
    is_ok = np.asarray(pc.fill_null(pc.equal(status, _OK), fill_value=False), np.bool_)
    promise = np.where(is_ok, _SHOWN, np.where(known, NOT_SHOWN, LISTED)).astype(np.int8)
    place = np.random.Generator(np.random.PCG64(seed)).permutation(len(every))
    canonical = RuleSet([rule.with_status("active") for rule in rules]).compile().batch(every)
    code = canonical.dictionary_encode().indices.to_numpy()
    first = np.full(len(every), len(every))
    np.minimum.at(first, code, place)
    return Samples(every, promise, first[code], place)
