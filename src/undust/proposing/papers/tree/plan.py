"""A mapping as it will be deployed: for which shapes, and what is written where a key does not matter.

Lei et al. write `*` for what is ignored, which is a name for a page and no URL to fetch. Ours is both:

* a part that some URLs of the target do without is **dropped**;
* a value under which nearly every page of the target was seen is **written**: a mirror that has all;
* otherwise the key is **masked**: URLs are compared without it, and fetched as they were found.

A mapping to a target with ignored keys merges nothing unless the target's own URLs take the same form:
so each has an implicit mapping of the target to itself, with the same keys ignored (A14).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from undust.proposing.papers.tree.forms import Form, Layouts, RuleShape
from undust.urls.pattern_tree import PERHAPS
from undust.urls.views import ABSENT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from undust.proposing.papers.tree.operations import Mapping, Operation
    from undust.urls.pattern_tree import PatternTree

    Ints = NDArray[np.int64]

Way = Literal["drop", "write", "mask"]

KNOWN_TO_WORK = 0.9
"""Share of a target's pages that must have been seen under a value before it is written for all."""
FEWEST_PAGES = 3
_WIDEST = 1 << 62


class CannotSay(Exception):  # noqa: N818 -- no error: a candidate that is left out
    """No rule can express this mapping; the message is the reason, in words that fit after a count."""


@dataclass(frozen=True)
class Ignored:
    """How a key that does not matter is written."""

    key: int
    way: Way
    value: int = ABSENT
    """What is written for it, where something must be."""
    source: int = -1
    """The key of the source to copy instead, where the value is masked anyway."""


class Planner:
    """What all mappings of one tree share."""

    def __init__(self, tree: PatternTree) -> None:
        self.tree = tree
        self.columns = tree.columns
        self.layouts = Layouts(tree.columns)
        self._forms: dict[int, Form] = {}
        self._usuals: dict[tuple[int, int, tuple[int, ...]], tuple[int, bool]] = {}

    def form(self, node: int) -> Form:
        """Return the form of a node."""
        if node not in self._forms:
            self._forms[node] = Form.of(self.tree, self.layouts, node)
        return self._forms[node]

    def part(self, key: int) -> str:
        """Return the part of a URL that a key is in."""
        return self.layouts.parts[key]

    def plan(self, mapping: Mapping) -> Plan:
        """Return a mapping as it will be deployed, or raise `CannotSay`."""
        source, target = self.form(mapping.source), self.form(mapping.target)
        if source.repeats or target.repeats:
            message = "a parameter stands twice"
            raise CannotSay(message)
        plan = Plan(
            self,
            mapping,
            source,
            target,
            {each.key: self._ignored(mapping, each) for each in mapping.ignored},
        )
        if mapping.source != mapping.target:
            if not plan.source_shapes:
                message = "no form of the target fits"
                raise CannotSay(message)
            if plan.moves and self._can_meet(source, target):
                message = "it could rewrite its own result"
                raise CannotSay(message)
        elif not mapping.ignored and target.is_in_order:
            message = "nothing to do"
            raise CannotSay(message)
        return plan

    def _ignored(self, mapping: Mapping, operation: Operation) -> Ignored:
        key, target = operation.key, self.form(mapping.target)
        part = self.part(key)
        if target.pattern[key] == PERHAPS:
            return Ignored(key, "drop")
        usual, works = self._usual(mapping.target, key, tuple(each.key for each in mapping.replaced))
        if works or part == "port":
            return Ignored(key, "write", usual)
        if not self.columns.is_run[usual]:
            message = "a value that no capture takes"
            raise CannotSay(message)
        source = operation.source if mapping.source != mapping.target else -1
        if source >= 0 and (part == "scheme" or self._may_lack(mapping.source, source)):
            source = -1
        return Ignored(key, "mask", usual, source)

    def _may_lack(self, node: int, key: int) -> bool:
        return self.part(key) == "query" and self.form(node).pattern[key] == PERHAPS

    def _usual(self, target: int, key: int, carried: tuple[int, ...]) -> tuple[int, bool]:
        """Return the most frequent value of the target, and whether its pages are seen under it."""
        if (target, key, carried) not in self._usuals:
            rows = self.tree.rows(target)
            values = self.columns.column(key)[rows]
            found, counts = np.unique(values, return_counts=True)
            usual = int(found[np.argmax(counts)])
            page = combined([self.columns.column(each)[rows] for each in carried], len(rows))
            pages = int(page.max(initial=-1)) + 1
            under = np.count_nonzero(np.bincount(page[values == usual], minlength=pages))
            works = pages >= FEWEST_PAGES and under >= KNOWN_TO_WORK * pages
            self._usuals[target, key, carried] = usual, bool(works)
        return self._usuals[target, key, carried]

    def _can_meet(self, source: Form, target: Form) -> bool:
        """Whether a URL could fit both patterns."""
        for one, other in ((source, target), (target, source)):
            for key, value in one.pattern.items():
                there = other.pattern.get(key)
                if there is None:
                    if value != PERHAPS:
                        return False
                elif value >= 0 and there >= 0 and value != there:
                    return False
        return True


def combined(columns: list[NDArray[np.int32] | Ints], length: int) -> Ints:
    """Return one number per row, equal where all columns are equal."""
    code, width = np.zeros(length, np.int64), 1
    for column in columns:
        values = column.astype(np.int64) - int(column.min(initial=0))
        range_of_values = int(values.max(initial=0)) + 1
        if width * range_of_values >= _WIDEST:
            code = _numbered(code)
            width = int(code.max(initial=0)) + 1
        code = code * range_of_values + values
        width *= range_of_values
    return _numbered(code)


