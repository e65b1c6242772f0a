"""Two captures with a text between them: the first takes as much as it can, wherever the text stands."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from undust.rules import Canonicalizer, Rule, RuleSet

RUNS = {"": "[^/;]+", ":int": "[0-9]+", ":word": "[A-Za-z0-9_-]+", ":one|a-b|-": "(?:one|a-b|-)"}
LITERALS = ("-", "--", "-a-", "::")


def rewriting(left: str, literal: str, right: str) -> Canonicalizer:
    """Return what exchanges two captures of a segment."""
    text = f"rewrite {{s}}://{{h}}/x/{{a{left}}}{literal}{{b{right}}} → {{s}}://{{h}}/y/{{b}}/{{a}}"
    return RuleSet([Rule.parse(text, site="a.test")]).compile()


CASES = [
    (rewriting(left, literal, right), re.compile(f"({RUNS[left]}){re.escape(literal)}({RUNS[right]})"))
    for left in RUNS
    for literal in LITERALS
    for right in RUNS
]


@given(
    st.text("a1-:;", max_size=14)
    | st.lists(st.sampled_from(["-", "one", "a-b", "7", "::", "a"])).map("".join)
)
@example("-" * 12)
@example("a-7-a-7-a-7-a-7-a-b")
@example("one-one")
def test_as_a_greedy_regular_expression(segment: str) -> None:
    """Python's `re` gives the same two texts, or finds none either."""
    url = f"http://a.test/x/{segment}"
    for canonicalize, pattern in CASES:
        found = pattern.fullmatch(segment)
        expected = f"http://a.test/y/{found[2]}/{found[1]}" if found else url
        assert canonicalize(url) == expected, pattern.pattern


@pytest.mark.parametrize(
    ("segment", "expected"),
    [("x%2Fy", "x/x%2Fy"), ("x2y%2Fz", "y/y%2Fz/x"), ("a%2F2b", "y/b/a%2F"), ("%E2%82%AC", "x/%E2%82%AC")],
)
def test_escaped_bytes_are_never_cut(segment: str, expected: str) -> None:
    """A percent sign and its two digits are one character."""
    found = rewriting("", "2", "")(f"http://a.test/x/{segment}")
    assert found == f"http://a.test/{expected}"
