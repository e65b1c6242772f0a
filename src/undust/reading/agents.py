"""Who asked, by the User-Agent of a log's line: crawlers by the names that they give themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Sequence

CRAWLERS = (
    *(
        "Googlebot",
        "bingbot",
        "YandexBot",
        "Baiduspider",
        "Applebot",
        "DuckDuckBot",
        "GPTBot",
        "OAI-SearchBot",
    ),
    *(
        "ClaudeBot",
        "PerplexityBot",
        "CCBot",
        "Bytespider",
        "Amazonbot",
        "PetalBot",
        "AhrefsBot",
        "SemrushBot",
    ),
    *("MJ12bot", "DotBot", "facebookexternalhit", "meta-externalagent", "archive.org_bot", "SeznamBot"),
)
"""Programs that are distinguished; any client can call itself so."""
OTHER_CRAWLERS, PEOPLE = "other crawlers", "people and others"
_LAST_QUOTED = r'"(?P<agent>[^"]*)"[ \t]*\r?$'
_CRAWLS = r"(?i)bot\b|bot[/;-]|crawl|spider|slurp|fetcher|archiver"


def crawler_of(agents: pa.Array) -> pa.Array:
    """Return who each User-Agent is; null without one.

    >>> crawler_of(pa.array(["Mozilla/5.0 (compatible; Googlebot/2.1)", "my-crawler/1", "Mozilla/5.0", None]))
    <pyarrow.lib.StringArray object at ...>
    [
      "Googlebot",
      "other crawlers",
      "people and others",
      null
    ]
    """
    texts = agents.cast(pa.string())
    known = np.full(len(texts), -1, np.int64)
    for place, name in reversed(list(enumerate(CRAWLERS))):
        hits = pc.fill_null(pc.match_substring(texts, name, ignore_case=True), fill_value=False)
        known[np.asarray(hits, np.bool_)] = place
    is_crawler = np.asarray(
        pc.fill_null(pc.match_substring_regex(texts, _CRAWLS), fill_value=False), np.bool_
    )
    names = pa.array([*CRAWLERS, OTHER_CRAWLERS, PEOPLE], pa.string())
    others = np.where(is_crawler, len(CRAWLERS), len(CRAWLERS) + 1)
    found = names.take(pa.array(np.where(known >= 0, known, others)))
    is_told = pc.and_(pc.is_valid(texts), pc.not_equal(pc.fill_null(texts, "-"), "-"))
    return pc.if_else(is_told, found, pa.scalar(None, pa.string()))


def crawlers_of_lines(lines: pa.Array, skipped: Sequence[int], rows: int) -> pa.Array:
    """Return who asked in each line of a log that was read: its last part in quotes, as servers write it.

    Args:
        lines: All of them, as bytes.
        skipped: The numbers of those that gave no row.
        rows: How many rows they gave; where that does not come out, no client is counted.

    """
    kept = np.asarray(pc.greater(pc.binary_length(lines), 0), np.bool_).copy()
    kept[np.asarray(skipped, np.int64)] = False
    if int(kept.sum()) != rows:
        return pa.nulls(rows, pa.string())
    texts = [line.decode("utf-8", "replace") for line in lines.filter(pa.array(kept)).to_pylist()]
    found = pc.extract_regex(pa.array(texts, pa.string()), _LAST_QUOTED)
    return crawler_of(pc.struct_field(found, "agent"))
