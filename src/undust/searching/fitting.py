"""What an edit removes from a path, described no wider than what it was seen to remove.

`/{*}/{a}` → `/{a}`, seen where the first segment was `c-books` or `c-music`, is said of `/c-{*}/{a}`: nobody
saw what `/index.php/{a}` shows.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from undust.edits import MASK, Rewrite, Several, ShapeCapture, is_somebodys
from undust.proposing import parts_of
from undust.searching.forgotten import compiled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from undust.edits import Edit
    from undust.edits.shapes import Piece, Run

MOST_LISTED = 5
"""Words of a list, at most."""
UNHEARD = 0.05
"""The share of URLs with a word that no other URL has, up to which the words are taken to be all."""
_LEAST = 3
"""Different texts that show a class."""
_WORDS = re.compile(r"[A-Za-z0-9_-]+")
_CLASSES = (
    ("int", re.compile(r"[0-9]+")),
    ("uuid", re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")),
    ("word", _WORDS),
)


def fitted(edit: Edit, urls: Sequence[str], site: str) -> Edit:
    """Return an edit that removes from paths only what is like the texts that it removes from some URLs."""
    if isinstance(edit, Several):
        parts = tuple(fitted(part, urls, site) for part in edit.parts)
        return edit if parts == edit.parts else _if_said(replace(edit, parts=parts), edit, site)
    if not isinstance(edit, Rewrite) or not edit.forgets or not urls:
        return edit
    kept = {capture.name for capture in edit.target.captures() if capture.form != "any"}
    path = tuple(_fitted_run(edit, at, kept, urls) for at in range(len(edit.source.path)))
    if path == edit.source.path:
        return edit
    source = replace(edit.source, path=path)
    target = edit.target
    if edit.operation == MASK:
        hidden = frozenset(capture.name for capture in target.captures() if capture.form == "any")
        if target != edit.source.masked(hidden):
            return edit
        target = source.masked(hidden)
    return _if_said(replace(edit, source=source, target=target), edit, site)


def _if_said(edit: Edit, other: Edit, site: str) -> Edit:
    return edit if edit.rules(site) else other


def _fitted_run(edit: Rewrite, at: int, kept: set[str], urls: Iterable[str]) -> Run:
    """Return one segment of a pattern with the captures that are removed as narrow as what was seen."""
    path = edit.source.path
    run = path[at]
    captures = [piece for piece in run if isinstance(piece, ShapeCapture)]
    is_wide = any(piece.is_many for piece in captures)
    if is_wide or all(piece.kind or piece.name in kept for piece in captures):
        return run
    is_behind = any(
        isinstance(piece, ShapeCapture) and piece.is_many for before in path[:at] for piece in before
    )
    place = at - len(path) if is_behind else at
    pattern, _ = compiled(run)
    found = [
        match.groups()
        for segments in (parts_of(url).segments for url in urls)
        if (len(segments) >= -place if is_behind else len(segments) > at)
        and (match := pattern.fullmatch(segments[place]))
    ]
    fitting = iter(range(len(captures)))
    pieces: list[Piece] = []
    for piece in run:
        if not isinstance(piece, ShapeCapture):
            pieces.append(piece)
            continue
        number = next(fitting)
        is_removed = not piece.kind and piece.name not in kept
        texts = Counter(groups[number] for groups in found)
        pieces += _narrowed(piece, texts, is_mask=edit.operation == MASK) if is_removed else [piece]
    return _joined(pieces)


def _narrowed(piece: ShapeCapture, texts: Counter[str], *, is_mask: bool) -> list[Piece]:
    """Return a capture of texts: a list of words where all were seen, else what all have in common."""
    singles = sum(count == 1 for count in texts.values())
    is_closed = len(texts) <= MOST_LISTED and singles <= UNHEARD * texts.total()
    if is_closed and all(map(_is_public_word, texts)):
        if len(texts) > 1:
            return [replace(piece, kind="|".join(sorted(texts)))]
        return [*texts] if texts and not is_mask else [piece]
    if len(texts) < _LEAST:
        return [piece]
    head, tail = _ends([*texts])
    inner = [text[len(head) : len(text) - len(tail)] for text in texts]
    kind = next((name for name, pattern in _CLASSES if all(map(pattern.fullmatch, inner))), "")
    return [each for each in (head, replace(piece, kind=kind), tail) if each]


def _common(texts: list[str]) -> str:
    """Return what all texts begin with."""
    first, last = min(texts), max(texts)
    return first[: next((at for at, sign in enumerate(first) if last[at : at + 1] != sign), len(first))]


def _ends(texts: list[str]) -> tuple[str, str]:
    """Return what all texts begin and end with, up to a sign that joins it to the rest."""
    head = _to_joint(_common(texts))
    rest = [text[len(head) :][::-1] for text in texts]
    tail = _to_joint(_common(rest))[::-1]
    is_any_left = all(len(text) > len(tail) for text in rest)
    return head, tail if is_any_left else ""


def _to_joint(text: str) -> str:
    """Return a text up to its last sign."""
    return text[: max((at + 1 for at, sign in enumerate(text) if sign in "-._~,:+"), default=0)]


def _is_public_word(text: str) -> bool:
    return bool(_WORDS.fullmatch(text)) and not is_somebodys(text)


def _joined(pieces: list[Piece]) -> Run:
    joined: list[Piece] = []
    for piece in pieces:
        if joined and isinstance(piece, str) and isinstance(joined[-1], str):
            joined[-1] += piece
        else:
            joined.append(piece)
    return tuple(joined)
