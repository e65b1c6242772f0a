"""The judge weighs what pages are made of, where that is known."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import undust
from tests.pages.test_pages import row, shop, text_of
from undust.edits import making
from undust.judging import KeyState, Site, effects
from undust.judging.site import BlockEvidence


def site_of(rows: list[dict[str, object]]) -> Site:
    """Return the site as the judge sees it."""
    names = sorted({name for each in rows for name in each})
    table = pa.table({name: [each.get(name) for each in rows] for name in names})
    return Site.of(undust.find_duplicates(table)["s.test"])


def seen_again(count: int) -> list[dict[str, object]]:
    """Return the products of a shop under a second URL each, with another counter in the page."""
    return [
        row(
            f"http://s.test/p?id={at}&sid=x{at}",
            f"<p>{text_of(at)}<p>Price {at} EUR<p>viewed {9000 + at} times",
            f"Product {text_of(at, 2)}",
        )
        for at in range(count)
    ]


def test_a_counter_speaks_for_one_page() -> None:
    """Pages that differ in a counter support an edit, though their digests differ."""
    site = site_of([*shop(), *seen_again(30)])
    assert isinstance(site.evidence, BlockEvidence)
    (effect,) = effects(KeyState(site), [making.dropped("sid")])
    assert (effect.pages, effect.lost) == (30, 0)


def test_products_of_one_template_are_two_pages() -> None:
    """Pages that share a template and nothing else speak against an edit."""
    (effect,) = effects(KeyState(site_of([*shop(), *seen_again(30)])), [making.dropped("id")])
    assert effect.pages == 0
    assert effect.lost >= 50


def test_pages_without_content_are_silent() -> None:
    """A URL without content says nothing of the others."""
    site = site_of([*shop(), {"url": "http://s.test/p?id=1&n=2"}])
    (row_of_it,) = (at for at, url in enumerate(site.texts) if url.endswith("n=2"))
    assert site.evidence.silent(np.array([row_of_it])).all()
    assert site.evidence.ratios(np.array([row_of_it]), np.array([0])).tolist() == [0.0]
