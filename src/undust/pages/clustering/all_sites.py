"""All sites of a job with their clusters, as a person holds them in hand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from undust.display import how_many
from undust.pages.clustering.clusters import CLUSTER_SCHEMA, SiteClusters
from undust.pages.clustering.summary import Summary

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, eq=False, repr=False)
class Duplicates:
    """The clusters of each site, in the order of the sites; any Arrow library can take them as a table."""

    sites: tuple[SiteClusters, ...]
    not_urls: int = 0

    def __len__(self) -> int:
        return self.summary.urls

    def __iter__(self) -> Iterator[SiteClusters]:
        return iter(self.sites)

    def __getitem__(self, site: str) -> SiteClusters:
        for found in self.sites:
            if found.site == site:
                return found
        raise KeyError(site)

    @cached_property
    def summary(self) -> Summary:
        """The counts over all sites, and what was not trusted."""
        summary = Summary(not_urls=self.not_urls)
        for found in self.sites:
            summary.add(Summary.of(found))
        return summary

    def table(self) -> pa.Table:
        """Return all URLs with their clusters, in the columns of `duplicates.clusters.SCHEMA`."""
        return pa.concat_tables(
            [CLUSTER_SCHEMA.empty_table(), *(found.table().cast(CLUSTER_SCHEMA) for found in self.sites)]
        )

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table().__arrow_c_stream__(requested_schema)

    def split(self, held_out: float, seed: int = 0, purpose: str = "") -> tuple[Duplicates, Duplicates]:
        """Return two parts that share no cluster, the second with about `held_out` of the clusters."""
        if not 0 <= held_out <= 1:
            message = f"held_out is a share between 0 and 1, not {held_out}"
            raise ValueError(message)
        parts = [found.split(held_out, seed, purpose) for found in self.sites]
        return Duplicates(tuple(part for part, _ in parts)), Duplicates(tuple(part for _, part in parts))

    def __str__(self) -> str:
        return self.summary.text()

    def __repr__(self) -> str:
        summary = self.summary
        return (
            f"<Duplicates: {summary.urls:,} URLs of {how_many(summary.sites, 'site')} "
            f"in {summary.clusters:,} clusters, {how_many(summary.duplicates, 'duplicate')}>"
        )
