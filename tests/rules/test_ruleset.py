"""A set of rules, and the file it lives in."""

from __future__ import annotations

import gzip
import json
import pickle
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rules.evidenced import json_values, rule_lists
from undust.errors import InvalidRule, RuleError, UnknownVersion
from undust.rules import Rule, RuleSet, load
from undust.rules.files import limits_use

if TYPE_CHECKING:
    from pathlib import Path

A = Rule.parse('replace ".php3?" → "?"', site="shop.test")
B = Rule.parse("rewrite {s}://{h}/a/{x} → {s}://{h}/b/{x}", site="shop.test")
C = Rule.parse("keep {s}://{h}/{p**}?do=edit&{rest**}", site="*")

GOLDEN = """\
{
  "format": "undust-rules",
  "version": 1,
  "made": "by hand",
  "rules": [
    {
      "id": "@A",
      "site": "shop.test",
      "kind": "replace",
      "from": ".php3?",
      "to": "?",
      "status": "disabled",
      "fpr": 0.001,
      "examples": [["http://shop.test/a.php3?b", "http://shop.test/a?b"]],
      "note": {"é": [1, 2.50e3, null, "\\ud800"]}
    },
    {
      "id": "@C",
      "site": "*",
      "kind": "keep",
      "from": "{s}://{h}/{p**}?do=edit&{rest**}"
    }
  ]
}
""".replace("@A", A.id).replace("@C", C.id)


@given(rule_lists(), st.dictionaries(st.text(max_size=4), json_values, max_size=2))
def test_loading_what_was_saved_gives_the_same_set_and_the_same_bytes(
    rules: list[dict[str, Any]], header: dict[str, Any]
) -> None:
    """load(save(rules)) = rules, and saving again gives the same bytes, unknown keys included."""
    header = {key: value for key, value in header.items() if key not in {"format", "version", "rules"}}
    version = 2 if any(map(limits_use, rules)) else 1
    content = {"format": "undust-rules", "version": version, **header, "rules": rules}
    first = RuleSet.loads(json.dumps(content))
    saved = first.dumps()
    again = RuleSet.loads(saved)
    assert again == first
    assert list(again) == [Rule.from_json(rule) for rule in rules]
    assert again.dumps() == saved
    assert json.loads(saved) == content
    assert RuleSet(list(first)).ids == first.ids


def test_the_layout_of_a_file_is_fixed() -> None:
    """One field a line, other people's keys in their order: files are compared and reviewed."""
    assert RuleSet.loads(GOLDEN).dumps().decode() == GOLDEN.replace("2.50e3", "2500.0")


def test_the_empty_file() -> None:
    """No rules are rules too."""
    expected = b'{\n  "format": "undust-rules",\n  "version": 1,\n  "rules": []\n}\n'
    assert RuleSet().dumps() == expected
    assert RuleSet.loads(expected) == RuleSet()
    assert RuleSet().compile()("HTTP://Shop.test") == "http://shop.test/"


@pytest.mark.parametrize("name", ["rules.json", "rules.json.gz", "rules.json.zst"])
def test_files_may_be_packed(name: str, tmp_path: Path) -> None:
    """The name says how a file is packed."""
    rules = RuleSet([A, B, C])
    rules.save(tmp_path / name)
    assert load(tmp_path / name) == rules
    if name.endswith(".gz"):
        assert gzip.decompress((tmp_path / name).read_bytes()) == rules.dumps()
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_stale_id_is_replaced() -> None:
    """A person who edits a rule need not know its hash."""
    rules = RuleSet.loads(GOLDEN.replace(A.id, "0123456789abcdef"))
    assert rules[0].id == A.id
    assert A.id.encode() in rules.dumps()


def test_sets_travel_between_processes() -> None:
    """A set and its canonicalizer can be pickled."""
    canonicalizer = RuleSet([A, B]).compile()
    there = pickle.loads(pickle.dumps(canonicalizer))  # noqa: S301 -- our own bytes
    assert there("http://shop.test/a/x") == "http://shop.test/b/x"
    assert there.rules == canonicalizer.rules


def test_a_set_is_a_sequence() -> None:
    """Order is preference, so places mean something."""
    rules = RuleSet([A, B, C])
    assert len(rules) == 3
    assert (rules[0], rules[-1], list(rules[1:])) == (A, C, [B, C])
    assert A in rules
    assert repr(rules) == "<RuleSet 'rules' of 3 rules>"
    with pytest.raises(IndexError):
        rules[3]


