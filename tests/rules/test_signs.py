"""Rules that need what a URL has not are passed over, and change nothing by that."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.rules import Canonicalizer as Oracle
from undust.rules import Rule, RuleSet

SITE = "shop.test"
FORMS = (
    "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p:lower}?{rest}",
    "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p:plain}?{rest}",
    "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p}?{rest:lower}",
    "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p}?{rest:plain}",
    "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p}?{rest:amp}",
    "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p}?{rest:sorted}",
    "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p}?{rest:unique}",
    "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p}?{rest:first}",
    "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p}?{rest:last}",
    "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p:lower}?{rest:sorted} unless /keep/{**}",
    'replace "//" → "/"',
)
OTHERS = (
    "rewrite {s}://{h}/{p**}?{k**:a|b}&{**} → {s}://{h}/{p}?{k} when ?b={**}",
    "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/x?{rest} when ?a={**}, ?c={**}",
    "rewrite {s}://{h}/{p**}?a={x}&{rest**} → {s}://{h}/{p}?b={x}&{rest}",
    "rewrite {s}://{h}/{p**}?c={x}&{rest**} → {s}://{h}/{p}?{rest}&c={x}",
    "rewrite {s}://{h}/{p**}?h={x}&{rest**} → {s}://{h}/{p}?h={h}&{rest}",
    "rewrite {s}://{h}/aa/{p**}?{rest**} → {s}://{h}/{p}?{rest}",
    'replace "^http://www.shop.test/?" → "^http://www.shop.test/x?"',
    'replace "^http://www.shop.test/aa/" → "^http://www.shop.test/bb/"',
    'replace "/aa/" → "//"',
    "keep {s}://{h}/keep/{p**}?{rest**}",
)
names = st.sampled_from(("a", "b", "c", "A", "h", "a%2Fb"))
values = st.sampled_from(("=1", "=2", "=", "", "=x;y", "=%41%2f", "=Q+r", "=%7Cz"))
segments = st.sampled_from(("aa", "BB", "keep", "", "x%2fy", "c.D", "%7Cz"))
urls = st.builds(
    "{}://{}/{}{}".format,
    st.sampled_from(("http", "https")),
    st.sampled_from(("www.shop.test", "shop.test", "www.shop.test:8080")),
    st.lists(segments, max_size=4).map("/".join),
    st.one_of(
        st.sampled_from(("", "?", "?&", "?&&")),
        st.lists(st.builds("{}{}".format, names, values), min_size=1, max_size=10).map(
            lambda parts: f"?{'&'.join(parts)}"
        ),
    ),
)


SIGNED = (
    "rewrite {s}://{h}/:{a}?{rest**} → {s}://{h}/{a}?{rest}",
    "rewrite {s}://{h}/{a}::{b}?{rest**} → {s}://{h}/{a}:{b}?{rest}",
    "rewrite {s}://{h}/{a}:?{rest**} → {s}://{h}/{a}:start?{rest}",
    "rewrite {s}://{h}/{p**}/{a}&?{rest**} → {s}://{h}/{p}/{a}?{rest}",
    "rewrite {s}://{h}/{p**}/&{a}?{rest**} → {s}://{h}/{p}/{a}?{rest}",
    "rewrite {s}://{h}/{p**}/{x}.{*:HTML|html}?{rest**} → {s}://{h}/{p}/{x}?{rest}",
    "rewrite {s}://{h}/{w}:{a}?{rest**} → {s}://{h}/{w:lower}:{a}?{rest}",
    "rewrite {s}://{h}/{p**}/{w:int}-{a}?{rest**} → {s}://{h}/{p}/{w}-{a:plain}?{rest:sorted}",
    "rewrite {s}://{h}/{a:one|two}/{b}?{rest**} → {s}://{h}/{a}/{b:lower}?{rest:unique}",
    "rewrite {s}://{h}/{a}:START?{rest**} → {s}://{h}/{a}:start?{rest}",
    "rewrite {s}://{h}/{p**}/{x}/?{rest**} → {s}://{h}/{p}/{x}?{rest}",
    "rewrite {s}://{h}/one/{p**}/two/{a}?{rest**} → {s}://{h}/{p}/{a}?{rest}",
    "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p:lower}?{rest} when /{*}/{*}",
    "rewrite {s}://{h}/{p**}?a=1&{rest**} → {s}://{h}/{p}?{rest}",
    "rewrite {s}://{h}/{p**}?a=&{rest**} → {s}://{h}/{p}?{rest}",
    "rewrite {s}://{h}/{p**}?a&{rest**} → {s}://{h}/{p}?{rest}",
    "rewrite {s}://{h}/{p**}?a=b:c&{rest**} → {s}://{h}/{p}?a={p}&{rest}",
    "rewrite {s}://{h}/{p**}?b={x}&{rest**} → {s}://{h}/{p}?a={x}&{rest}",
    "rewrite {s}://{h}/{p**}?{k**:a|b}&{**} → {s}://{h}/{p}?{k} when ?a=1",
    "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p}?{rest:sorted}",
    "rewrite {s}://{h}/{p**}?{**:s_*}&{rest**} → {s}://{h}/{p}?{rest}",
    "rewrite {s}://www.shop.test/{p**}?{rest**} → {s}://shop.test/{p}?{rest}",
    "keep {s}://{h}/{p**}?a=keep:&{rest**}",
    'replace "?&" → "?"',
    'replace "&$" → "$"',
    'replace "=&b" → "=1&b"',
    'replace ":&" → "&"',
    'replace "/&" → "&"',
    'replace "=:" → "="',
    'replace "%3A" → ":"',
    'replace "test:8080/" → "test/"',
    'replace "://www." → "://"',
    'replace "^http://shop.test/?&a" → "^http://shop.test/?a"',
)
MARKED_PARAMETERS = ("a=1", "a=", "a", "a=b:c", "a=keep:", "b=x/", "b=:", "b=2", "s_1=:", "", "c=%3A", "c?")
marked = st.sampled_from(
    ("one", "two", "x:", ":y", "a::b", "a:START", "P.html", "7-%2Fx", "7-x", "", "a&", "&a", "x%3A")
)
signed_urls = st.builds(
    "http://{}/{}{}".format,
    st.sampled_from(("www.shop.test", "shop.test", "shop.test:8080")),
    st.lists(marked, max_size=4).map("/".join),
    st.lists(
        st.sampled_from(MARKED_PARAMETERS),
        max_size=5,
    ).map(lambda parts: f"?{'&'.join(parts)}" if parts else ""),
)


@settings(max_examples=400)
@given(
    st.lists(st.sampled_from(SIGNED), min_size=1, max_size=9, unique=True),
    st.lists(st.booleans(), min_size=9, max_size=9),
    st.lists(signed_urls, min_size=3, max_size=3),
)
def test_rules_are_found_by_marks_sizes_and_parameters(
    texts: list[str], is_fetched: list[bool], several: list[str]
) -> None:
    """Marks that stand together only when others are dropped or sorted find the rules that wait for them."""
    assert_as_the_plain_engine(texts, is_fetched, several)


def assert_as_the_plain_engine(texts: list[str], is_fetched: list[bool], several: list[str]) -> None:
    """Canonical form and key are those of the plain engine, which tries every rule."""
    rules = [
        replace(Rule.parse(text, site=SITE), fetch=fetch or text.startswith("keep"))
        for text, fetch in zip(texts, is_fetched, strict=False)
    ]
    compiled = RuleSet(rules).compile()
    oracle = Oracle([rule.to_json() for rule in rules])
    for url in several:
        found = oracle.explain(url)
        assert (compiled(url), compiled.key(url)) == (found.canonical, found.key)


@settings(max_examples=300)
@given(
    st.lists(st.sampled_from(FORMS), min_size=1, max_size=4, unique=True),
    st.lists(st.sampled_from(OTHERS), max_size=5, unique=True),
    st.lists(st.booleans(), min_size=9, max_size=9),
    st.lists(urls, min_size=3, max_size=3),
)
def test_skipped_rules_would_have_done_nothing(
    forms: list[str], others: list[str], is_fetched: list[bool], several: list[str]
) -> None:
    """Canonical form and key are those of the plain engine, which tries every rule."""
    assert_as_the_plain_engine([*forms, *others], is_fetched, several)


@pytest.mark.parametrize(
    ("rule", "url", "expected"),
    [
        (FORMS[0], "http://shop.test/a%2Fb?X=1", "http://shop.test/a%2Fb?X=1"),
        (FORMS[0], "http://shop.test/A?X=1", "http://shop.test/a?X=1"),
        (FORMS[5], "http://shop.test/?", "http://shop.test/"),
        (FORMS[5], "http://shop.test/?b&a=1&a", "http://shop.test/?a&a=1&b"),
        (FORMS[7], "http://shop.test/?" + "&".join("abcdefghij") + "&a", None),
        (FORMS[10], "http://shop.test/" + "x" * 46 + "//y", "http://shop.test/" + "x" * 46 + "/y"),
        (FORMS[10], "https://shop.test/a?b=c//d", "https://shop.test/a?b=c/d"),
    ],
)
def test_borders(rule: str, url: str, expected: str | None) -> None:
    """An empty query is not written, many parameters are compared, and slashes meet between two blocks."""
    compiled = RuleSet([Rule.parse(rule, site=SITE)]).compile()
    assert compiled(url) == (expected if expected is not None else url.removesuffix("&a"))
