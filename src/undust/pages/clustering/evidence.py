"""One function per kind of evidence: each gives pairs of nodes that it treats as one page, as stars.

The kinds are in `EVIDENCE_KINDS`, cheapest and surest first. Whether a kind is right on this site is not
decided here; see `distrust`. `evidence_of` makes facts of the nodes of a site, from which the evidence for
pairs of them follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from undust.pages import Earlier, SiteEvidence, SiteFacts, UrlShapes
from undust.pages.clustering.near_copies import near_block_stars, near_stars

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from undust.pages.clustering.nodes import Nodes
    from undust.pages.clustering.shapes import Shapes

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]


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
    """Return where the site places each node: the target of its redirect or its rel=canonical.

    A node of the sitemap that has neither is where it belongs.
    """
    home = np.where(nodes.redirects, nodes.redirect, nodes.canonical)
    targets = np.unique(home[home >= 0])
    unknown = targets[home[targets] < 0]
    home[unknown] = unknown
    listed = np.flatnonzero(nodes.listed & (home < 0))
    home[listed] = listed
    return home


EVIDENCE_KINDS = {
    "label": "the label that you gave",
    "redirect": "one redirects to the other, or both to the same URL",
    "digest": "equal content",
    "canonical": "rel=canonical",
    "declared": "the site says that a parameter does not matter (Clean-param, No-Vary-Search)",
    "sketch": "nearly equal text",
    "blocks": "nearly equal but for what changes between fetches",
    "normal": "equal in normal form (RFC 3986)",
}
"""What each reason in the column `evidence` means."""


@dataclass(frozen=True, eq=False)
class Edges:
    """Pairs of nodes of one kind of evidence: a hub, and what it holds for the same page."""

    kind: str
    hub: Ints
    member: Ints

    def __len__(self) -> int:
        return len(self.hub)

    def only(self, which: Bools) -> Edges:
        """Return some of the edges."""
        return Edges(self.kind, self.hub[which], self.member[which])


def by_label(nodes: Nodes) -> Edges:
    """Join the nodes that the person gave one label."""
    return Edges("label", *stars(nodes.label, np.arange(len(nodes))))


def by_digest(nodes: Nodes) -> Edges:
    """Join the nodes that show exactly the same content."""
    shown = np.flatnonzero(nodes.has_content)
    return Edges("digest", *stars(nodes.digest[shown], shown))


def by_sketch(nodes: Nodes) -> Edges:
    """Join the nodes whose sketches nearly agree."""
    shown = np.flatnonzero(nodes.has_content & (nodes.sketch_row >= 0))
    left, right = near_stars(nodes.sketches[nodes.sketch_row[shown]])
    return Edges("sketch", shown[left], shown[right])


def by_blocks(nodes: Nodes, evidence: SiteEvidence) -> Edges:
    """Join the nodes whose pages are made of the same blocks, as far as pages of this site ever are."""
    shown = np.flatnonzero(nodes.has_content)
    first = near_block_rows(nodes, shown)
    weight = np.bincount(first[1], minlength=len(nodes))
    return Edges("blocks", *near_block_stars(evidence, first[0], weight))


def near_block_rows(nodes: Nodes, shown: Ints) -> tuple[Ints, Ints]:
    """Return the first node of each content that is shown, and for each node the first one of its content."""
    content = np.where(nodes.digest[shown] >= 0, nodes.digest[shown], nodes.digest.max(initial=0) + 1 + shown)
    _, first, which = np.unique(content, return_index=True, return_inverse=True)
    return np.sort(shown[first]), shown[first][which.reshape(-1)]


def by_canonical(nodes: Nodes) -> Edges:
    """Join each node with the target of its rel=canonical."""
    return _towards("canonical", np.where(nodes.redirects, -1, nodes.canonical))


def by_redirect(nodes: Nodes) -> Edges:
    """Join each node with the target of its redirect."""
    return _towards("redirect", nodes.redirect)


def _towards(kind: str, target: Ints) -> Edges:
    source = np.flatnonzero((target >= 0) & (target != np.arange(len(target))))
    return Edges(kind, target[source], source)


def stars(codes: Ints, nodes: Ints) -> tuple[Ints, Ints]:
    """Return hub and member for all nodes with an equal code; the smallest node is the hub.

    >>> stars(np.array([7, -1, 7, 7]), np.array([0, 1, 2, 3]))
    (array([0, 0]), array([2, 3]))
    """
    known = codes >= 0
    codes, nodes = codes[known], nodes[known]
    order = np.lexsort((nodes, codes))
    codes, nodes = codes[order], nodes[order]
    is_first = np.concatenate(([True], codes[1:] != codes[:-1])) if len(codes) else np.zeros(0, np.bool_)
    hub = nodes[np.flatnonzero(is_first)[np.cumsum(is_first) - 1]] if len(codes) else nodes
    return hub[~is_first], nodes[~is_first]
