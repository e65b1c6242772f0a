"""Responses as observations: sketches without the template, also for pages that came before it was known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import undust
from undust.crawling.fetched import PageRecord
from undust.crawling.messages import CRAWL_SAMPLE
from undust.rules import Rule, RuleSet

if TYPE_CHECKING:
    from pathlib import Path

HEADERS = {"Content-Type": "text/html; charset=utf-8"}
DROP_ID = "rewrite {s}://{h}/{p**}?{**:id}&{rest**} -> {s}://{h}/{p}?{rest}"


def body_of(number: int, clock: int = 0) -> bytes:
    """A page with a menu, a clock and words of its own."""
    menu = "home products about contact imprint help search cart account logout"
    words = " ".join(f"word{(number + 1) * word % 499}" for word in range(1, 400))
    return f"<html><body><p>{menu}</p><p>{words}</p><p>It is {clock} now</p></body></html>".encode()


def records_of(learner: undust.CrawlLearner) -> list[PageRecord]:
    """What is kept of each URL."""
    return [
        PageRecord.from_bytes(data)
        for site in learner._sites.in_order()  # noqa: SLF001 -- what no crawler needs
        for data in site.fetched.records.values()
    ]


def see(learner: undust.CrawlLearner, numbers: range) -> None:
    """Fetch some pages."""
    for number in numbers:
        url = f"http://shop.test/item?id={number}"
        learner.decide(url)
        learner.observe_response(url, 200, HEADERS, body_of(number))


def test_every_page_gets_its_sketch_when_the_template_is_known() -> None:
    """The first pages have none until there are enough of them; then all have."""
    learner = undust.CrawlLearner(learn=lambda _: ())
    see(learner, range(CRAWL_SAMPLE - 1))
    assert not any(record.sketch for record in records_of(learner))
    see(learner, range(CRAWL_SAMPLE - 1, CRAWL_SAMPLE + 5))
    assert all(len(record.sketch) == 4 * 32 for record in records_of(learner))


def test_sketches_can_be_compared_after_a_restart(tmp_path: Path) -> None:
    """The template is part of the state: a page has the same sketch before and after."""
    with undust.CrawlLearner(tmp_path, learn=lambda _: ()) as learner:
        see(learner, range(CRAWL_SAMPLE + 1))
        before = records_of(learner)[1].sketch
    with undust.CrawlLearner(tmp_path, learn=lambda _: ()) as learner:
        learner.observe_response("http://shop.test/again", 200, HEADERS, body_of(1))
        assert records_of(learner)[-1].sketch == before


def test_clocks_do_not_make_pages_different() -> None:
    """Two fetches that differ in a clock are the same page, and no rule is withdrawn for it."""
    rules = RuleSet([Rule.parse(DROP_ID, site="shop.test")])
    for is_same in (True, False):
        learner = undust.CrawlLearner(rules=rules, learn=lambda _: (), prior=False)
        for number in range(2 * CRAWL_SAMPLE):
            url = f"http://shop.test/item{number // 2}?id={number % 2}"
            learner.decide(url)
            body = body_of(number // 2 if is_same else number, clock=number)
            learner.observe_response(url, 200, HEADERS, body)
        assert (learner.counts["withdrawn"] == 0) is is_same


def test_redirects_canonicals_and_packed_bodies_are_read() -> None:
    """What headers and tags say of other URLs is kept in full."""
    learner = undust.CrawlLearner()
    learner.observe_response("http://shop.test/a", 302, {"location": "/b?x=1"}, b"")
    head = b'<html><head><link rel="canonical" href="/c"></head><body>text</body></html>'
    learner.observe_response("http://shop.test/d", 200, {"content-type": ["text/html"]}, head)
    first, second = records_of(learner)
    assert (first.status, first.redirect) == (302, "http://shop.test/b?x=1")
    assert (second.canonical, second.redirect) == ("http://shop.test/c", None)
    assert second.digest is not None
