"""The learner inside a crawl: what it skips, what it tests, and that nothing stays lost."""

from __future__ import annotations

from random import Random
from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest

import undust
from bench.replay.endless import crawled
from tests.crawling.crawled_site import HOST, Crawl, page_by_id, row_of, sessions
from undust.crawling.guesses import needed_tests
from undust.crawling.places import PlaceTest, RuleUse, UnstablePlaces, all_steps, changed, until_one
from undust.crawling.relearning import learn_in_a_crawl
from undust.crawling.rule_tests import (
    CHOICE_PAGES,
    FEW_PAGES,
    NUMBER_PAGES,
    VISIT_PAGES,
    RuleTest,
)
from undust.edits import making
from undust.errors import UndustError
from undust.rules import Rule, RuleSet, program_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.crawling.relearning import ObservedSite
    from undust.edits import Edit

DROP_SID = "rewrite {s}://{h}/{p**}?{**:sid}&{rest**} -> {s}://{h}/{p}?{rest}"
DROP_SLASH = "rewrite {s}://{h}/{p**}/{x}/?{rest**} -> {s}://{h}/{p}/{x}?{rest}"
DROP_ID = "rewrite {s}://{h}/{p**}?{**:id}&{rest**} -> {s}://{h}/{p}?{rest}"


def one_rule(text: str, site: str = "shop.test", **known: int) -> RuleSet:
    """Return a set of one rule."""
    rule = Rule.parse(text, site=site)
    return RuleSet([rule.to_json() | known])


def test_session_ids_are_learned_while_crawling() -> None:
    """Each of 200 items has ten URLs; all items are found with far fewer than 2,000 fetches."""
    crawl = Crawl(undust.CrawlLearner())
    crawl.ask(sessions(200, 10))
    assert len(crawl.pages) == 200
    assert len(crawl.fetched) < 500
    key = crawl.learner.rules.compile().key
    assert key(f"{HOST}/item?id=1&sid=new") == key(f"{HOST}/item?id=1&sid=newer")
    assert key(f"{HOST}/item?id=1&sid=new") != key(f"{HOST}/item?id=2&sid=new")
    assert crawl.learner.counts["skipped"] + len(crawl.fetched) == 2000
    assert crawl.learner.counts["pages"] == 200


def test_the_same_calls_give_the_same_decisions() -> None:
    """Two learners with one seed decide alike; another seed tests the rules on other URLs."""
    crawls = [Crawl(undust.CrawlLearner(seed=seed)) for seed in (1, 1, 2)]
    for crawl in crawls:
        crawl.ask(sessions(60, 8))
    assert crawls[0].fetched == crawls[1].fetched
    assert crawls[0].fetched != crawls[2].fetched
    assert crawls[0].learner.rules.dumps() == crawls[1].learner.rules.dumps()


def test_a_decision_says_what_to_do_and_why() -> None:
    """A URL that is to be fetched may be asked about again; others of its key are skipped until then."""
    learner = undust.CrawlLearner(rules=one_rule(DROP_SID), explore=0)
    first = learner.decide(f"{HOST}/item?id=1&sid=a")
    assert (first.action, first.canonical, first.key) == ("fetch", f"{HOST}/item?id=1", f"{HOST}/item?id=1")
    assert learner.decide(first.url).action == "fetch"
    second = learner.decide(f"{HOST}/item?id=1&sid=b")
    assert (second.action, second.explore) == ("skip", False)
    assert "same key" in second.reason
    learner.observe(row_of(first.url, "1"))
    assert learner.decide(first.url).reason == "it was fetched"
    assert learner.decide("mailto:shop@shop.test").action == "fetch"


def test_batches_decide_like_single_calls() -> None:
    """`decide_many` and `observe_many` do what the single calls do."""
    urls = list(sessions(20, 3))
    single, batch = undust.CrawlLearner(), undust.CrawlLearner()
    assert batch.decide_many(urls) == [single.decide(url) for url in urls]
    rows = [row_of(url, page_by_id(url)) for url in urls]
    batch.observe_many(rows)
    for row in rows:
        single.observe(row)
    assert batch.rules == single.rules


