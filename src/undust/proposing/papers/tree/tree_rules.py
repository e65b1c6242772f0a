"""A planned mapping in our rule language, and what it does to the URLs it was learned from.

The rules are what the mapping takes, the target's own form, and its masks.

What it does is counted without writing a single URL. The image of a URL is the tuple of the values that are
carried over: the kept ones are the same for all, the ignored ones do not count. Two URLs with one image are a
support pair, and a false one if they are different pages (equation 3 of Lei et al.). URLs alone on their page
are counted too: without them a rule that swallows unique pages would look perfect.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust._core import image_pairs
from undust.errors import UndustError
from undust.proposing.papers.tree.plan import CannotSay
from undust.rules import Rule
from undust.urls.pattern_tree import PERHAPS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from undust.proposing.papers.tree.forms import Form, RuleShape
    from undust.proposing.papers.tree.plan import Plan
    from undust.urls.views import UrlColumns

    Ints = NDArray[np.int64]
    Codes = NDArray[np.int32]


_OURS = re.compile(r"[hpsv][0-9]*")
"""Names of segments, labels and the scheme, which parameters must leave alone."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def rules_of(plan: Plan, site: str, most: int) -> tuple[Rule, ...]:
    """Return the rules of a mapping, frequent shapes first; raise `CannotSay` if there is no rule."""
    writer = _Writer(plan)
    sides = [] if plan.is_self else [writer.mapped(shape) for shape in plan.source_shapes]
    if plan.rewrites_target:
        sides += [writer.own(shape) for shape in plan.target_shapes]
    if plan.has_masks:
        sides += [writer.masked(shape) for shape in dict.fromkeys(plan.target_shapes.values())]
    sides = [side for side in dict.fromkeys(sides) if side[0] != side[1] or not plan.target.is_in_order]
    if not sides:
        message = "nothing to do"
        raise CannotSay(message)
    if len(sides) > most:
        message = "too many shapes"
        raise CannotSay(message)
    try:
        return tuple(Rule(site, "rewrite", left, right, learned_by="tree") for left, right in sides)
    except UndustError:
        message = "a form that no rule can say"
        raise CannotSay(message) from None


class _Writer:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.names = plan.planner.columns.key_names
        self.text = plan.planner.columns.text
        self.capture_names: dict[int, str] = {}

    def mapped(self, shape: RuleShape) -> tuple[str, str]:
        """From a shape of the source to the target."""
        plan = self.plan
        used, optional = set(plan.sources.values()), set(plan.optional)

        def read(key: int) -> str:
            value = plan.source.pattern[key]
            if value >= 0:
                return self._literal(key, value)
            if self._is_parameter(key):
                return self._parameter(
                    key,
                    is_used=key in used,
                    is_optional=value == PERHAPS and (key in optional or key not in used),
                )
            return f"{{{self._name(key)}}}" if key in used else "{*}"

        def write(key: int) -> str:
            if plan.target.pattern[key] >= 0:
                return self._literal(key, plan.target.pattern[key])
            source = plan.sources.get(key, -1)
            if source < 0:
                return self._literal(key, plan.ignored[key].value)
            if key in optional:
                return f"{{{self._name(source)}}}"
            # A source with one value there has its literal on the left, and so on the right.
            return self._value(key, f"{{{self._name(source)}}}")

        after = plan.source_shapes[shape]
        right = [key for key in plan.target.query if key not in plan.dropped]
        return (
            self._url(plan.source, shape, plan.source.query, read),
            self._url(plan.target, after, right, write),
        )

    def own(self, shape: RuleShape) -> tuple[str, str]:
        """From a shape of the target to its normal form."""
        plan = self.plan
        written = {key for key, each in plan.ignored.items() if each.way == "write"}

        def read(key: int) -> str:
            value = plan.target.pattern[key]
            if value >= 0:
                return self._literal(key, value)
            if self._is_parameter(key):
                return self._parameter(key, is_used=key not in written, is_optional=value == PERHAPS)
            is_kept = key not in written and key not in plan.dropped
            return f"{{{self._name(key)}}}" if is_kept else "{*}"

        def write(key: int) -> str:
            value = plan.ignored[key].value if key in written else plan.target.pattern[key]
            if value >= 0 or key in written:
                return self._literal(key, value)
            name = f"{{{self._name(key)}}}"
            return name if value == PERHAPS and self._is_parameter(key) else self._value(key, name)

        right = [key for key in plan.target.query if key not in plan.dropped]
        return (
            self._url(plan.target, shape, plan.target.query, read),
            self._url(plan.target, plan.target_shapes[shape], right, write),
        )

    def masked(self, shape: RuleShape) -> tuple[str, str]:
        """The normal form of the target, compared without the keys that do not matter."""
        plan = self.plan
        query = [key for key in plan.target.query if key not in plan.dropped]

        def side(mark: str) -> Callable[[int], str]:
            def write(key: int) -> str:
                ignored = plan.ignored.get(key)
                value = plan.target.pattern[key]
                if ignored is not None and ignored.way == "write":
                    value = ignored.value
                if value >= 0:
                    return self._literal(key, value)
                if ignored is not None:
                    return self._value(key, f"{{{self._name(key)}{mark}}}")
                if value == PERHAPS and self._is_parameter(key):
                    stars = "" if mark else f"**:{self.names[key][1:]}"
                    return f"{{{self._name(key)}{stars}}}"
                return self._value(key, f"{{{self._name(key)}}}")

            return write

        return self._url(plan.target, shape, query, side("")), self._url(
            plan.target, shape, query, side(":any")
        )

    def _url(self, form: Form, shape: RuleShape, query: Iterable[int], write: Callable[[int], str]) -> str:
        part = self.plan.planner.part
        by_part: dict[str, list[int]] = {"scheme": [], "host": [], "path": [], "slash": [], "port": []}
        for key in shape.keys:
            by_part[part(key)].append(key)
        scheme = write(by_part["scheme"][0])
        host = ".".join(write(key) for key in reversed(by_part["host"]))
        port = f":{self.text(shape.port)}" if shape.port >= 0 else ""
        path = "/" + "/".join(write(key) for key in by_part["path"]) + "/" * len(by_part["slash"])
        parameters = "&".join(write(key) for key in query if key in form.pattern)
        return f"{scheme}://{host}{port}{path}" + (f"?{parameters}" if parameters else "")

    def _is_parameter(self, key: int) -> bool:
        return self.names[key].startswith("?")

    def _parameter(self, key: int, *, is_used: bool, is_optional: bool) -> str:
        if is_optional:
            return f"{{{self._name(key)}**:{self.names[key][1:]}}}"
        return self._value(key, f"{{{self._name(key)}}}" if is_used else "{**}")

    def _value(self, key: int, text: str) -> str:
        return f"{self.names[key][1:]}={text}" if self._is_parameter(key) else text

    def _literal(self, key: int, value: int) -> str:
        if not self._is_parameter(key):
            return self.text(value)
        is_bare = value == 0  # a parameter without `=`
        return self.names[key][1:] if is_bare else self._value(key, self.text(value))

    def _name(self, key: int) -> str:
        if key not in self.capture_names:
            name = self.names[key]
            short = name[1:] if self._is_parameter(key) else name[0] + name.partition("_")[2]
            taken = set(self.capture_names.values())
            is_own = not self._is_parameter(key) or (_NAME.fullmatch(short) and not _OURS.fullmatch(short))
            if short in taken or not is_own:
                short = f"v{key}"
            self.capture_names[key] = short
        return self.capture_names[key]