def _numbered(code: Ints) -> Ints:
    order = np.argsort(code)
    ordered = code[order]
    number = np.empty(len(code), np.int64)
    number[order] = np.cumsum(np.diff(ordered, prepend=ordered[:1]) != 0)
    return number


@dataclass(frozen=True, eq=False)
class Plan:
    """A mapping with all that is needed to run it and to write it down."""

    planner: Planner
    mapping: Mapping
    source: Form
    target: Form
    ignored: dict[int, Ignored]

    @property
    def is_self(self) -> bool:
        """Whether it brings a node to its own normal form."""
        return self.mapping.source == self.mapping.target

    @cached_property
    def sources(self) -> dict[int, int]:
        """Key of the target to the key of the source whose value is written there."""
        found = {each.key: each.source for each in self.mapping.replaced}
        return found | {key: each.source for key, each in self.ignored.items() if each.source >= 0}

    @property
    def moves(self) -> bool:
        """Whether a value goes to another key."""
        return any(key != source for key, source in self.sources.items())

    @cached_property
    def dropped(self) -> tuple[int, ...]:
        """Keys of the target that are removed."""
        return tuple(key for key, each in self.ignored.items() if each.way == "drop")

    @property
    def has_masks(self) -> bool:
        """Whether some key is not compared."""
        return any(each.way == "mask" for each in self.ignored.values())

    @property
    def rewrites_target(self) -> bool:
        """Whether URLs of the target are rewritten themselves."""
        return not self.target.is_in_order or any(each.way != "mask" for each in self.ignored.values())

    def shape_of_target(self, shape: RuleShape) -> RuleShape:
        """Return what becomes of a shape of the target, or raise `CannotSay`."""
        after = RuleShape(tuple(key for key in shape.keys if key not in self.dropped), shape.port)
        port = self.planner.layouts.port
        if port in self.dropped:
            after = after._replace(port=-1)
        elif port in self.ignored:
            after = after._replace(port=self.ignored[port].value)
        if self._has_hole(after):
            message = "an optional piece inside the host or the path"
            raise CannotSay(message)
        return after

    def _has_hole(self, shape: RuleShape) -> bool:
        names, parts = self.planner.columns.key_names, self.planner.layouts.parts
        path, host = (
            sorted(int(names[key].rpartition("_")[2]) for key in shape.keys if parts[key] == part)
            for part in ("path", "host")
        )
        slash = any(parts[key] == "slash" for key in shape.keys)
        is_whole = path == list(range(len(path))) and host == list(range(len(host)))
        return not is_whole or not host or (slash and not path)

    @cached_property
    def target_shapes(self) -> dict[RuleShape, RuleShape]:
        """Each shape of the target and what it becomes."""
        return {shape: self.shape_of_target(shape) for shape in self.target.shapes}

    @cached_property
    def source_shapes(self) -> dict[RuleShape, RuleShape]:
        """Each shape of the source that fits, and what it becomes."""
        possible = set(self.target_shapes.values())
        found = {shape: self._shape_from(shape) for shape in self.source.shapes}
        return {shape: after for shape, after in found.items() if after in possible}

    def _shape_from(self, shape: RuleShape) -> RuleShape | None:
        keys, port = [], -1
        parts, sources, ignored = self.planner.layouts.parts, self.sources, self.ignored
        for operation in self.mapping.operations:
            key = operation.key
            part, source = parts[key], sources.get(key, -1)
            is_there = True
            if operation.kind == "replace":
                is_there = parts[source] == "query" or source in shape.keys
            elif key in ignored:
                is_there = ignored[key].way != "drop"
                if source >= 0 and parts[source] != "query" and source not in shape.keys:
                    return None
            if not is_there and self.target.pattern[key] != PERHAPS:
                return None
            if is_there and part != "query":
                keys.append(key)
                if part == "port":
                    kept = (
                        operation.value
                        if operation.kind == "keep"
                        else ignored.get(key, Ignored(key, "drop")).value
                    )
                    port = shape.port if operation.kind == "replace" else kept
        return RuleShape(tuple(sorted(keys)), port)

    @cached_property
    def optional(self) -> tuple[int, ...]:
        """Parameters of the source that are carried over whole, whether they are there or not."""
        return tuple(
            key
            for key, source in self.sources.items()
            if key == source
            and self.planner.part(key) == "query"
            and self.source.pattern[key] == PERHAPS
            and self.target.pattern[key] == PERHAPS
        )

    def source_rows(self) -> Ints:
        """Return the rows that the mapping takes from its source."""
        used = set(self.sources.values()) - set(self.optional)
        runs = {key for key in self.source.open_keys if self._is_segment(key) or key in used}
        forgotten = [
            key for key in self.source.open_keys if self.source.pattern[key] != PERHAPS and key not in runs
        ]
        return self.source.rows(self.planner.layouts, self.source_shapes, runs, forgotten)

    def target_rows(self) -> Ints:
        """Return the rows of the target's own form."""
        if not self.ignored and self.target.is_in_order:
            return self.target.rows(self.planner.layouts, self.target_shapes, (), ())
        kept = {key for key in self.target.open_keys if self.target.pattern[key] != PERHAPS}
        written = {key for key, each in self.ignored.items() if each.way == "write"}
        runs = {key for key in self.target.open_keys if self._is_segment(key) or key in kept - written}
        return self.target.rows(self.planner.layouts, self.target_shapes, runs, kept & written - runs)

    def _is_segment(self, key: int) -> bool:
        return self.planner.part(key) in {"path", "host"}
