"""What changes from fetch to fetch is found where URLs cannot name pages, and only there."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

import undust
from undust.pages.clustering.changing import neighbours
from undust.pages.clustering.shapes import Shapes
from undust.reading.text import read_html

if TYPE_CHECKING:
    from undust.pages.clustering import SiteClusters

WORDS = [f"{a}{b}{c}" for a in "bdfgklmn" for b in "aeiou" for c in "rstx"]


def text_of(name: str, count: int) -> str:
    """Words that belong to a name."""
    return " ".join(random.Random(name).choices(WORDS, k=count))


def row(url: str, parts: list[str], title: str) -> dict[str, Any]:
    """The observation of a page."""
    page = read_html(f"<title>{title}</title>{''.join(f'<p>{part}' for part in parts)}".encode())
    blocks = np.frombuffer(page.blocks, np.int64).tolist()
    return {"url": url, "blocks": blocks, "page_title": title, "digest": page.text.hex()}


def site_of(shown: str, urls: list[str], pages: int = 40) -> SiteClusters:
    """A site with these URLs of each page, on which something else is shown at each of them."""
    rows = []
    for page in range(pages):
        about, title = text_of(f"about {page}", 40), text_of(f"title {page}", 3)
        for url in urls:
            chance = random.Random(f"{page} {url}")
            code = f"{chance.getrandbits(40):010x}"
            line = text_of(f"line {chance.randrange(8)}", 12)
            parts = [about, shown.format(n=chance.randrange(10**6), code=code * 2, line=line, v=url[-1])]
            rows.append(row(f"http://a.test{url.format(page=page, code=code)}", parts, title))
    (found,) = undust.find_duplicates(pa.Table.from_pylist(rows))
    return found


@pytest.mark.parametrize("shown", ["viewed {n} times", "request {code}", "{line}"])
@pytest.mark.parametrize(
    "url", ["/v/{page}?k={code}{}", "/{code}{}/v/{page}", "/v/x{code}{}-{page}", "/v/{page}?utm_source={}"]
)
def test_what_changes_is_not_compared(shown: str, url: str) -> None:
    """Pages of one text under codes are one page, whatever changes there."""
    urls = [url.replace("{}", mark) for mark in "abc"]
    found = site_of(shown, urls)
    assert found.evidence_of_pairs.facts.passing is not None
    assert found.cluster_count == 40


def test_words_of_which_pages_show_nothing_name_none() -> None:
    """Where a visitor comes from is not on the page; a size is, and then nothing is taken for a change."""
    urls = ["/v/{page}?by=mail", "/v/{page}?by=list", "/v/{page}?by=feed"]
    assert site_of("viewed {n} times", urls).cluster_count == 40
    by_size = site_of("size {v}, only {n} left", ["/v/{page}?by=sizea", "/v/{page}?by=sizeb"])
    assert by_size.evidence_of_pairs.facts.passing is None
    assert by_size.cluster_count == 80


def test_numbers_name_pages() -> None:
    """What short numbers in a URL lead to is not one page because little differs."""
    found = site_of("only {n} left", ["/v/{page}?by=1", "/v/{page}?by=2"])
    assert found.evidence_of_pairs.facts.passing is None
    assert found.cluster_count == 80


def test_what_differs_more_than_by_chance_tells_pages_apart() -> None:
    """Of four sizes each is there once: the codes name pages, and a counter beside them changes nothing."""
    rows = []
    for page in range(160):
        chance = random.Random(page)
        about, title = text_of(f"about {page // 4}", 40), text_of(f"title {page // 4}", 3)
        parts = [about, f"size {36 + page % 4}", f"viewed {chance.randrange(10**6)} times"]
        url = f"http://a.test/v/{page // 4}?k={chance.getrandbits(40):010x}"
        rows.append(row(url, parts, title))
    (found,) = undust.find_duplicates(pa.Table.from_pylist(rows))
    assert found.evidence_of_pairs.facts.passing is None
    assert found.cluster_count == 160


def test_a_number_that_two_urls_of_a_page_share_is_compared() -> None:
    """Under two sessions a price is the same and a counter is not: pages differ in the price."""
    rows = []
    for page in range(120):
        about, title = text_of(f"about {page // 3}", 40), text_of(f"title {page // 3}", 3)
        for session in "ab":
            chance = random.Random(f"{page} {session}")
            parts = [about, f"price {7 * page + 11} EUR", f"viewed {chance.randrange(10**6)} times"]
            url = f"http://a.test/v/{page // 3}?v={page % 3}&s={chance.getrandbits(40):010x}"
            rows.append(row(url, parts, title))
    (found,) = undust.find_duplicates(pa.Table.from_pylist(rows))
    pairs, urls = found.evidence_of_pairs, found.node_urls.to_pylist()
    assert found.cluster_count >= 120
    left, right = (
        [urls.index(rows[at]["url"]) for at in some] for some in (range(0, 240, 6), range(2, 240, 6))
    )
    assert (pairs.ratios(left, right) < 2).all()


def test_neighbours_whatever_each_url_has_for_itself() -> None:
    """URLs that differ in one value and in their sessions are neighbours."""
    codes = [f"{random.Random(at).getrandbits(40):010x}" for at in range(24)]
    urls = [f"http://a.test/v?id={at // 2}&v={at % 2}&s={codes[at]}" for at in range(24)]
    shapes = Shapes.of(pa.array(urls))
    assert (np.bincount(shapes.context) == 1).all()
    found = neighbours(shapes)
    together: dict[int, list[int]] = {}
    for context, at in zip(found.context.tolist(), found.context_row.tolist(), strict=True):
        together.setdefault(context, []).append(at)
    assert [0, 1] in together.values()
    assert list(range(0, 24, 2)) in together.values()


def test_urls_that_differ_in_sessions_alone_are_no_neighbours() -> None:
    """They may be one page: as an example of two they would say that nothing can be told apart."""
    codes = [f"{random.Random(at).getrandbits(40):010x}" for at in range(20)]
    urls = [f"http://a.test/v?id={at}{more}" for at in range(20) for more in ("", f"&s={codes[at]}")]
    found = neighbours(Shapes.of(pa.array(urls)))
    together: dict[int, set[int]] = {}
    for context, at in zip(found.context.tolist(), found.context_row.tolist(), strict=True):
        together.setdefault(context, set()).add(at)
    assert not [some for some in together.values() if {0, 1} <= some]
