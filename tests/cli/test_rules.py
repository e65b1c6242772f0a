"""`undust rules …` as people run it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.command import run, sentence
from undust.rules import Rule, RuleSet, load

if TYPE_CHECKING:
    from pathlib import Path

A = Rule(
    "shop.test",
    "replace",
    ".php3?",
    "?",
    learned_by="substring",
    support=40,
    false_positives=1,
    fpr=0.025,
    fpr_upper=0.1,
    saves=1234,
    examples=(("http://shop.test/a.php3?b", "http://shop.test/a?b"),),
    validated={"when": "2030-01-02T03:04:05Z", "how": "held-out"},
    extra={"note": ["looked at", 2]},
)
B = Rule.parse("rewrite {s}://{h}/a/{x} → {s}://{h}/b/{x} unless ?lang={*}", site="shop.test")
C = Rule("*", "keep", "{s}://{h}/{p**}?do=edit&{rest**}", except_sites=("wiki.test",), status="disabled")


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """A rule file."""
    RuleSet([A, B, C]).save(tmp_path / "rules.json")
    return tmp_path / "rules.json"


def told(*words: str | Path, code: int = 0) -> str:
    """What a command prints, without the spaces that a table needs."""
    ended = run("rules", *words)
    assert (ended.code, ended.err) == (code, "")
    text = ended.out.decode()
    assert max(map(len, text.splitlines())) <= 100
    return text


def as_json(*words: str | Path, code: int = 0) -> Any:  # noqa: ANN401 -- any JSON
    """What a command prints for programs."""
    ended = run("rules", *words, "--json")
    assert (ended.code, ended.err) == (code, "")
    return json.loads(ended.out)


def test_list(rules: Path) -> None:
    """A table by site, in order, that says what is off."""
    assert told("list", rules) == (
        "#  id        removed  lost  risk ≤  rule\n"
        "                                    shop.test\n"
        f'1  {A.id[:8]}    1,234    ≥1  10.00%  replace ".php3?"\n'
        '                                          → "?"\n'
        f"2  {B.id[:8]}                         rewrite {{s}}://{{h}}/a/{{x}}\n"
        "                                          → {s}://{h}/b/{x}\n"
        "                                     unless ?lang={*}\n"
        "                                    all sites\n"
        f"3  {C.id[:8]}                         keep    {{s}}://{{h}}/{{p**}}?do=edit&{{rest**}}\n"
        "                                     except wiki.test\n"
        "                                        off\n"
        "3 rules of 2 sites, 1 off, 1,234 held-out URLs removed\n"
    )
    assert as_json("list", rules)["rules"] == [rule.to_json() for rule in (A, B, C)]
    assert as_json("list", rules, "--site", "*")["rules"] == [C.to_json()]
    assert "2 rules of 1 site" in told("list", rules, "--site", "shop.test")


def test_show(rules: Path) -> None:
    """One rule with all that is known, found by the start of its id."""
    assert told("show", rules, A.id[:6]) == (
        f"id           {A.id}\n"
        "site         shop.test\n"
        'rule         replace ".php3?"\n'
        '                   → "?"\n'
        "status       on\n"
        "verdict      risky: 1 of 40 pairs that it merges are different pages\n"
        "learned by   substring\n"
        "support      40\n"
        "false pairs  1\n"
        "fpr          2.50%\n"
        "removed      1,234\n"
        "lost         ≥1\n"
        "risk ≤       10.00%\n"
        "examples     http://shop.test/a.php3?b\n"
        "             → http://shop.test/a?b\n"
        "validated    when 2030-01-02T03:04:05Z, how held-out\n"
        'note         ["looked at", 2]\n'
    )
    assert as_json("show", rules, A.id) == A.to_json()
    missing = sentence(run("rules", "show", rules, "zz"))
    assert missing == f"{rules}: no rule has the id 'zz'; `undust rules list {rules}` shows them"


def test_check(rules: Path, tmp_path: Path) -> None:
    """Findings in words, and an exit code that a script can use."""
    assert told("check", rules) == "3 rules, nothing found\n"
    assert as_json("check", rules) == {"file": str(rules), "rules": 3, "findings": []}
    loop = RuleSet(
        [Rule.parse('replace "a" → "b"', site="x.test"), Rule.parse('replace "b" → "a"', site="x.test")]
    )
    loop.save(tmp_path / "loop.json")
    assert told("check", tmp_path / "loop.json", code=1) == (
        "inverse  rules 1 and 2 undo each other: http://x.test/Zq/a/zq → http://x.test/Zq/b/zq →\n"
        "         http://x.test/Zq/a/zq; both URLs become http://x.test/Zq/a/zq; remove one rule\n"
        '         1: replace "a" → "b"\n'
        '         2: replace "b" → "a"\n'
        "\n"
        "1 finding in 2 rules\n"
    )
    (finding,) = as_json("check", tmp_path / "loop.json", code=1)["findings"]
    assert (finding["kind"], finding["numbers"], finding["ids"]) == ("inverse", [1, 2], list(loop.ids))
    assert finding["url"] == "http://x.test/Zq/a/zq"


def test_disable_and_enable(rules: Path, tmp_path: Path) -> None:
    """The file changes where it is, and nothing but the status changes."""
    before = rules.read_bytes()
    ended = run("rules", "disable", rules, A.id[:8], B.id)
    assert (ended.code, ended.out) == (0, b"")
    assert ended.err == f"off: {A.id[:8]}  {A}\noff: {B.id[:8]}  {B}\n"
    assert [rule.status for rule in load(rules)] == ["disabled"] * 3
    assert as_json("enable", rules, A.id, B.id) == {
        "file": str(rules),
        "changed": [{"id": A.id, "status": "active"}, {"id": B.id, "status": "active"}],
    }
    assert rules.read_bytes() == before
    assert run("rules", "enable", rules, A.id).err == "nothing to change\n"
    assert run("rules", "enable", rules, C.id, "-o", tmp_path / "on.json").code == 0
    assert rules.read_bytes() == before
    assert load(tmp_path / "on.json")[2].status == "active"


def test_disabling_what_evidence_retired_is_a_decision(tmp_path: Path) -> None:
    """It was off before, and could have come back; now a person said no."""
    path = tmp_path / "retired.json"
    said = {"status": "disabled", "retired": {"reason": "it failed", "when": "2026-11-15"}}
    RuleSet([A.to_json() | said, B]).save(path)
    assert run("rules", "disable", path, A.id).err == f"off: {A.id[:8]}  {A}\n"
    assert list(load(path)) == [A.with_status("disabled"), B]
    assert run("rules", "disable", path, A.id).err == "nothing to change\n"


def test_a_wrong_id_changes_nothing(rules: Path) -> None:
    """All ids are looked up before the file is written."""
    before = rules.read_bytes()
    assert "no rule has the id 'zz'" in sentence(run("rules", "disable", rules, A.id, "zz"))
    assert rules.read_bytes() == before


def test_rules_pass_through_a_pipe(rules: Path) -> None:
    """From stdin to stdout, with what happened on stderr."""
    ended = run("rules", "disable", "-", A.id, data=rules.read_bytes())
    assert RuleSet.loads(ended.out)[0].status == "disabled"
    told_wrong = sentence(run("rules", "disable", "-", A.id, "--json", data=rules.read_bytes()), 2)
    assert (
        told_wrong
        == "--json needs stdout for itself, so name a file with -o; see 'undust rules disable --help'"
    )


def test_merge(rules: Path, tmp_path: Path) -> None:
    """The first file's order; what either has switched off stays off."""
    newer = Rule.parse('replace "x" → "y"', site="*")
    RuleSet([newer, replace(C, status="active", support=3)]).save(tmp_path / "new.json")
    ended = run("rules", "merge", rules, tmp_path / "new.json", "-o", tmp_path / "all.json")
    assert (ended.code, ended.out) == (0, b"")
    assert ended.err == f"{tmp_path}/all.json: 4 rules from 3 of {rules}, 2 of {tmp_path}/new.json\n"
    merged = load(tmp_path / "all.json")
    assert merged.ids == (A.id, B.id, C.id, newer.id)
    assert (merged[2].status, merged[2].support) == ("disabled", 3)
    assert as_json("merge", rules, rules, "-o", tmp_path / "same.json")["rules"] == 3
    assert (tmp_path / "same.json").read_bytes() == rules.read_bytes()
    assert (
        sentence(run("rules", "merge", rules, rules), 2)
        == "missing option '-o' / '--output'; see 'undust rules merge --help'"
    )


