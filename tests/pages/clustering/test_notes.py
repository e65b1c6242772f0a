"""A summary goes through an engine as one more row, and comes out as it went in."""

from __future__ import annotations

import undust
from tests.pages.clustering.sites import shop_full_of_lies, table
from undust.pages.clustering import WITH_NOTES, Summary, find_in_site, from_note, with_note

ODD = (
    {"url": "http://www.shop.test/gone", "status": 404},
    {"url": "http://www.shop.test/out", "status": 302, "redirect": "http://b.test/"},
    {"url": "http://www.shop.test/product/5", "status": 200, "digest": "changed", "time": 9},
)


def test_a_summary_travels_behind_the_rows_of_its_site() -> None:
    """The rows stay as they are; the last one is no URL, and holds every count and every lie."""
    site = shop_full_of_lies(120)
    found = find_in_site(table(*site.rows, *ODD), "shop.test")
    summary = Summary.of(found)
    rows = with_note("shop.test", found.table(), summary)
    assert rows.schema == WITH_NOTES
    assert rows.schema.names == [*undust.find_duplicates(table(*ODD)).table().column_names, "note"]
    assert rows[:-1].drop(["note"]).cast(found.table().schema).equals(found.table())
    assert rows["note"][:-1].null_count == len(found.table())
    last = rows[-1:].to_pylist()[0]
    told = from_note(last.pop("note"))
    assert last == dict.fromkeys(WITH_NOTES.names[:-1]) | {
        "site": "shop.test",
        "url": "",
        "cluster": -1,
        "size": 0,
    }
    assert told == summary
    assert told.as_json() == summary.as_json()
    assert (told.counts.failed, told.counts.leaving, told.counts.changing) == (1, 1, 1)
    assert told.distrusted
    assert told.distrusted_groups
