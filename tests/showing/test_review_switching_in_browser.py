"""After each switch, every number of the page is that of `evaluate` for the rules as they are switched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

import undust
from tests.showing.conftest import serving
from tests.showing.report import generated
from undust.jobs.report import ReportInput

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from tests.browsing import Open
    from undust.measuring import Evaluation


def percent(share: float) -> str:
    """A share as the page writes it."""
    value = 100 * share
    places = 3 if value and abs(value) < 0.1 else 2 if abs(value) < 10 else 1
    return f"{value:.{places}f} %"


def tiles(page: Page) -> dict[str, str]:
    """The headline: all that each tile says but what was there before."""
    page.locator(".was").evaluate_all("all => all.forEach((one) => one.remove())")
    return {
        str(tile.get_attribute("data-tile")): " ".join(tile.locator("dd").inner_text().split())
        for tile in page.locator(".tile").all()
    }


def interval(ends: tuple[float, float]) -> str:
    """An interval as the page writes it."""
    low, high = (100 * end for end in ends)
    places = 2 if high < 10 else 1
    return f"95 %: {low:.{places}f}–{high:.{places}f} %"


def expected_tiles(found: Evaluation) -> dict[str, str]:
    """The same from what evaluate returned."""
    totals, total = found.all_totals, found.total
    by_normalization, by_rules = totals.removed_by_normalization, totals.removed_by_rules
    share = percent(by_normalization / totals.duplicates), percent(by_rules / totals.duplicates)
    rules = f"by {found.active} rule{'' if found.active == 1 else 's'}"
    ends = {name: interval(total.interval_of(name)) for name in ("duplicate_rate", "removed", "lost")}
    lost = f"{totals.lost:,} page{'' if totals.lost == 1 else 's'} merged into a different one"
    together = f"together {percent(total.removed)} ({ends['removed']})"
    needless = f"{totals.duplicates:,} URLs not needed"
    return {
        "URLs judged": f"{totals.judged:,} of {totals.seen:,} seen",
        "Pages": f"{totals.pages:,} {total.duplicate_clusters:,} pages with several URLs",
        "Duplicates": f"{percent(total.duplicate_rate)} {needless} {ends['duplicate_rate']}",
        "Normalization removes": f"{share[0]} of the duplicates: {by_normalization:,} URLs without any rule",
        "The rules remove": f"{share[1]} of the duplicates: {by_rules:,} URLs more {rules} {together}",
        "Pages lost": f"{percent(total.lost)} {lost} {ends['lost']}",
    }


def expected_sentence(found: Evaluation) -> str:
    """What stands under the title."""
    text = "; ".join(found.all_totals.sentences(1, found.active))
    return f"{text[0].upper()}{text[1:]}."


def chosen(page: Page) -> list[str]:
    """The point of the curve that is marked as chosen, as its table has it."""
    page.locator("#curve details").evaluate("(one) => { one.open = true; }")
    row = page.locator("#curve tbody tr", has=page.locator("th", has_text="chosen"))
    return [row.locator("td").nth(at).inner_text() for at in (1, 2, 4)]


def rule_cells(page: Page, ids: tuple[str, ...]) -> list[str]:
    """What each rule removes alone."""
    cells = (page.locator(f"#rule-{one} [data-name='Removed']").inner_text() for one in ids)
    return [cell.split("\n")[0].strip() for cell in cells]


@pytest.fixture
def shop(tmp_path: Path) -> tuple[Path, ReportInput]:
    """A rule file, and the input it is reviewed with."""
    path = tmp_path / "rules.json"
    generated.rules().save(path)
    return path, ReportInput(undust.load(path), generated.table(), keep_values=True)


def test_every_number_follows_each_switch(shop: tuple[Path, ReportInput], opened: Open) -> None:
    """One rule after the other off, then on again; the headline and all below it are evaluate's."""
    path, gathered = shop
    rules, seen = undust.load(path), generated.table()
    with serving(path, gathered) as server, opened(server.address) as page:
        off: list[str] = []
        page.locator(f"#rule-{rules.ids[1]} .opener").click()
        for id_ in [*rules.ids, *rules.ids[:2]]:
            off = [one for one in off if one != id_] if id_ in off else [*off, id_]
            page.locator(f"#rule-{id_} input[role=switch]").click()
            found: Any = undust.evaluate(rules.disable(*off), seen)
            expect(page.locator("#lead")).to_have_text(expected_sentence(found))
            assert tiles(page) == expected_tiles(found)
            alone = iter(found.rules)
            cells = ["off" if one in off else f"{next(alone).saved:,}" for one in rules.ids]
            assert rule_cells(page, rules.ids) == cells
            point = [f"{found.active}", percent(found.total.removed), percent(found.total.lost)]
            if found.active:
                assert chosen(page) == point
            left = found.total.canonical_urls
            known = gathered.with_rules(rules.disable(*off)).facts_of(generated.SITE)
            more = known["sites"][generated.SITE]["unexplained"]["urls"]
            assert f"{more:,} URL" in page.locator("#unexplained").inner_text()
            label = page.locator("#headline figure svg").get_attribute("aria-label") or ""
            assert f"{found.all_totals.removed_by_rules:,} removed by the rules" in label
            assert left >= found.total.clusters - found.all_totals.lost
        assert "[object" not in page.locator("main").inner_text()


def test_a_review_shows_what_a_report_masks(shop: tuple[Path, ReportInput], opened: Open) -> None:
    """On the machine of the person who has the crawl, session ids are readable."""
    path, gathered = shop
    with serving(path, gathered) as server, opened(server.address) as page:
        page.locator(f"#rule-{server.desk.rules.ids[2]} .opener").click()
        shown = page.locator(f"#rule-{server.desk.rules.ids[2]}-more").inner_text()
        assert "***" not in shown
        assert "sid=" in shown
