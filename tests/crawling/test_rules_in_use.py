"""Rules that were learned again: those of before stay where they skip more and join nothing that differs."""

from __future__ import annotations

from tests.crawling.crawled_site import HOST, row_of
from undust.crawling.fetched import Fetched, PageRecord
from undust.crawling.rules_in_use import CrawledUrls, PriorRules, RulesInUse, best_of
from undust.rules import Rule, RuleSet

SITE = "shop.test"
DROP = "rewrite {{s}}://{{h}}/{{p**}}?{{**:{}}}&{{rest**}} -> {{s}}://{{h}}/{{p}}?{{rest}}"


def drop(name: str) -> Rule:
    """Return a rule that leaves out one parameter."""
    return Rule.parse(DROP.format(name), site=SITE)


def used(*rules: Rule) -> RulesInUse:
    """Return rules that a crawl has learned and uses."""
    found = RulesInUse(SITE, RuleSet(), PriorRules(SITE))
    found.use(found.ordered(rules, []))
    return found


def crawled(pages: dict[str, str], skipped: list[str]) -> CrawledUrls:
    """Return URLs that showed pages, and others that were skipped."""
    fetched = Fetched()
    for url, page in pages.items():
        fetched.add(url, PageRecord.of(row_of(url, page)))
    return CrawledUrls(fetched, [], skipped)


def test_a_rule_that_is_not_learned_again_stays() -> None:
    """What it skipped is missing from what was fetched, so nothing is left to learn it from."""
    pages = {f"{HOST}/item?id={number}": str(number) for number in range(5)}
    known = crawled(pages, [f"{url}&sid=4f1e" for url in pages])
    assert best_of([drop("ref")], used(drop("sid")), known).ids == (drop("ref").id, drop("sid").id)


def test_a_rule_that_joins_different_pages_does_not_stay() -> None:
    """However much it skips; the others of before are not to blame for it."""
    pages = {f"{HOST}/item?id={number}": str(number) for number in range(5)}
    known = crawled(pages, [f"{HOST}/item?id={number}" for number in range(100, 200)])
    known.skipped.extend(f"{url}&sid=4f1e" for url in pages)
    found = best_of([drop("ref")], used(drop("id"), drop("sid")), known)
    assert set(found.ids) == {drop("ref").id, drop("sid").id}


def test_without_anything_skipped_only_the_new_rules_are_used() -> None:
    """Nothing would come back, so nothing is gained by older rules."""
    known = crawled({f"{HOST}/item?id=1": "1"}, [])
    assert best_of([drop("ref")], used(drop("sid")), known).ids == (drop("ref").id,)
