"""The core's answer to what candidates would do, beside a plain count over dictionaries."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.standing import CERTAIN, COUNTS, Site, effect
from undust import RuleSet, _core
from undust.rules import Rule, program_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

made: Callable[..., _core.Standing] = _core.Standing
PAGES = 5
MINIMA, NEEDED = 4, 3
KEEPS = ("keep {s}://{h}/y/{p**}", "keep {s}://{h}/{p**}?k={**}&{rest**}")
RULES = (
    "rewrite {s}://www.a.test/{p**}?{rest**} → {s}://a.test/{p}?{rest}",
    "rewrite {s}://a.test/{p**}?{rest**} → {s}://www.a.test/{p}?{rest}",
    "rewrite {s}://{h}/{p**}?s={**}&{rest**} → {s}://{h}/{p}?{rest}",
    "rewrite {s}://{h}/{p**}?s={v}&{rest**} → {s}://{h}/{p}?k={v}&{rest}",
    "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p}?{rest:sorted}",
    "rewrite {s}://{h}/x/{p**}?{rest**} → {s}://{h}/y/{p}?{rest} unless ?i=1",
    "rewrite {s}://{h}/{p**}/{x}/?{rest**} → {s}://{h}/{p}/{x}?{rest}",
    "rewrite {s}://{h}/{p**}?{rest**} → {s:any}://{h}/{p}?{rest}",
    'replace "/x" → "/y"',
    'replace "/y" → "/x"',
    'replace "//" → "/"',
    'replace "/x" → "/x/x"',
)
ENDLESS = RULES[-1]
URLS = st.builds(
    lambda host, path, query: f"http://{host}a.test/{path}{query}",
    st.sampled_from(["", "www."]),
    st.sampled_from(["", "x", "x/", "y", "y/x", "x/x//y"]),
    st.sampled_from(["", "?s=1", "?k=1", "?i=1&s=1", "?s=1&i=1"]),
)
ON_IMAGE = st.dictionaries(st.integers(0, PAGES - 1), st.integers(1, 3), min_size=1, max_size=3)
SOME_PAGES = st.sets(st.integers(0, PAGES - 1))
SKETCHES = st.dictionaries(
    st.integers(0, PAGES - 1), st.lists(st.integers(0, 1), min_size=MINIMA, max_size=MINIMA)
)


@st.composite
def sites(draw: st.DrawFn) -> Site:
    """Draw a small site."""
    images = draw(st.dictionaries(URLS, ON_IMAGE, min_size=1, max_size=12))
    served, preferred = (draw(st.sets(st.sampled_from(sorted(images)))) for _ in range(2))
    speaking, held, silent = (draw(SOME_PAGES) for _ in range(3))
    known = served, preferred, speaking, held, silent
    labels = draw(st.none() | st.dictionaries(st.integers(0, PAGES - 1), st.integers(0, 2)))
    return Site(dict(sorted(images.items())), *known, dict(draw(SKETCHES)), NEEDED, labels)


def standing_of(site: Site) -> _core.Standing:
    """Return the same site in columns."""
    pairs = [sorted(pages.items()) for pages in site.images.values()]
    flat = np.array([pair for some in pairs for pair in some], np.int64).reshape(-1, 2)
    has_sketch = sorted(site.sketches)
    rows = {page: row for row, page in enumerate(has_sketch)}
    page, urls = np.ascontiguousarray(flat.T)
    columns: list[Any] = [
        pa.array(list(site.images), pa.large_string()),
        np.cumsum([0, *map(len, pairs)], dtype=np.int64),
        page,
        urls,
        *_of_images(site),
        *(_flags(some) for some in (site.speaking, site.held, site.silent)),
        np.array([rows.get(page, -1) for page in range(PAGES)], np.int64),
        np.array([site.sketches[page] for page in has_sketch], np.uint32).reshape(-1),
    ]
    return made(*columns, minima=MINIMA, needed=site.needed, **_evidence(site))


def _evidence(site: Site) -> dict[str, Any]:
    """Return labels as evidence, the row of each page its number; none where the site goes by sketches."""
    row = np.arange(PAGES, dtype=np.int64)
    if site.labels is None:
        return {"evidence": None, "row": row, "against": 0.0, "supports": 0.0}
    no_blocks, unknown = np.zeros(PAGES + 1, np.int64), np.full(PAGES, -1, np.int64)
    nothing, no_weight = np.zeros(0, np.int64), np.zeros(0, np.float32)
    label = np.array([site.labels.get(page, -1) for page in range(PAGES)], np.int64)
    evidence = _core.Evidence(
        *(no_blocks, nothing, no_weight, no_weight, unknown, no_blocks, nothing, no_weight, label),
        *(unknown, unknown, unknown, unknown, np.ones(PAGES, np.bool_), np.zeros(0, np.uint32)),
        minima=0,
    )
    evidence.calibrate([0.0] * 8, [], [0.0], [0.0], [0.0] * 5, 10.0, CERTAIN)
    return {"evidence": evidence, "row": row, "against": -1.0, "supports": 2.0}


def _of_images(site: Site) -> list[NDArray[np.bool_]]:
    known = site.served, site.preferred
    return [np.array([image in some for image in site.images], np.bool_) for some in known]


def _flags(pages: set[int]) -> NDArray[np.bool_]:
    return np.array([page in pages for page in range(PAGES)], np.bool_)


def told(answer: tuple[Any, ...], site: Site) -> list[dict[str, object]]:
    """Return the core's answer as the plain count gives it."""
    counts, offsets, sources, *flags, _, _, ends, votes = answer
    images = list(site.images)
    return [
        dict(zip((*COUNTS, "met"), count, strict=True))
        | {"sources": [images[row] for row in sources[offsets[at] : offsets[at + 1]]]}
        | {
            name: flag[offsets[at] : offsets[at + 1]].astype(bool).tolist()
            for name, flag in zip(("failing", "blamed", "merging"), flags, strict=True)
        }
        | {"votes": sorted(votes[ends[at] : ends[at + 1]].tolist())}
        for at, count in enumerate(counts)
    ]


