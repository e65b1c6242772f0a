"""Which URLs a pattern of the tree matches, exactly as the rules that are written from it do.

A node mixes URLs with and without some keys. A rule cannot: it has one path length, one port, and a slash
at the end or none. So the *shapes* of a node (its host labels, port, path length and slash) become a rule
each, while parameters that may be missing are optional within a rule. A pattern matches every URL of
a shape of its node that has its values, its parameters and no others, in the node or elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from undust.proposing.papers.tree.operations import part_of
from undust.urls.pattern_tree import PERHAPS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from numpy.typing import NDArray

    from undust.urls.pattern_tree import PatternTree
    from undust.urls.views import UrlColumns

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]


_OPEN = frozenset({"host", "path", "query"})
"""Parts of a URL whose values a capture takes."""
_CACHED_ROWS = 4
"""Kept of each form; the mappings from and to one node mostly ask the same."""


class RuleShape(NamedTuple):
    """What a rule cannot leave open: the keys before the query, and the port."""

    keys: tuple[int, ...]
    port: int
    """A code, or -1."""

    def without(self, dropped: Iterable[int]) -> RuleShape | None:
        """Return the shape without some keys; None if that leaves a hole in the path."""
        gone = set(dropped)
        return RuleShape(tuple(key for key in self.keys if key not in gone), self.port)


class Layouts:
    """The layouts of a site's URLs, cut into shape and query."""

    def __init__(self, columns: UrlColumns) -> None:
        self.columns = columns
        names = columns.key_names
        self.parts = [part_of(name) for name in names]
        self.query = [tuple(key for key in keys if self.parts[key] == "query") for keys in columns.layouts]
        self.fixed = [
            tuple(sorted(key for key in keys if self.parts[key] != "query")) for keys in columns.layouts
        ]
        self.port = names.index("port") if "port" in names else -1
        self._order = np.argsort(columns.layout, kind="stable")
        self._starts = np.searchsorted(columns.layout[self._order], np.arange(len(columns.layouts) + 1))

    def rows(self, layouts: Iterable[int]) -> Ints:
        """Return the rows of some layouts, in order."""
        found = [self._order[self._starts[each] : self._starts[each + 1]] for each in layouts]
        return np.sort(np.concatenate(found)) if found else np.zeros(0, np.int64)

    def ports(self, rows: Ints) -> Ints:
        """Return the port of each row, -1 for none."""
        if self.port < 0:
            return np.full(len(rows), -1, np.int64)
        return self.columns.column(self.port)[rows].astype(np.int64)

    def shapes(self, rows: Ints) -> dict[RuleShape, int]:
        """Return the shapes of some rows, the most frequent first."""
        width = len(self.columns.value_texts) + 1
        codes, counts = np.unique(
            self.columns.layout[rows] * np.int64(width) + self.ports(rows) + 1, return_counts=True
        )
        found: dict[RuleShape, int] = {}
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
            shape = RuleShape(self.fixed[code // width], code % width - 1)
            found[shape] = found.get(shape, 0) + count
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    def query_order(self, rows: Ints) -> tuple[tuple[int, ...], bool]:
        """Return the parameters of some rows in their usual order, and whether all rows keep to it."""
        layouts, counts = np.unique(self.columns.layout[rows], return_counts=True)
        places: dict[int, list[float]] = {}
        for layout, count in zip(layouts.tolist(), counts.tolist(), strict=True):
            query = self.query[layout]
            for place, key in enumerate(query):
                seen = places.setdefault(key, [0.0, 0.0])
                seen[0] += count * (place + 1) / (len(query) + 1)
                seen[1] += count
        order = tuple(sorted(places, key=lambda key: (round(places[key][0] / places[key][1], 9), key)))
        rank = {key: place for place, key in enumerate(order)}
        is_kept = all(
            list(self.query[layout]) == sorted(self.query[layout], key=rank.__getitem__)
            for layout in layouts.tolist()
        )
        return order, is_kept


@dataclass(frozen=True, eq=False)
class Form:
    """A node as rules see it."""

    node: int
    pattern: dict[int, int]
    shapes: tuple[RuleShape, ...]
    query: tuple[int, ...]
    """Its parameters in the order in which they are written."""
    is_in_order: bool
    open_keys: tuple[int, ...]
    """Keys of host, path and query that have several values, or may be missing."""
    repeats: bool
    """Whether a parameter occurs twice."""
    _rows: dict[object, Ints] = field(default_factory=dict)

    @classmethod
    def of(cls, tree: PatternTree, layouts: Layouts, node: int) -> Form:
        """Return the form of a node."""
        rows = tree.rows(node)
        pattern = tree.nodes[node].pattern
        query, is_in_order = layouts.query_order(rows)
        is_open = [key for key, value in pattern.items() if value < 0 and layouts.parts[key] in _OPEN]
        repeats = any("#" in layouts.columns.key_names[key] for key in query)
        return cls(node, pattern, tuple(layouts.shapes(rows)), query, is_in_order, tuple(is_open), repeats)

    def rows(
        self, layouts: Layouts, shapes: Iterable[RuleShape], runs: Iterable[int], no_semicolons: Iterable[int]
    ) -> Ints:
        """Return the rows that the pattern matches, in order.

        Values at the keys `runs` must be such as a capture takes, those at `no_semicolons` such as can
        be removed; a parameter that must be captured must be there.
        """
        wanted = set(shapes)
        asked = frozenset(wanted), frozenset(runs), frozenset(no_semicolons)
        if asked not in self._rows:
            if len(self._rows) >= _CACHED_ROWS:
                self._rows.clear()
            self._rows[asked] = self._found(layouts, wanted, asked[1], asked[2])
        return self._rows[asked]

    def _found(
        self,
        layouts: Layouts,
        wanted: set[RuleShape],
        captured: Collection[int],
        no_semicolons: Collection[int],
    ) -> Ints:
        fixed = {shape.keys for shape in wanted}
        required = {key for key in self.query if self.pattern.get(key) != PERHAPS or key in captured}
        allowed = set(self.query)
        rows = layouts.rows(
            layout
            for layout in range(len(layouts.query))
            if layouts.fixed[layout] in fixed and required <= set(layouts.query[layout]) <= allowed
        )
        columns = layouts.columns
        for key, value in self.pattern.items():
            if value >= 0 and key != layouts.port:
                rows = rows[columns.column(key)[rows] == value]
        if len(rows) and layouts.port >= 0:
            rows = rows[self._has_port_of(layouts, rows, wanted)]
        for key in sorted(captured):
            values = columns.column(key)[rows]
            rows = rows[(values < 0) | columns.is_run[values]]
        for key in sorted(no_semicolons):
            values = columns.column(key)[rows]
            rows = rows[(values < 0) | ~columns.has_semicolon[values]]
        return rows

    @staticmethod
    def _has_port_of(layouts: Layouts, rows: Ints, wanted: set[RuleShape]) -> Bools:
        ports = layouts.ports(rows)
        layout = layouts.columns.layout[rows]
        is_wanted = np.zeros(len(rows), np.bool_)
        for shape in wanted:
            same = np.array([fixed == shape.keys for fixed in layouts.fixed], np.bool_)
            is_wanted |= same[layout] & (ports == shape.port)
        return is_wanted
