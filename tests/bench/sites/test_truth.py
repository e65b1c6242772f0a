"""Generated sites keep their word: rules that are called true are, and what is served is what rows claim."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from bench.sites import KINDS, Crawl, site
from bench.sites.content import NOTICES, notice
from bench.sites.measured import MEASURED
from bench.sites.model import LOGIN, NOTHING, PAGE, SOFT
from bench.sites.server import LOOPBACK, serving
from bench.sites.text import VERSIONS
from undust.pages.clustering.near_copies import ALIKE
from undust.reading.page import Body, content_of, page_of
from undust.reading.text import resemblance, sketch
from undust.rules import RuleSet
from undust.urls import normalize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.sites import Site
    from undust.rules import Rule

URLS = 3000
ASKED = 50
TRAPS = {"calendar", "soft_404"}
"""They show more notices than any software that was measured, and say so."""
SAID = {"soft": SOFT, "login": LOGIN, "nothing": NOTHING}
OK, MOVED, GONE = 200, 301, 404
MOVES = 16
"""URLs that each rule is tried on."""


class Seen(NamedTuple):
    """A site, its rows and their truth."""

    site: Site
    rows: list[dict[str, Any]]
    pages: list[str]

    def merged(self, rules: RuleSet) -> dict[str, set[str]]:
        """The pages that rules send to each URL."""
        images: dict[str, set[str]] = defaultdict(set)
        canonicalize = rules.compile()
        for row, page in zip(self.rows, self.pages, strict=True):
            images[canonicalize(row["url"])].add(page)
        return images

    def moved(self, rule: Rule) -> Iterator[tuple[str, str, str]]:
        """Some URLs that a rule changes, what it makes of them, and which page that should be."""
        canonicalize = RuleSet([rule]).compile()
        found = 0
        for row, page in zip(self.rows, self.pages, strict=True):
            target = canonicalize(row["url"])
            if target != row["url"] and row["status"] != GONE:
                yield row["url"], target, page
                found += 1
                if found == MOVES:
                    return

    def asked(self, url: str) -> Asked:
        """What the site answers."""
        return asked(self.site, url)

    def differ(self, url: str, target: str) -> bool:
        """Whether two URLs show different things to somebody who only sees the answers."""
        one, other = self.asked(url), self.asked(target)
        if other.status != OK or one.status != OK:
            return other.status not in {OK, MOVED}
        return bool((one.minima == other.minima).mean() < ALIKE)


class Asked(NamedTuple):
    """What a client can tell of an answer, and its page."""

    status: int
    minima: Any
    page: str | None


@cache
def asked(made: Site, url: str) -> Asked:
    """Ask once for each URL."""
    answer = made.answer(url)
    return Asked(answer.status, sketch(content_of(Body.of([answer.body]), "text/html").text), answer.page)


@cache
def seen_of(kind: str) -> Seen:
    """A site of a kind, made once whatever the order of the tests."""
    made = site(kind, URLS, seed=5)
    return Seen(made, made.observations().to_pylist(), made.truth()["page"].to_pylist())


@pytest.fixture(params=KINDS)
def seen(request: pytest.FixtureRequest) -> Seen:
    """Every kind of site."""
    return seen_of(request.param)


def test_urls_are_what_they_promise(seen: Seen) -> None:
    """There are as many URLs as asked for, each once, and duplicates among them."""
    urls = [row["url"] for row in seen.rows]
    assert len(urls) == len(set(urls)) == URLS
    assert all(normalize(url) == url for url in urls)
    assert 0.3 < 1 - len(set(seen.pages)) / URLS < 0.95


def test_true_rules_merge_one_page_only(seen: Seen) -> None:
    """No true rule sends two pages to one URL; every one merges something, and all together most."""
    assert len(seen.site.rules) >= 5
    for rule in seen.site.rules:
        images = seen.merged(RuleSet([rule]))
        assert all(len(pages) == 1 for pages in images.values()), str(rule)
        assert len(images) < URLS, f"{rule} merges nothing"
    images = seen.merged(seen.site.rules)
    assert all(len(pages) == 1 for pages in images.values())
    removable = URLS - len(set(seen.pages))
    left = len(images) - len(set(seen.pages))
    assert left < 0.4 * removable
    assert bool(left) == bool(seen.site.kind.inexpressible)


def test_true_rules_lead_to_the_page(seen: Seen) -> None:
    """The URL that a true rule makes is answered with the same page, and most often with the same text."""
    rewritten = seen.site._content.rates.rewritten  # noqa: SLF001
    for rule in seen.site.rules:
        moved = list(seen.moved(rule))
        assert all(seen.asked(target).page == page for _, target, page in moved), f"{rule} leads elsewhere"
        changed = {page for url, target, page in moved if seen.differ(url, target)}
        assert len(changed) <= max(2, (2 * rewritten + 0.1) * len(moved)), rule


def test_false_rules_merge_different_pages(seen: Seen) -> None:
    """Every tempting rule does harm, on the rows and on the server, and enough that a few fetches tell."""
    assert len(seen.site.false_rules) >= 3
    for rule in seen.site.false_rules:
        images = seen.merged(RuleSet([rule]))
        assert any(len(pages) > 1 for pages in images.values()), f"{rule} does no harm"
        moved = list(seen.moved(rule))
        assert any(seen.asked(target).page != page for _, target, page in moved), rule
        harm = sum(seen.differ(url, target) for url, target, _ in moved)
        assert harm > 0.1 * len(moved), f"{rule} does harm to {harm} of {len(moved)} URLs only"


def test_the_server_shows_what_the_rows_say(seen: Seen) -> None:
    """Status, digest, sketch, size, redirect and canonical of a row are those of the answer."""
    with serving(seen.site) as server:
        connection = HTTPConnection(LOOPBACK, server.port)
        for row, page in list(zip(seen.rows, seen.pages, strict=True))[:ASKED]:
            host, _, rest = row["url"].removeprefix("http://").partition("/")
            connection.request("GET", f"/{rest}", headers={"Host": host})
            answer = connection.getresponse()
            body = answer.read()
            headers = {name.lower(): [value] for name, value in answer.getheaders()}
            told = page_of(row["url"], answer.status, headers, content_of(Body.of([body]), "text/html"))
            assert answer.status == row["status"]
            assert told.redirect == row["redirect"]
            assert seen.site.answer(row["url"]).page == page
            if row["redirect"] is None:
                minima = sketch(told.content.text)
                assert minima is not None
                assert told.content.digest == row["digest"]
                assert told.content.size == row["size"]
                assert minima.tolist() == row["sketch"]
                assert told.canonical.target == row["canonical"]
        connection.close()
        assert [request.url for request in server.requests] == [row["url"] for row in seen.rows[:ASKED]]


def test_a_huge_site_keeps_its_word(seen: Seen) -> None:
    """Of a hundred million URLs, the first rows are made at once, and answered as they say."""
    huge = site(seen.site.kind.name, 100_000_000, seed=1)
    rows = next(huge.batches(rows=40))
    for row, page in zip(rows.observations.to_pylist(), rows.page.to_pylist(), strict=True):
        answer = huge.answer(row["url"])
        assert (answer.page, answer.status) == (page, row["status"])
        if answer.body:
            assert content_of(Body.of([answer.body]), "text/html").digest == row["digest"]


def test_rates_are_those_measured(seen: Seen) -> None:
    """Errors, redirects, notices, canonicals and duplicates are as many as of the real software."""
    if seen.site.kind.name in TRAPS:
        return
    rates = MEASURED[seen.site.kind.like]
    made = site(seen.site.kind.name, 10_000, seed=6)
    rows, pages = made.observations(), set(made.truth()["page"].to_pylist())
    status, digest = rows["status"].to_numpy(), rows["digest"].to_numpy()
    shown = int((status == OK).sum())
    told = {
        "gone": (status == GONE).mean(),
        "redirects": (status == MOVED).mean(),
        "canonical": (rows.num_rows - rows["canonical"].null_count) / shown,
        "duplicates": 1 - len(pages) / rows.num_rows,
        **{name: (digest == notice(what).digest).sum() / shown for name, what in SAID.items()},
    }
    for name, rate in told.items():
        assert abs(rate - getattr(rates, name)) < 0.06, f"{name} is {rate}"


def test_pages_that_change_are_as_many_as_measured(seen: Seen) -> None:
    """Fetched again, as many pages show another text, and another sketch, as of the real software."""
    urls = [row["url"] for row in seen.rows[:70]]
    urls = [url for url in urls if (answer := seen.site.answer(url)).status == OK and answer.shows == PAGE]
    changed = rewritten = 0
    for url in urls:
        bodies = [seen.site.answer(url, version).body for version in (0, VERSIONS // 2)]
        changed += bodies[0] != bodies[1]
        first, second = map(sketch, bodies)
        assert first is not None
        assert second is not None
        rewritten += resemblance(first, second) < 0.8
    rates = seen.site._content.rates  # noqa: SLF001
    assert abs(changed / len(urls) - rates.changes) < 0.2
    assert abs(rewritten / len(urls) - rates.rewritten) < 0.2


def test_strange_urls_are_not_found(seen: Seen) -> None:
    """Whatever is asked for, there is an answer."""
    for path in ("", "/", "/%", "/?", "/?=&&x", "/~", "//", "/../..", "/\u2603", "/" + "a" * 5000, "/;"):
        assert seen.site.answer(f"http://{seen.site.kind.label}.{seen.site.domain}{path}").status in {
            200,
            301,
            404,
        }
    assert seen.site.answer("http://elsewhere.test/").status == 404
    assert seen.site.answer("http://[").status == 404


def test_noise_lies_about_as_many_pages_as_asked(seen: Seen) -> None:
    """Mislabelled pages have another page's content, and the truth does not change."""
    noisy = list(seen.site.batches(Crawl(noise=0.2)))
    assert [page for rows in noisy for page in rows.page.to_pylist()] == seen.pages
    wrong: dict[str, bool] = {}
    notices = {notice(what).digest for what in NOTICES}
    digests = [digest for rows in noisy for digest in rows.observations["digest"].to_pylist()]
    changing = seen.site._content.rates.changes  # noqa: SLF001
    sizes = [size for rows in noisy for size in rows.observations["size"].to_pylist()]
    for row, page, digest, size in zip(seen.rows, seen.pages, digests, sizes, strict=True):
        if row["status"] == 200 and row["digest"] not in notices:
            wrong[page] = digest != row["digest"] and (changing < 0.5 or size != row["size"])
    assert 0.1 < sum(wrong.values()) / len(wrong) < 0.3