@given(
    sites(),
    st.lists(st.sampled_from(KEEPS), unique=True),
    st.lists(st.sampled_from(RULES), min_size=1, max_size=7, unique=True),
    st.sampled_from(["a.test", "*"]),
)
@settings(max_examples=150)
def test_what_candidates_would_do_is_what_a_plain_count_says(
    site: Site, keeps: list[str], texts: list[str], rule_site: str
) -> None:
    """Every figure and every column, of each rule alone beside those that keep, and of all together."""
    kept = [Rule.parse(text, site="a.test") for text in keeps]
    rules = [Rule.parse(text, site=rule_site) for text in texts]
    standing = standing_of(site)
    assert standing.lost() == site.lost()
    program = program_of([*kept, *rules])
    apart = standing.effects(program, len(kept), together=False, rows=None)
    for rule, found, rows in zip(rules, told(apart, site), _touched(apart), strict=True):
        assert found == _expected(site, kept, [rule]), rule
        if str(rule) == ENDLESS:
            continue  # given up at once
        alone = RuleSet([rule]).compile()
        # What only a mask would change is of no interest to who looks for forms.
        touched = [row for row, url in enumerate(site.images) if alone.program.step(url)[1] != url]
        assert rows == touched
        if rule is rules[0]:
            one = program_of([*kept, rule])
            again = standing.effects(one, len(kept), together=False, rows=np.array(touched, np.int64))
            assert told(again, site) == [found]
    together = standing.effects(program, len(kept), together=True, rows=None)
    assert told(together, site) == [_expected(site, kept, rules)]


def _touched(answer: tuple[Any, ...]) -> list[list[int]]:
    ends, rows = answer[-4:-2]
    return [rows[start:end].tolist() for start, end in pairwise(ends)]


def _expected(site: Site, kept: list[Rule], rules: list[Rule]) -> dict[str, object]:
    compiled = RuleSet([*kept, *rules]).compile()
    alone = RuleSet(rules).compile()
    touched = [url for url in site.images if alone.program.step(url)[0] is not None]
    unresolved = [compiled.explain(url).outcome == "unresolved" for url in touched]
    endless = any(unresolved[:8]) or sum(unresolved) >= 8
    return effect(site, str if endless else compiled)


def test_columns_that_do_not_fit_are_refused() -> None:
    """A wrong column is one sentence, and no read beyond its end."""
    fitting: list[Any] = [
        pa.array(["http://a.test/"], pa.large_string()),
        *(np.array(column, np.int64) for column in ([0, 1], [0], [1])),
        *(np.array([flag], np.bool_) for flag in (True, False, True, False, False)),
        np.array([-1], np.int64),
        np.array([], np.uint32),
    ]
    more = {
        "minima": 0,
        "needed": 0,
        "evidence": None,
        "row": np.zeros(1, np.int64),
        "against": 0.0,
        "supports": 0.0,
    }
    assert made(*fitting, **more).lost() == 0
    for place, wrong in ((1, [0, 2]), (1, [0]), (2, [1]), (2, [-1]), (3, [1, 1]), (9, [0])):
        columns = list(fitting)
        columns[place] = np.array(wrong, np.int64)
        with pytest.raises(ValueError, match="expected"):
            made(*columns, **more)
