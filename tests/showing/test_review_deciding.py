"""Approving, rejecting and noting in a review, over the wire and in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

import undust
from tests.showing.test_review_server import ask
from undust.rules import RuleSet

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browsing import Open
    from undust.showing.review import ReviewServer


def test_decisions_are_written_with_name_and_time(server: ReviewServer, rule_file: Path) -> None:
    """Beside the switches, in one write; a note alone keeps the verdict."""
    first, second = server.desk.rules.ids[:2]
    said = {first: {"verdict": "approved"}, second: {"verdict": "rejected", "note": "no"}}
    code, told = ask(server, "POST", "/decide", {"off": [second], "reviews": said, "yes": True})
    assert code == 200
    rules = undust.load(rule_file)
    assert [(rule.review or {}).get("verdict") for rule in rules][:3] == ["approved", "rejected", None]
    assert rules[1].status == "disabled"
    assert told["reviews"][first] == rules[0].review
    assert {"by", "when"} <= (rules[0].review or {}).keys()
    ask(server, "POST", "/decide", {"off": [second], "reviews": {first: {"note": "seen"}}, "yes": True})
    review = undust.load(rule_file)[0].review or {}
    assert (review["verdict"], review["note"]) == ("approved", "seen")


@pytest.mark.parametrize(
    "reviews",
    [[], {"x": 1}, {"x": {"verdict": "maybe"}}, {"x": {"by": "ann"}}, {"x": {"note": 1}}],
)
def test_what_is_no_decision_is_refused(server: ReviewServer, rule_file: Path, reviews: object) -> None:
    """Nothing is written."""
    before = rule_file.read_bytes()
    assert ask(server, "POST", "/decide", {"off": [], "reviews": reviews, "yes": False})[0] == 400
    assert (
        ask(server, "POST", "/decide", {"off": [], "reviews": {"unknown": {"note": "x"}}, "yes": False})[0]
        == 409
    )
    assert rule_file.read_bytes() == before


def test_proposed_rules_are_off_until_somebody_switches_them_on(
    server: ReviewServer, rule_file: Path
) -> None:
    """To leave one alone decides nothing."""
    rules = undust.load(rule_file)
    RuleSet([rules[0].to_json() | {"status": "proposed"}, *rules[1:]]).save(rule_file)
    desk = type(server.desk)(str(rule_file), server.desk._gathered)  # noqa: SLF001 -- the same pages
    assert desk.off == [rules.ids[0]]
    desk.save([rules.ids[0], rules.ids[1]])
    assert [rule.status for rule in undust.load(rule_file)][:2] == ["proposed", "disabled"]
    desk.save([rules.ids[1]])
    assert undust.load(rule_file)[0].status == "active"


def test_a_reviewer_finds_decides_and_saves(server: ReviewServer, rule_file: Path, opened: Open) -> None:
    """What needs a person stands first; from opening it to the saved note it takes four clicks."""
    with opened(server.address) as page:
        row = page.locator("#rule-table tbody tr:not(.detail)").first
        expect(row.locator("[data-name=Verdict]")).to_contain_text("it has no evidence")
        row.locator(".opener").click()
        page.locator(".decision-note").first.fill("merges colours")
        page.locator(".decision-rejected").first.click()
        expect(page.locator("#review-note")).to_contain_text("not saved")
        expect(row.locator("input[role=switch]")).not_to_be_checked()
        page.locator("#save").click()
        expect(page.locator("#review-note")).to_contain_text("Saved: rules.json")
    decided = [rule for rule in undust.load(rule_file) if rule.review]
    assert [(rule.status, (rule.review or {})["note"]) for rule in decided] == [
        ("disabled", "merges colours")
    ]
