"""A site's URL scheme as a tree of patterns: what its URLs have in common, and where they part."""

from __future__ import annotations

from undust.urls.tree.columns import ABSENT, UrlColumns
from undust.urls.tree.growing import grow
from undust.urls.tree.nodes import ANYTHING, PERHAPS, PatternTree, TreeNode
from undust.urls.tree.salience import SALIENCES, Salience

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
