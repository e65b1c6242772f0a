"""Counter-examples are what a reviewer looks for: each is a URL, whom it would meet, and why not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import undust
from tests.showing.report import generated
from undust.rules import Rule, RuleSet
from undust.showing.report import ShownRefusal, ShownRefusals

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browsing import Open

REASONS = {False: "their texts differ: 0 of 32 samples agree", True: "their labels differ: item"}


@pytest.mark.parametrize("labels", [False, True])
def test_every_counter_example_can_be_read(opened: Open, tmp_path: Path, *, labels: bool) -> None:
    """Opened, each rule that has some shows their URLs as text, and no object of the script."""
    refused = Rule.parse(generated.OPEN + "item={**} -> {s}://{h}/all", site=generated.SITE)
    refusals = {
        generated.SITE: ShownRefusals(
            (ShownRefusal(refused, "merged different pages", 3, 9),), {"merged different pages": 1}, 9
        )
    }
    rules = RuleSet([*generated.rules()], name="rules.json")
    seen = generated.table(labels=labels)
    path = tmp_path / "page.html"
    facts = undust.report(rules, seen, path, refusals=refusals).facts["sites"][generated.SITE]
    wrong = [rule for rule in facts["rules"] if rule.get("wrong")]
    assert wrong
    with opened(path) as page:
        for rule in facts["rules"]:
            page.locator(f"#rule-{rule['id']} .opener").click()
            shown = page.locator(f"#rule-{rule['id']}-more").inner_text()
            assert "[object" not in shown
            for one in rule.get("counter", ()):
                before = "".join(text for mark, text in one["change"] if mark != "+")
                after = "".join(text for mark, text in one["change"] if mark != "-")
                assert before in shown.replace("\n", "")
                assert after in shown
                assert f"would be merged with {one['meets']}" in shown
                assert f"which is a different page: {one['why']}" in shown
        page.locator("#refused details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
        text = page.locator("main").inner_text()
        assert "[object" not in text
        assert REASONS[labels] in text
        lost = page.locator("#rule-table [data-name='Lost'] .badge.risk")
        assert int(lost.first.inner_text()) > 0
        assert "0 pages merged into a different one" in page.locator("[data-tile='Pages lost']").inner_text()
        assert "1 of 9 candidates were not taken" in page.locator("#refused").inner_text()