def test_an_error_gives_another_url_its_turn() -> None:
    """A page whose first URL is gone is found under the next one; three errors are enough."""
    learner = undust.CrawlLearner(rules=one_rule(DROP_SID), explore=0)
    urls = [f"{HOST}/item?id=1&sid={name}" for name in "abcdefg"]
    assert [each.action for each in learner.decide_many(urls)] == ["fetch", *["skip"] * 6]
    asked = []
    url = urls[0]
    for _ in range(10):
        asked.append(url)
        learner.observe({"url": url, "status": 500})
        handed = learner.returned()
        if not handed:
            break
        (url,) = handed
    assert asked == urls[:4]


def test_whether_an_error_is_worth_another_try() -> None:
    """A page that gave an error is not known yet; it is when another URL of it was fetched meanwhile."""
    learner = undust.CrawlLearner()
    one, other = f"{HOST}/a", "HTTP://SHOP.test:80/a"
    assert learner.decide(one).is_fetch
    learner.observe({"url": one, "status": 503})
    assert learner.decide(one).reason == "it was fetched"
    assert learner.decide(other).is_fetch
    learner.observe(row_of(other, "a"))
    assert learner.decide(one).reason == "a URL with the same key is fetched"


def test_the_target_of_a_redirect_is_fetched_though_its_key_is_known() -> None:
    """A URL that redirects to its own canonical form does not hide the page."""
    learner = undust.CrawlLearner(rules=one_rule(DROP_SID), explore=0)
    url = f"{HOST}/item?id=1&sid=a"
    learner.decide(url)
    learner.observe({"url": url, "status": 301, "redirect": "/item?id=1"})
    assert learner.decide(f"{HOST}/item?id=1").action == "fetch"
    assert learner.decide(f"{HOST}/item?id=1&sid=b").action == "skip"


def test_a_redirect_to_another_page_covers_nothing() -> None:
    """`/a/?version=1` leads to `/a`: the first version was not seen, whatever a rule says of slashes."""
    learner = undust.CrawlLearner(rules=one_rule(DROP_SLASH), explore=0, prior=False)
    first, plain = f"{HOST}/wiki/a/?version=1", f"{HOST}/wiki/a?version=1"
    assert learner.decide(first).action == "fetch"
    learner.observe({"url": first, "status": 302, "redirect": "/wiki/a"})
    assert learner.decide(plain).action == "fetch"
    learner.observe(row_of(plain, "version 1"))
    assert learner.decide(f"{plain}#top").action == "skip"


def test_what_was_skipped_for_a_redirect_to_another_page_comes_back() -> None:
    """One other URL of the key is tried; if it leads away too, there is no such page."""
    learner = undust.CrawlLearner(rules=one_rule(DROP_SID), explore=0, prior=False)
    urls = [f"{HOST}/old?id=1&sid={name}" for name in "abcd"]
    assert [each.action for each in learner.decide_many(urls)] == ["fetch", "skip", "skip", "skip"]
    learner.observe({"url": urls[0], "status": 301, "redirect": "/start"})
    assert learner.returned() == [urls[1]]
    learner.observe({"url": urls[1], "status": 301, "redirect": "/start"})
    assert learner.returned() == []


def test_a_wrong_rule_from_before_is_found_out_by_its_first_test() -> None:
    """However many pages spoke for it elsewhere: it is withdrawn, and every page is fetched."""
    crawl = Crawl(undust.CrawlLearner(rules=one_rule(DROP_ID, support=10), seed=4))
    crawl.ask(f"{HOST}/list?id={number}" for number in range(300))
    assert len(crawl.pages) == 300
    assert len(crawl.fetched) == 300
    assert not [rule for rule in crawl.learner.rules if rule.id == one_rule(DROP_ID)[0].id]


def test_what_a_failing_rule_skipped_comes_back() -> None:
    """A rule that was right at first skips pages later; when a test finds one, all of them are fetched."""

    def page_of(url: str) -> str:
        folder, _, number = url.partition("?id=")
        return folder if int(folder.rpartition("/")[2]) < 40 else f"{folder} {number}"

    crawl = Crawl(undust.CrawlLearner(rules=one_rule(DROP_ID, support=10)), page_of)
    crawl.ask(f"{HOST}/list/{folder}?id={number}" for folder in range(80) for number in range(6))
    assert len(crawl.pages) == 40 + 40 * 6
    assert crawl.learner.counts["returned"] > 0


