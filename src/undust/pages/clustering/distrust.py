"""Misleading evidence, recognised and switched off, each time with the reason that a person can check.

* An empty or tiny body is not evidence.
* A group held together by content, by redirects or by rel=canonical must pass the glue test.
* A redirect to a login or consent page says nothing about where it came from.
* Where rel=canonical, a redirect or a declaration joins pages whose contents can be compared and are
  not the same, content decides.
* Nothing joins URLs to which a person gave different labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust._core import components as core_components
from undust.display import how_many
from undust.pages.clustering.false_clusters import VALUES, Glue, find_glue
from undust.pages.clustering.near_copies import agreement, needed
from undust.pages.clustering.nodes import counted
from undust.pages.clustering.shapes import Membership

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from undust.pages import SiteEvidence
    from undust.pages.clustering.evidence import Edges
    from undust.pages.clustering.nodes import Nodes
    from undust.pages.clustering.shapes import Shapes

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]

TINY_BYTES = 32
"""A body shorter than this is "OK", "[]" or an error, and not a page."""
_EXAMPLES = 3
WALL = (
    r"(?i)[/=;&?:](?:(?:user|account|member|cookie|wp)[-_]?)?"
    r"(?:log-?[io]n|sign-?in|sso|auth|oauth2?|authenticate|consent|captcha|access-?denied)"
    r"(?:\.\w+)?(?:[/?&;]|$)"
)
"""Where the URL of a login or consent page names itself."""
_MOST = 0.5
CONTRADICTS = -1.0
"""Ratio up to which contents contradict a statement; what is between is not a contradiction."""

EMPTY, WALLED, SOFT = "empty or tiny body", "login or consent wall", "soft-404 or empty result"
SHARED = "one content for much of the site"
_NAMES = {
    "redirect": ("everything redirects to one page", "different pages redirect to one"),
    "canonical": ("site-wide canonical", "one canonical for different pages"),
    "declared": ("declaration that spans the site", "declaration that joins different pages"),
}
"""Names of glue by its kind of evidence: that which spans the site, and other."""


@dataclass(frozen=True, slots=True)
class Distrusted:
    """Evidence that was not used: what it is called, what it would have joined, and why not."""

    kind: str
    evidence: str
    urls: int
    about: str
    """The URL that they would have been joined with; empty if there is no such URL."""
    why: str
    examples: tuple[str, ...]


class Judge:
    """Judges the evidence of one site and keeps what can be trusted; `distrusted` has the rest."""

    def __init__(
        self, nodes: Nodes, shapes: Callable[[], Shapes], evidence: SiteEvidence, values: int = VALUES
    ) -> None:
        self._nodes = nodes
        self._take_apart = shapes
        self._evidence = evidence
        self._values = values
        self.distrusted: list[Distrusted] = []
        self.is_trusted: Bools = np.ones(len(nodes), np.bool_)
        """Whether the content of a node can be compared with that of others."""

    @cached_property
    def _shapes(self) -> Shapes:
        return self._take_apart()

    @cached_property
    def _is_wall(self) -> Bools:
        return np.asarray(pc.match_substring_regex(self._nodes.urls, WALL), np.bool_)

    @cached_property
    def _size(self) -> Floats:
        middle = (self._nodes.size_min + self._nodes.size_max) / 2
        return np.where(self._nodes.size_max >= 0, middle, np.nan)

    def hear_content(self, kinds: Sequence[Edges]) -> list[Edges]:
        """Return the edges between equal and near-equal contents that can be trusted."""
        kinds = [self._without_tiny(edges) for edges in kinds]
        page = components(kinds, len(self._nodes))
        groups = _large_groups(page, self._nodes.observed, self._values)
        is_glue = np.zeros(len(self._nodes), np.bool_)
        shown = np.where(self._nodes.has_content & self.is_trusted, page, -1)
        for glue in self._glue(groups, shown, self._size, is_stated=False):
            members = groups.node[groups.group == glue.group]
            is_glue[members] = True
            walls = self._is_wall[members]
            kind = SHARED if glue.share is None else SOFT
            self._note(WALLED if walls.any() else kind, kinds[0].kind, members, "", self._reason(glue))
        for group in range(groups.count):
            members = groups.node[groups.group == group]
            walls = self._is_wall[members]
            if walls.any() and (~walls).sum() >= self._values and not is_glue[members].any():
                is_glue[members] = True
                why = f"{(~walls).sum():,} other URLs show the same content as a page that names itself so"
                self._note(WALLED, kinds[0].kind, members, self._text(members[walls][0]), why)
        self.is_trusted &= ~is_glue
        return [edges.only(~is_glue[edges.hub]) for edges in kinds]

    def hear_statement(self, edges: Edges, accepted: Sequence[Edges]) -> Edges:
        """Return the redirects, canonicals or declarations that can be trusted beside what was accepted."""
        if not len(edges):
            return edges
        if edges.kind == "redirect":
            edges = self._without_walls(edges)
        contradicted = self._contradicted(edges, accepted)
        is_glue = self._is_glued(edges, accepted, contradicted)
        is_false = contradicted & ~is_glue
        if is_false.any():
            self._note_contradiction(edges.only(is_false))
        return edges.only(~is_glue & ~contradicted)

    def hear_labels(self, labels: Edges, others: Sequence[Edges]) -> list[Edges]:
        """Return the other evidence without that which joins what the person keeps apart."""
        label = self._nodes.label
        if not (label >= 0).any():
            return list(others)
        together = components([labels, *others], len(self._nodes))
        labelled = np.flatnonzero(label >= 0)
        cluster, _, _ = counted(together[labelled], label[labelled])
        clusters, count = np.unique(cluster, return_counts=True)
        is_mixed = np.isin(together, clusters[count > 1])
        if is_mixed.any():
            why = "it joins URLs to which you gave different labels"
            kinds = "+".join(sorted({edges.kind for edges in others if is_mixed[edges.hub].any()}))
            self._note("evidence against your labels", kinds, np.flatnonzero(is_mixed), "", why)
        return [edges.only(~is_mixed[edges.hub]) for edges in others]

    def _without_tiny(self, edges: Edges) -> Edges:
        nodes = self._nodes
        is_tiny = nodes.is_empty | ((nodes.size_max >= 0) & (nodes.size_max < TINY_BYTES))
        is_tiny &= nodes.has_content
        is_nothing = is_tiny[edges.hub] | is_tiny[edges.member]
        self.is_trusted &= ~is_tiny
        if is_nothing.any() and edges.kind == "digest":
            members = np.union1d(edges.hub[is_nothing], edges.member[is_nothing])
            why = f"the content is empty or shorter than {TINY_BYTES} bytes"
            self._note(EMPTY, edges.kind, members, "", why)
        return edges.only(~is_nothing)

    def _without_walls(self, edges: Edges) -> Edges:
        is_walled = self._is_wall[edges.hub] & ~self._is_wall[edges.member]
        if is_walled.any():
            why = "the target names itself a page to log in or to consent"
            self._note(WALLED, "redirect", edges.member[is_walled], self._text(edges.hub[is_walled][0]), why)
        return edges.only(~is_walled)

    def _contradicted(self, edges: Edges, accepted: Sequence[Edges]) -> Bools:
        """Return which edges join contents that are not the same."""
        nodes = self._nodes
        page = components(accepted, len(nodes))
        has_content = ((nodes.digest >= 0) | (nodes.sketch_row >= 0)) & self.is_trusted
        reference = _references(edges, page, has_content)
        compares = (reference >= 0) & has_content[edges.member] & (reference != edges.member)
        left, right = np.maximum(reference, 0), edges.member
        differs = compares & (page[left] != page[right])
        if self._evidence.has_blocks:
            contradicted = np.zeros(len(edges), np.bool_)
            contradicted[differs] = self._evidence.contents(left[differs], right[differs]) <= CONTRADICTS
            return contradicted
        by_sketch = differs & (nodes.sketch_row[left] >= 0) & (nodes.sketch_row[right] >= 0)
        agreeing = np.zeros(len(edges), np.int64)
        rows = nodes.sketch_row
        agreeing[by_sketch] = agreement(nodes.sketches, rows[left[by_sketch]], rows[right[by_sketch]])
        least = needed(nodes.sketches.shape[1]) if len(nodes.sketches) else 0
        by_digest = differs & ~by_sketch & (nodes.digest[left] >= 0) & (nodes.digest[right] >= 0)
        is_loose = self._is_loose(edges, page, has_content)
        return np.asarray((by_sketch & (agreeing < least)) | (by_digest & is_loose), np.bool_)

    def _is_loose(self, edges: Edges, page: Ints, has_content: Bools) -> Bools:
        # A digest changes with a clock or a counter, so that one difference is not a contradiction. Many
        # sources of one target, mostly different from each other, are.
        known = has_content[edges.member]
        hub, shown = edges.hub[known], page[edges.member[known]]
        distinct = np.bincount(counted(hub, shown)[0], minlength=len(page))
        sources = np.bincount(hub, minlength=len(page))
        return ((sources >= self._values) & (distinct > _MOST * sources))[edges.hub]

    def _is_glued(self, edges: Edges, accepted: Sequence[Edges], contradicted: Bools) -> Bools:
        """Return which edges belong to hubs that fail the glue test."""
        nodes = self._nodes
        accepted_page = components(accepted, len(nodes))
        page = components([*accepted, edges], len(nodes))
        hub_page = accepted_page[edges.hub]
        sources = np.bincount(hub_page, minlength=len(nodes))
        share = np.bincount(hub_page, contradicted, minlength=len(nodes)) / np.maximum(sources, 1)
        both = nodes.has_content & self.is_trusted
        compared = np.bincount(hub_page, both[edges.hub] & both[edges.member], minlength=len(nodes))
        # Where content can be compared and agrees, a page of many forms is just that.
        is_suspect = (sources >= self._values) & ((share >= _MOST) | (compared < _MOST * sources))
        suspects = np.flatnonzero(is_suspect)
        groups = _hub_groups(suspects, hub_page, accepted_page, edges, nodes.observed)
        shown = np.where(nodes.observed & (both | _touched(edges, len(nodes))), page, -1)
        shown = np.where(both, accepted_page, shown)
        is_glue = np.zeros(len(nodes), np.bool_)
        for glue in self._glue(groups, shown, _filled(self._size, page), is_stated=True):
            hub = suspects[glue.group]
            is_glue[hub] = True
            of_hub = hub_page == hub
            name = _NAMES[edges.kind][0 if glue.share is None else 1]
            target = self._text(edges.hub[of_hub][0])
            self._note(name, edges.kind, edges.member[of_hub], target, self._reason(glue))
        return is_glue[hub_page]

    def _glue(self, groups: Membership, shown: Ints, size: Floats, *, is_stated: bool) -> Sequence[Glue]:
        if not groups.count:
            return ()
        return tuple(
            find_glue(
                groups,
                self._shapes,
                shown,
                observed=self._nodes.observed,
                size=size,
                values=self._values,
                is_stated=is_stated,
            )
        )

    def _reason(self, glue: Glue) -> str:
        part = f"parameter '{glue.key[1:]}'" if glue.key.startswith("?") else _ordinal(glue.key)
        if glue.share is None:
            return f"{glue.extent:.0%} of the site's URLs, with {glue.values:,} values of the {part}"
        return (
            f"{glue.values:,} values of the {part}, which elsewhere on this site leads to "
            f"different content in {glue.share:.0%} of the cases"
        )

    def _note_contradiction(self, edges: Edges) -> None:
        hubs = np.unique(edges.hub)
        examples = [
            f"{self._text(edges.member[i])} → {self._text(edges.hub[i])}" for i in _spread(len(edges))
        ]
        why = f"source and target do not show the same ({how_many(len(hubs), 'target')})"
        about = self._text(hubs[0]) if len(hubs) == 1 else ""
        kind = f"{edges.kind} contradicts content"
        self.distrusted.append(Distrusted(kind, edges.kind, len(edges), about, why, tuple(examples)))

    def _note(self, kind: str, evidence: str, members: Ints, about: str, why: str) -> None:
        members = np.sort(members)
        members = members[self._nodes.observed[members]]
        examples = tuple(self._nodes.texts(members[_spread(len(members))]))
        self.distrusted.append(Distrusted(kind, evidence, len(members), about, why, examples))

    def _text(self, node: int) -> str:
        return self._nodes.texts([int(node)])[0]


def components(kinds: Sequence[Edges], count: int) -> Ints:
    """Return for each node the smallest node that the edges lead to."""
    hub = np.concatenate([np.zeros(0, np.int64), *(edges.hub for edges in kinds)])
    member = np.concatenate([np.zeros(0, np.int64), *(edges.member for edges in kinds)])
    return np.asarray(pa.array(core_components(hub, member, count)))


def _large_groups(page: Ints, observed: Bools, least: int) -> Membership:
    size = np.bincount(page, observed, minlength=len(page))
    large = np.flatnonzero(size >= least)
    number = np.full(len(page), -1, np.int64)
    number[large] = np.arange(len(large))
    nodes = np.flatnonzero((number[page] >= 0) & observed)
    return Membership(number[page[nodes]], nodes, len(large))


def _hub_groups(suspects: Ints, hub_page: Ints, page: Ints, edges: Edges, observed: Bools) -> Membership:
    """Return for each suspect the nodes of its page and of the pages of its sources."""
    number = np.full(len(page), -1, np.int64)
    number[suspects] = np.arange(len(suspects))
    of_suspect = number[hub_page] >= 0
    group = np.concatenate((number[hub_page][of_suspect], np.arange(len(suspects))))
    pages = np.concatenate((page[edges.member][of_suspect], suspects))
    group, pages, _ = counted(group, pages)
    order = np.argsort(page, kind="stable")
    starts = np.searchsorted(page[order], np.arange(len(page) + 1))
    lengths = np.diff(starts)[pages]
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    nodes = order[np.repeat(starts[pages], lengths) + within]
    group = np.repeat(group, lengths)
    return Membership(group[observed[nodes]], nodes[observed[nodes]], len(suspects))


def _references(edges: Edges, page: Ints, has_content: Bools) -> Ints:
    """Return whose content each member is compared with: the hub's, or that which most members show."""
    known = has_content[edges.member]
    hub, shown, count = counted(edges.hub[known], page[edges.member[known]])
    usual = np.full(len(page), -1, np.int64)
    order = np.lexsort((-shown, count))
    usual[hub[order]] = shown[order]
    # The smallest node of a page represents it, but may itself have no content.
    shows = np.full(len(page), -1, np.int64)
    nodes = np.flatnonzero(has_content)[::-1]
    shows[page[nodes]] = nodes
    stand_in = np.where(usual >= 0, shows[np.maximum(usual, 0)], -1)
    return np.where(has_content[edges.hub], edges.hub, stand_in[edges.hub])


def _touched(edges: Edges, count: int) -> Bools:
    touched = np.zeros(count, np.bool_)
    touched[edges.hub] = touched[edges.member] = True
    return touched


def _filled(size: Floats, page: Ints) -> Floats:
    """Return the sizes, those that are unknown filled with the mean of their page."""
    known = ~np.isnan(size)
    total = np.bincount(page[known], size[known], minlength=len(page))
    count = np.bincount(page[known], minlength=len(page))
    mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return np.where(known, size, mean[page])


def _spread(count: int) -> list[int]:
    """Return a few places, the first and the last among them."""
    return sorted(
        {count * i // max(_EXAMPLES - 1, 1) - (i == _EXAMPLES - 1) for i in range(_EXAMPLES)}
        & set(range(count))
    )


def _ordinal(key: str) -> str:
    number = int(key.removeprefix("path_").partition("#")[0]) + 1
    return f"path segment {number}"
