"""The compiled rule file: the same answers as the rules it was made of, or a refusal."""

from __future__ import annotations

import hashlib
import json
import pickle
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rules.test_conformance import ANSWERS, spelled_out
from tests.strategies import RuleFields, hostile_urls, limited_rule_sets, rule_sets, urls
from undust import _core
from undust.errors import InvalidRule, RuleError, UnknownVersion
from undust.rules import Rule, RuleSet, load
from undust.rules.compiled import PackedRules, acting
from undust.urls.url import suffixes

EXAMPLE = json.loads(Path(__file__).parents[2].joinpath("examples/rules.json").read_text("utf-8"))


def mapped(program: _core.Program) -> _core.Program:
    """Return a program that went through its bytes."""
    return _core.Program.mapped(memoryview(program.image(b"")), suffixes())


@pytest.fixture
def many() -> RuleSet:
    """Rules of many sites, more than fit into one piece, with every kind of field."""
    rules: list[dict[str, Any]] = [
        {
            "site": f"s{number % 700}.test",
            "kind": "replace",
            "from": f"/a{number}/",
            "to": "/b/",
            "saves": number,
        }
        for number in range(2500)
    ]
    shared = {
        "site": "*",
        "kind": "rewrite",
        "from": "{s}://{h}/{p**}?sid={**}&{rest**}",
        "to": "{s}://{h}/{p}?{rest}",
    }
    return RuleSet([*rules, shared | {"except_sites": ["s1.test", "s2.test"]}])


def test_conformance() -> None:
    """Every case of the conformance file has the same answer from a compiled file."""
    for case in ANSWERS:
        core = mapped(_core.Program(acting([spelled_out(dict(rule)) for rule in case["rules"]]), suffixes()))
        assert (core.canonical(case["url"]), core.key(case["url"])) == (case["canonical"], case["key"])


@settings(max_examples=40)
@given(rule_sets() | limited_rule_sets(), st.lists(urls() | hostile_urls(), min_size=1, max_size=5))
def test_any_rules_give_the_same_answers(rules: list[RuleFields], some: list[str]) -> None:
    """A program and its image agree on every rule set and every URL, and have one image."""
    program = _core.Program(acting([spelled_out(dict(rule)) for rule in rules]), suffixes())
    again = mapped(program)
    for url in some:
        assert again.explain(url) == program.explain(url)
    assert again.image(b"x") == program.image(b"x")


def test_a_file_is_the_rules(many: RuleSet, tmp_path: Path) -> None:
    """Order, fields, ids, single rules, batches and pickles are those of the rule file."""
    many.compile_to(tmp_path / "rules.undust")
    compiled = load(tmp_path / "rules.undust")
    assert isinstance(compiled.raw, PackedRules)
    assert len(compiled) == len(many)
    assert (compiled[-1], compiled[1500]) == (many[-1], many[1500])
    column = pa.array([f"http://www.s{n % 800}.test/a{n}/?sid={n}" for n in range(5000)])
    assert compiled.compile().batch(column) == many.compile().batch(column)
    assert compiled.compile().explain(column[3].as_py()) == many.compile().explain(column[3].as_py())
    assert compiled == many
    assert compiled.dumps() == many.dumps()
    assert pickle.loads(pickle.dumps(compiled)) == many  # noqa: S301 -- our own
    assert RuleSet.loads((tmp_path / "rules.undust").read_bytes()) == many


def test_the_same_rules_give_the_same_bytes(many: RuleSet, tmp_path: Path) -> None:
    """Nothing of the process gets into the file."""
    for name in ("a", "b"):
        RuleSet.loads(many.dumps()).compile_to(tmp_path / name)
    load(tmp_path / "a").compile_to(tmp_path / "c")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()


def test_a_change_of_the_layout_takes_another_version() -> None:
    """If this fails, programs have other bytes: raise kImageVersion and write the new digest here."""
    program = RuleSet(EXAMPLE["rules"]).program
    digest = hashlib.sha256(program.image(b"")).hexdigest()[:16]
    assert digest == "4d06d510b662d674"


def test_damage_is_refused(many: RuleSet, tmp_path: Path) -> None:
    """A byte that changed, a missing end or more behind it: one sentence, wherever it is."""
    path = tmp_path / "rules.undust"
    many.compile_to(path)
    whole = path.read_bytes()
    chance = random.Random(7)
    places = [*range(8, 200), *(chance.randrange(len(whole)) for _ in range(300)), len(whole) - 1]
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << chance.randrange(8)
        with pytest.raises((InvalidRule, UnknownVersion), match=r"again with `undust rules compile`$"):
            RuleSet.loads(bytes(damaged), name="rules.undust")
    for wrong in (whole[:-1], whole[:100], whole[:8], whole[: len(whole) // 2], whole + b"\0", whole * 2):
        path.write_bytes(wrong)
        with pytest.raises(InvalidRule, match=r"rules\.undust: the compiled rule file is damaged, as it is "):
            load(path)
    version = bytearray(whole)
    version[8] += 1
    path.write_bytes(version)
    with pytest.raises(
        UnknownVersion, match="another version of undust, or another kind of machine, wrote it"
    ):
        load(path)


def test_a_compiled_file_is_not_written_over_with_rules(many: RuleSet, tmp_path: Path) -> None:
    """A change of its rules names the source as the place for it."""
    many.compile_to(tmp_path / "rules.undust")
    with pytest.raises(RuleError, match="is not changed; change its source and compile that again"):
        load(tmp_path / "rules.undust").disable(many[0].id).save(tmp_path / "rules.undust")


def test_rules_of_some_sites(many: RuleSet) -> None:
    """Only they and the rules for all sites are left."""
    some = many.of_sites(["S3.test", "none.test"])
    assert {rule.site for rule in some} == {"s3.test", "*"}
    assert some.compile()("http://s3.test/a3/?sid=1") == many.compile()("http://s3.test/a3/?sid=1")
    assert RuleSet([Rule.parse("keep {s}://{h}/", site="a.test")]).of_sites([]).raw == []
