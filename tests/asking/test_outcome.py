"""What a proof says about rules, for programs and in the rule file, word for word."""

from __future__ import annotations

import pytest

from undust.asking.outcome import RuleOutcome, Validation, is_tried
from undust.rules import Rule, RuleSet

RULE = Rule("a.test", "replace", "/x", "/y")
GOOD = RuleOutcome(RULE, "confirmed", "all showed the same", positives=18, negatives=2, unknown=3, fetches=40)
BAD = RuleOutcome(RULE, "refuted", "different", positives=1, negatives=3)
OPEN = RuleOutcome(RULE, "undecided", "too few")


def test_a_program_is_told_each_count() -> None:
    """One object for each rule, and how many of each verdict."""
    told = Validation(RuleSet([RULE]), (GOOD, BAD, OPEN, OPEN), fetches=50, hosts=2).to_json()
    assert told["rules"][0] == {
        "id": RULE.id,
        "rule": str(RULE),
        "site": "a.test",
        "confirmed": True,
        "refuted": False,
        "undecided": False,
        "positives": 18,
        "negatives": 2,
        "unknown": 3,
        "fetches": 40,
        "reason": "all showed the same",
    }
    assert {name: told["rules"][2][name] for name in ("positives", "negatives", "unknown", "fetches")} == {
        "positives": 0,
        "negatives": 0,
        "unknown": 0,
        "fetches": 0,
    }
    assert {name: told[name] for name in told if name != "rules"} == {
        "confirmed": 1,
        "refuted": 1,
        "undecided": 2,
        "retired": 0,
        "fetches": 50,
        "hosts": 2,
    }


def test_evidence_is_written_into_the_rule() -> None:
    """With the time, how, what came out and how sure that is; a refuted rule is off."""
    rule = GOOD.with_evidence("live", 1_900_000_000.7).rule
    assert rule.status == "active"
    assert rule.validated is not None
    assert {name: value for name, value in rule.validated.items() if name != "fpr_upper"} == {
        "when": "2030-03-17T17:46:40+00:00",
        "how": "live",
        "outcome": "confirmed",
        "positives": 18,
        "negatives": 2,
        "unknown": 3,
        "fpr": 0.1,
        "reason": "all showed the same",
    }
    assert 0.1 < rule.validated["fpr_upper"] < 0.35
    assert BAD.with_evidence("archive", 0).rule.status == "disabled"
    assert OPEN.with_evidence("live", 0) is OPEN


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (RULE, True),
        (Rule("a.test", "replace", "/x", "/y", status="disabled"), False),
        (BAD.with_evidence("live", 0).rule, True),
        (Rule("a.test", "keep", "{s}://{h}/a"), False),
    ],
)
def test_what_a_person_switched_off_is_not_tried(rule: Rule, *, expected: bool) -> None:
    """But what an earlier proof put off is, and what keeps URLs as they are has nothing to prove."""
    assert is_tried(rule) == expected
