"""A reviewer's task: of forty rules, find those that could lose pages, see why, switch them off, and save."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from playwright.sync_api import expect

import undust
from tests.showing.conftest import serving
from undust.jobs.report import ReportInput
from undust.rules import Rule, RuleSet

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browsing import Open

SITE = "shop.test"
NAMES = tuple(f"track{n}" for n in range(38))
RISKY = ("color", "page")
MOST_CLICKS = 12


def rule(name: str, *, false: int = 0) -> Rule:
    """A rule that removes a parameter, with its evidence."""
    text = f"rewrite {{s}}://{{h}}/{{p**}}?{name}={{**}}&{{rest**}} -> {{s}}://{{h}}/{{p}}?{{rest}}"
    made = Rule.parse(text, site=SITE).to_json()
    counts = {"support": 40, "false_positives": false, "fpr": false / 40, "saves": 40, "fpr_upper": 0.01}
    return Rule.from_json(made | counts | {"targets": {"seen": 40}})


def shop() -> pa.Table:
    """Articles with parameters that mean nothing, and two that name another page."""
    found: dict[str, str] = {}
    for n in range(12):
        found |= {f"http://{SITE}/p/{n}": f"p{n}"}
        found |= {f"http://{SITE}/p/{n}?{name}={n}": f"p{n}" for name in NAMES}
        found |= {f"http://{SITE}/p/{n}?color={color}": f"p{n} {color}" for color in ("red", "blue")}
        found |= {f"http://{SITE}/p/{n}?page={page}": f"p{n} {page}" for page in (2, 3)}
    return pa.table({"url": list(found), "digest": list(found.values())})


def test_a_reviewer_needs_few_clicks(tmp_path: Path, opened: Open) -> None:
    """What could lose pages stands first; it says why, and what happens without it is seen at once."""
    path = tmp_path / "rules.json"
    names = [*NAMES[:20], "color", *NAMES[20:], "page"]
    RuleSet([rule(name, false=30 if name in RISKY else 0) for name in names]).save(path)
    rules = undust.load(path)
    assert len(rules) == 40
    gathered = ReportInput(rules, shop(), keep_values=True)
    with serving(path, gathered) as server, opened(server.address) as page:
        page.evaluate("window.clicks = 0; addEventListener('click', () => { window.clicks += 1; }, true)")
        expect(page.locator("[data-tile='Pages lost'] .big")).not_to_have_text("0.00 %")
        rows = page.locator("#rule-table tbody tr:not(.detail)")
        risky = [str(rows.nth(at).get_attribute("id")) for at in range(2)]
        for at, id_ in enumerate(risky):
            row = page.locator(f"#{id_}")
            expect(row.locator("[data-name=Verdict]")).to_contain_text("risky")
            expect(row.locator("[data-name=Verdict]")).to_contain_text("are different pages")
            row.locator(".opener").click()
            detail = page.locator("#rule-table tr.detail").nth(at)
            expect(detail).to_contain_text(f"http://{SITE}/p/")
            detail.locator(".decision-note").fill("names another page")
            detail.locator(".decision-rejected").click()
            expect(row.locator("input[role=switch]")).not_to_be_checked()
        expect(rows.nth(2).locator("[data-name=Verdict]")).not_to_contain_text("risky")
        expect(page.locator("[data-tile='Pages lost'] .big")).to_have_text("0.00 %")
        expect(page.locator("[data-tile='Pages lost'] .was")).to_contain_text("was")
        page.locator("#save").click()
        expect(page.locator("#review-note")).to_contain_text("Saved: rules.json")
        assert 0 < page.evaluate("window.clicks") <= MOST_CLICKS
    decided = {rule.source: rule for rule in undust.load(path) if rule.review}
    assert len(decided) == len(RISKY)
    for each in decided.values():
        assert each.status == "disabled"
        assert (each.review or {})["note"] == "names another page"
    found = undust.evaluate(undust.load(path), shop())
    assert found.all_totals.lost == 0