def test_rules_are_found_by_the_start_of_their_id() -> None:
    """As much of an id as is unique is enough; what is not says so."""
    rules = RuleSet([A, B, C])
    assert rules.find(B.id) == B
    assert rules.find(B.id[:8]) == B
    with pytest.raises(
        RuleError, match=r"^rules: no rule has the id 'xyz'; `undust rules list rules` shows them$"
    ):
        rules.find("xyz")
    with pytest.raises(RuleError, match="no rule has the id ''"):
        rules.find("")
    many = RuleSet([Rule("shop.test", "replace", f"a{number}", "b") for number in range(40)])
    start = next(one[0] for one in many.ids if sum(other[0] == one[0] for other in many.ids) > 1)
    with pytest.raises(RuleError, match=f"^rules: the id {start} may be .*; write more of it$"):
        many.find(start)


def test_switching_rules_off_and_on() -> None:
    """A switched-off rule stays in the set and does nothing."""
    rules = RuleSet([A, B])
    off = rules.disable(A.id)
    assert [rule.status for rule in off] == ["disabled", "active"]
    assert off.compile()("http://shop.test/x.php3?y") == "http://shop.test/x.php3?y"
    assert [rule.status for rule in rules] == ["active", "active"]
    assert off.enable(A.id[:9]).ids == rules.ids
    assert off.enable(A.id).compile()("http://shop.test/x.php3?y") == "http://shop.test/x?y"


def test_merging_keeps_the_first_order_the_newer_evidence_and_every_off_switch() -> None:
    """What a person switched off stays off when rules are learned again."""
    old = RuleSet([B, A.with_status("disabled")])
    new = RuleSet([replace(A, support=7), C, B.with_status("disabled")])
    merged = old.merge(new)
    assert merged.ids == (B.id, A.id, C.id)
    assert [rule.status for rule in merged] == ["disabled", "disabled", "active"]
    assert merged.find(A.id).support == 7
    assert merged.merge(merged) == merged
    assert RuleSet().merge(new) == new


RETIRED = Rule.from_json(A.to_json() | {"status": "disabled", "retired": {"reason": "it failed"}})


def test_a_decision_takes_the_place_of_what_evidence_said() -> None:
    """A rule that evidence retired is a person's from then on, off or on."""
    rules = RuleSet([RETIRED, B])
    assert rules.disable(A.id)[0] == RETIRED.with_status("disabled") == A.with_status("disabled")
    assert rules.enable(A.id)[0] == A
    assert rules.disable(B.id)[0] == RETIRED
    assert rules.diff(rules.disable(A.id)).changed[0].fields == {"retired": ({"reason": "it failed"}, None)}


def test_merging_knows_a_decision_from_evidence() -> None:
    """Off by a person in any file is off by a person; off by evidence alone stays so."""
    retired, off, on = RuleSet([RETIRED]), RuleSet([A.with_status("disabled")]), RuleSet([A])
    assert retired.merge(off) == off.merge(retired) == off
    assert retired.merge(on) == on.merge(retired) == retired


def test_differences() -> None:
    """What came, what went, what changed and what moved past another rule of its site."""
    before = RuleSet([A, B, C])
    after = RuleSet([C, B.with_status("disabled"), A, Rule.parse('replace "x" → "y"', site="*")])
    found = before.diff(after)
    assert [rule.source for rule in found.added] == ["x"]
    assert found.removed == ()
    assert [change.fields for change in found.changed] == [{"status": ("active", "disabled")}]
    assert len(found.moved) == 1
    assert found.moved[0].site == "shop.test"
    assert [rule.source for rule in after.diff(before).removed] == ["x"]
    assert not before.diff(before)


def test_printing_a_set_gives_a_table() -> None:
    """No line is longer than a terminal of 100 columns, and nothing is lost."""
    long = Rule("shop.test", "rewrite", "{s}://{h}/" + "a" * 150, "{s}://{h}/b", saves=1234, fpr_upper=0.0071)
    text = str(RuleSet([A, long, C.with_status("disabled")]))
    assert max(map(len, text.splitlines())) <= 100
    assert text.replace(" ", "").replace("\n", "").count("a" * 150) == 1
    for piece in ("shop.test", "all sites", ".php3?", "1,234", "0.71%", "off", "3 rules of 2 sites, 1 off"):
        assert piece in text
    assert "\x1b" not in text


