"""The one table that everything starts from: one row is one sighting of one URL.

Only `url` is required. What a source does not know is null, never a guess. The names are
the column names in every format that has columns.
"""

from __future__ import annotations

import pyarrow as pa

SCHEMA = pa.schema(
    [
        pa.field("url", pa.string(), nullable=False),
        pa.field("status", pa.int16()),
        pa.field("size", pa.int64()),
        pa.field("digest", pa.string()),
        pa.field("sketch", pa.list_(pa.uint32())),
        pa.field("canonical", pa.string()),
        pa.field("redirect", pa.string()),
        pa.field("time", pa.timestamp("us", "UTC")),
        pa.field("cluster", pa.string()),
    ]
)

MEANINGS = {
    "url": "the URL as it was seen",
    "status": "HTTP status",
    "size": "bytes of the body, or characters of its text",
    "digest": "signature of the content: equal content, equal digest",
    "sketch": "for each of k hash functions, the minimum over the text's shingles",
    "canonical": "target of rel=canonical, absolute",
    "redirect": "where a 3xx or a meta refresh points, absolute",
    "time": "when it was seen",
    "cluster": "a label that the person already has: equal label, same page",
}
"""What each column holds, in the order of `SCHEMA`."""

BATCH_ROWS = 65_536
"""Rows in a batch that a source yields; small enough that no column passes 2 GiB."""
