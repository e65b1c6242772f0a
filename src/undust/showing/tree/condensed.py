"""A tree with only as many lines as a person reads.

The key with the smallest entropy is often one that hardly any URL has, so a tree is a long chain from
which small branches part one by one. Here they stand side by side: a branch that only says "not one of
those" gives its place to its own branches, a branch with a single one of note is passed over for it, and
what is too small is folded into one line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undust.showing.tree.shown import Branch

NEARLY_ALL = 0.9
"""A branch with this share of the one above says it better."""


@dataclass(frozen=True)
class Condensed:
    """A branch that is shown, those shown below it, and what is not."""

    branch: Branch
    children: tuple[Condensed, ...] = ()
    folded: int = 0
    """Forms too small to be shown."""
    folded_share: float = 0.0
    """Of the URLs of the site."""


def condensed(branch: Branch, min_share: float, depth: int | None = None) -> Condensed:
    """Return a branch with what is worth a line; `depth` levels below it at most."""
    below = sorted(_side_by_side(branch), key=lambda each: (-each.share, each.pattern))
    shown = [each for each in below if each.share >= min_share]
    hidden = [each for each in below if each.share < min_share]
    share = sum(each.share for each in hidden)
    if len(shown) == 1 and shown[0].share >= NEARLY_ALL * branch.share:
        inner = condensed(shown[0], min_share, depth)
        return Condensed(
            inner.branch, inner.children, inner.folded + _forms(hidden), inner.folded_share + share
        )
    if depth == 0:
        return Condensed(branch, (), _forms(below), sum(each.share for each in below))
    lower = None if depth is None else depth - 1
    children = tuple(condensed(each, min_share, lower) for each in shown)
    return Condensed(branch, children, _forms(hidden), share)


def _side_by_side(branch: Branch) -> Iterator[Branch]:
    for child in branch.children:
        if child.is_rest and child.children:
            yield from _side_by_side(child)
        else:
            yield child


def _forms(branches: list[Branch]) -> int:
    return sum(not each.children for branch in branches for each in branch.walk())


def main_origin(root: Branch) -> str:
    """Return the scheme and host under which most URLs are, as far as forms show."""
    urls: dict[str, int] = {}
    for branch in root.walk():
        if not branch.children:
            origin = "/".join(branch.pattern.split("/", 3)[:3])
            urls[origin] = urls.get(origin, 0) + branch.urls
    return min(urls, key=lambda origin: (-urls[origin], origin))
