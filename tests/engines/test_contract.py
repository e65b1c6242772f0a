"""A test of sites finds those that fail, whatever the reason."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from undust.engines import LocalEngine, SiteTest, spool

if TYPE_CHECKING:
    from pathlib import Path

TEST = SiteTest(every="number >= 0", distinct=("number", "text"), nearly_distinct=("word",))
COLUMNS = ("site", "number", "text", "word")


def failing(rows: list[tuple[str, int, str, str]]) -> set[str]:
    """The sites that fail, counted one by one."""
    by_site: dict[str, list[tuple[int, str, str]]] = {}
    for site, *values in rows:
        by_site.setdefault(site, []).append(tuple(values))  # type: ignore[arg-type]
    found = {""} & by_site.keys()
    for site, own in by_site.items():
        numbers, texts, words = map(list, zip(*own, strict=True))
        is_distinct = len(set(numbers)) == len(set(texts)) == len(own)
        if not (is_distinct and min(numbers) >= 0 and len(set(words)) >= len(own) - 1):
            found.add(site)
    return found


@pytest.mark.parametrize(("fact_bytes", "least_parts"), [(spool.FACT_BYTES, 1), (1 << 20, 6)])
def test_the_failing_sites_are_those_that_fail(
    fact_bytes: int, least_parts: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each part of the test by itself and all together, on sites of one to four rows.

    So it is if the rows are more than DuckDB compares at a time.
    """
    monkeypatch.setattr(spool, "FACT_BYTES", fact_bytes)
    chance = random.Random(9)
    rows = [
        (
            f"s{site}" if site else "",
            chance.randrange(-1, 40),
            str(chance.randrange(40)),
            chance.choice("abcdefgh"),
        )
        for site in range(400)
        for _ in range(chance.randrange(1, 5))
    ]
    expected = failing(rows)
    sites = {row[0] for row in rows}
    assert 50 < len(expected) < len(sites) - 50
    table = pa.table(dict(zip(COLUMNS, zip(*rows, strict=True), strict=True)))
    with LocalEngine(memory="384MB", threads=1, folder=str(tmp_path)) as engine:
        assert engine.budget.parts(len(rows)) >= least_parts
        left, aside = engine.set_aside(table, TEST)
        assert set(engine.collect(left)["site"].to_pylist()) == expected
        assert aside == (len(sites - expected), sum(row[0] not in expected for row in rows))
