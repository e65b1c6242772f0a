"""Proposers, one for each kind of difference: from the current URLs of a site to edits worth judging.

`differences` finds what separates two URLs of one page: moves, names, folders, hosts, and pieces of text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from undust._core import DifferenceBounds
from undust._core import differences as core_differences
from undust.edits import Rewrite, Shape, ShapeCapture, ShapeParameter, is_somebodys, making, shape_from
from undust.proposing.idle_parts import (
    SeenParts,
    SeenSite,
    defaults,
    drops,
    idle_segments,
    labels,
    last_segments,
    lone_parameters,
    on_any_path,
    on_one_path,
    parts_of,
    spellings,
)
from undust.proposing.places import places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from undust.edits import Edit, Several
    from undust.edits.shapes import Piece, QueryPart


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


LEAST_PAGES, _MOST_SWAPS = 3, 300
_TOKENS, _LETTERS = 6, 32
"""Longer pieces are names of pages."""
_TOKEN = re.compile(r"[A-Za-z0-9]+|%[0-9A-F]{2}|.", re.DOTALL)
_AFTER_SCHEME = 4
_SIGNS = "/?&;="
"""A URL without any of these is another URL, or none."""
_NUMBER = re.compile(r"[0-9]{3,}")
_WORD = re.compile(r"[A-Za-z0-9]")


def swaps(seen: SeenSite) -> Iterator[Edit]:
    """Yield that a piece of text is another, those of most pages first, the shorter result preferred."""
    found: dict[tuple[str, str], set[int]] = defaultdict(set)
    for row, other, page in seen.pairs:
        for left, right in ((row, other), (other, row)):
            for old, new in _pieces(seen.urls[left], seen.urls[right]):
                found[old, new].add(page)
    ranked = sorted(found.items(), key=lambda item: (-len(item[1]), len(item[0][1]), item[0]))
    for (old, new), pages in ranked[:_MOST_SWAPS]:
        is_piece = old and not old.isalnum() and (new or old not in _SIGNS)
        # A word at the end of a URL is that of a path or of a query: these have edits of their own.
        is_said = new or not old.endswith("$") or not _WORD.search(old)
        if len(pages) >= LEAST_PAGES and is_piece and is_said:
            yield making.swapped(old, new)


def _pieces(left: str, right: str) -> Iterator[tuple[str, str]]:
    """Yield what differs between two URLs in one place, alone and with the text next to it."""
    ours, theirs = _TOKEN.findall(left), _TOKEN.findall(right)
    least = min(len(ours), len(theirs))
    before = next((at for at in range(least) if ours[at] != theirs[at]), least)
    behind = next((at for at in range(least - before) if ours[-1 - at] != theirs[-1 - at]), least - before)
    if before < _AFTER_SCHEME or max(len(ours), len(theirs)) - before - behind > _TOKENS:
        return
    old, new = ("".join(some[before : len(some) - behind]) for some in (ours, theirs))
    if len(old) + len(new) > _LETTERS or _NUMBER.search(old + new):
        return
    first = ours[before - 1]
    last = ours[len(ours) - behind] if behind else "$"
    contexts = {("", ""), (first, ""), ("", last), (first, last)}
    for start, end in sorted(contexts):
        is_bounded = _is_bounded(f"{start}{old}{end}") and _is_bounded(f"{start}{new}{end}")
        if _is_scheme(start) and _is_scheme(end) and is_bounded:
            yield f"{start}{old}{end}", f"{start}{new}{'' if end == '$' else end}"


def _is_bounded(text: str) -> bool:
    """Return whether a text neither begins nor ends inside a word: `20_` is part of `220_` too."""
    return not text[:1].isalnum() and not text[-1:].isalnum()


def _is_scheme(context: str) -> bool:
    """Return whether the text next to a difference belongs to the scheme of URLs, not to a page."""
    return not context.isalnum()


_FACET = re.compile(r"([A-Za-z]+[-_:=,~])[^;&]+")
_MOST_FACETS = 4
"""Names of segments that are put in order: the rules for it grow with their square."""


def facets(seen: SeenSite) -> Iterator[Edit]:
    """Yield that named segments (`color-red/size-m`) are one page in any order: they are sorted by name."""
    yield from facets_of(seen.parts, seen.pairs)


def facets_of(parts: Sequence[SeenParts], pairs: Iterable[tuple[int, int, int]]) -> Iterator[Several]:
    """Yield the same from the parts of URLs, and from pairs of them with their page."""
    names: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
    pages: defaultdict[tuple[str, ...], set[int]] = defaultdict(set)
    longest: defaultdict[tuple[str, ...], int] = defaultdict(int)
    for left, right, page in pairs:
        run, behind = _reordered(parts[left], parts[right])
        if run:
            names[behind].update(run)
            pages[behind].add(page)
            longest[behind] = max(longest[behind], len(run))
    for behind, some in sorted(pages.items()):
        if len(some) >= LEAST_PAGES and len(names[behind]) <= _MOST_FACETS:
            yield making.facets_sorted(sorted(names[behind]), longest[behind], behind)


def _reordered(left: SeenParts, right: SeenParts) -> tuple[list[str], tuple[str, ...]]:
    """Return the names of the segments whose order differs, and what is behind: `*`, or nothing.

    >>> left, right = map(parts_of, ("http://a.test/f/size-m/color-red/", "http://a.test/f/color-red/size-m/"))
    >>> _reordered(left, right)
    (['size-', 'color-'], ('',))
    """
    ours, theirs = left.segments, right.segments
    if ours == theirs or sorted(ours) != sorted(theirs) or left[::3] != right[::3] or left.host != right.host:
        return [], ()
    apart = [at for at, pair in enumerate(zip(ours, theirs, strict=True)) if pair[0] != pair[1]]
    found = [_FACET.fullmatch(segment) for segment in ours[apart[0] : apart[-1] + 1]]
    names = [match[1] for match in found if match]
    is_named = len(names) == len(found) == len(set(names))
    return (names, tuple("*" if each else "" for each in ours[apart[-1] + 1 :])) if is_named else ([], ())


PROPOSERS = (
    spellings,
    drops,
    defaults,
    facets,
    labels,
    places,
    lone_parameters,
    on_any_path,
    on_one_path,
    differences,
    last_segments,
    idle_segments,
    swaps,
)
"""Cheap and general ones first."""
WEIGHED_TOGETHER = ((spellings,), (drops,), (defaults,), PROPOSERS[3:])
"""Those whose edits are weighed against each other; what came before was accepted."""

__all__ = ["PROPOSERS", "WEIGHED_TOGETHER", "SeenParts", "SeenSite", "facets_of", "parts_of"]
