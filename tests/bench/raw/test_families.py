"""Archives whose pages change at every fetch: what is learned from them, on pages that were not seen."""

from __future__ import annotations

import pytest

from bench.raw.families import ALONE, NEVER, SOMETIMES, Setting, judged, of_alike, of_family


@pytest.mark.parametrize("missing", [NEVER, SOMETIMES])
@pytest.mark.parametrize("name", ["session_path", "tracking"])
def test_changes_on_every_page_hide_no_rule(name: str, missing: str) -> None:
    """With counters, clocks, tokens, rotating lines and advertisements a rule is learned as without them."""
    found = judged(of_family(name, Setting(missing, "all", pages=200)))
    assert found["removed"] >= 0.95
    assert found["lost"] == 0


@pytest.mark.parametrize("change", ["none", "counter"])
@pytest.mark.parametrize(
    ("name", "missing"), [("variant/query", NEVER), ("variant/code", ALONE), ("short_text/code", NEVER)]
)
def test_pages_that_look_alike_stay_apart(name: str, missing: str, change: str) -> None:
    """No rule merges pages that differ in a number or in three words."""
    assert judged(of_alike(name, Setting(missing, change, pages=200)))["lost"] == 0
