"""What a reviewer sees of rules that version 0.1 learned wrongly: what is wrong with them, and what to do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

import undust
from tests.showing import cases_of_0_1
from tests.showing.conftest import serving
from undust.jobs.report import ReportInput

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pyarrow as pa
    from playwright.sync_api import Page

    from tests.browsing import Open
    from undust.rules import RuleSet

    Case = Callable[[], tuple[RuleSet, pa.Table]]

SHEETS = 12
"""Of paper, for 40 rules; version 0.1 took 95 and more."""


def verdict(page: Page, start: str) -> str:
    """What stands in the column of verdicts beside the rule with an id that starts so."""
    return page.locator(f"[id^=rule-{start}]:not(.detail) [data-name=Verdict]").inner_text()


def first_rules(page: Page, count: int) -> list[str]:
    """The ids of the rules that stand first."""
    rows = page.locator("#rule-table tbody tr:not(.detail)")
    return [str(rows.nth(at).get_attribute("id")).removeprefix("rule-")[:8] for at in range(count)]


def test_a_rule_that_others_rely_on_is_not_switched_off_unseen(tmp_path: Path, opened: Open) -> None:
    """Opencart: what is safe only together is marked, and the effect of a switch is shown first."""
    rules, seen = cases_of_0_1.opencart()
    path = tmp_path / "rules.json"
    rules.save(path)
    before = path.read_bytes()
    gathered = ReportInput(undust.load(path), seen, keep_values=True)
    with serving(path, gathered) as server, opened(server.address) as page:
        assert first_rules(page, 1) == ["118e4d31"]
        bar = page.locator("#headline figure")
        expect(bar).to_contain_text("53 needed, one a page")
        expect(bar).to_contain_text("24 needed, and lost")
        assert "24 pages of this input are lost because of it" in verdict(page, "118e4d31")
        assert "alone it loses 40 pages" in verdict(page, "ec44ef9f")
        assert "Other rules rely on it: without it 40 more pages" in verdict(page, "24e30dc2")
        page.locator("[id^=rule-24e30dc2] input[role=switch]").click()
        lost = undust.evaluate(rules.disable("24e30dc2"), seen).all_totals.lost
        expect(page.locator("[data-tile='Pages lost']")).to_contain_text(f"{lost} pages merged")
        page.locator("#save").click()
        refusal = f"pages lost: {lost} instead of 24; nothing was written; save again to lose them"
        expect(page.locator("#review-note")).to_have_text(refusal)
        expect(page.locator("#save")).to_have_text("Save anyway")
        assert path.read_bytes() == before
        page.locator("[id^=rule-24e30dc2] input[role=switch]").click()
        page.locator("[id^=rule-118e4d31] input[role=switch]").click()
        expect(page.locator("[data-tile='Pages lost'] .big")).to_have_text("0.00 %")
        expect(bar).to_contain_text("77 needed, one a page")
        expect(bar).not_to_contain_text("lost")
        expect(page.locator("#save")).to_have_text("Save")
        page.locator("#save").click()
        expect(page.locator("#review-note")).to_contain_text("Saved: rules.json")
    assert [rule.id[:8] for rule in undust.load(path) if rule.status == "disabled"] == ["118e4d31"]


def test_what_is_confirmed_is_saved(tmp_path: Path, opened: Open) -> None:
    """The second click on Save, about the same switches, is a decision."""
    rules, seen = cases_of_0_1.opencart()
    path = tmp_path / "rules.json"
    rules.save(path)
    gathered = ReportInput(undust.load(path), seen, keep_values=True)
    with serving(path, gathered) as server, opened(server.address) as page:
        page.locator("[id^=rule-24e30dc2] input[role=switch]").click()
        page.locator("#save").click()
        expect(page.locator("#save")).to_have_text("Save anyway")
        page.locator("#save").click()
        expect(page.locator("#review-note")).to_contain_text("Saved: rules.json")
    assert undust.load(path).find("24e30dc2").status == "disabled"


def test_a_rule_that_leads_to_another_language_is_named(tmp_path: Path, opened: Open) -> None:
    """Docs: English pages that would be merged with Russian ones are shown as counter-examples."""
    rules, seen = cases_of_0_1.docs()
    undust.report(rules, seen, tmp_path / "page.html")
    with opened(tmp_path / "page.html") as page:
        assert first_rules(page, 1) == ["728a1aa4"]
        assert "12 pages of this input are lost because of it" in verdict(page, "728a1aa4")
        page.locator("[id^=rule-728a1aa4] .opener").click()
        shown = page.locator("[id^=rule-728a1aa4].detail").inner_text()
        assert "12 of a different page" in shown
        assert f"{cases_of_0_1.DOCS}/manual/ru/mod/m" in shown
        assert "which is a different page: their contents differ" in shown
        # Without an input that has such pages, the text of a rule is enough to look at it.
        assert "it leads to ru, which often names a translation" in verdict(page, "be32f832")
        expect(page.locator("[id^=rule-be32f832]:not(.detail) .why-verdict code")).to_have_text("ru")
        assert verdict(page, "262343b0").startswith("ok")


def test_a_rule_towards_the_printers_form_is_for_comparing(tmp_path: Path, opened: Open) -> None:
    """Its results were not all seen to work, so nobody should be redirected by it."""
    rules, seen = cases_of_0_1.shop()
    undust.report(rules, seen, tmp_path / "page.html")
    with opened(tmp_path / "page.html") as page:
        shown = verdict(page, rules.ids[0][:8])
        assert shown.startswith("look")
        assert "it leads to a printer's, mobile or feed form of a page" in shown
        assert "compare-only: 33% seen to work, 67% unseen" in shown
        expect(page.locator("#not-redirects")).to_contain_text("1 of them leads to URLs")
        expect(page.locator("#not-redirects")).to_contain_text("do not redirect or fetch by them")


@pytest.mark.parametrize(
    "looks",
    [
        {"color_scheme": "light"},
        {"color_scheme": "dark"},
        {"viewport": {"width": 390, "height": 844}, "has_touch": True},
    ],
)
@pytest.mark.parametrize("case", [cases_of_0_1.opencart, cases_of_0_1.docs])
def test_the_verdicts_can_be_read_everywhere(
    case: Case, looks: dict[str, Any], tmp_path: Path, opened: Open
) -> None:
    """Light, dark and on a phone: nothing is cut off, and text stands out from what is behind it."""
    undust.report(*case(), tmp_path / "page.html")
    with opened(tmp_path / "page.html", **looks) as page:
        badge = page.locator("#rule-table .badge").first
        badge.scroll_into_view_if_needed()
        expect(badge).to_have_text("risky")
        colors = badge.evaluate(
            "(one) => [getComputedStyle(one).color, getComputedStyle(one).backgroundColor,"
            " getComputedStyle(document.body).backgroundColor]"
        )
        front, back, body = ([float(each) for each in re.findall(r"[\d.]+", color)] for color in colors)
        behind = body[:3] if len(back) > 3 and back[3] == 0 else back[:3]
        assert contrast(front[:3], behind) >= 4.5
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        box = page.locator("#rule-table .why-verdict").first.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= page.evaluate("innerWidth")


def test_forty_rules_print_on_few_sheets(tmp_path: Path, opened: Open) -> None:
    """On paper the rules that need a person are open, and the others have one line each."""
    undust.report(*cases_of_0_1.opencart(), tmp_path / "page.html")
    with opened(tmp_path / "page.html") as page:
        printed = page.pdf(format="A4")
    assert 1 < len(re.findall(rb"/Type\s*/Page\b", printed)) <= SHEETS


def contrast(one: list[float], other: list[float]) -> float:
    """The ratio of two colours, as WCAG 2 counts it."""

    def light(color: list[float]) -> float:
        parts = [each / 255 for each in color]
        linear = [each / 12.92 if each <= 0.03928 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)