_INTO = {
    ("query", "path"): (r"[?+]", (("?", "%3F"), ("+", "%20"))),
    ("path", "query"): (r"[&+]", (("&", "%26"), ("+", "%2B"))),
}
"""What changes when a value goes from one part to another: which texts, and how."""


@dataclass(frozen=True)
class TrainingCounts:
    """What was counted on the training data."""

    urls: int
    images: int
    support_pairs: int
    false_pairs: int
    pages: int
    """Clusters of which it brings URLs together."""
    taken: int
    """URLs it takes from its source."""

    @property
    def fpr(self) -> float:
        """Share of false pairs among those with one image."""
        return self.false_pairs / self.support_pairs if self.support_pairs else 0.0

    @property
    def saves(self) -> int:
        """Removed URLs."""
        return self.urls - self.images


class Moves:
    """Values as they are written in another part of a URL."""

    def __init__(self, columns: UrlColumns) -> None:
        self.columns = columns
        self._codes: dict[tuple[str, str], Codes | None] = {}
        self._moved: dict[tuple[int, str, str], Codes] = {}

    def column(self, key: int, source: str, target: str) -> Codes:
        """Return the values at a key on their way from one part to another, as codes."""
        values = self.columns.column(key)
        if (source, target) not in _INTO:
            return values
        codes = self._table(source, target)
        if codes is None:
            return values
        if (key, source, target) not in self._moved:
            self._moved[key, source, target] = np.where(values < 0, values, codes[values])
        return self._moved[key, source, target]

    def _table(self, source: str, target: str) -> Codes | None:
        """Return what each value becomes, or None if none changes."""
        if (source, target) not in self._codes:
            self._codes[source, target] = self._found(*_INTO[source, target])
        return self._codes[source, target]

    def _found(self, sign: str, changes: tuple[tuple[str, str], ...]) -> Codes | None:
        texts = self.columns.value_texts
        found = pc.fill_null(pc.match_substring_regex(texts, sign), fill_value=False)
        special = np.flatnonzero(found.to_numpy(zero_copy_only=False))
        if not len(special):
            return None
        changed = texts.take(pa.array(special))
        for old, new in changes:
            changed = pc.replace_substring(changed, old, new)
        known = pc.index_in(changed, texts).fill_null(-1).to_numpy()
        unknown = pc.dictionary_encode(changed).indices.to_numpy()
        codes = np.arange(len(texts), dtype=np.int32)
        codes[special] = np.where(known >= 0, known, len(texts) + unknown)
        return codes


def proof_of(plan: Plan, moves: Moves, page: Ints) -> TrainingCounts:
    """Count pairs of URLs with one image, and those of different pages among them."""
    part, column = plan.planner.part, plan.planner.columns.column
    own = plan.target_rows()
    taken = own[:0] if plan.is_self else plan.source_rows()
    ways = [(each.source, each.key) for each in plan.mapping.replaced]
    arriving = [moves.column(source, part(source), part(key)) for source, key in ways]
    staying = [column(key) for _, key in ways]
    urls, images, pairs, true, pages = image_pairs(taken, own, arriving, staying, page)
    return TrainingCounts(urls, images, pairs, pairs - true, pages, len(own) if plan.is_self else len(taken))
