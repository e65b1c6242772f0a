"""What the reductions of the published tables depend on: generated sites with one property changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.rewrite_halves import Halves
from bench.rewrite_tables import figures, generated, in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Change = Callable[[pa.Table], pa.Table]

SHAPES = 6
TWICE = 0.1
_ID = "=([0-9A-Fa-f]{12}|[0-9A-Fa-f]{22}|[0-9A-Fa-f]{32})([^0-9A-Fa-f]|$)"
"""What these sites write anew for every URL: session ids, click ids, moments."""
_SHOWN = {
    "R3 on training and test": "R3",
    "R1 on clusters of 2 to 9": "R1 on small",
    "R1 on larger clusters": "on large",
    "R1, share of DUST": "DUST of R1",
    "DUST on small, large, all": "DUST on small, large, all",
    "IRP on small, large, all": "IRP on small, large, all",
    "fpr <= 5 %, fan-out 10: rules, reduction": "fpr <= 5 %, fan-out 10",
    "fpr <= 5 %, fan-out 30: rules, reduction": "fpr <= 5 %, fan-out 30",
}


def variants(urls: int, kinds: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the figures that a change can move, for each change."""
    kinds = list(kinds)
    changes: dict[str, tuple[int, Change]] = {
        "as they are": (urls, lambda table: table),
        "four times the pages": (4 * urls, lambda table: table),
        "half of each page's URLs": (2 * urls, half_of_the_urls),
        "no ids of one visit": (2 * urls, without_ids),
        f"{SHAPES} shapes of URLs": (2 * urls, main_shapes),
        "both of these": (2 * urls, lambda table: main_shapes(without_ids(table))),
        f"{TWICE:.0%} of the names in two spellings": (urls, names_twice),
    }
    found: dict[str, dict[str, Any]] = {}
    for name, (count, change) in changes.items():
        seen = figures(Halves(change(table)) for table in generated(kinds, count))
        found[name] = {short: in_words(seen[what]) for what, short in _SHOWN.items()}
        found[name]["URLs"] = in_words(seen["sites, URLs"][1])
    return found


def half_of_the_urls(table: pa.Table) -> pa.Table:
    """Return smaller clusters."""
    return table.filter(pa.array(np.random.default_rng(1).random(len(table)) < 0.5))  # noqa: PLR2004


def without_ids(table: pa.Table) -> pa.Table:
    """Return the URLs without a value that was drawn for that URL alone."""
    return table.filter(pc.invert(pc.match_substring_regex(table["url"], _ID)))


def main_shapes(table: pa.Table) -> pa.Table:
    """Return the URLs with the sets of keys that most of the site's URLs have."""
    shape = pc.replace_substring_regex(table["url"], "=[^&]*", "")
    shape = pc.replace_substring_regex(shape, "/[^/?]+", "/")
    counts = shape.value_counts()
    order = np.argsort(-counts.field("counts").to_numpy(), kind="stable")[:SHAPES]
    return table.filter(pc.is_in(shape, counts.field("values").take(pa.array(order))))


def names_twice(table: pa.Table) -> pa.Table:
    """Return some URLs once more, the last segment in capitals, as for servers that ignore case."""
    some = table.filter(pa.array(np.random.default_rng(1).random(len(table)) < TWICE))
    parts = [url.partition("?") for url in some["url"].to_pylist()]
    heads = [head.rpartition("/") for head, _, _ in parts]
    urls = [
        f"{folder}/{name.swapcase()}{mark}{query}"
        for (folder, _, name), (_, mark, query) in zip(heads, parts, strict=True)
    ]
    twins = pa.table({"url": urls, "cluster": some["cluster"]})
    return pa.concat_tables([table, twins.filter(pc.invert(pc.is_in(twins["url"], table["url"])))])
