"""A labelled site for comparisons, and a learner so simple that nothing else can be wrong."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

import undust
from undust.judging.verdict import Candidate, Proposal

if TYPE_CHECKING:
    from undust.pages.clustering import SiteClusters

DROP = "rewrite {s}://{h}/{p**}?{**:NAME}&{rest**} → {s}://{h}/{p}?{rest}"


@dataclass(frozen=True)
class Names:
    """Which parameters to propose for dropping."""

    names: str = "page sid"


class Drops:
    """Proposes to drop parameters, and remembers what it was shown."""

    def __init__(self) -> None:
        self.shown: list[SiteClusters] = []

    def propose(self, site: SiteClusters, options: Names) -> Proposal:
        """Propose each, whatever it does."""
        self.shown.append(site)
        rules = [
            replace(undust.Rule.parse(DROP.replace("NAME", name), site=site.site), learned_by="drops")
            for name in options.names.split()
        ]
        return Proposal(tuple(Candidate((rule,), 1, "urls") for rule in rules))


def labelled(pages: int = 60, sites: tuple[str, ...] = ("a.test", "b.test")) -> pa.Table:
    """Sites where sessions do not matter, the pages of lists do, and a few pages have one URL only."""
    rows = []
    for site in sites:
        for number in range(pages):
            forms = ("",) if number % 7 == 0 else ("", f"?sid={number}", f"?sid=x{number}")
            rows += [(f"http://{site}/item/{number}{form}", f"item {number}") for form in forms]
            rows.append((f"http://{site}/list?page={number}", f"list {number}"))
    return pa.table({"url": [url for url, _ in rows], "cluster": [page for _, page in rows]})


def shuffled_labels(table: pa.Table, seed: int = 0) -> pa.Table:
    """The same URLs and the same labels, but nothing to do with each other."""
    labels = table.column("cluster").to_pylist()
    random.Random(seed).shuffle(labels)
    return pa.table({"url": table.column("url"), "cluster": labels})
