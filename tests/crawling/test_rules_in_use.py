"""Rules that were learned again: those of before stay where they skip more and join nothing that differs."""

from __future__ import annotations

from dataclasses import replace

from tests.crawling.crawled_site import HOST, row_of
from undust.crawling.fetched import Fetched, PageRecord, shown
from undust.crawling.guesses import GUESS
from undust.crawling.places import RuleUse
from undust.crawling.rule_tests import Canonicals, RuleTests
from undust.crawling.rules_in_use import (
    PRIOR,
    CrawledUrls,
    PriorRules,
    RulesInUse,
    best_of,
    without_cycles,
)
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


def test_new_guesses_leave_the_others_in_their_order() -> None:
    """A rule of most sites and a guess that were proved are among the learned ones; what is new follows."""
    rules = used()
    assert rules.wakes(f"{HOST}/item?id=1&sid=4f1e")
    [prior] = rules.with_more()
    guess = replace(drop("ref"), learned_by=GUESS)
    rules.use(rules.ordered([replace(prior, support=7), guess, drop("utm_*")], []))
    before = (prior.id, guess.id, drop("utm_*").id)
    assert rules.with_more().ids == before
    assert rules.with_more().raw[0]["support"] == 7
    assert rules.wakes(f"{HOST}/item/index.html")
    more = rules.with_more([drop("order")])
    assert more.ids[:4] == (*before, drop("order").id)
    assert [rule.learned_by for rule in more][4:] == [PRIOR]
    own, again = [Rule.from_json(raw) for raw in rules.of_site()], used()
    assert again.restored(own, {}, rules.ids).ids == before
    rules.withdrawn[prior.id] = 1
    rules.use(rules.without({prior.id}))
    assert prior.id not in rules.with_more().ids


def test_without_anything_skipped_only_the_new_rules_are_used() -> None:
    """Nothing would come back, so nothing is gained by older rules."""
    known = crawled({f"{HOST}/item?id=1": "1"}, [])
    assert best_of([drop("ref")], used(drop("sid")), known).ids == (drop("ref").id,)


def test_what_rules_leave_out_is_no_place_of_its_own() -> None:
    """Pages name the same under each campaign: what they say is tested once for all of them."""
    names = [chr(97 + number) for number in range(13)]
    pages = [f"{HOST}/print/{number}?{name}=1" for number, name in enumerate(names)]
    chances = []
    for form in (str, lambda url: str(url).partition("?")[0]):
        statements = Canonicals(form=form)
        for number, page in enumerate(pages):
            statements.add(page, f"{HOST}/item/{number}", str)
            assert statements.page_for(f"{HOST}/item/{number}") == page
            if number < 12:
                statements.note(page, is_good=True)
        chances.append((statements.chance(pages[-1], 0.1) < 1, statements.covers(f"{HOST}/item/12")))
        statements.form = str
        statements.note(pages[0], is_good=False)
        assert statements.page_for(f"{HOST}/item/0") is None
    assert chances == [(False, False), (True, True)]


def test_a_url_that_leads_away_shows_nothing_of_its_own_key() -> None:
    """Under a rule that drops `sid` the first page has not been seen; the second one has."""
    fetched = crawled({f"{HOST}/b?sid=2": "b"}, []).fetched
    for url, target in ((f"{HOST}/a?sid=1", "/start"), (f"{HOST}/c?sid=3", "/c")):
        fetched.add(url, PageRecord.of({"url": url, "status": 302, "redirect": target}))
    covers, away = shown(fetched, RuleSet([drop("sid")]).program)
    assert covers == {f"{HOST}/b": f"{HOST}/b?sid=2", f"{HOST}/c": f"{HOST}/c?sid=3"}
    assert away == [f"{HOST}/a"]


def test_rules_that_cut_a_parameter_are_not_used_in_a_crawl() -> None:
    """A value would become part of the name of a page; a rule that failed twice is not used either."""
    rules = used()
    assert not rules.may_use(Rule.parse('replace "?do=" -> ""', site=SITE))
    assert rules.may_use(Rule.parse('replace "?id=" -> "?page="', site=SITE))
    assert not rules.may_use(Rule.parse("keep {s}://{h}/{p**}", site=SITE))
    assert rules.may_use(drop("sid"))
    rules.without({drop("sid").id})
    rules.without({drop("sid").id})
    assert not rules.may_use(drop("sid"))


def test_rules_that_undo_each_other_are_not_used_together() -> None:
    """Otherwise a URL comes back, and no other rule is applied to it."""
    there, back = (
        Rule.parse(f"rewrite {{s}}://{one}/{{p**}}?{{rest**}} -> {{s}}://{other}/{{p}}?{{rest}}", site=SITE)
        for one, other in (("shop.test", "www.shop.test"), ("www.shop.test", "shop.test"))
    )
    rules, urls = RuleSet([there, back, drop("sid")]), [f"{HOST}/a?sid=1", f"{HOST}/b"]
    assert rules.program.key(urls[0]) == urls[0]
    found = without_cycles(rules, urls)
    assert [rule.id for rule in found] == [there.id, drop("sid").id]
    assert found.program.key(urls[0]) == "http://www.shop.test/a"
    given = without_cycles(rules, urls, {back.id})
    assert [rule.id for rule in given] == [back.id, drop("sid").id]
    assert without_cycles(rules, urls, {there.id, back.id}) is rules


def test_learned_rules_that_keep_pages_are_not_used_in_a_crawl() -> None:
    """A state of before may hold some; those that a person gave stay."""
    keep = Rule.parse("keep {s}://{h}/{p**}?{rest**} when ?board={**}", site=SITE)
    again = used()
    again.use(again.restored([drop("sid"), keep], {}, []))
    assert again.ids == (drop("sid").id,)
    given = RulesInUse(SITE, RuleSet([keep]), PriorRules(SITE, frozenset()))
    given.use(given.restored([drop("sid"), keep], {}, []))
    assert given.ids == (drop("sid").id, keep.id)


def test_only_what_held_in_every_test_outlives_the_crawl() -> None:
    """A rule is relied on without tests if enough of them passed and none failed."""
    rules = used(young := drop("sid"), failed := drop("lang"), proved := drop("visit"))
    tests = RuleTests(0)
    tests.begin([(rule.id, 90) for rule in (young, failed, proved)])
    assert rules.never_failed(tests) == []
    for rule, results in ((failed, (True, True, True, False)), (proved, (True, True, True))):
        use = RuleUse.between(rule.id, f"{HOST}/x?v=1", f"{HOST}/x")
        for cover, is_good in zip("abcd", results, strict=False):
            tests.note([use], cover, is_good=is_good)
    assert [(rule.id, rule.support) for rule in rules.never_failed(tests)] == [(proved.id, 3)]
