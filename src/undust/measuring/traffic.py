"""What rules save in the units that people pay for: requests and bytes a day, by who asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from undust.rules import RuleSet

TRAFFIC = pa.schema(
    [
        pa.field("url", pa.large_string(), nullable=False),
        pa.field("crawler", pa.string()),
        pa.field("day", pa.int32()),
        pa.field("requests", pa.int64(), nullable=False),
        pa.field("bytes", pa.int64(), nullable=False),
    ]
)
"""One row for each URL in normal form, who asked for it, and the day, since 1970."""
EVERYBODY = "all"


@dataclass(frozen=True)
class Savings:
    """Requests of one client, and those that rules make redundant."""

    who: str
    requests: int
    bytes: int
    saved_requests: int
    saved_bytes: int
    days: int

    def to_json(self) -> dict[str, Any]:
        """Return it as an object, with what is saved on one day."""
        return {
            "crawler": self.who,
            "requests": self.requests,
            "bytes": self.bytes,
            "saved_requests": self.saved_requests,
            "saved_bytes": self.saved_bytes,
            "saved_requests_per_day": round(self.saved_requests / self.days, 1),
            "saved_bytes_per_day": round(self.saved_bytes / self.days),
        }


def savings(rules: RuleSet, traffic: pa.Table) -> list[Savings]:
    """Return what rules save of a log's requests: first of all, then of each who asks, by requests.

    Of the URLs with one key, the one that is asked for most is needed, and requests for the others are not.
    """
    if not len(traffic):
        return []
    keys = rules.compile().batch(traffic.column("url").combine_chunks(), keys=True)
    by_url = pa.table({"key": keys, "url": traffic.column("url"), "requests": traffic.column("requests")})
    needed = _needed(by_url)
    saved = pc.invert(pc.is_in(traffic.column("url"), needed))
    counted = traffic.append_column("is_saved", saved)
    days = max(1, len(pc.unique(traffic.column("day").drop_null())))
    found = [_counted(EVERYBODY, counted, days)]
    names = sorted(name for name in pc.unique(traffic.column("crawler")).to_pylist() if name is not None)
    each = [_counted(name, counted.filter(pc.equal(counted.column("crawler"), name)), days) for name in names]
    return found + sorted(each, key=lambda one: (-one.requests, one.who))


def _needed(by_url: pa.Table) -> pa.Array:
    """Return of each key the URL that is asked for most; the first of several."""
    total = by_url.group_by(["key", "url"]).aggregate([("requests", "sum")])
    order = [("key", "ascending"), ("requests_sum", "descending"), ("url", "ascending")]
    ranked = total.take(pc.sort_indices(total, order))
    code = ranked.column("key").combine_chunks().dictionary_encode().indices
    first = np.flatnonzero(np.diff(np.asarray(code), prepend=-1))
    return ranked.column("url").take(pa.array(first)).combine_chunks()


def _counted(who: str, rows: pa.Table, days: int) -> Savings:
    gone = rows.filter(rows.column("is_saved"))

    def total(some: pa.Table, name: str) -> int:
        return int(pc.sum(some.column(name)).as_py() or 0)

    saved = total(gone, "requests"), total(gone, "bytes")
    return Savings(who, total(rows, "requests"), total(rows, "bytes"), *saved, days)
