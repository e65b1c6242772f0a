"""A site's URL scheme as a tree of patterns: what its URLs have in common, and where they part."""

from __future__ import annotations

from undust.tree.columns import ABSENT, UrlColumns
from undust.tree.growing import grow
from undust.tree.nodes import ANYTHING, PERHAPS, PatternTree, TreeNode
from undust.tree.salience import SALIENCES, Salience

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
