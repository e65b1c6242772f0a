"""What is found out about sites before any learning: those that are quiet, and the rare shapes of giants.

A crawl of the web has millions of sites with a few pages, each seen once, all different. Such a site has no
duplicates to learn from. It would contradict a shape of a rule only if that shape brought two of its URLs
together, and no shape brings together URLs that differ in what is left of them here (see `learning/generic`):
the host without `www.`, and the path without letter case, last slash, ending, path parameter and query.
Whatever is not plain (escapes, ports, repeated slashes, redirects, other evidence) is learned from.

A log or a list may name as many hosts, a few URLs each, without a word on what they show. From so few nothing
is proposed, and nothing is known of their pages.

A site of ten million rows has habits that only a hundred URLs show: a print view, an old path. In a sample of
eight in a hundred, too few of them are left to prove a rule. So URLs are counted by their shape (names of
parameters, words of the path, a mark for whatever has a digit), and of each shape that is rare, as many rows
are drawn as a proof needs, with all that shows the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.engines import SITE, SiteTest
from undust.pages.clustering.nodes import EMPTY_DIGESTS
from undust.searching.likely import LEAST_URLS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from undust.engines import Engine

    Hashes = NDArray[np.uint64]
    Floats = NDArray[np.float64]

COUNTED_TOGETHER = 2000
"""With at least this many sites, quiet ones are counted together instead of one by one."""
_PLAIN = "^https?://[A-Za-z0-9.-]+(/[A-Za-z0-9_~!$&()*+,;=@.-]+)*/?([?][A-Za-z0-9_~!$&()*+,;=@./-]*)?$"
_PATH = "regexp_replace(lower(url), '[?].*$', '')"
_EMPTY = ", ".join(f"'{digest}'" for digest in EMPTY_DIGESTS)


def _without(text: str, *patterns: str) -> str:
    """Return SQL for a text without what each pattern finds in it; both engines read the same."""
    for pattern in patterns:
        text = f"regexp_replace({text}, '{pattern}', '')"
    return text


_LEFT = _without(_PATH, "^https?://(www[.])?", ";[^/]*$", "/+$", "[.][a-z0-9]{1,8}$")
_LAST_SEGMENT = _without(_PATH, "^.*/")

_EVERY = (
    f"{_without('url', _PLAIN)} = '' AND {_without('url', '/[.]')} = url"
    " AND coalesce(status, 200) = 200 AND redirect IS NULL AND coalesce(canonical, url) = url"
    " AND cluster IS NULL AND sketch IS NULL AND blocks IS NULL"
)

QUIET_TEST = SiteTest(
    every=f"{_EVERY} AND digest IS NOT NULL AND digest NOT IN ('', {_EMPTY})",
    distinct=("digest", _LEFT),
    # A last segment is dropped by a shape if three URLs have it.
    nearly_distinct=(f"CASE WHEN {_LAST_SEGMENT} = '' THEN url ELSE {_LAST_SEGMENT} END",),
)
SILENT_TEST = SiteTest(
    every=f"{_EVERY} AND digest IS NULL AND canonical IS NULL", distinct=(_LEFT,), fewer_than=LEAST_URLS
)
"""For sites with few URLs and no evidence, of which nothing is known but that they were seen."""


WANTED_ROWS = 60
"""Rows that are drawn of a rare shape."""
LEAST_ROWS = 10
"""A shape with fewer cannot prove a rule, and most of these are titles of pages."""
RARE_SHARE = 0.2
"""Of the rows of a sample, at most for rare shapes; those with most rows come first."""
MOST_ALIKE = 200
"""What more rows show does not come along: it is the answer to many URLs, such as a form to log in."""
_COUNTED = pa.schema([(SITE, pa.string()), ("name", pa.uint64()), ("n", pa.int64())])

_BY_NAME = "SELECT site, name, CAST(count(*) AS BIGINT) AS n FROM {rows} GROUP BY site, name HAVING count(*)"


class RareShapes(NamedTuple):
    """The names of rare shapes, in order, with the share of each that is drawn; and what is shown often."""

    names: Hashes
    shares: Floats
    often: Hashes

    def share_of(self, shapes: Hashes) -> Floats:
        """Return the share of the rows of each shape that is drawn for its sake; none for most shapes."""
        if not len(self.names):
            return np.zeros(len(shapes))
        place = np.minimum(np.searchsorted(self.names, shapes), len(self.names) - 1)
        return np.asarray(np.where(self.names[place] == shapes, self.shares[place], 0.0))


def shape_texts(urls: pa.Array) -> pa.Array:
    """Return URLs without what distinguishes pages: values, and words with a digit.

    >>> shape_texts(pa.array(["http://a.test/item-7/print?id=5&x=ab"])).to_pylist()
    ['a.test/0/print?id=&x=']
    """
    text = pc.replace_substring_regex(urls, "^[a-z]+://", "")
    text = pc.replace_substring_regex(text, "=[^&]*", "=")
    return pc.replace_substring_regex(text, "[^/?&=.;:]*[0-9][^/?&=.;:]*", "0")


def rare_shapes(
    engine: Engine,
    shapes: Any,  # noqa: ANN401 -- a table of the engine's, with a row for each of the site's
    contents: Any,  # noqa: ANN401 -- the same
    shares: Mapping[str, float],
) -> RareShapes:
    """Return the rare shapes of sites.

    Args:
        engine: Where the tables are.
        shapes: The site and the name of the shape of each row.
        contents: The site and the name of the content of each row.
        shares: Of the rows of each site that are drawn anyway.

    """
    most = int(RARE_SHARE * engine.site_rows / WANTED_ROWS)
    counted = f"{_BY_NAME} >= {LEAST_ROWS}"
    places = "row_number() OVER (PARTITION BY counted.site ORDER BY n DESC, name) AS place"
    # A shape that is not rare on its site has no place among the others.
    least = pa.table({SITE: list(shares), "share": list(shares.values())})
    rare = (
        f"SELECT site, name, n FROM (SELECT counted.site, name, n, {places}"  # noqa: S608
        f" FROM ({counted}) AS counted JOIN {{shares}} AS shares ON counted.site = shares.site"
        f" WHERE n * share < {WANTED_ROWS}) AS ranked WHERE place <= {most}"
    )
    found = pa.Table.from_batches(engine.select(rare, {"rows": shapes, "shares": least}, _COUNTED), _COUNTED)
    order = np.argsort(found["name"].to_numpy(), kind="stable")
    names = found["name"].to_numpy()[order]
    drawn = np.minimum(1.0, WANTED_ROWS / found["n"].to_numpy()[order])
    often = f"{_BY_NAME} > {MOST_ALIKE}"
    batches = engine.select(often, {"rows": contents}, _COUNTED) if len(names) else ()
    shown = pa.Table.from_batches(batches, _COUNTED)["name"].to_numpy()
    return RareShapes(names, drawn, np.unique(shown))