def test_a_site_that_changes_its_scheme() -> None:
    """When `sid` begins to name pages, the rule is withdrawn within 50 fetches, and no page stays lost."""
    crawl = Crawl(undust.CrawlLearner())
    crawl.ask(sessions(150, 8))
    assert len(crawl.pages) == 150
    withdrawn, before = crawl.learner.counts["withdrawn"], len(crawl.fetched)
    crawl.page_of = str  # from now on every URL is a page of its own
    new = list(sessions(100, 30, start=1000))
    failures = 0
    for url in new:
        decision = crawl.learner.decide(url)
        if decision.is_fetch:
            crawl.fetch(url)
            failures += decision.explore or failures > 0
        if crawl.learner.counts["withdrawn"] > withdrawn:
            break
    assert crawl.learner.counts["withdrawn"] > withdrawn
    assert 0 < failures <= 50
    crawl.ask(crawl.learner.returned())
    crawl.ask(new)
    assert set(new) <= set(crawl.fetched[before:])


def noted(places: UnstablePlaces, url: str, *rules: str, is_good: bool = False) -> bool:
    """Note a test of a URL that no rule writes in another form."""
    return places.note(PlaceTest(url, frozenset(rules), is_good), url)


def test_places_where_proven_rules_fail_are_unstable() -> None:
    """After two failures that are more than a quarter of the tests, a page there is fetched thrice more."""
    places = UnstablePlaces()
    history = [f"{HOST}/wiki/page{number}?action=history" for number in range(9)]
    diff = f"{HOST}/talk/page?action=diff"
    marked = [noted(places, diff, str(number), is_good=number < 6) for number in range(8)]
    assert True not in marked
    marked = [noted(places, url, "slash", url) for url in history[:3]]
    assert not any(marked), "one rule was part of every failure"
    assert [noted(places, url, "sid") for url in history[3:5]] == [True, False]
    assert places.holds(history[7])
    assert not places.holds(diff)
    assert [places.wants(history[0], "its key") for _ in range(5)] == [True, True, True, False, False]
    assert not places.wants(diff, "another key")


def test_an_unstable_place_is_known_by_its_new_name() -> None:
    """A rule that gives the URLs of a place another form takes nothing from what was seen there."""
    places = UnstablePlaces()
    old, new = f"{HOST}/board?list=7", f"{HOST}/boards?list=7"
    assert [noted(places, old, rule) for rule in ("slash", "sid")] == [False, True]
    assert not places.holds(new)
    places.rename(lambda urls: [url.replace("/board?", "/boards?") for url in urls])
    assert places.holds(new)
    assert not places.holds(old)


def test_a_place_with_words_that_were_not_tested_is_as_unstable_as_with_others() -> None:
    """Lists in two orders change between fetches; so one in a third order is fetched again as well."""
    places = UnstablePlaces()
    lists = {order: f"{HOST}/board?list=7&sort={order}" for order in ("views", "replies", "starter", "date")}
    noted(places, lists["date"], "sid", is_good=True)
    noted(places, lists["views"], "sid")
    assert noted(places, lists["replies"], "slash")
    assert places.holds(lists["starter"])
    assert not places.is_silent(lists["starter"])
    assert not places.holds(lists["date"])


def test_one_rule_in_all_failures_is_no_reason_if_others_fail_in_the_same_place() -> None:
    """Where one rule is in each test of a list, lists by another order show whether it is the lists."""
    places = UnstablePlaces()
    by_views, by_replies = (f"{HOST}/board?list=7&sort={order}" for order in ("views", "replies"))
    assert not any(noted(places, by_views, "sid") for _ in range(3)), "the rule may be wrong"
    assert not places.is_silent(by_views)
    noted(places, by_replies, "slash")
    assert places.holds(by_views)
    assert places.is_silent(by_views)


def test_one_parameter_in_all_failures_is_no_sign_that_pages_change() -> None:
    """What fails, and is learned again with a condition, is another rule for the same parameter."""
    places = UnstablePlaces()
    urls = [f"{HOST}/index.php?maker={number}" for number in range(4)]
    for number, url in enumerate(urls):
        use = RuleUse(f"rule {number % 2}", f"maker={number}", "shop.test/index.php")
        assert not noted(places, url, *use.blamed)
    assert not places.is_silent(urls[0])
    assert RuleUse("r", "index.html", "shop.test/").blamed == ("r",)
    assert noted(places, urls[3], *RuleUse("slash", "/", "shop.test/index.php").blamed)