BAD_FILES = {
    "": "bad.json:1: not JSON, column 1: expecting value; correct it there",
    '{"format": "undust-rules",\n "version": 1,,}': (
        "bad.json:2: not JSON, column 15: expecting property name enclosed in double quotes; correct it there"
    ),
    "[" * 100_000: "bad.json: nested too deeply for a rule file; give the file that undust wrote",
    "[]": ('bad.json: not a rule file; one starts with {"format": "undust-rules", "version": 1, "rules": ['),
    '{"format": "undust-rules", "rules": []}': (
        "bad.json: no version of the rule format, and this undust reads versions 1 and 2; update undust"
    ),
    '{"format": "undust-rules", "version": 7, "rules": []}': (
        "bad.json: version 7 of the rule format, and this undust reads versions 1 and 2; update undust"
    ),
    '{"format": "undust-rules", "version": 1}': 'bad.json: no list of rules; add "rules": []',
    '{"format": "undust-rules", "version": 1,\n "rules": [\n {"site": "*", "kind": "keep", "fpr": NaN}]}': (
        "bad.json:3: NaN is not a JSON number; leave the field out if the number is unknown"
    ),
    '{"format": "undust-rules", "version": 1, "rules": [],\n "of": {"x": -1e999}}': (
        "bad.json:2: -1e999 is beyond the numbers that are counted with; "
        "leave the field out if the number is unknown"
    ),
}


@pytest.mark.parametrize(("text", "sentence"), BAD_FILES.items(), ids=range(len(BAD_FILES)))
def test_a_bad_file_is_told_in_one_sentence(text: str, sentence: str, tmp_path: Path) -> None:
    """File, line and mend, for everything that is no rule file."""
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises((InvalidRule, UnknownVersion)) as caught:
        load(tmp_path / "bad.json")
    assert str(caught.value) == sentence.replace("bad.json", str(tmp_path / "bad.json"), 1)


def test_a_file_that_is_not_utf8_is_told_with_its_line() -> None:
    """The byte and the line."""
    with pytest.raises(InvalidRule, match=r"^latin\.json:2: byte 3 is not UTF-8; save the file as UTF-8$"):
        RuleSet.loads(b"{\n \xe9}", name="latin.json")


def test_an_unknown_version_has_its_own_error() -> None:
    """Programs can tell a newer file from a broken one."""
    with pytest.raises(UnknownVersion):
        RuleSet.loads('{"format": "undust-rules", "version": 3, "rules": []}')


def file_of(*rules: str) -> str:
    """A rule file with each rule on a line of its own, the first on line 2."""
    return '{"format": "undust-rules", "version": 1, "rules": [\n' + ",\n".join(rules) + "\n]}"


KEEP = '{"site": "*", "kind": "keep", "from": "{s}://{h}/a"}'
BAD_RULES = {
    (KEEP, KEEP.replace('"*"', ' "*" ')): (
        "rules.json:3: rule 2: says the same as rule 1, so both have one id; remove one of them"
    ),
    (KEEP, "7"): "rules.json:3: rule 2: a rule is an object with site, kind and from; write one",
    (KEEP, KEEP.replace("keep", "drop")): (
        "rules.json:3: rule 2, \"kind\": the kind 'drop' is not known; write replace, rewrite or keep"
    ),
    (KEEP.replace('"from"', '\n"from"').replace("/a", "/{n:number}"),): (
        "rules.json:3: rule 1, \"from\", column 14: the class 'number' is not known; "
        "write int, alpha, hex, word, uuid, date or a list a|b"
    ),
    (KEEP, KEEP.replace('"from"', '\n"when": ["?a",\n "?x={n"], "from"')): (
        "rules.json:4: rule 2, \"when[1]\", column 4: the brace '{' is not closed; "
        "write '}', or %7B for the character"
    ),
    (KEEP, KEEP.replace("keep", "rewrite")): (
        'rules.json:3: rule 2, "to": the right side is missing; write → and the URL to rewrite to'
    ),
    (KEEP.replace('"*"', "1"),): "rules.json:2: rule 1, \"site\": 'site' is no text; write a string",
    (KEEP.replace('"from"', '"status": "off", "from"'),): (
        "rules.json:2: rule 1, \"status\": the status 'off' is not known; write active, disabled or proposed"
    ),
}


@pytest.mark.parametrize(("rules", "sentence"), BAD_RULES.items(), ids=range(len(BAD_RULES)))
def test_a_bad_rule_is_told_with_file_line_column_and_mend(rules: tuple[str, ...], sentence: str) -> None:
    """The sentence leads to the place in the file."""
    with pytest.raises(InvalidRule) as caught:
        RuleSet.loads(file_of(*rules), name="rules.json")
    assert str(caught.value) == sentence


def test_bad_evidence_is_told_when_the_rule_is_looked_at() -> None:
    """A crawler does not read evidence, so the file loads; who asks for the rule is told."""
    rules = RuleSet.loads(file_of(KEEP, KEEP.replace("/a", "/b").replace('"kind"', '"support": -1, "kind"')))
    assert rules[0].source == "{s}://{h}/a"
    with pytest.raises(
        InvalidRule, match=r'^rules: rule 2, "support": is no whole number from 0 on; correct it'
    ):
        rules[1]
