"""Pages that nothing was learned from bound what rules lose."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

import undust
from undust.edits import Given
from undust.judging import KeyState, Site
from undust.judging.checked import (
    LOST_ALIKE,
    NOT_CHECKED,
    CheckedPages,
    checked_of_sites,
    checked_pages,
)
from undust.rules import Rule
from undust.statistics import upper_bound, upper_bound_beside

if TYPE_CHECKING:
    from collections.abc import Mapping

DROP = Rule.parse("rewrite {s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p}?{rest}", site="a.test")
PRINT = Rule.parse("rewrite {s}://{h}/{p**}?print=1&{rest**} → {s}://{h}/{p}?{rest}", site="a.test")
SORT = Rule.parse("rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p}?{rest:sorted}", site="a.test")
FALSE = Rule.parse("rewrite {s}://{h}/list/{n}?{**} → {s}://{h}/list/{n}", site="a.test")


def site_of(pages: Mapping[str, str]) -> Site:
    """A site whose URLs show pages with these contents."""
    table = pa.table({"url": list(pages), "digest": list(pages.values())})
    return Site.of(undust.find_duplicates(table).sites[0])


def shop() -> dict[str, str]:
    """Articles with a session id, and lists of three pages each."""
    pages = {f"http://a.test/p/{n}{form}": f"p{n}" for n in range(40) for form in ("", f"?sid={n}")}
    return pages | {
        f"http://a.test/list/{n}?page={page}": f"l{n}-{page}" for n in range(10) for page in (1, 2, 3)
    }


def check(pages: Mapping[str, str], aside: set[str], *rules: Rule) -> CheckedPages:
    """Check rules on the pages with some contents."""
    site = site_of(pages)
    is_aside = np.zeros(site.count, np.bool_)
    for page, url in zip(site.page.tolist(), site.texts, strict=True):
        is_aside[page] |= pages[url] in aside
    state = KeyState(site, tuple(Given(rule=rule) for rule in rules))
    return checked_pages([(state, is_aside)], np.zeros(site.count, np.bool_))


def test_only_pages_set_aside_are_counted_and_against_all_others() -> None:
    """A page is lost under any other page of the site, whether that was set aside or not."""
    aside = {"p1", "p2", "l0-1", "l0-2", "l0-3", "l1-2"}
    assert check(shop(), aside, DROP) == CheckedPages(6, 0, 0)
    assert check(shop(), aside, DROP, FALSE) == CheckedPages(6, 3, 2)
    assert check(shop(), set(), DROP) == CheckedPages()


def test_a_page_on_which_two_sound_rules_fail_at_once_changes_between_fetches() -> None:
    """It is counted apart; a page on which one rule fails is lost."""
    pages = {
        f"http://a.test/p/{n}{form}": f"p{n}" for n in range(40) for form in ("", f"?sid={n}", "?print=1")
    }
    pages["http://a.test/p/7?sid=7"], pages["http://a.test/p/7?print=1"] = "x", "y"
    pages["http://a.test/p/8?sid=8"] = "z"
    aside = set(pages.values())
    found = check(pages, aside, DROP, PRINT)
    assert found == CheckedPages(pages=41, lost=1, groups=1, unstable=2)


def test_a_rule_behind_the_one_that_merges_explains_nothing() -> None:
    """It writes forms that are one already in another way; the page is as unstable without it."""
    forms = ("?b=1&a=2", "?b=1&a=2&sid={n}", "?b=1&a=2&print=1")
    pages = {f"http://a.test/p/{n}{form.format(n=n)}": f"p{n}" for n in range(40) for form in forms}
    pages["http://a.test/p/7?b=1&a=2&sid=7"], pages["http://a.test/p/7?b=1&a=2&print=1"] = "x", "y"
    found = check(pages, set(pages.values()), DROP, PRINT, SORT)
    assert found == CheckedPages(pages=40, lost=0, groups=0, unstable=2)


def test_a_rule_that_merges_all_that_differ_explains_it() -> None:
    """Whatever other rules are on the way: here one forgets the page of a list, and sound ones the rest."""
    pages = {f"http://a.test/p/{n}{form}": f"p{n}" for n in range(40) for form in ("", "?sid=1", "?print=1")}
    pages |= {f"http://a.test/list/{n}?page=1{form}": f"l{n}" for n in range(40) for form in ("", "&sid=1")}
    pages |= {f"http://a.test/list/7?page={page}&print=1": f"l7-{page}" for page in (2, 3)}
    found = check(pages, set(pages.values()), DROP, PRINT, FALSE)
    assert (found.lost, found.groups, found.unstable) == (2, 1, 0)


def test_two_wrong_rules_excuse_nothing() -> None:
    """Rules that fail wherever they act are wrong, and no page is to blame."""
    pages = {
        f"http://a.test/p/{n}{form}": f"p{n}{form}" for n in range(40) for form in ("", "?sid=1", "?print=1")
    }
    found = check(pages, set(pages.values()), DROP, PRINT)
    assert (found.lost, found.unstable) == (80, 0)


def test_pages_that_are_lost_together_count_as_one_mistake() -> None:
    """Twenty pages under one form say less about the next page than twenty mistakes apart from each other."""
    apart, together = CheckedPages(1000, 20, 20), CheckedPages(1000, 20, 1)
    assert apart.upper == upper_bound(20, 1000)
    assert together.upper > apart.upper


@pytest.mark.parametrize(("checked", "upper"), [(CheckedPages(), 1.0), (CheckedPages(3, 3, 1), 1.0)])
def test_without_pages_nothing_is_known(checked: CheckedPages, upper: float) -> None:
    """The bound is then of no use, and says so."""
    assert checked.upper == upper
    assert CheckedPages().as_json() | {"says": NOT_CHECKED, "upper": None} == CheckedPages().as_json()


def test_what_seems_lost_does_not_decide_whether_more_is_checked() -> None:
    """A bound that is stated if it is low, and else replaced by another one, holds less often than each."""
    few = CheckedPages(8_000, 0, 0, seen=3_000, changing=75, expected=50, variance=36)
    for groups in (0, 10, 50, 400):
        assert replace(few, lost=groups, groups=groups).is_vague
    many = replace(few, pages=30_000, expected=20, variance=6)
    for groups in (0, 10, 50, 400):
        assert not replace(many, lost=groups, groups=groups).is_vague
    assert not CheckedPages(50, 4, 4).is_vague


def test_pages_that_change_and_are_lost_count_as_lost() -> None:
    """Nothing shows it of a page that changes: as many of these are lost as of the others."""
    some = CheckedPages(8_000, 300, 300, seen=3_000, changing=300, expected=50, variance=36)
    beside = upper_bound_beside(300, 8_000, 50 / 8_000, 36 / 8_000**2)
    assert some.upper == pytest.approx(beside / 0.9)
    assert replace(some, changing=3_000).upper == 1.0


def test_pages_of_few_sites_say_less_of_all_sites() -> None:
    """Pages of one site are lost together; if nothing is lost, what is known of other sites is taken."""
    alone = [CheckedPages(100, 0, 0) for _ in range(20)]
    assert checked_of_sites(alone) == CheckedPages(2000, 0, 0)
    others = CheckedPages(unchecked=1, modelled=0.1)
    sampled = checked_of_sites([*alone, *[others] * 80])
    assert (sampled.pages, sampled.sites, sampled.unchecked) == (2000, 20, 80)
    assert sampled.spread == pytest.approx(1 + LOST_ALIKE * 99)
    assert sampled.upper == pytest.approx(upper_bound(0, int(2000 / sampled.spread)))
    assert str(sampled).endswith("2,000 pages of 20 of 100 sites checked)")
    spread = checked_of_sites([*(CheckedPages(100, 1, 1) for _ in range(20)), others])
    together = checked_of_sites([CheckedPages(100, 20, 20), *alone[1:], others])
    assert spread.spread == sampled.spread
    assert together.spread > 10
    assert together.upper > 2 * spread.upper
    assert str(others).startswith("at most 10 % of pages lost, from what is known of such rules")
    assert (others.upper, others.as_json()["upper"]) == (0.1, 0.1)
    assert checked_of_sites([others, others]).pages == 0
