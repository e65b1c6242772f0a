"""What a person should do with a rule, and the one reason why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from undust.rules import Rule
from undust.rules.verdict import leading, most_urgent_first, use_of, verdict, verdicts

GOOD = Rule(
    "shop.test",
    "rewrite",
    "{s}://{h}/{p**}?sid={**}&{rest**}",
    "{s}://{h}/{p}?{rest}",
    support=200,
    false_positives=0,
    targets={"seen": 90, "redirected": 5, "unseen": 5},
)
KEEP = Rule("shop.test", "keep", "{s}://{h}/{p**}?do=edit&{rest**}")


@pytest.mark.parametrize(
    ("change", "level", "reason"),
    [
        ({}, "ok", "200 pairs of URLs agree, none differs"),
        ({"false_positives": 3}, "risky", "3 of 200 pairs that it merges are different pages"),
        ({"false_positives": 1}, "look", "1 of 200 pairs are different pages"),
        ({"targets": {"seen": 90, "wrong": 10}}, "risky", "10 of 100 results show another page or nothing"),
        (
            {"targets": {"seen": 9, "wrong": 1}, "fetch": False},
            "ok",
            "200 pairs of URLs agree, none differs",
        ),
        ({"targets": {"seen": 40, "unseen": 60}}, "look", "only 40% of its results were seen to work"),
        ({"support": 4}, "look", "it rests on 4 pairs of URLs"),
        ({"support": None}, "look", "it has no evidence"),
        (
            {"source": "{s}://{h}/{p**}?page={**}&{rest**}"},
            "look",
            "it removes `page`, which often chooses what a page shows",
        ),
        (
            {"source": "{s}://{h}/{p**}?{**:start|x}&{rest**}"},
            "look",
            "it removes `start`, which often chooses what a page shows",
        ),
        ({"needs": ("0123456789abcdef",)}, "look", "it is out of effect, for a rule that it needs is"),
        ({"status": "disabled"}, "off", "it is switched off"),
        ({"status": "proposed"}, "proposed", "it is likely and not proven; `undust validate` asks the site"),
        ({"false_positives": 9, "review": {"verdict": "approved", "by": "ann"}}, "ok", "approved by ann"),
        (
            {"review": {"verdict": "rejected", "by": "ann"}},
            "risky",
            "it was rejected by ann, and is still active",
        ),
        ({"review": {"note": "hm"}}, "ok", "200 pairs of URLs agree, none differs"),
    ],
)
def test_each_verdict_has_one_reason(change: dict[str, object], level: str, reason: str) -> None:
    """The reason that matters most is the one that is given."""
    assert verdicts([replace(GOOD, **change)]) == [(level, reason)]  # type: ignore[arg-type]


def test_what_needs_a_person_comes_first() -> None:
    """Risky, then to look at, then the others, each in the order of the file."""
    rules = [
        GOOD,
        replace(GOOD, source="{s}://{h}/{p**}?a={**}&{rest**}", support=2),
        KEEP.with_status("disabled"),
        replace(GOOD, source="{s}://{h}/{p**}?b={**}&{rest**}", false_positives=50),
    ]
    assert most_urgent_first(verdicts(rules)) == [3, 1, 0, 2]


def test_what_results_are_good_for() -> None:
    """A rule that keeps has none; a mask makes keys alone."""
    mask = Rule("shop.test", "rewrite", "{s}://{h}/{a}", "{s}://{h}/{a:any}")
    uses = [use_of(rule) for rule in (GOOD, replace(GOOD, fetch=False), mask, KEEP)]
    assert uses == ["redirect-safe", "compare-only", "compare-only", "keep"]
    assert str(leading(GOOD)) == "90% seen to work, 5% by redirect, 5% unseen"
    assert str(leading(KEEP)) == "unknown"
    assert verdict(KEEP).level == "ok"
