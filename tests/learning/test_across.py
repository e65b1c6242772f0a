"""Rules for sites never seen: who must prove them, who may refuse them, and where they are off."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import undust
from tests.learning.labelled import default, idle, labelled, seldom_lower, selecting, table_of
from undust.engines import local
from undust.jobs.combined import learn_combined
from undust.learning import Requirements, rules_across, shown_by
from undust.learning.across import FAILING, MOST_RULES_ACROSS, Prior, Trials, excepting, prior_of
from undust.learning.generic import SHOWN, SiteTally

if TYPE_CHECKING:
    from undust.rules import Rule

THREE = ("a.test", "b.test", "c.test")
NEW = "http://never-seen.test/x?sid=1"


def crowd(*selects: str) -> pa.Table:
    """Three sites where `sid` is idle, and some where it selects."""
    return table_of(
        *(labelled(idle(site)) for site in THREE), *(labelled(selecting(site)) for site in selects)
    )


def for_all(rules: undust.RuleSet) -> list[Rule]:
    """The rules for all sites."""
    return [rule for rule in rules if rule.site == "*"]


def shown(site: str, *, pages: int, lost: int = 0, source: str = "{s}://{h}/{p**}?sid={**}") -> SiteTally:
    """What a site might say."""
    said = (site, "lone parameter", "rewrite", source, "{s}://{h}/{p}")
    example = (f"http://{site}/a?sid=1", f"http://{site}/a") if pages else ("", "")
    return SiteTally(*said, pages + lost, pages + lost, pages, lost, pages, lost, *example)


def test_three_sites_teach_a_fourth() -> None:
    """A site without any evidence of its own gets what three others proved."""
    rules = undust.learn(crowd())
    (rule,) = for_all(rules)
    assert rules.compile()(NEW) == "http://never-seen.test/x"
    assert rule.learned_by == "across"
    assert rule.extra["across"]["sites"] == 3
    assert rule.extra["across"]["failing"] <= FAILING
    assert rule.saves == 180
    assert list(rules)[-1] == rule
    assert rule.examples
    assert all("sid=" in source for source, _ in rule.examples)


def test_two_sites_teach_nobody() -> None:
    """Nor do three, if one of them has too few pages."""
    two = [labelled(idle(site)) for site in THREE[:2]]
    assert not for_all(undust.learn(table_of(*two)))
    assert not for_all(undust.learn(table_of(*two, labelled(idle("c.test"), pages=3))))


def test_a_site_where_it_matters_refuses_it_for_all() -> None:
    """One failure among four sites is too many; among forty it is an exception."""
    assert not for_all(undust.learn(crowd("d.test")))
    many = [shown(f"s{n}.test", pages=20) for n in range(40)]
    (rule,) = rules_across([*many, shown("odd.test", pages=0, lost=20)], Requirements())
    assert rule.except_sites == ("odd.test",)
    assert rule.false_positives == 0
    half = [shown(f"t{n}.test", pages=0, lost=20) for n in range(20)]
    assert not rules_across([*many, *half], Requirements())


def test_where_it_is_off_nothing_is_changed() -> None:
    """`except_sites` is what the canonicalizer obeys."""
    many = [shown(f"s{n}.test", pages=20) for n in range(40)]
    rules = undust.RuleSet(rules_across([*many, shown("odd.test", pages=0, lost=20)], Requirements()))
    assert rules.compile()("http://odd.test/p?sid=1") == "http://odd.test/p?sid=1"
    assert rules.compile()("http://even.test/p?sid=1") == "http://even.test/p"


def test_a_little_doubt_switches_off_and_does_not_refuse() -> None:
    """One lost page of forty is no proof against a rule, and enough to leave it off there."""
    some = [shown(f"s{n}.test", pages=20) for n in range(8)]
    (rule,) = rules_across([*some, shown("doubt.test", pages=39, lost=1)], Requirements())
    assert rule.except_sites == ("doubt.test",)
    (again,) = excepting([rule], [shown("later.test", pages=5, lost=5)], Requirements())
    assert again.except_sites == ("doubt.test", "later.test")


def test_a_lone_rule_holds_where_the_open_one_fails() -> None:
    """Lists change between fetches, so tracking seems to matter there; pages without a query do not."""

    def forms(site: str) -> list[tuple[str, str]]:
        lists = [
            (f"http://{site}/list?page={n}{more}", f"list {n}{more}")
            for n in range(40)
            for more in ("", "&ref=a", "&ref=b")
        ]
        return [*labelled(idle(site, "ref")), *lists]

    rules = undust.learn(table_of(*(forms(site) for site in THREE)))
    canonical = undust.RuleSet(for_all(rules)).compile()
    assert canonical("http://new.test/p?ref=5") == "http://new.test/p"
    assert canonical("http://new.test/list?page=2&ref=a") == "http://new.test/list?page=2&ref=a"


def test_one_value_is_no_parameter() -> None:
    """`view=list` is a default on three sites; what `view=grid` shows there nobody knows."""
    sites = [labelled(default(site)) for site in THREE]
    canonical = undust.learn(table_of(*sites)).compile()
    assert canonical("http://new.test/p?view=list") == "http://new.test/p"
    assert canonical("http://new.test/p?view=grid") == "http://new.test/p?view=grid"


def test_what_nobody_saw_is_not_written() -> None:
    """Lower case is right on three sites, and hardly ever leads to a form that was seen."""
    sites = [labelled(seldom_lower(site)) for site in THREE]
    assert undust.learn(table_of(*sites)).compile()("http://new.test/Page") == "http://new.test/Page"


def test_order_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither that of rows and sites, nor how many processes work."""
    table = crowd()
    expected = undust.learn(table).dumps()
    for seed in range(2):
        order = list(range(len(table)))
        random.Random(seed).shuffle(order)
        assert undust.learn(table.take(order)).dumps() == expected
    monkeypatch.setattr(local, "SLOW_TASK_ROWS", 50)
    assert undust.learn(table, threads=2).dumps() == expected
    found = undust.find_duplicates(table)
    said = [row for site in found for row in shown_by(site, Requirements())]
    assert rules_across(said, Requirements()) == rules_across(reversed(said), Requirements())


