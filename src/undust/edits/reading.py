"""Shapes read from the patterns that the core writes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from undust.edits.edit import Rewrite
from undust.edits.shapes import Named, Shape, ShapeCapture, ShapeParameter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undust.edits.shapes import Piece, QueryPart, Run
    from undust.rules import Rule

_FORM = re.compile(r"(\{\w+(?:\*\*)?):(\w+)\}")
"""A capture of a target that is written in another form."""


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


def shape_from(text: str) -> Shape:
    """Return the shape that a pattern says.

    >>> str(shape_from("{s}://{h}/{*}?id={a:int}&{rest**}"))
    '{s}://{h}/{*}?id={a:int}&{rest**}'
    """
    scheme, _, rest = text.partition("://")
    host, _, rest = rest.partition("/")
    path, has_query, query = rest.partition("?")
    parts = tuple(map(_parameter, query.split("&"))) if has_query and query else ()
    (first,) = run_from(scheme)
    labels = tuple(map(run_from, host.split("."))) if "{" in host else ((host,),)
    return Shape(first, labels, tuple(map(run_from, path.split("/"))), parts)


def run_from(text: str) -> Run:
    """Return the literals and captures of a stretch.

    >>> run_from("story_{id:int}.html")
    ('story_', ShapeCapture(name='id', kind='int', is_many=False, form=''), '.html')
    """
    return tuple(_pieces(text)) or ("",)


def _pieces(text: str) -> Iterator[Piece]:
    while text:
        literal, brace, rest = text.partition("{")
        if literal:
            yield literal
        if brace:
            said, _, text = rest.partition("}")
            yield _capture(said)
        else:
            text = ""


def _capture(said: str) -> ShapeCapture:
    name, _, kind = said.partition(":")
    is_many = name.endswith("**")
    return ShapeCapture(name.rstrip("*"), kind, is_many)


def _parameter(text: str) -> QueryPart:
    if text.startswith("{"):
        capture = _capture(text[1:-1])
        return Named(tuple(capture.kind.split("|")), capture.name) if capture.kind else capture
    name, equals, value = text.partition("=")
    return ShapeParameter(name, run_from(value) if equals else None)