def test_diff(rules: Path, tmp_path: Path) -> None:
    """What came, what went, what changed, what moved."""
    added = Rule.parse('replace "x" → "y"', site="*")
    RuleSet([B, replace(A, support=41), added]).save(tmp_path / "new.json")
    assert told("diff", rules, tmp_path / "new.json") == (
        f'+      {added.id[:8]}  all sites: replace "x" → "y"\n'
        f"-      {C.id[:8]}  all sites: {C}\n"
        f"moved  {B.id[:8]}  shop.test: {B}\n"
        f"~      {A.id[:8]}  {A}\n"
        "                 support 40 → 41\n"
        "1 added, 1 removed, 1 changed, 1 moved\n"
    )
    assert as_json("diff", rules, tmp_path / "new.json") == {
        "added": [added.to_json()],
        "removed": [C.to_json()],
        "changed": [{"id": A.id, "fields": {"support": [40, 41]}}],
        "moved": [B.id],
    }
    assert told("diff", rules, rules) == "no difference\n"


@pytest.mark.parametrize("words", [("list",), ("check",), ("show", "ab"), ("enable", "ab"), ("diff", "R")])
def test_a_bad_file_is_told_in_one_sentence(tmp_path: Path, words: tuple[str, ...]) -> None:
    """Each of the commands reads files alike."""
    bad = tmp_path / "bad.json"
    bad.write_text('{"format": "undust-rules", "version": 1, "rules": [{}]}')
    rest = [str(bad) if word == "R" else word for word in words[1:]]
    expected = f"{bad}:1: rule 1, \"site\": 'site' is missing; add it to the rule"
    assert sentence(run("rules", words[0], bad, *rest)) == expected
    assert bad.read_text().endswith("[{}]}")


def test_an_unknown_subcommand(rules: Path) -> None:
    """One sentence, like everywhere."""
    assert sentence(run("rules", "lst", rules), 2).startswith("no such command 'lst'")
