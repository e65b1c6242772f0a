"""One rule: as an object, as a line of text, as JSON."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from tests.rules.evidenced import evidenced_rules
from tests.strategies import rules
from undust.errors import InvalidRule
from undust.rules import Rule

LINES = (
    'replace ".php3?" → "?"',
    "rewrite http://{h}/{*}/dp/{asin} → http://{h}/dp/{asin}",
    "rewrite {s}://{h}/w/index.php?title={t} → {s}://{h}/wiki/{t}",
    "rewrite {s}://{h}/{p**}?{**:utm_*|sid}&{rest**} → {s}://{h}/{p}?{rest}",
    "rewrite {s}://{h}/{p**}/index.html?{rest**} → {s}://{h}/{p}/?{rest}",
    "rewrite {s}://{*:us|de|fr}.php.net/{p**} → {s}://us.php.net/{p}",
    "rewrite {s}://{h}/print.pl?sid={y}/{m}/{d}/{n} → {s}://{h}/newsvac/{y}/{m}/{d}/-{n}.shtml",
    "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p:lower}?{rest:sorted}",
    "rewrite {s}://{h}/{p**}?ref={**}&{rest**} → {s}://{h}/{p}?{rest} unless ?lang={*}",
    "keep {s}://{h}/{p**}?do=edit&{rest**}",
    "keep {s}://{h}/{p**}?{rest**} when ?a,b, /x/{**} unless ?do=show, https://{h}",
)
UNKNOWN_CLASS = "the class 'number' is not known; write int, alpha, hex, word, uuid, date or a list a|b"


@pytest.mark.parametrize("line", LINES)
def test_a_printed_rule_is_the_line_that_was_parsed(line: str) -> None:
    """Every rule that the documentation shows prints as it is written."""
    assert str(Rule.parse(line, site="php.net")) == line


@given(rules())
def test_parsing_what_was_printed_gives_the_rule(data: dict[str, Any]) -> None:
    """parse(print(rule)) = rule, as far as a line says it: not its status, not its exceptions."""
    rule = Rule.from_json({key: data[key] for key in data if key not in {"status", "except_sites"}})
    assert Rule.parse(str(rule), site=rule.site) == rule


@given(evidenced_rules())
def test_json_round_trip_is_exact(data: dict[str, Any]) -> None:
    """A rule keeps its evidence and every key that nobody knows, to the bit."""
    rule = Rule.from_json(data)
    assert Rule.from_json(rule.to_json()) == rule
    kept = {key: value for key, value in data.items() if value not in (None, [])}
    assert {key: value for key, value in rule.to_json().items() if key in kept} == kept
    assert pickle.loads(pickle.dumps(rule)) == rule  # noqa: S301 -- our own bytes


def test_layout_of_a_line_does_not_matter() -> None:
    """White space between the parts is free, and `->` is read as an arrow."""
    loose = Rule.parse('  replace   ".php3?"   ->   "?"   when   ?a,   /b  ', site="shop.test")
    assert str(loose) == 'replace ".php3?" → "?" when ?a, /b'


def test_a_space_in_a_pattern_prints_as_the_triplet_that_it_means() -> None:
    """A side of the text form ends at white space, so a space inside is written as %20."""
    rule = Rule("shop.test", "rewrite", "{s}://{h}/a b", "{s}://{h}/c d")
    assert str(rule) == "rewrite {s}://{h}/a%20b → {s}://{h}/c%20d"


def test_the_id_is_a_hash_of_what_the_rule_says_and_of_nothing_else() -> None:
    """Golden values: ids are in other people's files."""
    rule = Rule.parse('replace ".php3?" -> "?"', site="shop.test")
    assert rule.id == "141301a69d8ab534"
    assert replace(rule, status="disabled", support=4).id == rule.id
    changed: list[dict[str, Any]] = [
        {"site": "*"},
        {"source": ".php4?"},
        {"target": "??"},
        {"when": ("?a",)},
        {"unless": ("?a",)},
        {"kind": "rewrite", "source": "{s}://{h}/a", "target": "{s}://{h}/b"},
    ]
    ids = {replace(rule, **change).id for change in changed}
    assert len(ids | {rule.id}) == len(changed) + 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "the kind '' is not known; write replace, rewrite or keep"),
        ("remove /a", "the kind 'remove' is not known; write replace, rewrite or keep"),
        ("keep {s}://{h}/{p", "column 16: the brace '{' is not closed; write '}', or %7B for the character"),
        ("keep {s}://{h}/{n:number}", f"column 19: {UNKNOWN_CLASS}"),
        ("rewrite {s}://{h}/{a}", "column 22: the right side is missing; write → and the URL to rewrite to"),
        (
            "rewrite {s}://{h}/{a} → {s}://{h}/{b}",
            "column 35: the right side writes '{b}', which was never matched; add it to the left",
        ),
        (
            "rewrite {s}://{h}/{a} → {s}://{h}/{a:upper}",
            "column 38: the form 'upper' is not known here; write one of lower, capital, plain, any",
        ),
        (
            "rewrite {s}://{h}/{a}{b} → {s}://{h}/{a}",
            "column 19: adjacent captures have characters in common; put a literal between them",
        ),
        ("keep {s}://{h}/é{n:number}", f"column 20: {UNKNOWN_CLASS}"),
    ],
)
def test_a_wrong_line_is_told_with_its_column_and_its_mend(text: str, sentence: str) -> None:
    """The sentence names the part, the column, and what to write instead."""
    with pytest.raises(InvalidRule) as caught:
        Rule.parse(text, site="shop.test")
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"support": -1}, '"support": is no whole number from 0 on; correct it or leave it out'),
        ({"support": True}, '"support": is no whole number from 0 on; correct it or leave it out'),
        ({"fpr": 1.5}, '"fpr": is no number from 0 to 1; correct it or leave it out'),
        ({"learned_by": ["tree"]}, '"learned_by": is no text; correct it or leave it out'),
        (
            {"examples": ["http://a.test/"]},
            '"examples": is no list of pairs of URLs; correct it or leave it out',
        ),
        (
            {"validated": {"when": "2030-01-01"}},
            "\"validated\": is no object with the texts 'when' and 'how'; correct it or leave it out",
        ),
    ],
)
def test_wrong_evidence_is_told_with_its_field(fields: dict[str, Any], sentence: str) -> None:
    """Evidence comes from many hands, so its types are checked when a rule is made."""
    said = {"site": "shop.test", "kind": "keep", "from": "{s}://{h}/a"}
    with pytest.raises(InvalidRule) as caught:
        Rule.from_json(said | fields)
    assert str(caught.value) == sentence