def test_a_place_where_a_test_failed_is_tested_more() -> None:
    """A first failure may be chance: a few more duplicates are fetched, wherever the lot falls."""
    places = UnstablePlaces()
    history = f"{HOST}/wiki/page?action=history"
    assert not places.doubts(history)
    noted(places, history, "slash")
    assert [places.doubts(history) for _ in range(9)] == [True] * 8 + [False]
    noted(places, history, "slash", is_good=True)
    assert not places.doubts(history)


@pytest.mark.parametrize(
    ("edit", "values", "pages"),
    [
        (making.dropped("sid"), ["sid=4f1e", "sid=9a2b&", "sid=77c0"], VISIT_PAGES),
        (making.dropped("order"), ["order=up", "&order=down"], CHOICE_PAGES),
        (making.dropped_value("order", "up"), ["order=up"], CHOICE_PAGES),
        (making.dropped_value("page", "1"), ["page=1", "page=01"], CHOICE_PAGES),
        (making.dropped_value("page", "2"), ["&page=2"], NUMBER_PAGES),
        (making.dropped("page"), ["page=1", "page=12&"], NUMBER_PAGES),
        (making.respelled("sorted"), ["b=2&a=1"], FEW_PAGES),
    ],
)
def test_what_a_guess_leaves_out_decides_how_long_it_is_tested(
    edit: Edit, values: list[str], pages: int
) -> None:
    """Choices and numbers of pages change some pages only, so more of them are looked at."""
    assert needed_tests(edit, values) == pages


def test_rules_for_all_sites_help_from_the_first_page() -> None:
    """A rule for every site holds on a site that nobody has seen."""
    learner = undust.CrawlLearner(rules=one_rule(DROP_SID, site="*"), explore=0)
    urls = [f"http://new{number}.test/a?sid={sid}" for number in range(3) for sid in "ab"]
    assert [each.action for each in learner.decide_many(urls)] == ["fetch", "skip"] * 3
    assert len(learner.rules) == 1


def test_what_a_person_switched_off_stays_off() -> None:
    """A disabled rule is not learned again, however true it is."""
    rules = one_rule(DROP_SID)
    crawl = Crawl(undust.CrawlLearner(rules=rules.disable(rules[0].id)))
    crawl.ask(sessions(60, 4))
    assert len(crawl.fetched) == 240
    assert [rule.status for rule in crawl.learner.rules] == ["disabled"]


@pytest.mark.parametrize("text", [DROP_SID, DROP_SID.replace("{**:sid}", "sid={**}")])
def test_what_a_person_switched_off_is_not_done_in_other_words(text: str) -> None:
    """Rules of most sites stay off that would do the same."""
    rules = one_rule(text)
    crawl = Crawl(undust.CrawlLearner(rules=rules.disable(rules[0].id)))
    crawl.ask(sessions(10, 4))
    assert len(crawl.fetched) == 40


def test_young_rules_are_tested_more_than_old_ones() -> None:
    """The share of skipped URLs that are fetched to test the rules falls as the crawl goes on."""
    crawl = Crawl(undust.CrawlLearner())
    explored = []
    for start in (0, 400):
        before = crawl.learner.counts["explored"]
        crawl.ask(sessions(400, 6, start=start))
        explored.append(crawl.learner.counts["explored"] - before)
    assert explored[0] > explored[1] > 0
    assert len(crawl.pages) == 800


def test_no_decision_waits_for_learning() -> None:
    """While another thread learns, `decide` answers."""
    started, ends = Event(), Event()

    def slow(evidence: ObservedSite) -> Sequence[Rule]:
        started.set()
        assert ends.wait(60)
        return learn_in_a_crawl(evidence)

    learner = undust.CrawlLearner(learn=slow)
    urls = list(sessions(40, 3))
    thread = Thread(target=Crawl(learner).ask, args=(urls,))
    thread.start()
    assert started.wait(60)
    assert learner.decide("http://other.test/").action == "fetch"
    assert learner.decide(f"{HOST}/another").action == "fetch"
    ends.set()
    thread.join(60)
    assert not thread.is_alive()


