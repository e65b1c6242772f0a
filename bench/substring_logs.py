"""Precision@k of DustBuster's likely rules on real logs, before any fetch.

The paper ranks likely pairs by support and asks which share of the first k is valid in at least one
direction. Here a log is all that is learned from, with its sizes and without, and the crawl of the same
site judges: a rule is valid if at most one of a hundred URLs that it merges shows another page. Rules that
merge nothing in the crawl are not judged.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import undust
from bench.asking_logs import CRAWLED, MOST_FALSE, SOURCES, labelled
from bench.common import data_folder
from undust.proposing.papers.substring import CUES, SubstringOptions, propose_substrings
from undust.rules import RuleSet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from undust.judging.verdict import Candidate
    from undust.rules import Rule

RANKS = (10, 20, 50)
MOST_TRIED = 150
"""Pairs down the list that are looked at: many a pair of a log merges nothing in the crawl."""
PUBLISHED = {"size": "0.8 of 40-50 (forum), 0.6 of 300-350 (academic)", "none": "about half of that"}


def precision() -> Iterator[dict[str, Any]]:
    """Yield a row for each log and kind of evidence; nothing where there is no data."""
    for name, crawl in CRAWLED.items():
        path = Path(data_folder(), name)
        if not path.exists():
            continue
        seen = undust.find_duplicates(undust.read(path, **SOURCES[name]))
        site = max(seen, key=lambda each: len(each.node_urls))
        judge = Judge(labelled(data_folder() / "crawls", crawl))
        for evidence in (cue for cue in CUES if cue in PUBLISHED):
            found = propose_substrings(site, SubstringOptions(evidence=evidence)).candidates
            yield row(path.name, evidence, found, judge)


class Judge:
    """The pages of a crawl, ready to judge many rules."""

    def __init__(self, pages: Mapping[str, tuple[str, tuple[int, ...]]]) -> None:
        self.urls = pa.array(list(pages), pa.large_string())
        _, page = np.unique([page for page, _ in pages.values()], return_inverse=True)
        self.page = page.reshape(-1)

    def touched_by(self, rule: Rule) -> NDArray[np.int64]:
        """Return the URLs that a rule may change; of a substitution those that have its text."""
        if rule.kind != "replace":
            return np.arange(len(self.urls))
        text = rule.source.removeprefix("^").removesuffix("$")
        return np.flatnonzero(np.asarray(pc.match_substring(self.urls, text)))

    def is_valid(self, rule: Rule) -> bool | None:
        """Return whether at most one in a hundred merged URLs shows another page; None if none is merged."""
        rows = self.touched_by(rule)
        keys = RuleSet([rule]).compile().batch(self.urls.take(pa.array(rows)), keys=True)
        changed = np.asarray(pc.not_equal(keys, self.urls.take(pa.array(rows)).cast(keys.type)))
        images = keys.filter(pa.array(changed))
        there = np.flatnonzero(np.asarray(pc.is_in(self.urls.cast(keys.type), value_set=images.unique())))
        there = np.setdiff1d(there, rows[changed])
        every = pa.concat_arrays([images, self.urls.take(pa.array(there)).cast(keys.type)])
        image = every.dictionary_encode().indices.to_numpy()
        inside = np.concatenate((rows[changed], there))
        known = len(np.unique(image))
        merged = len(image) - known
        wrong = len(np.unique(image * np.int64(len(self.page)) + self.page[inside])) - known
        return wrong <= MOST_FALSE * merged if merged else None


def row(name: str, evidence: str, found: tuple[Candidate, ...], judge: Judge) -> dict[str, Any]:
    """Return the share of valid pairs among the first k that can be judged."""
    both: dict[frozenset[str | None], list[Rule]] = {}
    for each in found:
        rule = each.rules[-1]
        if len(each.rules) == 1:
            sides = (rule.source, rule.target) if rule.kind == "replace" else (rule.source,)
            both.setdefault(frozenset(sides), []).append(rule)
    verdicts: list[bool] = []
    unseen = 0
    for directions in list(both.values())[:MOST_TRIED]:
        # A direction that finds again what it wrote never ends; no rule set would have it.
        usable = [
            rule for rule in directions if rule.kind != "replace" or rule.source not in (rule.target or "")
        ]
        told = [judge.is_valid(rule) for rule in usable]
        if all(each is None for each in told):
            unseen += 1
        else:
            verdicts.append(any(told))
    shares = {f"precision@{k}": round(sum(verdicts[:k]) / k, 2) for k in RANKS if len(verdicts) >= k}
    counts = {"pairs": len(both), "judged": len(verdicts), "not_in_the_crawl": unseen}
    return {"log": name, "evidence": evidence, **counts, **shares, "published": PUBLISHED[evidence]}
