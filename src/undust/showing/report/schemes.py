"""The URL scheme of a site, cut to as many branches as a page carries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from undust.showing.tree.condensed import condensed, main_origin

if TYPE_CHECKING:
    from undust.showing.report.texts import Texts
    from undust.showing.tree.condensed import Condensed
    from undust.showing.tree.shown import SiteTree

SMALLEST_SHARE = 0.0002


def scheme(tree: SiteTree, most: int, texts: Texts) -> dict[str, Any]:
    """Return the largest branches; what is smaller is folded into the branch above, and counted."""
    if tree.root is None:
        return {"urls": tree.urls, "unusual": tree.unusual, "root": None, "branches": 0}
    share = SMALLEST_SHARE
    shown = condensed(tree.root, share)
    while _size(shown) > most:
        share *= 2
        shown = condensed(tree.root, share)
    forms = sum(not branch.children for branch in tree.root.walk())
    return {
        "urls": tree.urls,
        "unusual": tree.unusual,
        "forms": forms,
        "origin": main_origin(tree.root),
        "branches": _size(shown),
        "root": _branch(shown, texts),
    }


def _size(shown: Condensed) -> int:
    return 1 + sum(map(_size, shown.children))


def _branch(shown: Condensed, texts: Texts) -> dict[str, Any]:
    branch = shown.branch
    return {
        "pattern": texts.url(branch.pattern),
        "urls": branch.urls,
        "duplicates": None if branch.duplicate_rate is None else round(branch.duplicate_rate, 4),
        "example": texts.url(branch.example),
        "folded": shown.folded,
        "children": [_branch(child, texts) for child in shown.children],
    }
