"""Sites for learners, from URLs with what is known of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

import undust
from undust.proposing.papers import propose
from undust.reading.observations import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from undust.judging.verdict import Proposal
    from undust.pages.clustering import SiteClusters


def site_of_rows(rows: Iterable[Mapping[str, Any]]) -> SiteClusters:
    """The clusters of the one site that the observations are of."""
    found = undust.find_duplicates(pa.Table.from_pylist([dict(row) for row in rows], SCHEMA))
    assert len(found.sites) == 1
    return found.sites[0]


def labelled(pages: Mapping[str, str]) -> SiteClusters:
    """A site whose pages are known: URL to page."""
    return site_of_rows({"url": url, "cluster": page} for url, page in pages.items())


def proposed(site: SiteClusters, learner: str, **options: object) -> Proposal:
    """What a learner proposes for a site."""
    return propose(site, [learner], {f"{learner}.{name}": value for name, value in options.items()})[learner]


def rules_of(proposal: Proposal) -> list[str]:
    """The rules as text, in their order."""
    return [str(rule) for candidate in proposal.candidates for rule in candidate.rules]
