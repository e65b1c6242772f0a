"""What rules do together to URLs whose pages are known: pairs with one key, and the false ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.rules import RuleSet

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from undust.pages.clustering import SiteClusters
    from undust.rules import Rule

    Ints = NDArray[np.int64]


class TrialUrls:
    """The URLs of one site, ready to try rules on."""

    def __init__(self, site: SiteClusters, threads: int = 1) -> None:
        nodes = np.flatnonzero(site.cluster_of_node >= 0)
        self.urls = site.node_urls.take(pa.array(nodes))
        self.cluster = site.cluster_of_node[nodes]
        self.threads = threads

    def images(self, sets: Sequence[Iterable[Rule]]) -> list[tuple[Ints, Ints]]:
        """Return for each set of rules the rows it changes and the row each becomes.

        Images that are not URLs of the site have numbers beyond the rows.
        """
        if not sets:
            return []
        own = [{rule.id: rule for rule in rules} for rules in sets]
        touched = self._touched({name: rule for each in own for name, rule in each.items()})
        keys, rows = [], []
        for each in own:
            rows.append(np.unique(np.concatenate([touched[name] for name in each])))
            urls = self.urls.take(pa.array(rows[-1]))
            keys.append(RuleSet(each.values()).compile().batch(urls, keys=True, threads=self.threads))
        codes = self._codes(pa.concat_arrays(keys))
        ends = np.cumsum([len(each) for each in rows])[:-1]
        return list(zip(rows, np.split(codes, ends), strict=True))

    def _touched(self, rules: Mapping[str, Rule]) -> dict[str, Ints]:
        """Return the rows that each rule, alone, changes."""
        compiled = RuleSet(rules.values()).compile()
        rows, numbers = (each.to_numpy() for each in compiled.touched(self.urls, threads=self.threads))
        order = np.argsort(numbers, kind="stable")
        ends = np.searchsorted(numbers[order], np.arange(1, len(rules)))
        return dict(zip(rules, np.split(rows[order].astype(np.int64), ends), strict=True))

    def _codes(self, keys: pa.Array) -> Ints:
        found = pc.index_in(keys, value_set=self.urls)
        codes: Ints = found.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        new = keys.filter(pc.is_null(found)).dictionary_encode().indices
        codes[codes < 0] = len(self.urls) + new.to_numpy(zero_copy_only=False)
        return codes

    def fpr(self, rules: Iterable[Rule]) -> float:
        """Return the share of false pairs among those with one key; 0 without such pairs."""
        return self.fpr_of(*self.images([rules])[0])

    def fpr_of(self, rows: Ints, image: Ints) -> float:
        """Return the same for rows and what becomes of them."""
        # URLs that were there already lie under their own image.
        there = np.setdiff1d(image[image < len(self.urls)], rows)
        rows, image = np.concatenate([rows, there]), np.concatenate([image, there])
        sizes = np.unique(image, return_counts=True)[1]
        width = int(self.cluster.max(initial=0)) + 1
        same = np.unique(image * width + self.cluster[rows], return_counts=True)[1]
        pairs = int((sizes * (sizes - 1) // 2).sum())
        return 1 - int((same * (same - 1) // 2).sum()) / pairs if pairs else 0.0

    def merges(self, rules: Iterable[Rule]) -> tuple[int, int]:
        """Return how many URLs the rules bring to others of their page, and how many pages to others."""
        compiled = RuleSet({rule.id: rule for rule in rules}.values()).compile()
        keys = compiled.batch(self.urls, keys=True, threads=self.threads).dictionary_encode().indices
        image = keys.to_numpy(zero_copy_only=False).astype(np.int64)
        width = int(self.cluster.max(initial=0)) + 1
        pages = len(np.unique(image * width + self.cluster))
        return len(image) - pages, pages - len(np.unique(image))
