"""Observations of many sites at the price of a few columns: what `bench.scale` reads.

Half of all rows are of one giant site, the others of a heavy tail (1 / rank). Each site has one of four
habits, by its number: a session id that changes nothing, a path in two spellings, pages under `www` and
without, tracking parameters. On all of them `?page=` shows another page, so that not everything holds.
The rows come in no order, as a crawl writes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.cluster import sketches
from undust.reading.observations import BATCH_ROWS, SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

HABITS = 4
URLS_OF_A_PAGE = 4
GIANT = 0
"""The number of the site with half of all rows."""
GONE = 29
"""One page in so many is gone, and says so with status 200."""


def site_name(number: int) -> str:
    """Return the name of a site.

    >>> site_name(7)
    'site7.test'
    """
    return f"site{number}.test"


def sites_for(rows: int, *, is_one: bool = False) -> int:
    """Return how many sites so many rows are of: 1,000 rows a site, unless all are of one."""
    return 1 if is_one else max(8, rows // 1000)


def batches(rows: int, minima: int = 0, seed: int = 7, *, is_one: bool = False) -> Iterator[pa.RecordBatch]:
    """Yield observations, in no order; of one site alone, if that is wanted."""
    chance = np.random.default_rng(seed)
    sites = sites_for(rows, is_one=is_one)
    weights = np.ones(1) if is_one else np.concatenate([[0.5], 0.5 * _tail(sites - 1)])
    pages = np.maximum(6, weights * rows / URLS_OF_A_PAGE).astype(np.int64)
    for start in range(0, rows, BATCH_ROWS):
        count = min(BATCH_ROWS, rows - start)
        site = chance.choice(sites, count, p=weights)
        yield _batch(site, chance.integers(0, pages[site]), chance, minima)


def _tail(sites: int) -> NDArray[np.float64]:
    # Shifted, or the second site would be a giant too, and the last ones would have no rows.
    weights = 1 / (np.arange(sites) + 30.0)
    return np.asarray(weights / weights.sum())


def _batch(site: Ints, page: Ints, chance: np.random.Generator, minima: int) -> pa.RecordBatch:
    count = len(site)
    number, form = _texts(site), chance.integers(0, URLS_OF_A_PAGE, count)
    noise = _texts(chance.integers(0, 1 << 40, count))
    section, item = _texts(page % 23), _texts(page)
    plain = _joined("http://www.site", number, ".test/section-", section, "/item-", item)
    ways = [
        (plain, _joined(plain, "?sid=", noise), _joined(plain, "?sid=", noise, "&lang=en"), _paged(plain, 2)),
        (plain, _joined("http://www.site", number, ".test/show.php?section=", section, "&item=", item),
         _joined(plain, "/index.html"), _paged(plain, 2)),
        (plain, _joined("http://site", number, ".test/section-", section, "/item-", item),
         _joined(plain, "/"), _paged(plain, 3)),
        (plain, _joined(plain, "?utm_source=", noise),
         _joined(plain, "?utm_source=mail&utm_medium=", section), _paged(plain, 2)),
    ]  # fmt: skip
    habit, shown = site % HABITS, page * 2 + 2 + (form == URLS_OF_A_PAGE - 1)
    shown = np.where(page % GONE == GONE - 1, 1, shown)
    content = shown + site * (1 << 40)
    columns = {
        "url": pc.choose(pa.array(habit * URLS_OF_A_PAGE + form), *(each for own in ways for each in own)),
        "status": pa.array(np.full(count, 200, np.int16)),
        "size": pa.array(np.where(shown == 1, 700, 2000 + shown % 5000)),
        "digest": _joined("sha1-of-page-", _texts(content)),
        "sketch": sketches(content, minima),
    }
    missing = {name: pa.nulls(count, SCHEMA.field(name).type) for name in SCHEMA.names if name not in columns}
    return pa.record_batch([(columns | missing)[name] for name in SCHEMA.names], schema=SCHEMA)


def _paged(plain: pa.Array, page: int) -> pa.Array:
    return _joined(plain, f"?page={page}")


def _texts(numbers: Ints) -> pa.Array:
    return pa.array(numbers).cast(pa.string())


def _joined(*parts: pa.Array | str) -> pa.Array:
    return pc.binary_join_element_wise(*parts, "")
