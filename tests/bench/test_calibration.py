"""Whether stated bounds hold: how sets and rules are counted, and what is fitted to them."""

from __future__ import annotations

import io
import json
from dataclasses import asdict, replace

import pytest

from bench.calibration import StatedBound, _summarized, stated
from bench.calibration_fit import exceeding, is_fitted_on, likelihood, rules_of
from bench.quality import generated
from bench.sites import Crawl
from undust.searching.objective import AcceptedEdits

SET = StatedBound("generated", "a", 0, "set", 3, 200, 0, 0.015, 0.015, 100, 1)
RULE = StatedBound("generated", "a", 0, "drop word", 1, 60, 0, 0.02, 0.05, 40, 0, bits=30.0)


@pytest.mark.parametrize(("exceeding_sets", "holds"), [(0, True), (1, True), (2, False)])
def test_one_set_in_twenty_may_exceed_its_bound(exceeding_sets: int, *, holds: bool) -> None:
    """What is lost more often than stated is counted, sets and rules apart."""
    rows = [replace(SET, split=n, lost=9 if n < exceeding_sets else 0) for n in range(20)]
    output = io.StringIO()
    assert _summarized([*rows, RULE], output) is holds
    assert f"sets, all: 20, {exceeding_sets} exceed what was stated" in output.getvalue()


def test_many_checked_pages_must_give_a_narrow_bound() -> None:
    """The line on large sets counts those that state far more than is true."""
    narrow = replace(SET, checked=4000, stated=0.001, lost=0)
    output = io.StringIO()
    _summarized([narrow, replace(narrow, stated=0.02), RULE], output)
    said = "sets with 3,000 pages checked or more: 2, of which 1 state more than 5 x true + 0.3%"
    assert said in output.getvalue()


def test_rules_are_fitted_where_enough_pages_show_them() -> None:
    """Sets and rules of few pages are left out; the rules beside one are known to it."""
    rows = [SET, RULE, replace(RULE, lost=2), replace(RULE, pages=5)]
    found = rules_of(json.dumps(asdict(row)) for row in rows)
    assert [row.lost for row, _ in found] == [0, 2]
    assert all(others == 2 for _, (_, others) in found)
    count, mean = exceeding(found, AcceptedEdits())
    assert (count, 0 < mean < 0.05) == (1, True)
    wider = exceeding(found, replace(AcceptedEdits(), noise=3.0, fewer=0.5))
    assert wider[1] > mean
    worse = rules_of(json.dumps(asdict(replace(row, lost=row.pages // 2))) for row in rows[1:3])
    assert likelihood(found, AcceptedEdits()) > likelihood(worse, AcceptedEdits())


def test_sites_are_halved_by_name() -> None:
    """About half of them, the same ones each time."""
    drawn = [is_fitted_on(f"site{n}") for n in range(200)]
    assert 70 < sum(drawn) < 130
    assert drawn == [is_fitted_on(f"site{n}") for n in range(200)]


def test_a_site_is_learned_from_one_half_and_judged_on_the_other() -> None:
    """The first row is the set, the others its rules; what is checked is less than what was learned from."""
    case = next(iter(generated(["wiki"], 600, 1, Crawl())))
    whole, *rules = stated(case, 0)
    assert whole.kind == "set"
    assert 0 < whole.checked < whole.pages
    assert 0 < whole.stated < 1
    assert 0 < whole.modelled < 1
    assert rules
    assert all(row.kind != "set" and row.bits > 0 for row in rules)
