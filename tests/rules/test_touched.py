"""Which rules change which URLs: all pairs at once, as asking one by one tells."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import undust

TEXTS = (
    "rewrite {s}://{h}/{p**}?{**:x}&{rest**} → {s}://{h}/{p}?{rest}",
    "rewrite {s}://{h}/{p**}?x={v}&{rest**} → {s}://{h}/{p}?x={v:any}&{rest}",
    "rewrite {s}://{h}/{p**} → {s:any}://{h}/{p}",
    "rewrite {s}://{h}/a/{p} → {s}://{h}/{p}",
    "keep {s}://{h}/a/{p**}",
    'replace "/b" → "/a"',
    'replace "a" → "b"',
    'replace "/a" → "/a"',
)
URLS = st.builds(
    lambda host, path, query: f"http://{host}/{path}{query}",
    st.sampled_from(["shop.test", "www.shop.test", "other.test"]),
    st.sampled_from(["", "a", "b", "a/b", "b/a/c"]),
    st.sampled_from(["", "?x=1", "?y=2&x=*", "?x"]),
)


@given(
    st.lists(st.one_of(st.none(), URLS, st.text(max_size=8)), max_size=12),
    st.lists(st.sampled_from(TEXTS), unique=True),
    st.sampled_from(["shop.test", "*"]),
)
def test_pairs_are_those_of_each_rule_alone(urls: list[str | None], texts: list[str], site: str) -> None:
    """A pair is told exactly if the rule, alone, would make another URL or another key of it."""
    rules = [undust.Rule.parse(text, site=site) for text in texts]
    rows, places = undust.RuleSet(rules).compile().touched(pa.array(urls, pa.string()))
    told = list(zip(rows.to_pylist(), places.to_pylist(), strict=True))
    assert len(told) == len(set(told))
    alone = [undust.RuleSet([rule]).compile() for rule in rules]
    expected = {
        (row, place)
        for row, url in enumerate(urls)
        for place, one in enumerate(alone)
        if url is not None and _changes(one, url)
    }
    assert set(told) == expected
    assert rows.to_pylist() == sorted(rows.to_pylist())


def _changes(one: undust.Canonicalizer, url: str) -> bool:
    _, after = one.program.step(url)
    normal = undust.normalize(url)
    return after != normal or one.key(url) != one(url)


def test_threads_change_nothing() -> None:
    """The same pairs in the same order, however many threads look for them."""
    rules = undust.RuleSet([undust.Rule.parse(text, site="shop.test") for text in TEXTS]).compile()
    urls = pa.array([f"http://shop.test/a/{number}?x={number % 7}" for number in range(20_000)])
    assert rules.touched(urls, threads=1) == rules.touched(urls, threads=3)
