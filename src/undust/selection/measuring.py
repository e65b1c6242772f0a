"""What rules do together to URLs whose pages are known: pairs with one key, and the false ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.rules import RuleSet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from undust.duplicates import SiteClusters
    from undust.rules import Rule

    Ints = NDArray[np.int64]


class Measured:
    """The URLs of one site, ready to try rules on."""

    def __init__(self, site: SiteClusters, threads: int = 1) -> None:
        nodes = np.flatnonzero(site.cluster_of_node >= 0)
        self.urls = site.node_urls.take(pa.array(nodes))
        self.cluster = site.cluster_of_node[nodes]
        self.threads = threads

    def images(self, rules: Iterable[Rule]) -> tuple[Ints, Ints]:
        """Return the rows that rules change, and the row each becomes; beyond the rows for other URLs."""
        each_once = {rule.id: rule for rule in rules}
        compiled = RuleSet(each_once.values()).compile()
        rows = np.unique(compiled.touched(self.urls, threads=self.threads)[0].to_numpy())
        keys = compiled.batch(self.urls.take(pa.array(rows)), keys=True, threads=self.threads)
        found = pc.index_in(keys, value_set=self.urls)
        codes = found.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        new = keys.filter(pc.is_null(found)).dictionary_encode().indices.to_numpy(zero_copy_only=False)
        codes[codes < 0] = len(self.urls) + new
        return rows, codes

    def fpr(self, rules: Iterable[Rule]) -> float:
        """Return the share of false pairs among those with one key; 0 where there are none."""
        rows, image = self.images(rules)
        # URLs that were there already lie under their own image.
        there = np.setdiff1d(image[image < len(self.urls)], rows)
        rows, image = np.concatenate([rows, there]), np.concatenate([image, there])
        sizes = np.unique(image, return_counts=True)[1]
        width = int(self.cluster.max(initial=0)) + 1
        same = np.unique(image * width + self.cluster[rows], return_counts=True)[1]
        pairs = int((sizes * (sizes - 1) // 2).sum())
        return 1 - int((same * (same - 1) // 2).sum()) / pairs if pairs else 0.0
