"""The rules that outlive a crawl: taught by what was fetched, and behind them what its tests have proved."""

from __future__ import annotations

import pytest

import undust
from tests.crawling.crawled_site import HOST, row_of
from undust.crawling.fetched import PageRecord, table_from
from undust.crawling.relearning import FinalRules, ObservedSite, learn_for_good
from undust.rules import Rule

SITE = "shop.test"
PAGES = {f"{HOST}/item?id={number}": f"page {number}" for number in range(20)}
KEEP = Rule.parse("keep {s}://{h}/{p**}?board={**}&{rest**}", site=SITE)
DROP_SID, DROP_ID, DROP_NOWHERE = (
    Rule.parse(
        f"rewrite {{s}}://{{h}}/{{p**}}?{name}={{**}}&{{rest**}} -> {{s}}://{{h}}/{{p}}?{{rest}}", site=SITE
    )
    for name in ("sid", "id", "nowhere")
)
SORTED = Rule.parse("rewrite {s}://{h}/{p**}?{rest**} -> {s}://{h}/{p}?{rest:sorted}", site=SITE)
PROVED = (DROP_SID, DROP_ID, DROP_NOWHERE, SORTED)


@pytest.mark.parametrize(
    ("taught", "expected"),
    [((), (DROP_SID, SORTED)), ((KEEP,), (KEEP, DROP_SID)), ((SORTED,), (SORTED, DROP_SID))],
)
def test_what_was_proved_comes_behind_what_was_taught(
    taught: tuple[Rule, ...], expected: tuple[Rule, ...]
) -> None:
    """It is used if it loses no page, and if any URL needs it; only parts are left out beside conditions."""
    rows = [(url, PageRecord.of(row_of(url, page)).to_bytes()) for url, page in PAGES.items()]
    skipped = [f"{HOST}/item?sid=4f&id=3", f"{HOST}/item?z=1&id=3"]
    evidence = ObservedSite(SITE, table_from(rows))
    found = learn_for_good(lambda _: taught, evidence, PROVED, skipped)
    assert [rule.id for rule in found] == [rule.id for rule in expected]


def test_a_rule_that_another_one_shields_says_so() -> None:
    """Any part of the rules is as safe as the whole, as those of `learn` are: a person may switch one off."""
    pages = {f"{HOST}/item?id={number}{form}": f"{number}" for number in range(20) for form in ("", "&sid=a")}
    pages |= {f"{HOST}/item?board={n}&id=1&sid={sid}": f"{n} of {sid}" for n in range(9) for sid in "ab"}
    rows = [(url, PageRecord.of(row_of(url, page)).to_bytes()) for url, page in pages.items()]
    evidence = ObservedSite(SITE, table_from(rows))
    keep, drop = learn_for_good(lambda _: (KEEP, DROP_SID), evidence, (), [])
    assert (keep.id, drop.unless, drop.needs) == (KEEP.id, ("?board={**}",), ())
    given = learn_for_good(lambda _: (KEEP,), evidence._replace(given=[DROP_SID]), (), [])
    assert [(rule.id, rule.needs) for rule in given] == [(DROP_SID.id, ()), (KEEP.id, ())]
    given = learn_for_good(lambda _: (KEEP, DROP_SID), evidence._replace(given=[DROP_SID]), (), [])
    assert [(rule.id, rule.needs) for rule in given] == [(KEEP.id, ()), (DROP_SID.id, (KEEP.id,))]


def test_rules_for_good_are_learned_by_the_demands_of_learn() -> None:
    """What a crawl uses with tests after 4 pages is not enough to be used without them."""
    asked: list[bool] = []

    def watched(evidence: ObservedSite) -> tuple[Rule, ...]:
        asked.append(evidence.is_for_good)
        return ()

    learner = undust.CrawlLearner(learn=watched, prior=False)
    for url, page in PAGES.items():
        learner.observe(row_of(url, page))
    assert True not in asked
    assert len(learner.rules) == 0
    assert asked.count(True) == 1
    assert len(learner.rules) == 0
    assert asked.count(True) == 1


def test_rules_for_good_are_learned_again_when_enough_is_new() -> None:
    """That is a tenth more observations, or a rule that failed."""
    final = FinalRules()
    assert final.are_due(0, 0)
    final.set([DROP_SID], 100, 0)
    assert [final.are_due(*state) for state in ((100, 0), (110, 0), (111, 0), (100, 1))] == [
        False,
        False,
        True,
        True,
    ]
