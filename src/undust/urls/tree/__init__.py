"""A site's URL scheme as a tree of patterns: what its URLs have in common, and where they part."""

from __future__ import annotations

from undust.urls.tree.growing import SALIENCES, Salience, grow
from undust.urls.tree.nodes import ABSENT, ANYTHING, PERHAPS, PatternTree, TreeNode, UrlColumns

__all__ = [
    "ABSENT",
    "ANYTHING",
    "PERHAPS",
    "SALIENCES",
    "PatternTree",
    "Salience",
    "TreeNode",
    "UrlColumns",
    "grow",
]
