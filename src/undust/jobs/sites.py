"""Observations on their way to an engine, each with the site it belongs to."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from undust.engines import SITE
from undust.reading.observations import SCHEMA
from undust.urls import are_site_names, site_of

WITH_SITE = SCHEMA.append(pa.field(SITE, pa.string(), nullable=False))
"""What is not a URL, or has a host that is not a host name, belongs to the site without a name."""


def with_site(rows: Any) -> Any:  # noqa: ANN401 -- a batch or a table
    """Return the rows with their sites."""
    site = site_of(rows.column("url")).cast(pa.string())
    site = pc.if_else(are_site_names(site), site, "")
    return rows.append_column(WITH_SITE.field(SITE), site)
