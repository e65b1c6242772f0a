"""The query of a rule as expressions: parameters match in any order, and an expression reads from the left.

So a rule becomes several expressions, to be tried in order: one for each order of the parameters, and one
for each place where a separator goes away with a parameter.

    ?sid=1           nothing is left, and no `?`
    ?a=1&sid=1&b=2   the text before and after is joined
    ?a=1&sid=1       the text before is left, without its `&`
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

from undust.errors import CannotExpress
from undust.exchange.exports.expressions import (
    VALUE,
    CaptureGroup,
    Ref,
    escaped,
    query_literal,
    without_groups,
)
from undust.exchange.exports.runs import component
from undust.rules.pattern import ANY_NUMBER, Capture

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from undust.exchange.exports.expressions import Filled, Pieces
    from undust.rules.pattern import Parameter

Variant = tuple["Pieces", "Filled"]

_MOST_NAMED = 3
"""Parameters of a closed query: each order is an expression of its own."""
_REST = "rest "  # no capture of a rule has a space in its name
OPTIONAL_REST = "rest with its mark"
"""All of a query with its `?`, or nothing."""
_BEFORE, _BEHIND = "before ", "behind "


@dataclass(frozen=True)
class Dropped:
    """A query of which parameters are dropped, and nothing else: names, and how one of them looks."""

    names: tuple[str, ...]
    """As a rule writes them; a trailing `*` makes a prefix."""
    expression: str
    is_single: bool
    """Whether one step of the rule drops one parameter, not all."""


class Query:
    """The query of a left side, and of the right side if there is one."""

    def __init__(
        self,
        source: tuple[Parameter, ...],
        target: tuple[Parameter, ...] | None,
        used: Collection[str],
        *,
        lean: bool,
    ) -> None:
        self.used = used
        self.lean = lean
        self.target = target
        self.named = [entry for entry in source if entry.several is None]
        self.lists = [entry.several for entry in source if entry.several is not None and entry.several.detail]
        rests = [entry.several for entry in source if entry.several is not None and not entry.several.detail]
        self.rest = rests[0] if rests else None
        written = [entry.several.name for entry in target or () if entry.several is not None]
        self.keeps_rest = self.rest is not None and self.rest.name is not None and self.rest.name in written
        _require_plain(source, target)

    def dropped(self) -> Dropped | None:
        """Return what is dropped, if that is all that happens to the query."""
        plain = [entry for entry in self.named if entry.value == ANY_NUMBER]
        is_all = len(plain) == len(self.named) and all(several.name is None for several in self.lists)
        rest_alone = self.target is not None and len(self.target) == 1 and self.keeps_rest
        if not (is_all and rest_alone and (self.named or self.lists)):
            return None
        if len(self.named) + len(self.lists) > 1:
            return None
        if self.named:
            name = self.named[0].name
            one = without_groups(self._parameter(self.named[0], ()))
            return Dropped((query_literal(name),), self._ended(one), is_single=True)
        names = tuple(map(query_literal, (self.lists[0].detail or "").split("|")))
        return Dropped(names, self._ended(_listed(names)), is_single=False)

    def _ended(self, parameter: str) -> str:
        """Return a parameter that ends where it seems to end, so that nothing of it is tried again."""
        return parameter if self.lean else f"{parameter}(?=&|$)"

    def variants(self) -> list[Variant]:
        """Return the ways in which the query matches, from the `?` on, each with what is written then."""
        if self.lists:
            message = "it takes parameters by a list of names, and does more than drop them"
            raise CannotExpress(message)
        if len({entry.name for entry in self.named}) < len(self.named):
            message = "it names one parameter twice"
            raise CannotExpress(message)
        if not self.named:
            return self._of_rest()
        if self.rest is None:
            return list(self._in_each_order())
        if not self.keeps_rest:
            return [self._among_forgotten()]
        if len(self.named) > 1:
            message = "it takes more than one parameter out of a query that keeps the others"
            raise CannotExpress(message)
        return list(self._beside_others())

    def without(self, dropped: Dropped, *, runs: bool) -> list[Variant]:
        """Return the ways to drop parameters: a whole run of them in one step, or one by one."""
        one = dropped.expression
        at_once = "" if self.lean else "+"
        more, run = (f"(?:&{one})*{at_once}", f"(?:{one}&)+{at_once}") if runs else ("", f"{one}&")
        other = self._other_than(one)
        return [
            ((rf"\?(?:{one}{more}&?|&{one}{more})",), ()),
            (
                (
                    r"\?",
                    CaptureGroup(_BEFORE, f"(?:{other}&)*{self._lazily}"),
                    run,
                    CaptureGroup(_BEHIND, ".*"),
                ),
                ("?", Ref(_BEFORE), Ref(_BEHIND)),
            ),
            (
                (
                    self._mark(f"&{one}{more}"),
                    CaptureGroup(_BEFORE, f"{other}(?:&{other})*{self._lazily}"),
                    f"&{one}{more}",
                ),
                ("?", Ref(_BEFORE)),
            ),
        ]

    @property
    def _lazily(self) -> str:
        """What follows a loop over other parameters, which ends at the first that fits."""
        return "?" if self.lean else "+"

    def _parameter(self, entry: Parameter, used: Collection[str]) -> Pieces:
        return _parameter(entry, used, lean=self.lean)

    def _mark(self, alone: str) -> str:
        """Return the `?` of a query that is not `alone`; without look ahead, the order of steps says so."""
        return r"\?" if self.lean else rf"\?(?!{alone}$)"

    def _other_than(self, parameter: str) -> str:
        # Without a look ahead, the shortest way to a fitting parameter finds the first one, too.
        return "[^&]*" if self.lean else rf"(?!(?:{parameter})(?:&|$))[^&]*"

    def _of_rest(self) -> list[Variant]:
        if self.rest is None:
            return [((r"\??",), self._written(None))]
        if not self.keeps_rest:
            return [((r"(?:\?.*)?",), self._written(None))]
        if self.target is not None and len(self.target) == 1:
            return [((CaptureGroup(OPTIONAL_REST, r"(?:\?.+)?"), r"\??"), (Ref(OPTIONAL_REST),))]
        return [
            ((r"\?", CaptureGroup(_REST, ".+")), self._written((Ref(_REST),))),
            ((r"\??",), self._written(None)),
        ]

    def _in_each_order(self) -> Iterator[Variant]:
        if len(self.named) > _MOST_NAMED:
            message = f"it names more than {_MOST_NAMED} parameters, in any order"
            raise CannotExpress(message)
        written = self._written(None)
        for order in permutations(self.named):
            pieces: Pieces = (r"\?",)
            for place, entry in enumerate(order):
                pieces += (("&",) if place else ()) + self._parameter(entry, self.used)
            yield pieces, written

    def _among_forgotten(self) -> Variant:
        if len(self.named) == 1:
            one = self._parameter(self.named[0], self.used)
            gap = rf"\?(?:{self._other_than(without_groups(one))}&)*{self._lazily}"
            return (gap, *one, "(?:&.*)?"), self._written(None)
        if self.lean:
            message = "it takes more than one parameter out of an open query"
            raise CannotExpress(message)
        pieces: Pieces = ()
        for entry in self.named:
            one = self._parameter(entry, self.used)
            pieces += (rf"(?=\?(?:{self._other_than(without_groups(one))}&)*", *one, "(?:&|$))")
        return (*pieces, r"\?.*"), self._written(None)

    def _beside_others(self) -> Iterator[Variant]:
        one = self._parameter(self.named[0], self.used)
        other = self._other_than(without_groups(one))
        alone = self.target is not None and len(self.target) == 1
        # A rest that is one empty parameter prints nothing; beside other parameters it prints an `&`.
        if alone:
            yield (r"\?&?", *one), ()
            yield (r"\?", *one, "&"), ()
        else:
            yield (r"\?", *one), self._written(None)
        yield (
            (
                r"\?",
                CaptureGroup(_BEFORE, f"(?:{other}&)*{self._lazily}"),
                *one,
                "&",
                CaptureGroup(_BEHIND, ".*"),
            ),
            self._written((Ref(_BEFORE), Ref(_BEHIND))),
        )
        yield (
            (
                self._mark(f"&{without_groups(one)}") if alone else r"\?",
                *(CaptureGroup(_BEFORE, f"{other}(?:&{other})*{self._lazily}"), "&", *one),
            ),
            self._written((Ref(_BEFORE),)),
        )

    def _written(self, rest: Filled | None) -> Filled:
        """Return the query that is written, with its `?`, for a rest that is there or not."""
        parts: list[Filled] = []
        for entry in self.target or ():
            if entry.several is not None:
                parts += [rest] if rest is not None else []
            elif entry.value is None:
                parts.append((query_literal(entry.name),))
            else:
                value = tuple(
                    query_literal(piece) if isinstance(piece, str) else Ref(piece.name or "")
                    for piece in entry.value
                )
                parts.append((f"{query_literal(entry.name)}=", *value))
        filled: Filled = ()
        for place, part in enumerate(parts):
            filled += ("&" if place else "?", *part)
        return filled


def _require_plain(source: tuple[Parameter, ...], target: tuple[Parameter, ...] | None) -> None:
    for entry in target or ():
        captures = (
            [entry.several] if entry.several else [p for p in entry.value or () if isinstance(p, Capture)]
        )
        for capture in captures:
            if capture.detail is not None:
                message = f"it writes {{{capture.name}}} in the form {capture.detail}"
                raise CannotExpress(message)
    names = [entry.several.name for entry in target or () if entry.several is not None]
    if len(names) > 1:
        message = "it writes more than one list of parameters"
        raise CannotExpress(message)
    listed = {entry.several.name for entry in source if entry.several is not None and entry.several.detail}
    if listed & set(names):
        message = "it keeps parameters by a list of names"
        raise CannotExpress(message)


def _parameter(entry: Parameter, used: Collection[str], *, lean: bool) -> Pieces:
    """Return the expression of one parameter with a name."""
    name = escaped(query_literal(entry.name))
    if entry.value is None:
        return (name,)
    if entry.value == ANY_NUMBER:
        return (f"{name}(?:=[^&;]*)?",)
    return (f"{name}=", *component(entry.value, VALUE, used, lean=lean))


def _listed(names: tuple[str, ...]) -> str:
    texts = [escaped(name.removesuffix("*")) + ("[^=&;]*" if name.endswith("*") else "") for name in names]
    return f"(?:{'|'.join(texts)})(?:=[^&;]*)?"


def condition(entries: tuple[Parameter, ...], *, lean: bool) -> list[str]:
    """Return expressions that must all match the query, from its `?` on, so that all entries are there."""
    if len({entry.name for entry in entries if entry.several is None}) < sum(
        entry.several is None for entry in entries
    ):
        message = "a condition names one parameter twice"
        raise CannotExpress(message)
    expressions = []
    named = {query_literal(entry.name) for entry in entries if entry.several is None}
    for entry in entries:
        if entry.several is None:
            one = without_groups(_parameter(entry, (), lean=lean))
        elif entry.several.detail is None or entry.several.name is not None:
            continue
        else:
            names = tuple(map(query_literal, entry.several.detail.split("|")))
            if any(_is_listed(name, names) for name in named):
                message = "a condition asks for one parameter by name and by a list"
                raise CannotExpress(message)
            one = _listed(names)
        expressions.append(rf"\?(?:.*&)?(?:{one})(?:&|$)")
    return expressions


def _is_listed(name: str, names: tuple[str, ...]) -> bool:
    return any(name.startswith(item[:-1]) if item.endswith("*") else name == item for item in names)
