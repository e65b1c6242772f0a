"""The slow rule engine keeps the promises of the language, and answers the conformance file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given

from tests.oracles.normalize import normalize
from tests.oracles.rule_reading import read_rule
from tests.oracles.rule_syntax import RuleError
from tests.oracles.rules import MOST_BYTES, MOST_STEPS, Canonicalizer, repeating_part, site_of
from tests.strategies import RuleFields, hostile_urls, limited_rule_sets, rule_sets, rules, urls

CONFORMANCE = Path(__file__).parents[2] / "src" / "undust" / "rules" / "conformance.jsonl"
CASES: list[dict[str, Any]] = [
    json.loads(line) for line in CONFORMANCE.read_text(encoding="utf-8").splitlines()
]
ANSWERS = [case for case in CASES if "error" not in case]
ERRORS = [case for case in CASES if "error" in case]


def names(cases: list[dict[str, Any]]) -> list[str]:
    """What a failing case is called."""
    return [f"{at}: {case['about']}" for at, case in enumerate(cases)]


def test_there_are_enough_cases() -> None:
    """At least 450 cases, each of them once, with errors among them."""
    distinct = {json.dumps([case["rules"], case.get("url")]) for case in CASES}
    assert len(distinct) == len(CASES) >= 450
    assert len(ERRORS) >= 100


@pytest.mark.parametrize("case", ANSWERS, ids=names(ANSWERS))
def test_answers(case: dict[str, Any]) -> None:
    """The canonical URL and the key are as the file says, and stay so when asked again."""
    canonicalizer = Canonicalizer(case["rules"])
    found = canonicalizer.explain(case["url"])
    assert (found.canonical, found.key) == (case["canonical"], case["key"])
    again = canonicalizer.explain(found.canonical)
    assert (again.canonical, again.key) == (case["canonical"], case["key"])


@pytest.mark.parametrize("case", ERRORS, ids=names(ERRORS))
def test_errors(case: dict[str, Any]) -> None:
    """The rule is refused, and the message has the word."""
    with pytest.raises(RuleError) as refused:
        Canonicalizer(case["rules"])
    assert case["error"].lower() in str(refused.value).lower()


@given(hostile_urls() | urls())
def test_normalization_is_idempotent(url: str) -> None:
    """A normalized URL is its own normal form."""
    assert normalize(normalize(url)) == normalize(url)


@given(rules())
def test_random_rules_are_readable(rule: RuleFields) -> None:
    """The strategies draw no rule that would be refused."""
    read_rule(rule)


@given(rule_sets() | limited_rule_sets(), urls() | hostile_urls())
@example([{"site": "*", "kind": "replace", "from": "a", "to": "a.a"}], "http://example.com/a")
def test_promises(rule_set: list[RuleFields], url: str) -> None:
    """It ends, is idempotent, and never leaves the site; the key belongs to the canonical URL."""
    canonicalizer = Canonicalizer(rule_set)
    found = canonicalizer.explain(url)
    assert len(found.steps) <= MOST_STEPS + 1
    assert site_of(found.canonical) == site_of(url)
    assert normalize(found.canonical) == found.canonical
    assert canonicalizer.canonical(found.canonical) == found.canonical
    assert canonicalizer.key(found.canonical) == found.key
    if not any(":any" in str(rule.get("to")) or rule.get("fetch") is False for rule in rule_set):
        assert found.key == found.canonical


@given(rule_sets() | limited_rule_sets(), urls())
def test_members_of_a_cycle_get_one_result(rule_set: list[RuleFields], url: str) -> None:
    """Every URL of the repeating part leads to the same canonical URL and key; so do all before it."""
    canonicalizer = Canonicalizer(rule_set)
    found = canonicalizer.explain(url)
    if found.outcome != "resolved":
        assert found.canonical == normalize(url)
        return
    orbit = [step.url for step in found.steps]
    assert found.canonical in repeating_part(orbit)
    for member in orbit[:: len(orbit) // 8 + 1]:
        assert canonicalizer.canonical(member) == found.canonical
        assert canonicalizer.key(member) == found.key


def test_length_is_that_of_the_normalized_url() -> None:
    """A URL that grows past the limit by normalization is skipped, one that shrinks below it is not."""
    rule_set = [{"site": "*", "text": "rewrite {s}://{h}/x/{**} → {s}://{h}/y"}]
    canonicalizer = Canonicalizer(rule_set)
    grows = "http://example.com/x/" + " " * 30_000 + "a"
    assert canonicalizer.explain(grows).outcome == "skipped"
    assert len(canonicalizer.canonical(grows)) > MOST_BYTES > len(grows)
    shrinks = "http://example.com/x/" + "a/../" * 20_000
    assert canonicalizer.canonical(shrinks) == "http://example.com/y"


def test_a_step_past_the_limit_is_unresolved() -> None:
    """A rule whose result is too long ends the orbit, and the URL stays as it was."""
    rule_set = [{"site": "*", "text": f"rewrite {{s}}://{{h}}/y/{{x}} → {{s}}://{{h}}/{'z' * 300}/{{x}}"}]
    url = "http://example.com/y/" + "a" * 65_400
    assert Canonicalizer(rule_set).explain(url).outcome == "unresolved"
    assert Canonicalizer(rule_set).canonical(url) == url


def test_matching_takes_no_exponential_time() -> None:
    """Many captures with the same literal between them, on a text full of that literal, that cannot match."""
    many = "-".join(f"{{x{at}}}" for at in range(30))
    rule_set = [{"site": "*", "text": f"rewrite {{s}}://{{h}}/{many}! → {{s}}://{{h}}/"}]
    url = "http://example.com/" + "-" * 3_000
    assert Canonicalizer(rule_set).canonical(url) == url


def documented_examples() -> list[tuple[tuple[str, ...], str, str, str]]:
    """Rules, URL, canonical URL and key of each example of docs/rules.md."""
    page = (Path(__file__).parents[2] / "docs" / "rules.md").read_text(encoding="utf-8")
    out = []
    for block in re.findall(r"^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        rule_lines: list[str] = []
        met_urls = False
        for line in block.splitlines():
            if re.match(r"(replace|rewrite|keep) ", line):
                rule_lines = [line] if met_urls else [*rule_lines, line]
                met_urls = False
            elif line.startswith("    http"):
                url, canonical, *key = line.split()
                canonical = url if canonical == "=" else canonical
                out.append((tuple(rule_lines), url, canonical, key[0] if key else canonical))
                met_urls = True
    return out


def test_the_examples_of_the_documentation() -> None:
    """Every example in the description of the language is true."""
    examples = documented_examples()
    assert len(examples) > 50
    for lines, url, canonical, key in examples:
        found = Canonicalizer([{"site": "*", "text": line} for line in lines]).explain(url)
        assert (found.canonical, found.key) == (canonical, key), (lines, url)
