"""Pages that change between fetches are set apart from false merges, and false merges are stated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

import undust
from undust.edits import Given
from undust.judging import KeyState, Site
from undust.judging.checked import CheckedPages, checked_pages
from undust.rules import Rule
from undust.statistics import upper_bound, upper_bound_beside

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Shows = Callable[[int, int, str], bool]

RULES = tuple(
    Rule.parse(
        f"rewrite {{s}}://{{h}}/{{p**}}?{name}={{**}}&{{rest**}} → {{s}}://{{h}}/{{p}}?{{rest}}",
        site="a.test",
    )
    for name in ("sid", "print", "ref")
)
SHORT = Rule.parse("rewrite {s}://{h}/{n:int}?{rest**} → {s}://{h}/p/{n}?{rest}", site="a.test")
FORMS = ("", "?sid={n}", "?print=1", "?ref={n}")
PAGES = 3_000


def seen(is_other: Shows, folder: Callable[[int], str] = lambda _: "p") -> dict[str, str]:
    """Pages of two to four forms, and what each form shows.

    Whether it shows another page depends on the number of the page, how many forms it has, and the form.
    """
    drawn = np.random.default_rng(7)
    pages = {}
    for n in range(PAGES):
        count = int(drawn.choice([2, 2, 2, 3, 4]))
        for form in sorted(drawn.choice(FORMS, count, replace=False).tolist()):
            shown = f"{n}{form}" if is_other(n, count, form) else f"{n}"
            pages[f"http://a.test/{folder(n)}/{n}{form.format(n=n)}"] = shown
    return pages


def stated(
    pages: dict[str, str], share: float = 1.0, redirects: Mapping[str, str] | None = None
) -> CheckedPages:
    """What is stated from a share of the pages, some of which other URLs redirect to."""
    moved = redirects or {}
    urls = [*pages, *moved]
    digests = [*pages.values(), *(None for _ in moved)]
    table = pa.table({"url": urls, "digest": digests, "redirect": [moved.get(url) for url in urls]})
    site = Site.of(undust.find_duplicates(table).sites[0])
    state = KeyState(site, tuple(Given(rule=rule) for rule in (*RULES, SHORT)))
    aside = site.drawn("aside", share)
    return checked_pages([(state, aside)], np.zeros(site.count, np.bool_), site.evidence)


def plain(found: CheckedPages) -> float:
    """The bound if no page changed."""
    return CheckedPages(found.pages, found.lost, found.groups).upper


def changes(n: int, *_: object) -> bool:
    """One page in thirty shows something else at every fetch."""
    return n % 30 == 0


def wrong(n: int, share: float) -> bool:
    """Whether a page is one of a share of the pages, none of which change."""
    return n % 30 != 0 and (n * 7919) % 1_000 < 1_000 * share


def test_pages_that_change_are_expected_among_those_that_seem_lost() -> None:
    """All rules are right: the bound comes near that of no page lost, and the sentence says both numbers."""
    found = stated(seen(changes))
    assert found.lost > 30
    assert 0.9 * found.groups < found.expected < 1.2 * found.groups
    assert found.changing / found.seen == pytest.approx(1 / 30, abs=0.01)
    assert upper_bound(0, found.pages) < found.upper < 0.7 * plain(found)
    assert str(found).endswith("of the pages change between fetches")
    said = found.as_json()
    assert (said["seen"], said["changing"], said["expected"]) == (found.seen, found.changing, found.expected)


def test_each_url_of_a_page_that_changes_is_drawn_by_itself() -> None:
    """Of four URLs that one rule merges one or more are checked far more often than one of two."""
    pages = seen(changes)
    for n in range(PAGES, 2 * PAGES):
        pages |= {f"http://a.test/p/{n}?sid={v}": f"{n} {v}" if changes(n) else f"{n}" for v in range(4)}
    found = stated(pages, 0.3)
    assert found.groups > 60
    assert 0.6 * found.groups < found.expected < 1.2 * found.groups


@pytest.mark.slow
def test_what_is_checked_in_several_parts_is_expected_once() -> None:
    """Of a page with four URLs that one rule merges several may be checked; they are one group."""
    pages = seen(changes)
    for n in range(PAGES, 2 * PAGES):
        pages |= {f"http://a.test/p/{n}?sid={v}": f"{n} {v}" if changes(n) else f"{n}" for v in range(4)}
    table = pa.table({"url": list(pages), "digest": list(pages.values())})
    site = Site.of(undust.find_duplicates(table).sites[0])
    state = KeyState(site, tuple(Given(rule=rule) for rule in (*RULES, SHORT)))
    half, stable = site.drawn("aside", 0.5), np.zeros(site.count, np.bool_)
    parts = checked_pages([(state, half), (state, ~half)], stable, site.evidence)
    whole = checked_pages([(state, half | ~half)], stable, site.evidence)
    assert (parts.pages, parts.lost, parts.groups) == (whole.pages, whole.lost, whole.groups)
    assert parts.expected == pytest.approx(whole.expected, rel=0.01)


def test_a_url_that_redirects_does_not_show_its_page_again() -> None:
    """It has no content of its own, and so says nothing about whether its page changes."""
    pages = seen(changes)
    first: dict[str, str] = {}
    for url in pages:
        first.setdefault(url.partition("?")[0], url)
    moved = {f"http://a.test/{n}": first[f"http://a.test/p/{n}"] for n in range(PAGES)}
    without, found = stated(pages), stated(pages, redirects=moved)
    assert (found.seen, found.changing) == (without.seen, without.changing)
    assert found.expected == pytest.approx(without.expected, rel=0.05)


@pytest.mark.parametrize("share", [0.005, 0.01, 0.03])
def test_what_a_wrong_rule_loses_beside_them_is_stated(share: float) -> None:
    """The rule is wrong for some of the pages, and others change."""
    pages = seen(lambda n, _, form: changes(n) or (form == "?sid={n}" and wrong(n, share)))
    lost = sum("sid" in shown and not changes(int(shown.partition("?")[0])) for shown in pages.values())
    found = stated(pages)
    assert found.upper > lost / PAGES > 0.3 * share


def test_a_rule_that_is_right_shows_that_pages_with_two_urls_do_not_change() -> None:
    """Though others do: then what a wrong rule loses on pages with two URLs is not excused."""
    pages = seen(
        lambda n, count, form: (
            (changes(n) and count > 2) or (form == "?sid={n}" and count == 2 and wrong(n, 0.02))
        )
    )
    found = stated(pages)
    assert found.changing / found.seen > 0.015
    assert found.expected < 0.25 * found.groups
    assert found.upper > found.groups / found.pages


def test_lists_with_many_urls_that_change_excuse_no_page_with_few() -> None:
    """Where fewer pages with three URLs change than with more, the lower rate is taken."""
    found = stated(seen(lambda n, count, _: n % 10 == 0 and count > 3))
    assert found.changing > 50
    assert found.expected == 0


def test_where_all_rules_are_wrong_nothing_is_excused() -> None:
    """In one folder each parameter shows another page: that is no page that changes."""
    pages = seen(changes, lambda n: "list" if changes(n) else "p")
    found = stated(pages)
    assert found.lost > 30
    assert (found.changing, found.expected) == (0, 0)
    assert found.upper == plain(found)


def test_two_rules_that_are_wrong_apart_from_each_other_are_not_excused() -> None:
    """Then most pages with several URLs have some that agree."""
    pages = seen(
        lambda n, _, form: (
            (form == "?sid={n}" and wrong(n, 0.05)) or (form == "?ref={n}" and wrong(n + 400, 0.05))
        )
    )
    found = stated(pages)
    assert found.expected == 0
    assert found.upper == plain(found)


def test_from_few_pages_nothing_is_concluded() -> None:
    """Neither is a rate shown."""
    few = {url: shown for url, shown in seen(changes).items() if int(shown.partition("?")[0]) < 60}
    found = stated(few)
    assert found.expected == 0
    assert "change" not in str(found)


@pytest.mark.slow
@pytest.mark.parametrize("lost", [0.001, 0.004, 0.02])
def test_the_bound_holds_beside_another_cause(lost: float) -> None:
    """Drawn 100 times: what is lost, what changes, and the pages that show how many change."""
    drawn = np.random.default_rng(11)
    pages, unseen, shown, rate, exceeded = 3_000, 700, 1_500, 0.02, 0
    for _ in range(100):
        hits = int(drawn.binomial(pages, lost) + drawn.binomial(unseen, rate))
        known = int(drawn.binomial(shown, rate)) / (shown + 1)
        beside, variance = known * unseen / pages, known * (1 - known) / (shown + 2) * (unseen / pages) ** 2
        exceeded += upper_bound_beside(hits, pages, beside, variance) < lost
    assert exceeded <= 0.05 * 100
