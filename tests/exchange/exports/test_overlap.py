"""The index of patterns gives every pattern that may meet another, and few of those that do not."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given

from bench.export_times import KINDS, many
from tests import strategies
from tests.exchange.exports import shop
from undust import RuleSet
from undust.exchange.exports.overlap import PathIndex, image, may_meet
from undust.rules.pattern import Pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust import Rule

SEGMENTS = (
    "a",
    "b",
    "a.html",
    "b.html",
    "a-{x}",
    "b-{x}",
    "{x}.html",
    "{x}.php",
    "{x:int}",
    "{x}",
    "x.{x}.html",
)
QUERIES = (
    "",
    "?a",
    "?a=1",
    "?a=2",
    "?b=1",
    "?a=1&b=2",
    "?b={v}&a=1",
    "?a=1&a=2",
    "?a={v:int}",
    "?a={**}",
    "?a=",
)
REST = ("?{rest**}", "?a=1&{rest**}", "?{**:a|b}&{rest**}")


def patterns_of(rules: Sequence[Rule]) -> list[Pattern]:
    """What rules match, and what they write."""
    found = []
    for rule in rules:
        if rule.kind != "replace":
            found.append(Pattern.parse(rule.source))
        if rule.kind == "rewrite":
            found.append(image(found[-1], Pattern.parse(rule.target or "")))
    return found


def made_up(count: int, seed: int) -> list[Pattern]:
    """Patterns of few pieces, so that many meet and many nearly do."""
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        segments = [chance.choice(SEGMENTS) for _ in range(chance.randint(1, 4))]
        if chance.random() < 0.4:
            segments[chance.randrange(len(segments))] = "{p**}"
        named = [text.replace("{x", f"{{x{place}") for place, text in enumerate(segments)]
        host = chance.choice(("{h}", "{h}", "shop.test", "{l}.shop.test"))
        query = chance.choice(QUERIES + REST)
        found.append(Pattern.parse(f"{{s}}://{host}/{'/'.join(named)}{query}"))
    return found


def require_all(patterns: Sequence[Pattern]) -> None:
    """No pattern that may meet another is missing among its candidates, and none is given twice."""
    index = PathIndex()
    for number, pattern in enumerate(patterns):
        index.add(pattern, number)
    for pattern in patterns:
        given = list(index.candidates(pattern))
        assert len(given) == len(set(given))
        missing = {number for number, other in enumerate(patterns) if may_meet(pattern, other)} - set(given)
        assert not missing, (str(pattern), [str(patterns[number]) for number in missing])


@pytest.mark.parametrize("seed", range(4))
def test_no_pattern_that_may_meet_is_missing(seed: int) -> None:
    """Among hundreds of patterns that are made of few pieces."""
    patterns = made_up(150, seed)
    assert not all(may_meet(patterns[0], other) for other in patterns)
    require_all([*patterns, *patterns_of(list(shop.everything()))])


@given(strategies.rule_sets())
def test_of_any_rules(rules: list[dict[str, Any]]) -> None:
    """What rules match and write; a few are not parted, so that each is there several times."""
    require_all(patterns_of([rule for each in rules for rule in RuleSet([each])]) * 4)


@pytest.mark.parametrize("kind", list(KINDS))
def test_few_are_given_that_do_not_meet(kind: str) -> None:
    """Each of many rules of a kind is distinguished from nearly all others."""
    sources = [Pattern.parse(rule.source) for rule in many(kind, 200)]
    index = PathIndex()
    for number, pattern in enumerate(sources):
        index.add(pattern, number)
    for pattern in sources[:20]:
        others = [number for number in index.candidates(pattern) if not may_meet(pattern, sources[number])]
        assert len(others) < 20, (str(pattern), len(others))
