"""The published tables count as the paper does: wildcards in results, and pairs that become one URL."""

from __future__ import annotations

import pyarrow as pa
import pytest

from bench.rewrite_halves import Halves
from bench.rewrite_tables import PUBLISHED, figures

SITE = "http://a.test"


def of(pages: list[list[str]]) -> Halves:
    """Return a site with these pages and one URL that is alone."""
    rows = [(url, str(number)) for number, urls in enumerate(pages) for url in urls]
    rows.append((f"{SITE}/alone", "alone"))
    return Halves(pa.table({"url": [url for url, _ in rows], "cluster": [page for _, page in rows]}))


def test_a_substitution_is_no_false_positive() -> None:
    """Each page is one URL then, so the reduction is that of all duplicates, at any bound."""
    seen = figures([of([[f"{SITE}/?title=t{n}", f"{SITE}/wiki/t{n}"] for n in range(60)])])
    assert set(PUBLISHED) <= set(seen)
    assert seen["sites, URLs"] == (1, 120)
    assert seen["R1, share of DUST"] == 1
    assert seen["DUST on small, large, all"] == pytest.approx((0.5, 0, 0.5))
    assert seen["fpr <= 5 %, fan-out 10: rules, reduction"] == (2, pytest.approx(0.5))
    assert seen["IRP on small, large, all"] == pytest.approx((0, 0, 0))


def test_any_name_will_do_is_a_reduction_of_false_positives() -> None:
    """Two names for every page make one URL of all; no such rule is left where false pairs are few."""
    seen = figures([of([[f"{SITE}/page{n}x", f"{SITE}/PAGE{n}X"] for n in range(60)])])
    assert seen["IRP on small, large, all"][2] == pytest.approx(119 / 120)
    assert seen["fpr <= 20 %, fan-out 10: rules, reduction"] == (0, 0)
    assert seen["R3, rules that can be fetched"] == 1


def test_a_wildcard_in_a_result_counts_though_nobody_could_fetch_it() -> None:
    """Every page has a session id of its own, and the id may be missing: only a wildcard says so."""
    pages = [[f"{SITE}/p{n}", *(f"{SITE}/p{n}?sid=s{n}x{place}" for place in range(12))] for n in range(30)]
    seen = figures([of(pages)])
    assert seen["R3, rules that can be fetched"] < 1
    assert seen["fpr <= 5 %, fan-out 10: IRP alone"] == pytest.approx(1 - 30 / (30 * 13))
