"""What separates two URLs of one page when their schemes differ: moves, names, folders, hosts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from undust._core import DifferenceBounds
from undust._core import differences as core_differences
from undust.edits import Rewrite, Shape, ShapeCapture, ShapeParameter, is_somebodys
from undust.edits.reading import shape_from

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from undust.edits import Edit
    from undust.edits.shapes import Piece, QueryPart
    from undust.proposing.seen import SeenSite

PAGES, _MOST, _LONGEST, LONG_NAME = 3, 1000, 6, 14
_KEPT = 5
"""Distinct texts that a removed part must have had: a part with few is a word of the site's scheme."""
CAPTURES = "abcdefgijk"
_PUBLIC = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
"""Words that may be listed in an edit."""


def differences(seen: SeenSite) -> Iterator[Edit]:
    """Yield the differences that several pages show, those of most pages first."""
    yield from differences_of(seen.urls, seen.pairs)


def differences_of(
    urls: Sequence[str], pairs: Sequence[tuple[int, int, int]], least_pages: int = PAGES
) -> Iterator[Edit]:
    """Yield the differences that pairs show, two rows and a page each, those of most pages first."""
    both = [each for left, right, page in pairs for each in ((left, right, page), (right, left, page))]
    if not both:
        return
    left, right, page = np.ascontiguousarray(np.array(both, np.int64).T)
    column = pa.array(urls, pa.large_string())
    for source, target, values in core_differences(column, left, right, page, _bounds(least_pages)):
        edit = _edit(shape_from(source), shape_from(target), values)
        if edit is not None:
            yield edit


def _bounds(least_pages: int) -> DifferenceBounds:
    return DifferenceBounds(
        longest=_LONGEST, long_name=LONG_NAME, kept_values=_KEPT, least_pages=least_pages, most=_MOST
    )


def _edit(source: Shape, target: Shape, values: list[list[str]]) -> Rewrite | None:
    """Return the edit with what had one text written, and numbers as numbers; None where it is unclear."""
    named = [capture.name for capture in source.captures() if capture.name in CAPTURES and capture.name]
    texts = dict(zip(sorted(named, key=CAPTURES.index), values, strict=False))
    forgotten = iter(values[len(texts) :])
    is_clear = True

    def left(piece: Piece) -> Piece:
        nonlocal is_clear
        if not isinstance(piece, ShapeCapture) or piece.is_many:
            return piece
        if piece.name in texts:
            return _narrow(piece, texts[piece.name])
        if piece.name:
            return piece
        some = next(forgotten, [])
        if 1 < len(some) < _KEPT and all(map(_PUBLIC.fullmatch, some)) and not any(map(is_somebodys, some)):
            return ShapeCapture(piece.name, "|".join(sorted(some)))
        is_clear &= len(some) in {1, _KEPT}
        return some[0] if len(some) == 1 else piece

    def right(piece: Piece) -> Piece:
        known = isinstance(piece, ShapeCapture) and len(texts.get(piece.name, ())) == 1
        return texts[piece.name][0] if isinstance(piece, ShapeCapture) and known else piece

    filled = _mapped(source, left)
    return Rewrite(source=filled, target=_mapped(target, right)) if is_clear else None


def _narrow(piece: ShapeCapture, texts: list[str]) -> Piece:
    if len(texts) == 1:
        return texts[0]
    is_number = all(text.isdigit() and text.isascii() for text in texts)
    return ShapeCapture(piece.name, "int") if is_number else piece


def _mapped(shape: Shape, each: Callable[[Piece], Piece]) -> Shape:
    def part(one: QueryPart) -> QueryPart:
        is_open = isinstance(one, ShapeParameter) and one.value is not None
        return ShapeParameter(one.name, tuple(map(each, one.value or ()))) if is_open else one  # type: ignore[union-attr]

    # Removed texts are listed in the order of the URL: host, path, query.
    return Shape(
        shape.scheme,
        tuple(tuple(map(each, run)) for run in shape.host),
        tuple(tuple(map(each, run)) for run in shape.path),
        tuple(map(part, shape.query)),
    )
