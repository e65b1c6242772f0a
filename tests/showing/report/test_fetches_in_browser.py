"""The part of the page that shows how pages differ from themselves: the figures, and how it looks."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from playwright.sync_api import expect

import undust
from bench.raw.changes import SITE, page_row, words
from undust.rules import RuleSet

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browsing import Open
    from undust.showing.report import Report

WIDTHS = (1280, 390)
PAGES = 40


def observed(*, twice: bool) -> pa.Table:
    """A site whose pages count their views, a quarter of them with a line that is another one each time."""
    rows: list[dict[str, Any]] = []
    for page in range(PAGES):
        own = random.Random(page)
        title, text = words(own, 3), [f"<p>{words(own, 14)}" for _ in range(6)]
        for fetch in range(2):
            more = f"<p>{words(random.Random(page * 2 + fetch), 12)}" if page % 4 == 0 else ""
            parts = [*text, f"<p>This page was viewed {page * 100 + fetch} times", more]
            url = f"{SITE}/item?id={page}" + ("" if twice or not fetch else f"&from={fetch}")
            time = f"2026-11-1{fetch}T00:00:00Z"
            rows.append(page_row(url, title, parts) | {"time": time, "canonical": f"{SITE}/item?id={page}"})
    return pa.Table.from_pylist(rows)


def made(*, twice: bool) -> Report:
    """The report of the site."""
    return undust.report(RuleSet([], name="rules.json"), observed(twice=twice))


@pytest.mark.parametrize(("twice", "kind"), [(True, "again"), (False, "home")])
def test_what_changes_is_counted(*, twice: bool, kind: str) -> None:
    """All pairs of one page differ in numbers, a quarter in words; two pages share nearly nothing."""
    found = made(twice=twice).facts["sites"]["shop.test"]["fetches"]
    rows = {row["kind"]: row for row in found["rows"]}
    assert found["fetched_twice"] == (PAGES if twice else 0)
    assert (rows[kind]["pairs"], rows[kind]["equal"], rows[kind]["numbers"]) == (PAGES, 0, PAGES)
    assert rows[kind]["blocks"] == PAGES // 4
    assert rows[kind]["title"] == 0
    assert rows[kind]["words"] > 0.9
    assert rows["different"]["words"] < 0.2
    assert all(len(one["urls"]) == (1 if twice else 2) for one in found["examples"])
    assert all(one["numbers"] == 1 for one in found["examples"])
    assert found["examples"][0]["gone"]
    assert found["examples"][0]["new"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_can_be_read_on_a_desk_and_on_a_phone(opened: Open, tmp_path: Path, theme: str) -> None:
    """The section names its witnesses and its examples, and nothing sticks out."""
    path = tmp_path / "report.html"
    made(twice=True).save(path)
    for width in WIDTHS:
        with opened(path, viewport={"width": width, "height": 900}, color_scheme=theme) as page:
            section = page.locator("#fetches")
            expect(section.locator("h2")).to_have_text("Two fetches of one page")
            expect(section).to_contain_text("40 URLs of this site were fetched more than once")
            expect(section.locator("tbody tr th").first).to_have_text("one URL, fetched twice")
            expect(section.locator(".group")).to_have_count(3)
            expect(section.locator(".group").first).to_contain_text("with other numbers")
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            section.screenshot(path=tmp_path / f"{theme}-{width}.png")
            assert (tmp_path / f"{theme}-{width}.png").stat().st_size > 0


def test_a_site_without_blocks_has_no_such_part() -> None:
    """Digests alone do not show what changes."""
    rows = [{"url": f"{SITE}/{at}", "digest": str(at)} for at in range(5)]
    report = undust.report(RuleSet([], name="rules.json"), pa.Table.from_pylist(rows))
    assert report.facts["sites"]["shop.test"]["fetches"] is None
