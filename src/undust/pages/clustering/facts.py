"""The nodes of a site as facts, from which evidence for pairs of them is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from undust.pages import Earlier, SiteEvidence, SiteFacts, UrlShapes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from undust.pages.clustering.nodes import Nodes
    from undust.pages.clustering.shapes import Shapes

    Ints = NDArray[np.int64]


def evidence_of(nodes: Nodes, shapes: Callable[[], Shapes]) -> SiteEvidence:
    """Return how likely pairs of nodes are one page."""

    def alike() -> UrlShapes:
        found = shapes()
        return UrlShapes(found.skeleton, found.context, found.row)

    return SiteEvidence(
        SiteFacts(
            shows=nodes.has_content,
            label=nodes.label,
            digest=nodes.digest,
            sketches=nodes.sketches,
            sketch_row=nodes.sketch_row,
            blocks=nodes.blocks,
            title=nodes.title,
            home=_homes(nodes),
            has_list=bool(nodes.listed.any()),
            language=nodes.language,
            shapes=alike,
            earlier=Earlier(nodes.earlier, nodes.earlier_blocks, nodes.earlier_title, nodes.earlier_language),
        )
    )


def _homes(nodes: Nodes) -> Ints:
    """Return where the site says that each node belongs: the target of its redirect or its rel=canonical.

    A node of the sitemap that has neither is where it belongs.
    """
    home = np.where(nodes.redirects, nodes.redirect, nodes.canonical)
    targets = np.unique(home[home >= 0])
    unknown = targets[home[targets] < 0]
    home[unknown] = unknown
    listed = np.flatnonzero(nodes.listed & (home < 0))
    home[listed] = listed
    return home
