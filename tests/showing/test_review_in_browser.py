"""Trying, switching and saving, by mouse and by keyboard, in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

import undust
from tests.browsing import serious_faults

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Locator, Page, Route

    from tests.browsing import Open
    from undust.showing.review import ReviewServer


def use(page: Page, target: Locator, by: str, key: str = "Enter") -> None:
    """Click something, or go there and press a key."""
    if by == "mouse":
        target.click()
    else:
        target.focus()
        page.keyboard.press(key)


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_try_switch_and_save(server: ReviewServer, rule_file: Path, opened: Open, by: str) -> None:
    """A URL shows its steps; a switch changes savings at once; what is saved is in the file."""
    with opened(server.address) as page:
        page.locator("#try-url").focus()
        page.keyboard.type("https://teapots.test/p/blue-cup/117?sid=9")
        use(page, page.locator("#try button") if by == "mouse" else page.locator("#try-url"), by)
        expect(page.locator("#tried")).to_contain_text("https://teapots.test/p/117")
        assert page.locator("#tried del").count() > 0

        saved = page.locator("[data-tile='The rules remove'] .big")
        before = saved.inner_text()
        rule = server.desk.rules[3]
        switch = page.locator(f"#rule-{rule.id} input[role=switch]")
        use(page, switch, by, "Space")
        expect(page.locator("[data-tile='The rules remove'] .was")).to_have_text(f"was {before}")
        assert saved.inner_text() != before
        expect(page.locator("#review-note")).to_contain_text("1 rule changed, not saved")

        use(page, page.locator("#try button") if by == "mouse" else page.locator("#try-url"), by)
        expect(page.locator("#tried")).not_to_contain_text("removes utm_*")

        use(page, page.locator("#save"), by)
        expect(page.locator("#review-note")).to_contain_text("Saved: rules.json")
        assert undust.load(rule_file).find(rule.id).status == "disabled"
        assert len(list(rule_file.parent.glob("rules.json.*.bak"))) == 1
        expect(page.locator("#save")).to_be_disabled()

        page.reload()
        page.wait_for_selector("body[data-ready]")
        assert not page.locator(f"#rule-{rule.id} input[role=switch]").is_checked()
        expect(page.locator("[data-tile='The rules remove'] .was")).to_have_text(f"was {before}")


def test_undo_brings_everything_back(server: ReviewServer, opened: Open) -> None:
    """Before anything is saved, a change of mind costs nothing."""
    with opened(server.address) as page:
        figures = page.locator(".tile .big").all_inner_texts()
        switches = page.locator("input[role=switch]")
        switches.nth(0).click()
        switches.nth(1).click()
        expect(page.locator("#review-note")).to_contain_text("2 rules changed")
        page.locator("#undo").click()
        expect(page.locator("#review-note")).to_contain_text("0 rules changed")
        assert page.locator(".tile .big").all_inner_texts() == figures
        assert switches.nth(0).is_checked()


def test_the_note_waits_for_the_figures(server: ReviewServer, opened: Open) -> None:
    """An answer to an earlier question does not announce figures that are not there yet."""
    with opened(server.address) as page:
        held: list[Route] = []
        page.route("**/measure", lambda route: held.append(route))  # noqa: PLW0108 -- builtins are refused
        note = page.locator("#review-note")
        page.locator("input[role=switch]").nth(0).click()
        page.locator("#undo").click()
        page.wait_for_timeout(200)
        first, last = held
        with page.expect_response("**/measure"):
            first.continue_()
        page.wait_for_timeout(200)
        expect(note).to_contain_text("No change yet")
        last.continue_()
        expect(note).to_contain_text("0 rules changed")


def test_a_review_has_no_serious_fault_for_those_who_do_not_see_it(
    server: ReviewServer, opened: Open
) -> None:
    """axe-core finds nothing serious in what only a served page has."""
    with opened(server.address) as page:
        page.locator("#try-url").fill("http://www.teapots.test/p/x/117")
        page.locator("#try button").click()
        page.wait_for_selector("#tried li")
        assert serious_faults(page, "'main'") == []