def test_what_a_site_says_is_a_small_table() -> None:
    """One row a shape, of columns that any engine can carry; nothing for what changes no URL."""
    (site,) = undust.find_duplicates(table_of(labelled(idle("a.test"))))
    said = shown_by(site, Requirements())
    assert len(said) < 20
    assert {type(value) for row in said for value in row} == {int, str}
    assert SHOWN.names == list(SiteTally._fields)
    assert pa.Table.from_pylist([row._asdict() for row in said], SHOWN).num_rows == len(said)
    assert all(row.moved for row in said)


def test_across_can_be_left_out() -> None:
    """For those who want each site by itself: then many sites are what each is alone."""
    found = undust.find_duplicates(crowd())
    apart = learn_combined(found, across=False).rules
    assert not for_all(apart)
    alone = [rule for site in THREE for rule in undust.learn(table_of(labelled(idle(site))))]
    assert list(apart) == alone


@pytest.mark.parametrize(("holds", "fails"), [(0, 0), (3, 0), (7, 1), (0.4, 2.6)])
def test_the_chance_of_failing_is_the_mean_of_the_posterior(holds: float, fails: float) -> None:
    """Integrated by hand over all rates."""
    prior, steps = Prior(1.4, 2.6), 20_000
    rates = [(place + 0.5) / steps for place in range(steps)]
    weight = [rate ** (0.4 + fails) * (1 - rate) ** (1.6 + holds) for rate in rates]
    mean = sum(rate * each for rate, each in zip(rates, weight, strict=True)) / sum(weight)
    assert math.isclose(prior.failing(Trials(holds, fails)), mean, rel_tol=1e-3)


def test_the_prior_learns_from_the_family() -> None:
    """Where most shapes fail, the first sites of another one weigh less."""
    good, bad = [Trials(6, 0)] * 20, [Trials(0, 6)] * 20
    three = Trials(3, 0)
    assert (
        prior_of(good).failing(three) < prior_of([*good, *bad]).failing(three) < prior_of(bad).failing(three)
    )


def test_the_number_of_rules_for_all_sites_is_bounded() -> None:
    """Who owns three sites can make up any number of idle parameters; those that save most are taken."""
    shown = [
        SiteTally(
            *(f"s{site}.test", "drop", "rewrite"),
            *(f"{{s}}://{{h}}/{{p**}}?n{number}={{**}}&{{rest**}}", "{s}://{h}/{p}?{rest}"),
            *(40 + number, 40 + number, 40 + number, 0, 40, 0),
            *(f"http://s{site}.test/1?n{number}=1", f"http://s{site}.test/1"),
        )
        for number in range(MOST_RULES_ACROSS + 20)
        for site in range(4)
    ]
    rules = rules_across(shown, Requirements())
    assert len(rules) == MOST_RULES_ACROSS
    assert "?n319=" in rules[0].source
    assert not any("?n19=" in rule.source for rule in rules)
