"""Patterns taken apart: what two of them have in common, and which leave something open."""

from __future__ import annotations

import pytest

from undust.rules.pattern import Pattern, meet

MEETINGS = [
    ("{s}://{h}/a/{x}", "http://{h}/{y}/b", "http://{h}/a/b"),
    ("{s}://{h}/a", "{s}://{h}/b", None),
    ("http://{h}/a", "https://{h}/a", None),
    ("{s}://{h}/a?x={v}&{r**}", "{s}://{h}/a?y=1&{r**}", "{s}://{h}/a?x={v}&y=1&{r**}&{r**}"),
    ("{s}://{h}/a?x=1", "{s}://{h}/a?y=1", None),
    ("{s}://{h}/a?x=1&{r**}", "{s}://{h}/a?x=2&{r**}", None),
    ("{s}://{h}/a?x={**}&{r**}", "{s}://{h}/a?x=5&{r**}", "{s}://{h}/a?x=5&{r**}&{r**}"),
    ("{s}://{h}/a?x&{r**}", "{s}://{h}/a?x=5&{r**}", None),
    ("{s}://{h}/a?x&{r**}", "{s}://{h}/a?x&{r**}", "{s}://{h}/a?x&{r**}&{r**}"),
    ("{s}://www.a.test/{p**}", "{s}://{h}/x/y", "{s}://www.a.test/x/y"),
    ("{s}://{a}.test/", "{s}://{b}/", "{s}://{a}.test/"),
    ("{s}://a.test:81/", "{s}://a.test:82/", None),
    ("{s}://a.test:81/", "{s}://{h}/", "{s}://a.test:81/"),
    ("{s}://{h}/{p**}/z", "{s}://{h}/a/b/z", "{s}://{h}/a/b/z"),
    ("{s}://{h}/a-{x}", "{s}://{h}/{y}", "{s}://{h}/a-{x}"),
    ("{s}://{h}/a-{x}", "{s}://{h}/a-7", "{s}://{h}/a-7"),
    ("{s}://localhost/", "{s}://{h}/", "{s}://localhost/"),
    ("{s}://localhost/", "{s}://intranet/", None),
    ("{s}://localhost/", "{s}://a.test/", None),
]


@pytest.mark.parametrize(("first", "second", "expected"), MEETINGS)
def test_what_two_patterns_have_in_common(first: str, second: str, expected: str | None) -> None:
    """A pattern for URLs of both, whichever comes first; or that there can be none."""
    met = meet(Pattern.parse(first), Pattern.parse(second))
    assert (None if met is None else str(met)) == expected
    assert (meet(Pattern.parse(second), Pattern.parse(first)) is None) == (expected is None)


@pytest.mark.parametrize(
    "text",
    ["{s}://{h}/", "http://www.a.test:81/a/{x:int}-{y}?b={*}&c&{k**:x|y}&{**}", "/a/{p**}", "?lang={*}"],
)
def test_a_pattern_is_written_as_it_is_read(text: str) -> None:
    """Taking it apart loses nothing."""
    assert str(Pattern.parse(text, is_condition=not text.startswith(("{", "http")))) == text


def test_what_is_open() -> None:
    """Only `{rest**}`, or a condition that says nothing of the query, lets other parameters through."""
    assert Pattern.parse("{s}://{h}/a?{r**}").is_open
    assert not Pattern.parse("{s}://{h}/a?{k**:x}").is_open
    assert not Pattern.parse("{s}://{h}/a").is_open
    assert Pattern.parse("/a", is_condition=True).is_open
    condition = Pattern.parse("?lang={*}", is_condition=True)
    assert (condition.path, condition.host, condition.scheme) == (None, None, None)
    assert Pattern.parse("{s}://{h}").path == ((),)
