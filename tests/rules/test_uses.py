"""How far a rule may be used: for comparing only, only beside others, not yet, and what a person decided."""

from __future__ import annotations

import json
from dataclasses import replace

import pyarrow as pa
import pytest

from undust.errors import InvalidRule
from undust.rules import Rule, RuleSet, program_of
from undust.rules.compiled import dependents, rules_in_effect

KEEP = Rule("shop.test", "keep", "{s}://{h}/{p**}?do=edit&{rest**}")
CUT = Rule("shop.test", "rewrite", "{s}://{h}/{p**}?{**}", "{s}://{h}/{p}", needs=(KEEP.id,))
SID = Rule("shop.test", "rewrite", "{s}://{h}/{p**}?sid={**}&{rest**}", "{s}://{h}/{p}?{rest}", fetch=False)
LIKELY = Rule("shop.test", "replace", "/old", "/new", status="proposed")
URL, BARE = "http://shop.test/a?sid=1", "http://shop.test/a"


def test_a_rule_for_comparing_only_is_in_the_key_and_not_in_the_canonical_form() -> None:
    """By every way to ask."""
    canonicalize = RuleSet([SID]).compile()
    assert (canonicalize(URL), canonicalize.canonical(URL), canonicalize.key(URL)) == (URL, URL, BARE)
    for keys, expected in ((False, URL), (True, BARE)):
        assert canonicalize.batch(pa.array([URL]), keys=keys).to_pylist() == [expected]
        assert canonicalize.lines(URL.encode(), keys=keys)[0] == expected.encode()
        column, counts = canonicalize.counted_batch(pa.array([URL]), keys=keys, uses=True)
        assert (column.to_pylist(), counts.uses) == ([expected], [int(keys)])
    explained = canonicalize.explain(URL)
    assert (explained.steps, explained.canonical) == ((), URL)
    assert [(step.rule, step.url) for step in explained.compared] == [(SID, BARE)]
    assert (explained.masks, explained.key) == ((), BARE)


@pytest.mark.parametrize(
    ("rules", "acting"),
    [
        ([KEEP, CUT], [KEEP, CUT]),
        ([CUT, KEEP], [CUT, KEEP]),
        ([CUT], []),
        ([KEEP.with_status("disabled"), CUT], []),
        ([replace(KEEP, status="proposed"), CUT], []),
        ([replace(KEEP, needs=(CUT.id,)), CUT], [replace(KEEP, needs=(CUT.id,)), CUT]),
        ([replace(KEEP, needs=("0123456789abcdef",)), CUT], []),
    ],
)
def test_rules_in_effect(rules: list[Rule], acting: list[Rule]) -> None:
    """Those whose needs are met, in order; the compiled set agrees with the list."""
    assert rules_in_effect(rules) == acting
    changes = RuleSet(rules).compile()(URL) == BARE
    assert changes == (program_of(rules).canonical(URL) == BARE) == (CUT in acting)


def test_switching_a_rule_off_names_those_that_go_with_it() -> None:
    """In a chain, all of them; what was off before is not named again."""
    third = Rule("shop.test", "replace", "/x", "/y", needs=(CUT.id,))
    off = replace(third, source="/z", status="disabled")
    assert dependents([KEEP, CUT, third, off, SID], {KEEP.id}) == [CUT, third]
    assert dependents([KEEP, CUT, third, off, SID], {third.id}) == []


def test_a_proposed_rule_does_nothing() -> None:
    """By every way to ask, until a person switches it on."""
    rules = RuleSet([LIKELY])
    old = "http://shop.test/old"
    canonicalize = rules.compile()
    assert canonicalize(old) == canonicalize.key(old) == old
    assert canonicalize.batch(pa.array([old]), keys=True).to_pylist() == [old]
    assert canonicalize.explain(old).steps == ()
    assert canonicalize.touched(pa.array([old]))[0].to_pylist() == []
    assert rules.enable(LIKELY.id[:8]).compile()(old) == "http://shop.test/new"


@pytest.mark.parametrize(("rule", "version"), [(KEEP, 1), (SID, 2), (CUT, 2), (LIKELY, 2)])
def test_the_version_of_a_file_follows_from_its_rules(rule: Rule, version: int) -> None:
    """Files that undust 0.1 would apply wrongly have a version that it refuses; others are as before."""
    rules = RuleSet([rule])
    content = json.loads(rules.dumps())
    assert content["version"] == version
    assert RuleSet.loads(rules.dumps()) == rules
    assert json.loads(RuleSet.loads(rules.dumps()).disable(rule.id).dumps())["version"] == (
        1 if rule is LIKELY else version
    )
    if version == 2:
        with pytest.raises(
            InvalidRule, match=r'^old\.json:\d+: rule 1, "\w+": takes version 2 of the format'
        ):
            RuleSet.loads(json.dumps(content | {"version": 1}, indent=1), name="old.json")


def test_the_new_fields_are_no_part_of_the_id() -> None:
    """Evidence may change them, and the rule stays the same rule."""
    changed = replace(SID, fetch=True, needs=(KEEP.id,), status="proposed", review={"verdict": "approved"})
    assert changed.id == SID.id
    assert list(SID.to_json()) == ["id", "site", "kind", "from", "to", "status", "fetch"]
    assert Rule.from_json(changed.to_json()) == changed


@pytest.mark.parametrize(
    ("one", "other", "merged"),
    [("proposed", "active", "active"), ("proposed", "disabled", "disabled"), ("proposed",) * 3],
)
def test_merged_status(one: str, other: str, merged: str) -> None:
    """Disabled wins over active, active over proposed, whichever comes first."""
    for pair in ((one, other), (other, one)):
        old, new = (RuleSet([SID.to_json() | {"status": status}]) for status in pair)
        assert old.merge(new)[0].status == merged


def test_a_merge_takes_the_careful_use() -> None:
    """Compare-only and needs survive, whichever file has them."""
    one, other = replace(CUT, needs=("a", "b")), replace(CUT, fetch=False, needs=("b", "c"))
    for merged in (RuleSet([one]).merge(RuleSet([other])), RuleSet([other]).merge(RuleSet([one]))):
        assert merged[0].fetch is False
        assert sorted(merged[0].needs) == ["a", "b", "c"]


def test_check_names_rules_that_are_out_of_effect() -> None:
    """And what they need; a rule that others need is not called redundant."""
    (finding,) = RuleSet([KEEP.with_status("disabled"), CUT]).check()
    assert (finding.kind, finding.numbers) == ("unmet", (2,))
    assert "it needs rule 1, which is not in effect" in finding.message
    assert [found.kind for found in RuleSet([CUT]).check()] == ["unmet"]
    idle = Rule("shop.test", "keep", "{s}://{h}/b")
    assert [found.kind for found in RuleSet([idle, SID]).check()] == ["redundant"]
    assert not RuleSet([idle, replace(SID, needs=(idle.id,))]).check()
