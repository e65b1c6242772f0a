"""Signs that two URLs are unlikely to be one page: the third heuristic, as columns for the core.

The paper asks a sketch where there is one, else the range of sizes, and takes everything else for
likely. So does the core, row against row, and in this order:

    one cluster                     likely
    two labels of a person          likely if equal
    two sketches                    likely if all minima agree but for a share of `delta`
    two digests (no sketch)         not likely, or they would be one cluster
    two ranges of sizes             likely if they meet; only where one side has no content
    anything missing                likely
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from undust.pages.clustering import SiteClusters
    from undust.proposing.papers.substring.options import Cue

    Ints = NDArray[np.int64]


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
        """How many URLs say nothing at all about their page."""
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
