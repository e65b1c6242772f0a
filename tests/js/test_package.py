"""The npm package says what undust says: rules, URLs, messages; and it holds what it should."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import REPOSITORY
from tests.js.package import PACKAGE, answers, built, run
from tests.strategies import RuleFields, hostile_urls, limited_rule_sets, rule_sets, urls
from undust._core import parse_rule
from undust.errors import InvalidRule
from undust.rules import RuleSet
from undust.rules.language import Problem, asked
from undust.urls.url import normalize

CASES: list[dict[str, Any]] = [
    json.loads(line)
    for line in files("undust").joinpath("rules/conformance.jsonl").read_text("utf-8").splitlines()
]
MOST_PACKED_BYTES = 400_000


def spelled_out(rule: dict[str, Any]) -> dict[str, Any]:
    """Return a rule with the keys of a rule file."""
    if "text" not in rule:
        return rule
    try:
        kind, source, target, when, unless = asked(parse_rule, rule["text"])
    except Problem as problem:
        raise Problem(problem.message, column=problem.column) from None  # as for a line, so without a field
    said = {"kind": kind, "from": source, "to": target, "when": when, "unless": unless}
    return {key: value for key, value in rule.items() if key != "text"} | said


def expected(rules: list[dict[str, Any]], some: list[str]) -> Any:  # noqa: ANN401 -- JSON
    """Return what Python says."""
    try:
        canonicalize = RuleSet([spelled_out(dict(rule)) for rule in rules]).compile()
    except InvalidRule as problem:
        return {"error": str(problem)}
    found = []
    for url in some:
        said = canonicalize.explain(url)
        explained = {
            "url": said.url,
            "normalized": said.normalized,
            "steps": [[step.number, step.url] for step in said.steps],
            "canonical": said.canonical,
            "compared": [[step.number, step.url] for step in said.compared],
            "masks": [[step.number, step.url] for step in said.masks],
            "key": said.key,
            "outcome": said.outcome,
        }
        found.append(
            {
                "canonical": canonicalize(url),
                "key": canonicalize.key(url),
                "normalized": normalize(url),
                "explained": explained,
            }
        )
    return found


@cache
def answers_to_cases(entry: str, step: int) -> list[Any]:
    """Return what the package says to the cases of the conformance file, or to one in so many.

    Cases with the same rules are asked together: to load them takes longer than the answers.
    """
    asked: dict[str, dict[str, Any]] = {}
    places = []
    for case in CASES[::step]:
        rules = json.dumps(case["rules"])
        some = asked.setdefault(rules, {"rules": case["rules"], "urls": []})["urls"]
        places.append((rules, slice(len(some), len(some) + ("url" in case))))
        some += [case["url"]] if "url" in case else []
    found = dict(zip(asked, answers([*asked.values()], entry), strict=True))
    return [found[rules] if "error" in found[rules] else found[rules][place] for rules, place in places]


@pytest.mark.parametrize(("entry", "step"), [("node.js", 1), ("browser.js", 7)])
def test_all_conformance_cases_hold(entry: str, step: int) -> None:
    """Every answer is the one of the file, and every refusal has its word.

    The entry for browsers has the same module inside a script, so that some of the cases are enough.
    """
    wrong = []
    for case, found in zip(CASES[::step], answers_to_cases(entry, step), strict=True):
        if "error" in case:
            holds = "error" in found and case["error"].lower() in found["error"].lower()
        else:
            holds = found[0]["canonical"] == case["canonical"] and found[0]["key"] == case["key"]
        if not holds:
            wrong.append((case["about"], found))
    assert len(CASES) > 900
    assert wrong == []


def test_messages_and_explanations_are_those_of_python() -> None:
    """To the letter, with the number of the rule, its field and the column."""
    for case, found in zip(CASES, answers_to_cases("node.js", 1), strict=True):
        assert found == expected(case["rules"], [case["url"]] if "url" in case else []), case["about"]


def test_rules_of_many_cases_on_urls_of_all() -> None:
    """A large set on every URL of the file, and on normal forms that are known."""
    rules: dict[str, dict[str, Any]] = {}
    for case in CASES:
        if "error" not in case and len(case.get("url", "")) < 1000:
            for rule in map(spelled_out, map(dict, case["rules"])):
                rules.setdefault(
                    json.dumps([rule.get(key) for key in ("site", "kind", "from", "to", "when", "unless")]),
                    rule,
                )
    some = [case["url"] for case in CASES if len(case.get("url", "x" * 1000)) < 1000]
    golden = (REPOSITORY / "tests" / "golden" / "normalize.tsv").read_text(encoding="utf-8").splitlines()
    some += [line.split("\t")[0] for line in golden]
    several = [rule for rule in rules.values() if rule["site"] != "*"]
    assert len(several) > 300
    assert answers([{"rules": several, "urls": some}]) == [expected(several, some)]


@settings(max_examples=1)
@given(
    st.lists(
        st.tuples(
            rule_sets() | limited_rule_sets(), st.lists(urls() | hostile_urls(), min_size=20, max_size=40)
        ),
        min_size=8,
    )
)
def test_random_rules_on_hostile_urls(several: list[tuple[list[RuleFields], list[str]]]) -> None:
    """What the core and its twin agree on, the module agrees on too."""
    questions: list[dict[str, Any]] = [
        {"rules": [spelled_out(dict(rule)) for rule in rules], "urls": some} for rules, some in several
    ]
    assert answers(questions) == [expected(each["rules"], each["urls"]) for each in questions]


HALF = "\ud800"
ODD_URLS = (
    "", " ", "x", "http://", "mailto:a@b.test", f"http://a.test/{HALF}", "\ufeffhttp://a.test/", "http://ä.test/ü?ß=€",
    "http://a.test/" + "y" * 200, "http://a.test/" + "ü" * 200, "http://a.test/" + "z" * 70_000, "HTTP://A.test:80/x#y",
    "http://a.test/😀" * 40, "http://user@a.test/",
)  # fmt: skip


def test_any_text_is_answered() -> None:
    """Texts that are not URLs, halves of characters, and texts longer than the memory at the start."""
    rule = {"site": "a.test", "text": "rewrite {s}://{h}/{a} → {s}://{h}/new/{a}"}
    question = {"rules": [rule], "urls": list(ODD_URLS)}
    assert answers([question]) == [expected([rule], list(ODD_URLS))]


PROPOSED = json.dumps(
    {
        "format": "undust-rules",
        "version": 1,
        "rules": [{"site": "a.b", "kind": "keep", "from": "{s}://{h}/", "status": "proposed"}],
    }
)
WRONG_FILES = (
    ("{", "not JSON"),
    ("[]", "not a rule file"),
    ('{"format": "undust-rules"}', "no version"),
    ('{"format": "undust-rules", "version": 3, "rules": []}', "version 3"),
    (
        PROPOSED,
        'rule 1, "status": takes version 2',
    ),
    ('{"format": "undust-rules", "version": 1}', "no list of rules"),
    ('{"format": "undust-rules", "version": 1, "rules": [7]}', "rule 1: a rule is an object"),
    ('{"format": "undust-rules", "version": 1, "rules": [{"kind": "keep"}]}', 'rule 1, "site": .*missing'),
    (
        '{"format": "undust-rules", "version": 1, "rules": [{"site": "a.b", "kind": "keep", "from": "/{"}]}',
        'rule 1, "from"',
    ),
)
LOADED = """
const { load } = await import(process.argv[1]);
const said = [];
for (const text of JSON.parse(process.argv[2])) {
  for (const file of [text, new TextEncoder().encode(text)]) {
    try { load(file); said.push("loaded"); } catch (error) { said.push(`${error.name} ${error.message}`); }
  }
}
console.log(JSON.stringify(said));
"""


def test_a_wrong_file_is_refused_with_the_reason() -> None:
    """Given as text and as bytes."""
    texts = [text for text, _ in WRONG_FILES]
    said = json.loads(
        run(
            "node", "--input-type=module", "--eval", LOADED, (built() / "node.js").as_uri(), json.dumps(texts)
        )
    )
    for (_, message), once, again in zip(WRONG_FILES, said[::2], said[1::2], strict=True):
        assert re.match(f"RuleError .*{message}", once)
        assert once == again


def test_the_packed_package() -> None:
    """It holds the code, the module and the types, nothing of the build, and is small."""
    built()
    [packed] = json.loads(run("npm", "pack", "--dry-run", "--json", "--ignore-scripts", folder=PACKAGE))
    names = {each["path"] for each in packed["files"]}
    assert names == {
        "LICENSE", "README.md", "api.d.ts", "api.js", "browser.js", "core.js", "edge.js", "errors.js",
        "identity.js", "index.d.ts", "inline.js", "needs.js", "node.js", "package.json",
        "rules.js", "suffixes.js", "undust.wasm",
    }  # fmt: skip
    assert packed["size"] <= MOST_PACKED_BYTES
    text = "".join((PACKAGE / name).read_text(encoding="utf-8") for name in names if name.endswith(".js"))
    assert not re.search(r"\bfetch\(|XMLHttpRequest|https?://[a-z]", text)


def test_the_version_is_that_of_undust() -> None:
    """Both packages are released together."""
    own = json.loads((PACKAGE / "package.json").read_text(encoding="utf-8"))["version"]
    project = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    assert f'\nversion = "{own}"\n' in project


def test_types_name_what_every_entry_exports() -> None:
    """In the declarations and in the code there are the same names."""
    declared = set(
        re.findall(r"^export (?:function|class) (\w+)", (PACKAGE / "index.d.ts").read_text(), re.MULTILINE)
    )
    for entry in ("node.js", "browser.js", "edge.js"):
        text = (PACKAGE / entry).read_text(encoding="utf-8")
        exported = re.findall(r"^export (?:const )?\{ ([\w, ]+) \}", text, re.MULTILINE)
        assert {name.strip() for names in exported for name in names.split(",")} == declared