def test_nothing_is_learned_where_rules_explain_everything() -> None:
    """After the first time, rules are learned again only if URLs of one page are left that none explains."""
    times: list[int] = []

    def counted(evidence: ObservedSite) -> Sequence[Rule]:
        times.append(len(evidence.rows))
        return learn_in_a_crawl(evidence)

    crawl = Crawl(undust.CrawlLearner(learn=counted))
    crawl.ask(sessions(200, 3))
    assert times == [24]
    crawl.page_of = lambda url: str(int(page_by_id(url)) // 2)  # two items a page, and no rule can say so
    crawl.ask(sessions(100, 1, start=2000))
    assert len(times) > 1


def test_errors_hand_back_only_urls_of_their_key() -> None:
    """Of many skipped URLs, those of the page that is gone come back, one at a time."""
    crawl = Crawl(undust.CrawlLearner(rules=one_rule(DROP_SID, support=1000)))
    crawl.ask(sessions(300, 2))
    learner = crawl.learner
    gone = [f"{HOST}/item?id=9999&sid={number}" for number in range(3)]
    assert [learner.decide(url).action for url in gone] == ["fetch", "skip", "skip"]
    learner.observe({"url": gone[0], "status": 404})
    assert learner.returned() == [gone[1]]
    learner.observe({"url": gone[1], "status": 404})
    assert learner.returned() == [gone[2]]


def test_learning_in_the_background() -> None:
    """A thread of its own learns the rule; how far the crawl is by then depends on the machine."""
    crawl = Crawl(undust.CrawlLearner(background=True, explore=0))
    urls = list(sessions(60, 12))
    for part in (urls[:360], urls[360:]):
        crawl.ask(part)
        crawl.learner.settle()
    assert crawl.learner.decide(f"{HOST}/item?id=1&sid=new").action == "skip"
    crawl.learner.close()


def test_learning_starts_from_what_the_crawl_has_proved() -> None:
    """A rule that later fetches confirmed is given to the next learning; what was fetched hardly shows it."""
    given: list[set[str]] = []

    def watched(evidence: ObservedSite) -> Sequence[Rule]:
        given.append({str(rule) for rule in evidence.given})
        return learn_in_a_crawl(evidence)

    crawl = Crawl(undust.CrawlLearner(learn=watched))
    crawl.ask(sessions(60, 8))
    crawl.ask(
        f"{HOST}/item?id={number}&from={name}" for number in range(100, 160) for name in ("list", "mail")
    )
    proved = next(iter(given[-1]))
    assert not given[0]
    assert "sid" in proved
    assert proved in {str(rule) for rule in crawl.learner.rules}


@pytest.mark.parametrize("background", [False, True])
def test_an_error_in_learning_does_not_end_the_crawl(
    background: bool,  # noqa: FBT001 -- a parameter of a test
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It is reported, the rules from before stay in use, and every page is found."""

    def broken(_: ObservedSite) -> Sequence[Rule]:
        message = "an error of the learner"
        raise KeyError(message)

    crawl = Crawl(undust.CrawlLearner(learn=broken, background=background))
    crawl.ask(sessions(30, 3))
    crawl.learner.close()
    assert len(crawl.pages) == 30
    assert "learning the rules of shop.test failed" in caplog.text


def test_many_threads_share_a_learner() -> None:
    """Whatever the order, every page is found and every URL is fetched or skipped once."""
    learner = undust.CrawlLearner()
    urls = list(sessions(100, 8))
    crawls = [Crawl(learner) for _ in range(4)]
    threads = [Thread(target=crawl.ask, args=(urls[place::4],)) for place, crawl in enumerate(crawls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    fetched = [url for crawl in crawls for url in crawl.fetched]
    assert len(fetched) == len(set(fetched))
    assert set.union(*(crawl.pages for crawl in crawls)) == {str(item) for item in range(100)}


def test_traps_are_reported_and_skipped_on_request() -> None:
    """An endless calendar is reported after some fetches; skipping it is an option."""
    calendar = [f"{HOST}/calendar?month={month}" for month in range(400)]
    for skips in (False, True):
        crawl = Crawl(undust.CrawlLearner(skip_traps=skips, learn=lambda _: ()), lambda _: "no events")
        crawl.ask(calendar)
        (trap,) = crawl.learner.traps
        assert (trap.site, trap.place, trap.pages) == ("shop.test", "shop.test/calendar?month", 1)
        assert len(crawl.fetched) == (60 if skips else 400)


def test_real_pages_are_no_trap() -> None:
    """A folder of pages that all differ is none."""
    crawl = Crawl(undust.CrawlLearner(), lambda url: url)
    crawl.ask(f"{HOST}/item/{number}" for number in range(300))
    assert crawl.learner.traps == ()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"status": 200}, "no text as its url"),
        ({"url": 7}, "no text as its url"),
        ({"url": f"{HOST}/", "status": "fine"}, "not a number"),
        ({"url": f"{HOST}/", "sketch": ["a"]}, "not a number"),
        ({"url": f"{HOST}/", "digest": 5}, "not a text"),
    ],
)
def test_a_wrong_row_is_one_sentence(row: dict[str, object], message: str) -> None:
    """A row that cannot be one is refused, and the learner goes on."""
    learner = undust.CrawlLearner()
    with pytest.raises(UndustError, match=message):
        learner.observe(row)
    assert learner.decide(f"{HOST}/").action == "fetch"


def test_wrong_options_are_one_sentence() -> None:
    """A share is from 0 to 1, and only a folder can be followed."""
    with pytest.raises(UndustError, match="explore is 2"):
        undust.CrawlLearner(explore=2)
    with pytest.raises(UndustError, match="no state to follow"):
        undust.CrawlLearner(follow=True)


def test_a_closed_learner_decides_nothing() -> None:
    """What could not be written down any more is not decided."""
    learner = undust.CrawlLearner()
    learner.close()
    with pytest.raises(UndustError, match="the learner is closed"):
        learner.decide(f"{HOST}/")


def test_urls_that_nobody_can_write_down() -> None:
    """A lone surrogate and other oddities are fetched and never raise."""
    learner = undust.CrawlLearner()
    for url in ("http://shop.test/\ud800", "", "http://[", "http://shop.test/é", "http://" + "a" * 5000):
        assert learner.decide(url).action == "fetch"
        learner.observe({"url": url, "status": 200})


def test_dead_pages_do_not_test_rules_again_and_again() -> None:
    """An endless site names two pages and five dead ones, under new ids; each is fetched a few times."""

    class WithDead(Crawl):
        def row(self, url: str) -> dict[str, object]:
            page = self.page_of(url)
            return row_of(url, page) if int(page) < 2 else {"url": url, "status": 404}

    crawl = WithDead(undust.CrawlLearner(rules=one_rule(DROP_SID)))
    crawl.ask(sessions(7, 40))
    assert crawl.pages == {str(page) for page in range(7)}
    assert len(crawl.fetched) <= 7 * 6


def test_what_looks_like_a_choice_may_turn_out_to_name_visits() -> None:
    """From one pair it is not known whether a text is another one every time; the first tests show it."""
    test = RuleTest(0, needed=CHOICE_PAGES)
    for number, value in enumerate(("v=4f1e", "v=92aa", "v=0b1c")):
        assert test.needed == CHOICE_PAGES
        test.note(f"{HOST}/{number}", RuleUse("r", value, "shop.test/"), is_good=True)
    assert test.needed == VISIT_PAGES
    again = RuleTest(0, needed=CHOICE_PAGES)
    for number, value in enumerate(("s=up", "s=down", "s=up", "s=by2020", "s=up")):
        again.note(f"{HOST}/{number}", RuleUse("r", value, "shop.test/"), is_good=True)
    assert again.needed == CHOICE_PAGES


@pytest.mark.parametrize("before", ["?sort=up&size=1&id=2", "?size=1&sort=up&id=2", "?size=1&id=2&sort=up"])
def test_a_parameter_is_the_same_wherever_it_is(before: str) -> None:
    """A question that was asked of `sort=up` is not asked again where other parameters are around it."""
    after = before.replace("sort=up", "").replace("&&", "&").replace("?&", "?").removesuffix("&")
    assert changed(f"{HOST}/c{before}", f"{HOST}/c{after}") == "sort=up"


def test_an_endless_crawl_takes_few_fetches() -> None:
    """Every link has a new session id; the crawl ends by itself, with every page."""
    done = crawled("shop", 1000, seed=5)
    assert done.found == done.pages
    assert done.a_page <= 3


def test_a_rule_is_not_proved_by_what_it_does_to_both_urls() -> None:
    """Two URLs with `sort=up` and different ids show that the ids are idle, and nothing of `sort`."""
    rules = [Rule.parse(DROP_SID.replace("sid", name), site="shop.test") for name in ("sort", "sid")]
    program = program_of(rules)
    ids = [rule.id for rule in rules]
    ways = [
        all_steps(program.explain(f"{HOST}/c?{query}"), ids)
        for query in ("sid=1&sort=up", "sid=2&sort=up", "sid=3&sort=down")
    ]
    same, other = (until_one(ways[0], way) for way in ways[1:])
    assert {changed(before, after) for _, before, after in same} == {"sid=1", "sid=2"}
    assert {changed(before, after) for _, before, after in other} == {
        "sid=1",
        "sid=3",
        "sort=up",
        "sort=down",
    }


def test_a_rule_may_fail_in_one_place_only() -> None:
    """It held in many places; a place where it does not is found by tests of its own."""
    folders = [
        f"{HOST}/{name}/x?id={n}&sid={v}{n}a{v}" for name in "abcdefgh" for n in range(9) for v in "12"
    ]
    lists = [f"{HOST}/list/x?id={n}&sid={v}{n}b{v}" for v in "34" for n in range(120)]

    def page_of(url: str) -> str:
        return url if "/list/" in url else url.partition("&sid")[0]

    crawl = Crawl(undust.CrawlLearner(rules=one_rule(DROP_SID, support=50_000), learn=lambda _: ()), page_of)
    crawl.ask([*folders, *lists])
    assert crawl.pages == {page_of(url) for url in (*folders, *lists)}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("is_idle_in_logs", [False, True])
def test_a_rule_may_fail_beside_other_parameters_only(*, seed: int, is_idle_in_logs: bool) -> None:
    """It held in many folders, beside `id` or for one text; where these differ, it names a page."""
    folders = [f"{HOST}/{name}" for name in ("tools", "notes", "catalog", "docs", "web", "lib")]
    forms = [f"/diff?id={n:04x}{old}" for n in range(30) for old in ("", f"&id2={n + 1:04x}")]
    if is_idle_in_logs:
        forms += [f"/log{n}{old}" for n in range(4) for old in ("", f"?id2={n + 1:04x}")]
    known = [folder + form for folder in folders for form in forms]
    alone = [f"{folder}/diff?id2={n:04x}" for folder in folders for n in range(10)]
    Random(seed).shuffle(known)

    def page_of(url: str) -> str:
        return url.partition("&id2")[0] if "/diff" in url else url.partition("?")[0]

    crawl = Crawl(undust.CrawlLearner(seed=seed), page_of)
    crawl.ask(known)
    assert len(crawl.fetched) < len(known) - 60, "the rule is in use"
    crawl.ask(alone)
    assert crawl.pages == {page_of(url) for url in (*known, *alone)}


def test_pages_that_change_do_not_undo_all_rules() -> None:
    """A rule that leaves pages alone is for input that is at rest; a crawl finds such places by its tests."""
    keep = Rule.parse("keep {s}://{h}/{p**}?{rest**}", site="shop.test")
    drop = Rule.parse(DROP_SID, site="shop.test")
    crawl = Crawl(undust.CrawlLearner(learn=lambda _: (keep, drop)))
    crawl.ask(sessions(60, 8))
    assert len(crawl.pages) == 60
    assert len(crawl.fetched) < 200


def test_sorted_lists_that_name_the_unsorted_one() -> None:
    """Short lists show the same sorted or not; that says nothing of long ones."""

    class Lists(Crawl):
        def row(self, url: str) -> dict[str, object]:
            return row_of(url, self.page_of(url)) | {"canonical": url.replace("/by-price/", "/list/")}

    def page_of(url: str) -> str:
        number = url.rpartition("/")[2]
        return url if int(number) >= 8 else number

    crawl = Lists(undust.CrawlLearner(prior=False, learn=lambda _: ()), page_of)
    urls = [f"{HOST}/{folder}/{number}" for number in range(11) for folder in ("by-price", "list")]
    crawl.ask(urls)
    assert crawl.pages == {page_of(url) for url in urls}
