"""What a rule leaves as it stood is neither read nor written again, and nothing is different by that.

The plain engine reads and writes every URL whole. URLs here are longer than the 64 bytes that are looked at
in one step, so that cuts fall before, on and behind such a border.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.rules import Canonicalizer as Oracle
from undust.rules import Rule, RuleSet

SITE = "shop.test"
CUTS = (
    "rewrite {s}://{h}/{p**}/{x}.{*:html|HTML|x.y}?{rest**} → {s}://{h}/{p}/{x}?{rest}",
    "rewrite {s}://{h}/{p**}/index?{rest**} → {s}://{h}/{p}?{rest}",
    "rewrite {s}://{h}/{p**}/{x}/?{rest**} → {s}://{h}/{p}/{x}?{rest}",
    "rewrite {s}://{h}/{p**}/{x}-{*:int}?{rest**} → {s}://{h}/{p}/{x}?{rest}",
    "rewrite {s}://{h}/{p**}/{x:int}end?{rest**} → {s}://{h}/{p}/{x}?{rest}",
    'replace "/print$" → "$"',
    'replace ".aa" → ""',
)
ENDS = ('replace "end" → "END"', 'replace "77" → "88"')
MOVES = (
    "rewrite {s}://{h}/{a}/{b}/{p**}?{rest**} → {s}://{h}/{b}/{p}?{rest}",
    "rewrite {s}://{h}/aa/{b}/{p**}?{rest**} → {s}://{h}/aa/aa/{p}?{rest}",
    "rewrite {s}://{h}/bb/{p**}?{rest**} → {s}://{h}/{p}/bb?{rest}",
    "rewrite {s}://{h}/{p**}/{x}-{y}?{rest**} → {s}://{h}/{p}/{y}-{x}?{rest}",
    "rewrite {s}://{h}/{p**}?n={v}&{rest**} → {s}://{h}/{p}/n/{v}?{rest}",
    "rewrite {s}://{h}/{p**}/n/{v}?{rest**} → {s}://{h}/{p}?n={v}&{rest}",
    "rewrite {s}://{h}/{p**}?{k**:n|m}&{**} → {s}://{h}/{p}?{k:sorted}",
    "rewrite http://{h}/{p**}?{rest**} → https://{h}/{p}?{rest}",
    "rewrite {s}://www.shop.test/{p**}?{rest**} → {s}://shop.test/{p}?{rest}",
    "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p:lower}?{rest}",
    'replace "//" → "/"',
    'replace "aa" → "bb"',
    'replace "index." → "start."',
)
MASKS = (
    "rewrite {s}://{h}/{p**}/{x:int}?{rest**} → {s}://{h}/{p}/{x:any}?{rest}",
    "rewrite {s}://{h}/{p**}/{x}?{rest**} → {s:any}://{h}/{p}/{x}?{rest} when ?m={**}",
    "rewrite {s}://{h}/{p**}?n={v}&{rest**} → {s}://{h}/{p}?n={v:any}&{rest}",
    "rewrite {s}://{h}/Aa/{x}?{rest**} → {s}://{h}/Aa/{x:any}?{rest}",
    "keep {s}://{h}/aa/bb/{p**}?{rest**}",
    "keep {s}://{h}/{p**}/{x}-7?{rest**}",
)
FOUND_AGAIN = (  # by what stands at the end now, by one of some segments, or by a condition
    "rewrite {s}://{h}/{p**}/aa?{rest**} → {s}://{h}/{p}/bb?{rest}",
    "rewrite {s}://{h}/aa/bb/7?{rest**} → {s}://{h}/bb?{rest}",
    "rewrite {s}://{h}/{a}/{b}?{rest**} → {s}://{h}/{a}/{b:lower}/n?{rest}",
    "rewrite {s}://{h}/{*:aa|bb|Aa}/{p**}?{rest**} → {s}://{h}/{p}?{rest}",
    "rewrite {s}://{h}/{a:aa|bb}/{*:7|index|x}/{p**}?{rest**} → {s}://{h}/n/{a}/{p}?{rest}",
    "rewrite {s}://{h}/{p**}/{*:n|7}?{rest**} → {s}://{h}/{p}?{rest}",
    "rewrite {s}://{h}/{p**}/{x}?{rest**} → {s}://{h}/{x}?{rest} when /{*}/aa/{**}, /{**}/7",
    "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p}?{rest} unless /{*}/bb/{**}",
    "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/aa/{p}?{rest} when /{*:index|7}/{**}",
    "rewrite {s}://{h}/{p**}?m={v}&{rest**} → {s}://{h}/{p}?h={h}&{rest}",
    "rewrite {s}://{h}/{p**}?h={v}&{rest**} → {s}://{h}/{p}/{s}?{rest}",
    'replace "/aa" → "/7"',
    'replace "77" → "aa"',
    'replace "Aa$" → "aa$"',
)
parts = st.sampled_from(
    ("aa", "bb", "Aa", "7", "index", "", "a-7", "x.html", "x.x.y", "n", "index.html", "print", "%2F-7")
)
long_parts = st.integers(30, 70).map(lambda size: "y" * size)
urls = st.builds(
    "{}/{}{}{}".format,
    st.sampled_from(("http://www.shop.test", "https://shop.test", "http://shop.test:8080")),
    st.lists(st.one_of(parts, long_parts), max_size=6).map("/".join),
    st.sampled_from(
        ("", ".html", "/", "/77end", "/index", "-7", ".html.html", "/print", ".aa.aa", ".x.y.html/")
    ),
    st.sampled_from(("", "", "?", "?n=1&m=2", "?m=&n=Aa", "?q&n=7")),
)


def rule(text: str, *, is_fetched: bool) -> Rule:
    """Return a rule, for comparing only if that is asked for; masks and keeps are never limited so."""
    return replace(Rule.parse(text, site=SITE), fetch=is_fetched or text.startswith("keep") or ":any" in text)


@settings(max_examples=500)
@given(
    st.lists(st.sampled_from(CUTS), min_size=1, max_size=6, unique=True),
    st.lists(st.sampled_from((*MOVES, *FOUND_AGAIN)), max_size=6, unique=True),
    st.lists(st.sampled_from(MASKS), max_size=2, unique=True),
    st.lists(st.booleans(), min_size=14, max_size=14),
    st.lists(urls, min_size=3, max_size=3),
)
def test_the_plain_engine_finds_the_same(
    cuts: list[str], moves: list[str], masks: list[str], is_fetched: list[bool], several: list[str]
) -> None:
    """Canonical form and key are those of the plain engine, whatever was cut, moved or masked before."""
    texts = [*masks[:1], *cuts, *moves, *masks[1:]]
    rules = [rule(text, is_fetched=fetch) for text, fetch in zip(texts, is_fetched, strict=False)]
    compiled = RuleSet(rules).compile()
    oracle = Oracle([each.to_json() for each in rules])
    for url in several:
        found = oracle.explain(url)
        assert (compiled(url), compiled.key(url)) == (found.canonical, found.key)


@pytest.mark.parametrize("size", range(20, 60))
def test_a_cut_falls_anywhere(size: int) -> None:
    """What is cut off is not seen by other rules, and what is left is, also on the border of 64 bytes."""
    rules = [Rule.parse(text, site=SITE) for text in (*CUTS, *ENDS, *MASKS[:1])]
    compiled = RuleSet(rules).compile()
    front = "http://shop.test/" + "y" * size
    assert compiled(f"{front}/end.html/index.aa") == f"{front}/END"
    assert compiled.key(f"{front}/end/7.html") == f"{front}/END/*"
    assert compiled(f"{front}.html/end.html") == f"{front}.html/END"
    assert compiled(f"{front}-7.x.y") == front
    assert compiled(f"{front}/77end") == f"{front}/88"


def test_parts_are_written_where_they_belong() -> None:
    """A part that follows another one in the URL, or is written twice, or of which the end is a literal."""
    for text, url, expected in (
        ("/{a}/{b}/{c} → /{b}/{c}/{a}", "/1/2/3", "/2/3/1"),
        ("/{a}/{b} → /{a}/{a}/{b}/{b}", "/1/2", "/1/1/2/2"),
        ("/{a}x/{b} → /{a}/x/{b}", "/1x/2", "/1/x/2"),
        ("/x{a}/{b} → /{a}x/{b}", "/x1/x", "/1x/x"),
        ("/{a}-{b}-{c} → /{a}-{b}/{c}", "/1-2-3", "/1-2/3"),
        ("/{a}?b={b}&c={c} → /{a}?b={b}&d={c}", "/1?b=2&c=3", "/1?b=2&d=3"),
        ("/{a}?b={b}&c={c} → /{a}?c={c}&b={b}", "/1?b=2&c=3", "/1?c=3&b=2"),
        ("/{p**}/{a} → /{p}", "/1/2/3", "/1/2"),
        ("/{p**}/{a} → /{p}", "/1", "/"),
    ):
        left, _, right = text.partition(" → ")
        compiled = RuleSet(
            [Rule.parse(f"rewrite {{s}}://{{h}}{left} → {{s}}://{{h}}{right}", site=SITE)]
        ).compile()
        seen = compiled.explain(f"http://shop.test{url}").steps
        assert seen[0].url == f"http://shop.test{expected}", text
