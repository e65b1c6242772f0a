"""All that is known of one site, from which each part of the page takes what it shows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from undust.rules import RuleSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.measuring import Labelled, Measures
    from undust.pages.clustering import SiteClusters
    from undust.pages.totals import Totals
    from undust.rules import Rule
    from undust.showing.report.limits import Limits
    from undust.showing.report.texts import Texts
    from undust.showing.tree.shown import SiteTree


@dataclass(frozen=True)
class ShownRefusal:
    """A candidate that learning did not take."""

    rule: Rule
    reason: str
    pages: int
    """Pages that showed it to be right."""
    lost: int
    """Pages that it would have lost."""


@dataclass(frozen=True)
class ShownRefusals:
    """What learning did not take of one site."""

    found: tuple[ShownRefusal, ...]
    """The weightiest."""
    counts: dict[str, int]
    """All of them, by reason."""
    candidates: int | None = None
    """All candidates, including those accepted; None if not counted."""


@dataclass(frozen=True, eq=False)
class Material:
    """One site: its URLs, what is known of their pages, and the rules that apply to it."""

    site: str
    clusters: SiteClusters
    labelled: Labelled | None
    """None without evidence of which page a URL shows."""
    has_labels: bool
    """Whether a person said which page a URL shows."""
    rules: Sequence[Rule]
    """Those of the site and those of all sites, in the order in which they are applied."""
    measures: Measures | None
    totals: Totals
    tree: SiteTree | None
    refusals: ShownRefusals | None
    """None if not known, because learning was not part of the run."""
    limits: Limits
    texts: Texts
    threads: int = 1

    @property
    def active(self) -> list[Rule]:
        """The rules that are switched on."""
        return [rule for rule in self.rules if rule.status == "active"]

    @cached_property
    def keys(self) -> pa.Array:
        """The keys of the labelled URLs."""
        if self.labelled is None:
            return pa.array([], pa.string())
        return RuleSet(self.rules).compile().batch(self.labelled.urls, keys=True, threads=self.threads)
