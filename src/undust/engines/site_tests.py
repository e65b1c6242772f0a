"""A test of sites in the SQL of DuckDB: which sites fail it, in memory that does not grow with the input.

Most sites of a large crawl pass, so the failing ones are looked for: sites with a row that does not meet the
condition, and sites with a value that comes twice. Values are compared by hashes of eight bytes together with
their site, in groups that DuckDB can put on the disk. Where two values have one hash by chance, a site fails
that would have passed, and is looked at more closely; never the other way round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from undust.engines.contract import SiteTest


def hashed_facts(test: SiteTest) -> str:
    """Return a query that gives what the test needs of each of the `rows`: a few numbers."""
    distinct = [f"hash(site, different_{place}) AS d{place}" for place in range(len(test.distinct))]
    nearly = [f"hash(site, nearly_{place}) AS n{place}" for place in range(len(test.nearly_distinct))]
    numbers = ", ".join(["met = 1 AND site <> '' AS is_met", "hash(site) AS s", *distinct, *nearly])
    return f"SELECT {numbers} FROM (SELECT {', '.join(test.columns)} FROM rows)"  # noqa: S608


def failing_sites(test: SiteTest) -> str:
    """Return a query that gives the hashes of the sites that fail, from these `facts`."""
    parts = ["SELECT s FROM facts WHERE NOT is_met"]
    parts += [
        f"SELECT any_value(s) AS s FROM facts GROUP BY d{place} HAVING count(*) > 1"  # noqa: S608
        for place in range(len(test.distinct))
    ]
    for place in range(len(test.nearly_distinct)):
        groups = f"FROM facts GROUP BY n{place} HAVING count(*) > 1"
        again = f"SELECT any_value(s) AS s, count(*) - 1 AS again {groups}"
        parts.append(f"SELECT s FROM ({again}) GROUP BY s HAVING sum(again) > 1")  # noqa: S608
    if test.fewer_than is not None:
        parts.append(f"SELECT s FROM facts GROUP BY s HAVING count(*) >= {test.fewer_than}")  # noqa: S608
    return " UNION ".join(parts)
