"""The core's differences beside a plain twin: the same rules, the same captured texts, in the same order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.differences import KEPT_VALUES, LONG_NAME, LONGEST
from tests.oracles.differences import differences as twin
from undust import _core, normalize
from undust.learning.differences import differences
from undust.learning.url_forms import USUAL_PARTS, UrlForms

SEGMENTS = st.sampled_from(
    [
        "",
        "a",
        "item",
        "12",
        "34",
        "the-title",
        "a_b.html",
        "x;y=1",
        "%7Bp**%7D",
        "%zz",
        "averyverylongname",
        "12-the-title",
    ]
)
PARAMETERS = st.builds(
    lambda name, value: name + value,
    st.sampled_from(["id", "a", "q", "sort", "bad!", "averyverylongname", ""]),
    st.sampled_from(
        ["", "=", "=12", "=34", "=item/12", "=the-title", "=a;b", "=a=b", "=12-the%20title", "=a/b/c"]
    ),
)
URLS = st.builds(
    lambda host, path, query: f"{host}/{'/'.join(path)}{'?' if query else ''}{'&'.join(query)}",
    st.sampled_from(["http://a.test", "http://www.a.test", "https://a.test", "http://a.test:81"]),
    st.lists(SEGMENTS, max_size=4),
    st.lists(PARAMETERS, max_size=3),
)
PAGES = st.lists(st.lists(URLS, min_size=2, max_size=4), min_size=1, max_size=4)


@given(PAGES, st.integers(1, 2), st.sampled_from([3, 1000]))
@settings(max_examples=200)
def test_differences_are_those_of_a_plain_twin(pages: list[list[str]], least: int, most: int) -> None:
    """Both sides, the texts that were captured and forgotten, and the order by pages."""
    urls = [normalize(url) for page in pages for url in page]
    first = np.cumsum([0, *map(len, pages)]).tolist()
    pairs = [
        (first[page] + left, first[page] + right, page)
        for page, some in enumerate(pages)
        for left in range(len(some))
        for right in range(len(some))
        if left != right
    ]
    bounds = _core.DifferenceBounds(
        longest=LONGEST, long_name=LONG_NAME, kept_values=KEPT_VALUES, least_pages=least, most=most
    )
    left, right, page = np.ascontiguousarray(np.array(pairs, np.int64).T)
    found = _core.differences(pa.array(urls, pa.large_string()), left, right, page, bounds)
    assert [(source, target, list(map(set, values))) for source, target, values in found] == twin(
        urls, pairs, least, most
    )


def test_rows_that_are_none_are_refused() -> None:
    """A row beyond the URLs is one sentence, and no read beyond their end."""
    bounds = _core.DifferenceBounds(longest=6, long_name=14, kept_values=5, least_pages=1, most=9)
    here, beyond, none = (np.array(rows, np.int64) for rows in ([0], [1], []))
    urls = pa.array(["http://a.test/"], pa.large_string())
    with pytest.raises(IndexError, match="rows of the URLs"):
        _core.differences(urls, here, beyond, here, bounds)
    with pytest.raises(ValueError, match="columns over pairs"):
        _core.differences(urls, here, none, here, bounds)


def test_very_long_urls_are_not_compared() -> None:
    """Anybody can send hundreds of parameters; the differences between the other URLs are found as before."""
    names = "&".join(f"n{number}=1" for number in range(USUAL_PARTS + 1))
    plain = [f"http://a.test/{kind}/{page}" for page in range(20) for kind in ("old", "new")]
    long = [f"{url}?{names}" for url in plain]
    pages = [page for page in range(20) for _ in range(2)]
    alone = list(differences(UrlForms("a.test", plain, pages)))
    assert alone
    assert list(differences(UrlForms("a.test", [*plain, *long], pages * 2))) == alone
    assert list(differences(UrlForms("a.test", long, pages))) == []
