"""Pieces of text that replace each other in URLs of one page, whatever is around them."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from undust.edits import making

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undust.edits import Edit
    from undust.proposing.seen import SeenSite

LEAST_PAGES, _MOST = 3, 300
_TOKENS, _LETTERS = 6, 32
"""Longer pieces are names of pages."""
_TOKEN = re.compile(r"[A-Za-z0-9]+|%[0-9A-F]{2}|.", re.DOTALL)
_AFTER_SCHEME = 4
_SIGNS = "/?&;="
"""A URL without any of these is another URL, or none."""
_NUMBER = re.compile(r"[0-9]{3,}")


def swaps(seen: SeenSite) -> Iterator[Edit]:
    """Yield that a piece of text is another, those of most pages first, the shorter result preferred."""
    found: dict[tuple[str, str], set[int]] = defaultdict(set)
    for row, other, page in seen.pairs:
        for old, new in _pieces(seen.urls[row], seen.urls[other]):
            found[old, new].add(page)
            found[new, old].add(page)
    ranked = sorted(found.items(), key=lambda item: (-len(item[1]), len(item[0][1]), item[0]))
    for (old, new), pages in ranked[:_MOST]:
        if len(pages) >= LEAST_PAGES and old and not old.isalnum() and (new or old not in _SIGNS):
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
