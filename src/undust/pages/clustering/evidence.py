"""One function per kind of evidence: each gives pairs of nodes that it treats as one page, as stars.

The kinds are in `EVIDENCE_KINDS`, cheapest and surest first. Whether a kind is right on this site is not
decided here; see `distrust`. `evidence_of` makes facts of the nodes of a site, from which the evidence for
pairs of them follows.

A site can declare parameters that do not matter: by `Clean-param` lines in robots.txt, or by the
`No-Vary-Search` response header. Both come down to: under this path, ignore these parameters (or all but
these), and perhaps their order.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.pages import Earlier, SiteEvidence, SiteFacts, UrlShapes
from undust.pages.clustering.changing import neighbours, passing_blocks
from undust.pages.clustering.near_copies import near_block_stars, near_stars
from undust.pages.clustering.shapes import mixed, sums
from undust.urls import KeyValueView

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from undust.pages.clustering.nodes import Nodes
    from undust.pages.clustering.shapes import Shapes

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]


def evidence_of(nodes: Nodes, shapes: Callable[[], Shapes]) -> SiteEvidence:
    """Return how likely pairs of nodes are one page."""

    def alike() -> UrlShapes:
        found = shapes()
        return neighbours(found) if facts.has_blocks else UrlShapes(found.skeleton, found.context, found.row)

    facts = SiteFacts(
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
    evidence = SiteEvidence(facts)
    if not facts.has_blocks:
        return evidence
    passing = passing_blocks(evidence, shapes(), np.flatnonzero(nodes.has_content))
    return SiteEvidence(replace(facts, passing=passing)) if passing.is_any else evidence


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


_CLEAN_PARAM = re.compile(r"(?im)^[ \t]*clean-param[ \t]*:[ \t]*([^\s#]+)[ \t]*([^\s#]*)")
_NAME = r'"((?:[^"\\]|\\.)*)"'
PLACE = r"^https?://(?P<host>\[[^\]]*\]|[^/?#:@\[]+)(?::\d+)?(?P<path>/[^?#]*)"
SAYS = attrgetter("ignores_all", "ignores_order", "excepted", "ignored")
"""The content of a declaration, wherever it applies."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """Under `host` and `path`, URLs that differ in the ignored parameters show one page."""

    host: str
    path: str = "/"
    """A prefix of the path in which `*` stands for anything; ending in `$`, the whole path."""
    ignored: tuple[str, ...] = ()
    ignores_all: bool = False
    excepted: tuple[str, ...] = ()
    """Parameters that matter although all are ignored."""
    ignores_order: bool = False

    @property
    def is_of_one_path(self) -> bool:
        """Whether it applies to a single path, as a response does, and not of all that start alike."""
        return self.path.endswith("$") and "*" not in self.path


def declared_in_robots(host: str, robots: str) -> Iterator[Declaration]:
    """Yield what the `Clean-param` lines of a robots.txt declare.

    >>> list(declared_in_robots("a.test", "Clean-param: sid&ref /forum/"))
    [Declaration(host='a.test', path='/forum/', ignored=('sid', 'ref'), ignores_all=False, ...)]
    """
    for names, path in _CLEAN_PARAM.findall(robots):
        yield Declaration(host, path or "/", tuple(name for name in names.split("&") if name))


def declared_in_header(host: str, path: str, header: str) -> Declaration | None:
    """Return what a `No-Vary-Search` header declares of the path that sent it; None if that is nothing.

    >>> declared_in_header("a.test", "/list", 'params=("sid"), key-order').ignored
    ('sid',)
    """
    members = dict(_members(header))
    params, kept = members.get("params", "?0"), members.get("except")
    # "except" alone means all parameters but these; beside a list of parameters it means nothing.
    ignores_all = params == "?1" or ("params" not in members and kept is not None)
    if kept is not None and (not ignores_all or not kept.startswith("(")):
        return None
    ignores_order = members.get("key-order", "?0") == "?1"
    ignored = _names(params)
    if not (ignored or ignores_all or ignores_order):
        return None
    return Declaration(host, f"{path}$", ignored, ignores_all, _names(kept or ""), ignores_order)


def _names(value: str) -> tuple[str, ...]:
    """Return the strings of a list, without their escapes (RFC 8941, 3.3.3)."""
    return tuple(re.sub(r"\\(.)", r"\1", name) for name in re.findall(_NAME, value))


def _members(header: str) -> Iterator[tuple[str, str]]:
    # A dictionary of RFC 8941 with the three kinds of value that this header knows.
    for key, value in re.findall(
        r'([a-z][\w-]*)\s*(?:=\s*(\((?:[^")]|"(?:[^"\\]|\\.)*")*\)|\?[01]))?', header
    ):
        yield key, value or "?1"


def by_declaration(nodes: Nodes, declarations: Iterable[Declaration]) -> Edges:
    """Join the nodes that differ only in what the site declares not to matter."""
    hub, member = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    wanted = sorted(set(declarations), key=lambda declaration: (SAYS(declaration), repr(declaration)))
    if wanted:
        # Every page may declare for itself, so equal ones are evaluated once, and only where they apply.
        pairs, places = _Pairs.of(nodes), _Places.of(nodes, wanted)
        for _, alike in groupby(wanted, SAYS):
            own = list(alike)
            where = places.under(own)
            left, right = stars(pairs.rest(where, own[0]), where)
            hub.append(left)
            member.append(right)
    return Edges("declared", np.concatenate(hub), np.concatenate(member))


@dataclass(frozen=True, eq=False)
class _Places:
    """Which of the nodes that were seen are on which host, and which on a path that was named."""

    paths: pa.Array
    """Of all nodes; null for what was not seen, and for what is on no host."""
    of_host: dict[bytes, Ints]
    of_place: dict[bytes, Ints]
    """By host and path; of the paths that declarations name in full."""

    @classmethod
    def of(cls, nodes: Nodes, declarations: Iterable[Declaration]) -> _Places:
        found = pc.extract_regex(nodes.urls, PLACE)
        host, path = pc.struct_field(found, "host"), pc.struct_field(found, "path")
        path = pc.if_else(pa.array(nodes.observed), path, None)
        named = {_place(declaration) for declaration in declarations if declaration.is_of_one_path}
        place = pc.binary_join_element_wise(host, path, pa.scalar("", path.type))
        is_named = pc.is_in(place.cast(pa.large_binary()), pa.array(sorted(named), pa.large_binary()))
        return cls(path, _by_text(host), _by_text(pc.if_else(is_named, place, None)))

    def under(self, declarations: Sequence[Declaration]) -> Ints:
        """Return the nodes, in order, for which any of the declarations holds."""
        found = [np.zeros(0, np.int64), *map(self._under, declarations)]
        return np.unique(np.concatenate(found))

    def _under(self, declaration: Declaration) -> Ints:
        nothing = np.zeros(0, np.int64)
        if declaration.is_of_one_path:
            return self.of_place.get(_place(declaration), nothing)
        where = self.of_host.get(_bytes(declaration.host), nothing)
        path = self.paths.take(pa.array(where))
        if "*" in declaration.path:
            pieces = map(re.escape, re.split(r"\*+", declaration.path.removesuffix("$")))
            pattern = f"^{'.*'.join(pieces)}{'$' if declaration.path.endswith('$') else ''}"
            holds = pc.match_substring_regex(path, pattern)
        else:
            holds = pc.starts_with(path, declaration.path)
        return where[np.asarray(pc.fill_null(holds, False), np.bool_)]  # noqa: FBT003


def _place(declaration: Declaration) -> bytes:
    return _bytes(f"{declaration.host}{declaration.path.removesuffix('$')}")


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def _by_text(column: pa.Array) -> dict[bytes, Ints]:
    """Return the places of each text of a column."""
    # As bytes, for what strangers wrote need not be UTF-8.
    encoded = column.cast(pa.large_binary()).dictionary_encode()
    known = np.flatnonzero(np.asarray(pc.is_valid(encoded.indices), np.bool_))
    codes = np.asarray(encoded.indices.take(pa.array(known)), np.int64)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(encoded.dictionary)))
    return dict(zip(encoded.dictionary.to_pylist(), np.split(known[order], ends), strict=False))


@dataclass(frozen=True, eq=False)
class _Pairs:
    """The URLs of the nodes as keys and values, and which keys are which parameters."""

    offsets: Ints
    keys: Ints
    values: NDArray[np.uint64]
    is_parameter: NDArray[np.bool_]
    """Of each key."""
    keys_of: dict[bytes, Ints]
    """Of each parameter's name: `?id` and, for the second of that name, `?id#2`."""

    @classmethod
    def of(cls, nodes: Nodes) -> _Pairs:
        view = KeyValueView.of(nodes.urls)
        is_parameter = pc.starts_with(view.key_names, "?")
        plain = pc.replace_substring_regex(view.key_names, r"^\?(.*?)(?:#\d+)?$", r"\1")
        return cls(
            np.asarray(view.offsets, np.int64),
            np.asarray(view.keys, np.int64),
            np.asarray(view.values, np.uint64),
            np.asarray(is_parameter, np.bool_),
            _by_text(pc.if_else(is_parameter, plain, None)),
        )

    def rest(self, where: Ints, declaration: Declaration) -> Ints:
        """Return a number for what remains of each of some URLs without what does not matter."""
        entries, offsets = self._entries(where)
        keys = self.keys[entries]
        named = declaration.excepted if declaration.ignores_all else declaration.ignored
        known = [self.keys_of[name] for name in map(_bytes, named) if name in self.keys_of]
        is_named = np.isin(keys, np.concatenate([np.zeros(0, np.int64), *known]))
        stays = ~self.is_parameter[keys] | (is_named if declaration.ignores_all else ~is_named)
        # Without its place among the others, a pair counts the same at any place.
        place = np.zeros(len(keys), np.uint64) if declaration.ignores_order else _ranks(stays, offsets)
        pairs = mixed(mixed(keys.astype(np.uint64), self.values[entries]), place)
        left = sums(np.where(stays, pairs, np.uint64(0)), offsets)
        return np.unique(left, return_inverse=True)[1].astype(np.int64)

    def _entries(self, where: Ints) -> tuple[Ints, Ints]:
        """Return the entries of some URLs, and where those of each start."""
        lengths = self.offsets[where + 1] - self.offsets[where]
        offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
        return np.arange(offsets[-1]) + np.repeat(self.offsets[where] - offsets[:-1], lengths), offsets


def _ranks(stays: NDArray[np.bool_], offsets: Ints) -> NDArray[np.uint64]:
    """Return how many of its URL's entries stay up to each entry."""
    total = np.concatenate((np.zeros(1, np.int64), np.cumsum(stays)))
    return (total[1:] - np.repeat(total[offsets[:-1]], np.diff(offsets))).astype(np.uint64)
