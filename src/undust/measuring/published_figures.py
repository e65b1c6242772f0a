"""What the papers report of the methods that `compare` runs, for the table with both.

Figures of one site are means: totals of tables by the number of sites. Only what is printed is here, and a
figure that a paper does not have is left out. The papers count on other sites and with other bounds, so these
figures say what to expect, not what to reach.
"""

from __future__ import annotations

from typing import NamedTuple


class PublishedFigure(NamedTuple):
    """One line of a published table."""

    method: str
    """As `compare` calls it."""
    paper: str
    candidates: float | None = None
    """Before any filter, for one site; of all sites where the paper has no number of sites."""
    valid: float | None = None
    """The share of these that passed the proof."""
    rules: float | None = None
    """Deployed, for one site."""
    compression: float | None = None
    """The share of the URLs that is removed."""


_BAR_YOSSEF, _DASGUPTA, _LEI, _RODRIGUES = "Bar-Yossef 2006", "Dasgupta 2008", "Lei 2010", "Rodrigues 2015"
"""First authors: four sites; 360 hosts, fpr at most 5 %; 200 sites, fpr at most 5 %; WBR10, fpr 0."""
PUBLISHED_FIGURES = (
    PublishedFigure("substring", f"{_BAR_YOSSEF}, forum", 37, 7 / 37, 7, 0.047),
    PublishedFigure("substring", f"{_BAR_YOSSEF}, academic", 2_041, 52 / 2_041, 52, 0.18),
    PublishedFigure("substring", f"{_BAR_YOSSEF}, large news", 1_243, 62 / 1_243, 62, 0.06),
    PublishedFigure("substring", f"{_BAR_YOSSEF}, small news", 96, 5 / 96, 5, 0.26),
    PublishedFigure("rewrite-5", _LEI, 52_577 / 200, 19_754 / 52_577, 10_433 / 200, 0.188),
    PublishedFigure("rewrite-10", _LEI, 36_149 / 200, 13_813 / 36_149, 7_434 / 200, 0.16),
    PublishedFigure("rewrite-10", _DASGUPTA, None, None, 166_000 / 360, 0.21),
    PublishedFigure("rewrite-10", _RODRIGUES, 31_565, 1_985 / 31_565),
    PublishedFigure("rewrite-30", _DASGUPTA, None, None, 21_000 / 360, 0.16),
    PublishedFigure("tree-naive", _LEI, 14_912 / 200, 6_373 / 14_912, 2_069 / 200, 0.263),
    PublishedFigure("tree-graph", _LEI, 14_912 / 200, 6_373 / 14_912, 1_171 / 200, 0.345),
    PublishedFigure("tree-graph", _RODRIGUES, 6_974, 1_575 / 6_974),
    PublishedFigure("alignment", _RODRIGUES, 786, 577 / 786),
)
"""Of 786 candidates 577 are 73.4 %; the paper prints 85.48 %."""
