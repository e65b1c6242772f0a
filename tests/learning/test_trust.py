"""What a rule must show beyond numbers: a prior of its shape, several kinds of proof, a bound for the set."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

import undust
import undust.jobs.combined
from tests.learning.test_unstable_pages import crawl
from undust.learning import Requirements, SitePages, State
from undust.learning.acceptance import is_diverse
from undust.learning.bounds import Beliefs, bounded, held_pairs, shape_of
from undust.learning.loop import Learning
from undust.learning.texts import with_conditions
from undust.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from undust.learning.state import Effect

SITE = "a.test"


def drop(name: str) -> Rule:
    """The rule that drops a parameter."""
    text = f"rewrite {{s}}://{{h}}/{{p**}}?{name}={{**}}&{{rest**}} → {{s}}://{{h}}/{{p}}?{{rest}}"
    return Rule.parse(text, site=SITE)


def keep_only(names: str) -> Rule:
    """The rule that forgets all parameters but some."""
    text = f"rewrite {{s}}://{{h}}/{{p**}}?{{k**:{names}}}&{{**}} → {{s}}://{{h}}/{{p}}?{{k}}"
    return Rule.parse(text, site=SITE)


def table_of(rows: Iterable[tuple[str, str]]) -> pa.Table:
    """Labelled URLs as observations."""
    urls, pages = zip(*rows, strict=True)
    return pa.table({"url": urls, "cluster": pages})


def state_of(rows: Iterable[tuple[str, str]], *rules: Rule) -> State:
    """The state of a site of labelled URLs."""
    found = undust.find_duplicates(table_of(rows)).sites[0]
    return State(SitePages(found, Requirements()), rules)


@cache
def some_effect() -> Effect:
    """The effect of a rule on the smallest of sites."""
    return state_of([("http://a.test/?x=1", "1"), ("http://a.test/", "1")]).effect(drop("x"))


def record(lost: int, pages: int) -> Effect:
    """What is asked of an effect where only counts matter."""
    effect = some_effect()
    return type(effect)(**{**effect.__dict__, "lost": lost, "pages": pages})


def believed(others: list[tuple[int, int]], pages: int) -> float:
    """The risk of a clean rule with so many pages, beside others of its shape (pages lost, pages merged)."""
    beliefs = Beliefs()
    beliefs.note((drop(f"x{place}"), record(*counts)) for place, counts in enumerate(others))
    return beliefs.risk(drop("sid"), record(0, pages))


def test_the_same_record_says_more_where_rules_of_its_shape_hold() -> None:
    """Ten clean pages suffice among session ids, and do not among values of which hardly one is idle."""
    among_true, among_false = [(0, 40)] * 12, [(30, 3)] * 12
    assert believed(among_true, 10) < 0.01 < believed(among_false, 10)
    assert believed(among_false, 200) < 0.01


@pytest.mark.parametrize("others", [[], [(0, 40)] * 12, [(30, 3)] * 12])
def test_more_clean_pages_never_raise_the_risk(others: list[tuple[int, int]]) -> None:
    """And a failure never lowers it."""
    risks = [believed(others, pages) for pages in range(1, 60)]
    assert risks == sorted(risks, reverse=True)
    beliefs = Beliefs()
    beliefs.note((drop(f"x{place}"), record(*counts)) for place, counts in enumerate(others))
    assert beliefs.risk(drop("sid"), record(1, 30)) > beliefs.risk(drop("sid"), record(0, 31))


def test_a_shape_is_what_is_left_without_words() -> None:
    """Rules that differ by names alone are of one shape; another form is another."""
    assert shape_of(drop("sid")) == shape_of(drop("phpsessid"))
    assert shape_of(drop("sid")) != shape_of(keep_only("sid"))


def listing(*, searched: bool) -> list[tuple[str, str]]:
    """Lists with page numbers, on which three parameters are idle; and searches, on which `q` selects."""
    rows = [
        (f"http://a.test/c{c}?page={n}{tail}", f"{c} {n}")
        for c in range(8)
        for n in range(3)
        for tail in ("", f"&ref=r{n}", f"&sid={c}{n}", f"&tag=t{c}")
    ]
    searches = [(f"http://a.test/s?q=w{n}&page=1&ref=r{r}", f"s{n}") for n in range(4) for r in range(2)]
    return [*rows, *(searches if searched else ())]


def test_what_is_forgotten_whatever_its_name_was_seen_to_be_idle() -> None:
    """A search term that never differed within a page stops a rule that would forget it."""
    rule = keep_only("page")
    for searched in (False, True):
        # Only one term in sight: no page is lost, and nothing is known about other terms.
        rows = [row for row in listing(searched=searched) if "q=" not in row[0] or "q=w1" in row[0]]
        state = state_of(rows)
        effect = state.effect(rule)
        assert effect.lost == 0
        assert is_diverse(state, effect, rule, 25) is not searched


def test_two_searches_stay_apart_where_one_was_seen() -> None:
    """The same through the front door: a term that nobody has seen is not forgotten."""
    rows = [row for row in listing(searched=True) if "q=" not in row[0] or "q=w1" in row[0]]
    canonical = undust.learn(table_of(rows)).compile()
    assert canonical("http://a.test/s?q=w1&page=1") != canonical("http://a.test/s?q=other&page=1")
    assert canonical("http://a.test/c1?page=2&sid=new") == canonical("http://a.test/c1?page=2")


@pytest.mark.parametrize(("pages", "is_dropped"), [(6, False), (200, True)])
def test_where_parameters_select_a_few_clean_pages_prove_nothing(pages: int, *, is_dropped: bool) -> None:
    """Through the front door: a dozen parameters choose what is shown, one more was idle so far."""
    selecting = [(f"http://a.test/p{k}?x{k}={v}", f"{k} {v}") for k in range(12) for v in range(12)]
    idle = [(f"http://a.test/i{n}{tail}", f"i{n}") for n in range(pages) for tail in ("", f"?y={n}", "?y=a")]
    rows = [*selecting, *idle]
    canonical = undust.learn(table_of(rows)).compile()
    assert (canonical("http://a.test/new?y=1") == "http://a.test/new") is is_dropped


@pytest.mark.parametrize(
    ("lists", "value", "is_idle"), [(10, "{n}", False), (40, "{n}", True), (10, "{c}{n}7", True)]
)
def test_pages_of_short_lists_say_nothing_of_longer_ones(lists: int, value: str, *, is_idle: bool) -> None:
    """Small numbers, the same everywhere, are idle after many lists; numbers of one URL each after a few."""
    rows = [
        (f"http://a.test/c{c}?page={value.format(c=c, n=n)}", f"{c}") for c in range(lists) for n in range(3)
    ]
    state = state_of([*rows, *((f"http://a.test/c{c}", f"{c}") for c in range(lists))])
    assert is_diverse(state, state.effect(drop("page")), drop("page"), 25) is is_idle
    of_one_list = Rule.parse("rewrite http://a.test/{c}?{n**:page} → http://a.test/{c}", site=SITE)
    assert is_diverse(state, state.effect(of_one_list), of_one_list, 25) is is_idle


def test_one_idle_name_does_not_speak_for_all_names() -> None:
    """If only `ref` was seen to be idle, that may be said of `ref`."""
    rows = [row for row in listing(searched=False) if "sid=" not in row[0] and "tag=" not in row[0]]
    state = state_of(rows)
    assert not is_diverse(state, state.effect(keep_only("page")), keep_only("page"), 25)
    assert is_diverse(state, state.effect(drop("ref")), drop("ref"), 25)


def test_one_number_for_another_takes_many_pages() -> None:
    """Threads of one page show it under any page number; that says nothing of longer ones."""
    rows = [(f"http://a.test/{n}", str(n)) for n in range(3)]
    found = undust.find_duplicates(pa.table({"url": [url for url, _ in rows], "cluster": ["1"] * 3})).sites[0]
    least = Learning(found, Requirements()).demands.least_pages
    other, same, word = (
        least(Rule.parse(f'replace "{side}', site=SITE))
        for side in ('&page=1$" → "&page=2$"', '/list/2$" → "/2$"', '/current/" → "/2.4/"')
    )
    assert other == Requirements().number_support > max(same, word)


@pytest.mark.parametrize(("column", "least"), [("digest", 25), ("cluster", 12)])
def test_published_learners_need_more_pages_where_changes_look_like_pages(column: str, least: int) -> None:
    """A label says that pages are two; a digest that differs may be one page that changed."""
    urls = [f"http://a.test/{n}" for n in range(3)]
    seen = pa.table({"url": urls, "status": [200] * 3, column: [f"{n:016x}" for n in range(3)]})
    (found,) = undust.find_duplicates(seen).sites
    rule = replace(Rule.parse('replace "/a/" → "/b/"', site=SITE), learned_by="substring")
    assert Learning(found, Requirements()).demands.least_pages(rule) == least


def test_a_parameter_that_is_there_twice_does_not_show_that_it_does_nothing() -> None:
    """Without the first of both, the other still says from when on the changes are."""
    days = [f"http://a.test/changes?from={n}" for n in range(40)]
    rows = [(url, url) for url in days]
    rows += [(f"{url}&exact=1&{url.partition('?')[2]}", url) for url in days]
    rule = Rule.parse("rewrite {s}://{h}/{p**}?from={**}&exact=1&{rest**} → {s}://{h}/{p}?{rest}", site=SITE)
    (found,) = undust.find_duplicates(table_of(rows)).sites
    learning = Learning(found, Requirements())
    effect = learning.state.effect(rule)
    assert (effect.pages, effect.lost) == (40, 0)
    assert not learning.demands.are_met(learning.state, effect, rule)
    exact = Rule.parse("rewrite {s}://{h}/{p**}?exact=1&{rest**} → {s}://{h}/{p}?{rest}", site=SITE)
    rows += [(f"{url}&exact=1", url) for url in days]
    (found,) = undust.find_duplicates(table_of(rows)).sites
    learning = Learning(found, Requirements())
    assert learning.demands.are_met(learning.state, learning.state.effect(exact), exact)


def test_no_condition_holds_a_value_of_one_visitor() -> None:
    """A rule that holds under the session of the crawl says nothing of other visitors."""
    session = "?sid=d0c360b407a2acaf4d44af60886d6196"
    assert with_conditions(drop("p"), when=(session,)) is None
    assert with_conditions(drop("p"), unless=(session,)) is None
    assert with_conditions(drop("p"), when=("?sid={**}",)) is not None


def test_pairs_of_held_out_pages_are_counted_as_the_judges_count() -> None:
    """Against a count of every single pair."""
    draw = Random(5)
    rows = [
        (f"http://a.test/{n}?x={x}", f"{n} {draw.random() < 0.2 and x}") for n in range(60) for x in range(3)
    ]
    state = state_of(rows, drop("x"))
    pages = state.pages
    held = np.flatnonzero(pages.is_held[pages.of_url]).tolist()
    pairs = [(a, b) for a in held for b in held if a < b and state.image[a] == state.image[b]]
    counted = held_pairs(state)
    assert counted.pairs == len(pairs)
    assert counted.false == sum(pages.of_url[a] != pages.of_url[b] for a, b in pairs) > 0


def test_the_rule_that_breaks_the_bound_goes_and_the_others_stay() -> None:
    """Together the rules keep what `max_fpr` promises."""
    rows = [
        (f"http://a.test/{n}?x={x}&y={y}", f"{n} {y}") for n in range(40) for x in range(3) for y in range(2)
    ]
    state = bounded(state_of(rows, drop("x"), drop("y")), 0.01, 0, lambda _: True)
    assert state.rules == [drop("x")]
    assert held_pairs(state).false == 0


def test_learning_ends_within_the_bound() -> None:
    """A rule that was accepted and sends held-out pages to one form is taken back, and the reason is told."""
    rows = [
        (f"http://a.test/{n}?x={x}&y={y}", f"{n} {y}") for n in range(40) for x in range(3) for y in range(2)
    ]
    found = undust.find_duplicates(table_of(rows)).sites[0]
    learning = Learning(found, Requirements(rounds=0))
    for rule in (drop("x"), drop("y")):
        learning.state.accept(rule)
    learning.ledger.rows[drop("y").id] = replace(drop("y"), support=9, false_positives=3)
    ended = learning.run()
    assert list(ended.rules) == [drop("x")]
    assert ended.held_false == 0
    assert [refused.reason for refused in ended.refused] == ["the rules together would exceed --max-fpr"]


def test_without_a_false_pair_little_evidence_is_stated_and_the_rules_stay() -> None:
    """Nothing that could be taken away would help."""
    rows = [(f"http://a.test/{n}?x={x}", str(n)) for n in range(12) for x in range(2)]
    state = bounded(state_of(rows, drop("x")), 0.01, 0, lambda _: True)
    assert state.rules == [drop("x")]
    assert held_pairs(state).fpr_upper > 0.01


def test_the_outcome_states_the_bound_of_the_set() -> None:
    """In JSON, and for a person."""
    rows = [
        (f"http://a.test/{n}{tail}", f"{n}") for n in range(200) for tail in ("", f"?sid={n}", f"?sid={n}x")
    ]
    outcome = undust.jobs.combined.learn_combined(crawl(rows))
    told = outcome.as_json()
    assert told["held_out_pairs"] > 200
    assert told["held_out_false_pairs"] == 0
    assert 0 < told["fpr_upper"] < 0.05


@pytest.mark.parametrize(("lists", "is_idle"), [(10, False), (40, True)])
def test_pages_of_short_lists_say_as_little_beside_other_parameters(lists: int, *, is_idle: bool) -> None:
    """A rule that keeps one parameter removes the page of a list only if many lists show that it may."""
    rows = [
        (f"http://a.test/show?list={c}{more}", f"{c}")
        for c in range(lists)
        for more in ("", "&page=1", "&page=2", "&page=3", f"&sid=a{c}b", f"&tag=t{c}", f"&ref=r{c}")
    ]
    state, rule = state_of(rows), keep_only("list")
    assert is_diverse(state, state.effect(rule), rule, 25) is is_idle


@pytest.mark.parametrize(("long", "short", "is_default"), [(0, 12, False), (0, 40, True), (12, 12, True)])
def test_short_lists_do_not_identify_a_default(long: int, short: int, *, is_default: bool) -> None:
    """Where `page=2` shows the same, `page=1` is no default; many such lists show that numbers do nothing."""
    rows = [
        (f"http://a.test/c{c}{more}", f"{c} {n}" if c < long else f"{c}")
        for c in range(long + short)
        for n, more in enumerate(("", "?page=2", "?page=3"))
    ]
    rows += [(f"http://a.test/c{c}?page=1", f"{c} 0" if c < long else f"{c}") for c in range(long + short)]
    learning = Learning(undust.find_duplicates(table_of(rows)).sites[0], Requirements())
    rule = Rule.parse("rewrite {s}://{h}/{p**}?page=1&{rest**} → {s}://{h}/{p}?{rest}", site=SITE)
    state = state_of(rows)
    assert learning.demands.are_met(state, state.effect(rule), rule) is is_default


@pytest.mark.parametrize(("lists", "is_idle"), [(10, False), (40, True)])
def test_two_parameters_at_once_are_judged_one_by_one(lists: int, *, is_idle: bool) -> None:
    """A rule that removes `to` and `page` needs as many lists as one that removes `page` alone."""
    rows = [
        (f"http://a.test/c{c}{more}", f"{c}")
        for c in range(lists)
        for more in ("", *(f"?to=t{c}{n}&page={n}" for n in (1, 2, 3)))
    ]
    rule = Rule.parse("rewrite {s}://{h}/{p**}?to={**}&page={**}&{rest**} → {s}://{h}/{p}?{rest}", site=SITE)
    state = state_of(rows)
    assert is_diverse(state, state.effect(rule), rule, 25) is is_idle
