"""What a site itself says about parameters that do not matter, as evidence.

Two ways to say it are in use: `Clean-param` lines in robots.txt and the `No-Vary-Search` response
header. Both come down to: under this path, ignore these parameters (or all but these), and
perhaps their order.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.duplicates.evidence import Edges, stars
from undust.duplicates.shapes import mixed, sums
from undust.urls import KeyValueView

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from undust.duplicates.nodes import Nodes

    Ints = NDArray[np.int64]

CLEAN_PARAM = re.compile(r"(?im)^[ \t]*clean-param[ \t]*:[ \t]*([^\s#]+)[ \t]*([^\s#]*)")
NAME = r'"((?:[^"\\]|\\.)*)"'


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


def declared_in_robots(host: str, robots: str) -> Iterator[Declaration]:
    """Yield what the `Clean-param` lines of a robots.txt say.

    >>> list(declared_in_robots("a.test", "Clean-param: sid&ref /forum/"))
    [Declaration(host='a.test', path='/forum/', ignored=('sid', 'ref'), ignores_all=False, ...)]
    """
    for names, path in CLEAN_PARAM.findall(robots):
        yield Declaration(host, path or "/", tuple(name for name in names.split("&") if name))


def declared_in_header(host: str, path: str, header: str) -> Declaration | None:
    """Return what a `No-Vary-Search` header says of the path that sent it; None if that is nothing.

    >>> declared_in_header("a.test", "/list", 'params=("sid"), key-order').ignored
    ('sid',)
    """
    members = dict(_members(header))
    params = members.get("params", "?0")
    ignored = tuple(re.findall(NAME, params)) if params.startswith("(") else ()
    excepted = tuple(re.findall(NAME, members.get("except", "")))
    ignores_all = params == "?1"
    ignores_order = members.get("key-order", "?0") == "?1"
    if not (ignored or ignores_all or ignores_order):
        return None
    return Declaration(host, f"{path}$", ignored, ignores_all, excepted, ignores_order)


def _members(header: str) -> Iterator[tuple[str, str]]:
    # A dictionary of RFC 8941 with the three kinds of value that this header knows.
    for key, value in re.findall(
        r'([a-z][\w-]*)\s*(?:=\s*(\((?:[^")]|"(?:[^"\\]|\\.)*")*\)|\?[01]))?', header
    ):
        yield key, value or "?1"


def by_declaration(nodes: Nodes, declarations: Iterable[Declaration]) -> Edges:
    """Join the nodes that differ only in what the site declares not to matter."""
    hub, member = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    view: _Pairs | None = None
    for declaration in sorted(set(declarations), key=repr):
        view = view or _Pairs.of(nodes)
        where = np.flatnonzero(view.is_under(nodes, declaration))
        left, right = stars(view.rest(where, declaration), where)
        hub.append(left)
        member.append(right)
    return Edges("declared", np.concatenate(hub), np.concatenate(member))


@dataclass(frozen=True, eq=False)
class _Pairs:
    """The URLs of the nodes as keys and values, and which keys are which parameters."""

    view: KeyValueView
    offsets: Ints
    names: pa.Array
    """Of each key: the parameter's name, or null."""

    @classmethod
    def of(cls, nodes: Nodes) -> _Pairs:
        view = KeyValueView.of(nodes.urls)
        is_parameter = pc.starts_with(view.key_names, "?")
        plain = pc.replace_substring_regex(view.key_names, r"^\?(.*?)(?:#\d+)?$", r"\1")
        return cls(view, np.asarray(view.offsets, np.int64), pc.if_else(is_parameter, plain, None))

    def is_under(self, nodes: Nodes, declaration: Declaration) -> NDArray[np.bool_]:
        path = re.escape(declaration.path.removesuffix("$")).replace(r"\*", ".*")
        end = r"(?:\?|$)" if declaration.path.endswith("$") else ""
        pattern = rf"^https?://{re.escape(declaration.host)}(?::\d+)?{path}{end}"
        return np.asarray(pc.match_substring_regex(nodes.urls, pattern), np.bool_) & nodes.observed

    def rest(self, where: Ints, declaration: Declaration) -> Ints:
        """Return a number for what remains of each URL without what does not matter."""
        keys = np.asarray(self.view.keys, np.int64)
        is_parameter = np.asarray(pc.is_valid(self.names), np.bool_)
        names = pa.array(
            declaration.excepted if declaration.ignores_all else declaration.ignored, self.names.type
        )
        is_named = np.asarray(pc.fill_null(pc.is_in(self.names, names), False), np.bool_)  # noqa: FBT003
        is_ignored = is_parameter & (~is_named if declaration.ignores_all else is_named)
        stays = ~is_ignored[keys]
        # Without its place among the others, a pair counts the same wherever it stands.
        place = np.cumsum(stays).astype(np.uint64)
        place -= np.repeat(place[self.offsets[:-1]] - stays[self.offsets[:-1]], np.diff(self.offsets))
        place = np.zeros_like(place) if declaration.ignores_order else place
        pairs = mixed(mixed(keys.astype(np.uint64), np.asarray(self.view.values, np.uint64)), place)
        left = sums(np.where(stays, pairs, np.uint64(0)), self.offsets)
        return np.unique(left[where], return_inverse=True)[1].astype(np.int64)
