"""Exports honour how far a rule may be used: for comparing only, beside others, or not at all."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from undust.exchange.exports import EXPORTERS, export
from undust.rules import Rule, RuleSet

DROP = Rule("shop.test", "rewrite", "{s}://{h}/{p**}?sid={**}&{rest**}", "{s}://{h}/{p}?{rest}")
COMPARED = replace(DROP, fetch=False)
MOVE = Rule("shop.test", "rewrite", "{s}://{h}/old/{id:int}", "{s}://{h}/new/{id}")
MASK = Rule("shop.test", "rewrite", "{s}://{h}/{p**}?t={v}", "{s}://{h}/{p}?t={v:any}")
FETCHING = {"nginx", "apache", "nutch", "clearurls", "removeparam"}
NAMES = [target.name for target in EXPORTERS]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_proposed_is_exported(name: str) -> None:
    """By no target, not even as a rule that was left out."""
    proposed = [replace(rule, status="proposed") for rule in (DROP, MOVE)]
    done = export(RuleSet(proposed), name)
    assert (done.rules, done.refused) == ((), ())
    assert done.text == export(RuleSet(), name).text


@pytest.mark.parametrize("name", NAMES)
def test_rules_for_comparing_go_where_urls_are_compared(name: str) -> None:
    """Targets that fetch what they write refuse them, with the reason."""
    taken = {rule.id for rule in export(RuleSet([DROP]), name).rules}
    done = export(RuleSet([COMPARED]), name)
    if name in FETCHING:
        assert not done.rules
        assert "for comparing only" in done.refused[0].reason
        assert done.text == export(RuleSet(), name).text
    else:
        assert {rule.id for rule in done.rules} == taken


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_goes_with_what_it_needs(name: str) -> None:
    """What needs a rule that the target cannot say is left out too, and so is what needs that."""
    second = replace(MOVE, needs=(DROP.id,))
    first = replace(DROP, needs=(MASK.id,))
    done = export(RuleSet([MASK, first, second]), name)
    assert not done.rules
    assert [refusal.number for refusal in done.refused] == [1, 2, 3]
    assert {refusal.reason for refusal in done.refused[1:]} <= {
        "it is only safe with rule 1, which is left out",
        "it is only safe with rule 2, which is left out",
        *(each.reason for each in export(RuleSet([DROP, MOVE]), name).refused),
    }


def test_a_rule_out_of_effect_is_not_exported() -> None:
    """A need that is off counts as if the rule were off."""
    off = [DROP.with_status("disabled"), replace(MOVE, needs=(DROP.id,))]
    assert export(RuleSet(off), "nginx").rules == ()


def test_a_keep_that_is_left_out_for_its_needs_takes_what_it_shields() -> None:
    """As any keep that a target cannot say."""
    keep = Rule("shop.test", "keep", "{s}://{h}/old/{id:int}", needs=(MASK.id,))
    done = export(RuleSet([MASK, keep, MOVE]), "nginx")
    assert done.rules == ()
    assert "the keep of rule 2 is left out" in done.refused[2].reason


def test_rules_for_comparing_do_not_act_too_early() -> None:
    """A key starts from the canonical URL; a target that starts from the URL must give the same."""
    early = Rule("shop.test", "rewrite", "{s}://{h}/old/{*:int}", "{s}://{h}/any", fetch=False)
    done = export(RuleSet([early, MOVE]), "regex")
    assert [rule.id for rule in done.rules] == [MOVE.id]
    assert "move it behind them" in done.refused[0].reason
    late = export(RuleSet([MOVE, early]), "regex")
    assert not late.refused
    apart = replace(early, source="{s}://{h}/other/{*:int}")
    assert not export(RuleSet([apart, MOVE]), "regex").refused


def test_regex_and_sql_tell_which_rows_are_for_comparing() -> None:
    """A program can leave them out of what it fetches."""
    pairs = json.loads(export(RuleSet([MOVE, COMPARED]), "regex").text)["pairs"]
    assert {pair["rule"]: pair.get("fetch", True) for pair in pairs} == {MOVE.id: True, DROP.id: False}
    assert "fetch" not in json.dumps(json.loads(export(RuleSet([MOVE]), "regex").text)["pairs"])
    assert f"{DROP.id}, for comparing only: " in export(RuleSet([MOVE, COMPARED]), "sql").text
