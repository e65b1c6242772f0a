"""The core against the conformance file and against its slow twin: two readings of one language."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.rules import Canonicalizer as SlowTwin
from tests.strategies import RuleFields, hostile_urls, limited_rule_sets, rule_sets, urls
from undust import _core
from undust.rules.compiled import acting
from undust.urls.url import suffixes

CASES: list[dict[str, Any]] = [
    json.loads(line)
    for line in files("undust").joinpath("rules/conformance.jsonl").read_text("utf-8").splitlines()
]
ANSWERS = [case for case in CASES if "error" not in case]
ERRORS = [case for case in CASES if "error" in case]


def spelled_out(rule: dict[str, Any]) -> dict[str, Any]:
    """Return a rule with the keys of a rule file, where it was given as one line of text."""
    if "text" not in rule:
        return rule
    kind, source, target, when, unless = _core.parse_rule(rule["text"])
    said: dict[str, Any] = {"kind": kind, "from": source, "when": when, "unless": unless}
    if target is not None:
        said["to"] = target
    return {key: value for key, value in rule.items() if key != "text"} | said


def program(rules: list[RuleFields] | list[dict[str, Any]]) -> _core.Program:
    """Return the rules as a program of the core."""
    return _core.Program(acting([spelled_out(dict(rule)) for rule in rules]), suffixes())


@pytest.mark.parametrize("case", ANSWERS, ids=lambda case: case["about"])
def test_answers(case: dict[str, Any]) -> None:
    """The canonical URL and the key are as the file says, and are their own."""
    core = program(case["rules"])
    assert (core.canonical(case["url"]), core.key(case["url"])) == (case["canonical"], case["key"])
    again = core.canonical(case["canonical"]), core.key(case["canonical"])
    assert again == (case["canonical"], case["key"])


@pytest.mark.parametrize("case", ERRORS, ids=lambda case: case["about"])
def test_refusals(case: dict[str, Any]) -> None:
    """The rule is refused, and the message has the word."""
    with pytest.raises(ValueError, match=f"(?i){case['error']}"):
        program(case["rules"])


@given(rule_sets() | limited_rule_sets(), st.lists(urls() | hostile_urls(), min_size=1, max_size=8))
def test_core_equals_its_twin(rules: list[RuleFields], some: list[str]) -> None:
    """Two engines, written apart from one text, agree on every rule set and every URL."""
    core, twin = program(rules), SlowTwin(rules)
    for url in some:
        assert (core.canonical(url), core.key(url)) == (twin.canonical(url), twin.key(url)), url


@given(rule_sets() | limited_rule_sets(), st.lists(urls() | st.none(), min_size=2, max_size=8))
def test_batches_equal_single_urls(rules: list[RuleFields], some: list[str | None]) -> None:
    """A column gives what its URLs give, nulls and slices included."""
    core = program(rules)
    column = pa.array([*some, None], pa.string())[1:]
    for ask, single in ((False, core.canonical), (True, core.key)):
        expected = [None if url is None else single(url) for url in column.to_pylist()]
        assert pa.array(core.batch(column, keys=ask)).to_pylist() == expected


def test_threads_change_nothing() -> None:
    """Columns and lines that are worth several threads give the same on one, two, three and eight."""
    answers = [case for case in ANSWERS if len(case["url"]) < 1000 and case["url"].isprintable()]
    rules = [rule for case in answers[:40] for rule in case["rules"]]
    core = program(rules)
    column = pa.array([case["url"] for case in answers] * 24 + [None])
    lines = "".join(f"{case['url']}\n" for case in answers * 24).encode()
    for keys in (False, True):
        expected = pa.array(core.batch(column, keys=keys)), core.lines(lines, keys=keys)
        for threads in (2, 3, 8):
            found = pa.array(core.batch(column, keys=keys, threads=threads))
            assert found.equals(expected[0])
            assert core.lines(lines, keys=keys, threads=threads) == expected[1]


@given(rule_sets() | limited_rule_sets(), urls() | hostile_urls())
def test_promises(rules: list[RuleFields], url: str) -> None:
    """It is idempotent, keeps the site, and the key of a canonical form is the key."""
    core = program(rules)
    canonical = core.canonical(url)
    assert core.canonical(canonical) == canonical
    assert core.key(canonical) == core.key(url)
    assert suffixes().site(canonical) == suffixes().site(url)


@given(rule_sets())
def test_rules_are_printed_as_they_are_read(rules: list[RuleFields]) -> None:
    """Reading what was printed gives the same rule, printed the same."""
    for rule in rules:
        said = spelled_out(dict(rule))
        side = '"{}"'.format if said["kind"] == "replace" else str
        target = f" → {side(said['to'])}" if "to" in said else ""
        conditions = "".join(
            f" {name} {', '.join(said[name])}" for name in ("when", "unless") if said.get(name)
        )
        text = f"{said['kind']} {side(said['from'])}{target}{conditions}"
        kind, source, written, when, unless = _core.parse_rule(text)
        again = f"{kind} {side(source)}" + (f" → {side(written)}" if written is not None else "")
        for name, each in (("when", when), ("unless", unless)):
            again += f" {name} {', '.join(each)}" if each else ""
        assert _core.parse_rule(again) == (kind, source, written, when, unless)


SHORT_CUTS = {
    "what would have a user in it": (['replace "//b." → "//u@b."'], "http://b.a.test/x", "http://b.a.test/x"),
    "a literal at the end is no half of a triplet": (
        ["rewrite {s}://{h}/{x}1 → {s}://{h}/{x}"],
        "http://a.test/%C3%A1",
        "http://a.test/%C3%A1",
    ),
    "a literal at the end is one": (
        ["rewrite {s}://{h}/{x}1 → {s}://{h}/{x}"],
        "http://a.test/%C3%A11",
        "http://a.test/%C3%A1",
    ),
    "dots that a written slash makes a segment": (
        ['replace "-." → "/."'],
        "http://a.test/a-../c",
        "http://a.test/c",
    ),
    "dots behind a written slash": (['replace "-" → "/"'], "http://a.test/a-../c", "http://a.test/c"),
    "a text of more than 64 bytes between two captures": (
        [f"rewrite {{s}}://{{h}}/{{x:int}}{'-long' * 20}{{y}}-end → {{s}}://{{h}}/{{y}}{{x}}"],
        f"http://a.test/12{'-long' * 21}-end",
        "http://a.test/-long12",
    ),
    "a place behind the path": (['replace "=b/." → "="'], "http://a.test/a?x=b/./c", "http://a.test/a?x=/c"),
}


@pytest.mark.parametrize("case", SHORT_CUTS.values(), ids=SHORT_CUTS)
@pytest.mark.parametrize("others", [0, 9], ids=["by themselves", "among many"])
def test_short_cuts_of_the_core(case: tuple[list[str], str, str], others: int) -> None:
    """Where it need not look at all of a URL it sees what its twin sees, who looks at all of it."""
    lines, url, expected = case
    more = [f"rewrite {{s}}://{{h}}/never{n}/{{p**}} → {{s}}://{{h}}/{{p}}" for n in range(others)]
    rules = [spelled_out({"site": "a.test", "text": line}) for line in [*more, *lines]]
    assert program(rules).canonical(url) == SlowTwin(rules).canonical(url) == expected


def test_each_of_thousands_of_rules_is_found() -> None:
    """However full the index is; a word that no rule has finds none."""
    lines = [f"rewrite {{s}}://{{h}}/word{n}/{{p**}} → {{s}}://{{h}}/{{p}}" for n in range(3000)]
    core = program([spelled_out({"site": "a.test", "text": line}) for line in lines])
    urls = pa.array([f"http://a.test/word{n}/{n}" for n in range(3100)])
    expected = [f"http://a.test/{n}" if n < 3000 else f"http://a.test/word{n}/{n}" for n in range(3100)]
    assert pa.array(core.batch(urls, keys=False)).to_pylist() == expected


@given(st.permutations(range(8)), st.permutations(range(8)))
def test_the_first_rule_of_the_file_goes_first(order: list[int], places: list[int]) -> None:
    """Wherever in the URL the words stand by which the rules are found."""
    lines = [f"rewrite {{s}}://{{h}}/{{p**}}?w{n}={{**}}&{{rest**}} → {{s}}://{{h}}/first{n}" for n in order]
    rules = [spelled_out({"site": "a.test", "text": line}) for line in lines]
    url = f"http://a.test/x?{'&'.join(f'w{place}=1' for place in places)}"
    assert program(rules).canonical(url) == f"http://a.test/first{order[0]}"
