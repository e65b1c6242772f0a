"""Typed edits: what is done to a URL, as values that learners propose, judge and search among.

Edits are read from rules, too, and a rule from before stays as it is. A rule that gives one place the name of
another may hold by chance: `/manual/de/mod/{a}` → `/docs/mod/{a}` because one folder was not translated yet.
Where the two places differ in others, they are two places. `whole_places` returns the rule for all of both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from undust.edits.edit import (
    DROP,
    KEEP,
    MASK,
    MOVE,
    OPERATIONS,
    RESPELL,
    SWAP,
    WRITE,
    Edit,
    Keep,
    Rewrite,
    Several,
    Swap,
    is_somebodys,
)
from undust.edits.shapes import EDIT_ANY, Guard, Named, Shape, ShapeCapture, ShapeParameter, shape_from
from undust.errors import UndustError
from undust.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator


_FORM = re.compile(r"(\{\w+(?:\*\*)?):(\w+)\}")
"""A capture of a target that is written in another form."""
_CAPTURE = re.compile(r"\{(\w+)[^{}]*\}")
_BEGINNING = re.compile(r"\^?[^/]*://[^/]*/")


def rewrite_from(rule: Rule) -> Rewrite:
    """Return the edit that a rewrite rule says, without guards and without the forms of what it writes.

    >>> from undust.rules import Rule
    >>> drop = Rule.parse("rewrite {s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p}?{rest}", site="a.test")
    >>> str(rewrite_from(drop).source)
    '{s}://{h}/{p**}?sid={**}&{rest**}'
    """
    target = _FORM.sub(r"\1}", rule.target or "")
    return Rewrite(source=shape_from(rule.source), target=shape_from(target))


def forms_of(rule: Rule) -> frozenset[str]:
    """Return the forms in which a rewrite rule writes what it captures."""
    return frozenset(form for _, form in _FORM.findall(rule.target or ""))


@dataclass(frozen=True)
class Given(Edit):
    """What a rule does."""

    rule: Rule | None = None
    removes: tuple[str, ...] = ()
    makes_up: tuple[str, ...] = ()

    @property
    def operation(self) -> str:
        """Whether it keeps URLs, changes keys only, or writes URLs."""
        if self._rule_given.kind == "keep":
            return KEEP
        return MASK if f":{EDIT_ANY}}}" in (self._rule_given.target or "") else WRITE

    @property
    def _rule_given(self) -> Rule:
        assert self.rule is not None  # noqa: S101 -- fields of the base have defaults, so this one needs one
        return self.rule

    @property
    def bits(self) -> float:
        """Nothing: it is said already."""
        return 0.0

    @cached_property
    def defaults(self) -> dict[str, str]:
        """Parameters that a rule removes with one value, and that value."""
        if self._rule_given.kind != "rewrite":
            return {}
        source, target = shape_from(self._rule_given.source), shape_from(self._rule_given.target or "")
        return Rewrite(source=source, target=target).defaults

    def inverse(self) -> None:
        """Return None: it stays as it is."""

    def more_general(self) -> Iterator[Edit]:
        """Yield nothing: it stays as it is."""
        yield from ()

    def literals(self) -> Iterator[str]:
        """Yield nothing: its words were accepted before."""
        yield from ()

    def _said(self) -> str:
        return str(self._rule_given)

    def _steps(self, site: str) -> Iterator[Rule]:
        if self._rule_given.site == site:
            yield self._rule_given


def whole_places(rule: Rule) -> Rule | None:
    """Return the rule that gives a whole place the name of another one; None if a rule names none.

    >>> from undust.rules import Rule
    >>> text = "rewrite {s}://{h}/manual/de/{a}/{b}?{rest**} → {s}://{h}/docs/2.4/{a}/{b}?{rest}"
    >>> print(whole_places(Rule.parse(text, site="a.test")))
    rewrite {s}://{h}/manual/de/{p**}?{rest**} → {s}://{h}/docs/2.4/{p}?{rest}
    """
    sides = [
        _BEGINNING.split(_CAPTURE.sub(r"{\1}", side or ""), maxsplit=1) for side in (rule.source, rule.target)
    ]
    if rule.kind == "keep" or not all(len(side) > 1 for side in sides):
        return None
    read, written = (side[1].partition("?")[0].split("/") for side in sides)
    length = len(read)
    while len(read) > 1 and len(written) > 1 and read[-1] == written[-1]:
        read, written = read[:-1], written[:-1]
    place, other = "/".join(read), "/".join(written)
    if len(read) == length or place == other or "{" in place + other:
        return None
    try:
        return Rule(
            rule.site,
            "rewrite",
            f"{{s}}://{{h}}/{place}/{{p**}}?{{rest**}}",
            f"{{s}}://{{h}}/{other}/{{p}}?{{rest}}",
        )
    except (UndustError, ValueError):
        return None


__all__ = [
    "DROP",
    "KEEP",
    "MASK",
    "MOVE",
    "OPERATIONS",
    "RESPELL",
    "SWAP",
    "WRITE",
    "Edit",
    "Given",
    "Guard",
    "Keep",
    "Named",
    "Rewrite",
    "Several",
    "Shape",
    "ShapeCapture",
    "ShapeParameter",
    "Swap",
    "is_somebodys",
    "shape_from",
]
