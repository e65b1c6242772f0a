"""A guest that keeps to the rules of the house, as the house itself sees it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import undust
from tests.asking.rules import HOST, listed, outcome, tried
from tests.asking.servers import Connection, Request, Server, moved, page, serving
from undust.asking.answers import Answer
from undust.asking.visitor import robots_from, robots_of

if TYPE_CHECKING:
    from tests.asking.servers import Script

PAGES: dict[str, Script] = {f"/p{number}": page(f"page {number}") for number in range(6)}
PATHS = [f"{path}?x=1" for path in PAGES]


def robots(text: str) -> Script:
    """A script that answers with this robots.txt."""
    return lambda connection, _request: connection.reply(text.encode(), Content_Type="text/plain")


def pauses(server: Server, host: str = HOST) -> list[float]:
    """Seconds between requests, as the server saw them."""
    moments = [request.moment for request in server.log if request.host == host]
    return [later - earlier for earlier, later in itertools.pairwise(moments)]


@pytest.mark.parametrize(
    ("told", "delay", "allowed"),
    [
        ("", 0.15, 0.15),
        ("User-agent: *\nCrawl-delay: 0.2", 0.0, 0.2),
        ("User-agent: *\nCrawl-delay: 0.05", 0.15, 0.15),
        ("User-agent: *\nRequest-rate: 5/1", 0.0, 0.2),
        ("User-agent: undust\nCrawl-delay: 0.2\n\nUser-agent: *\nCrawl-delay: 9", 0.0, 0.2),
        ("User-agent: *\nCrawl-delay: 0.1\nRequest-rate: 4/1", 0.05, 0.25),
    ],
)
def test_never_faster_than_allowed(told: str, delay: float, allowed: float) -> None:
    """Whatever robots.txt and the options ask for, the slower one; redirects and robots.txt count."""
    scripts = {**PAGES, "/robots.txt": robots(told), "/p0": moved("/p1")}
    with serving(scripts) as server:
        tried(server, PATHS[:4], delay=delay)
    assert len(server.log) >= 8
    assert min(pauses(server)) >= allowed


def test_hosts_do_not_wait_for_each_other() -> None:
    """The pause is each host's own, and no host sees two connections at once."""
    sites = [f"site{number}.test" for number in range(4)]
    rules = [
        undust.Rule.parse("rewrite {s}://{h}/{p**}?{**:x}&{rest**} -> {s}://{h}/{p}?{rest}", site=site)
        for site in sites
    ]
    with serving(PAGES) as server:
        table = pa.concat_tables([listed(PATHS[:3], site) for site in sites])
        places = [f"{site}=127.0.0.1:{server.port}" for site in sites]
        undust.validate(undust.RuleSet(rules), table, live=True, delay=0.2, connect_to=places)
    for site in sites:
        assert len(pauses(server, site)) == 6
        assert min(pauses(server, site)) >= 0.2
    moments = [[each.moment for each in server.log if each.host == site] for site in sites]
    # Had they waited for each other, one would begin when another has ended.
    assert max(map(min, moments)) < min(map(max, moments))


def test_what_robots_may_not_see() -> None:
    """A URL that robots.txt forbids is never fetched, as a sample, a target or the end of a redirect."""
    told = "User-agent: *\nDisallow: /private\nDisallow: /*?x=2$\nAllow: /private/open"
    scripts = {
        **PAGES,
        "/robots.txt": robots(told),
        "/in": moved("/private/a"),
        "/private/open": page("open"),
    }
    paths = ["/private/a?x=1", "/p1?x=2", "/in?x=1", "/private/open?x=1", "/p3?x=1"]
    with serving(scripts) as server:
        found = outcome(server, paths)
    asked = {request.path for request in server.log}
    assert asked == {"/robots.txt", "/in?x=1", "/private/open?x=1", "/private/open", "/p3?x=1", "/p3"}
    assert (found.positives, found.unknown) == (2, 3)


@pytest.mark.parametrize("status", [404, 410, 403, 401])
def test_no_robots_txt(status: int) -> None:
    """Where there is none, everything may be asked for."""
    with serving({**PAGES, "/robots.txt": lambda c, _: c.reply(status=status)}) as server:
        assert outcome(server, PATHS[:3]).positives == 3


@pytest.mark.parametrize("status", [500, 502])
def test_a_robots_txt_that_cannot_be_read(status: int) -> None:
    """A host in trouble is left alone."""
    with serving({**PAGES, "/robots.txt": lambda c, _: c.reply(status=status)}) as server:
        found = outcome(server, PATHS)
    assert {request.path for request in server.log} == {"/robots.txt"}
    assert f"robots.txt cannot be read: status {status}" in found.reason


def test_a_robots_txt_elsewhere() -> None:
    """It may be somewhere else on the site, and nowhere else."""
    scripts = {**PAGES, "/robots.txt": moved("/r.txt"), "/r.txt": robots("User-agent: *\nDisallow: /p1")}
    with serving(scripts) as server:
        assert outcome(server, PATHS[:3]).positives == 2
    assert server.asked("/p1") == 0
    with serving({**PAGES, "/robots.txt": moved("http://elsewhere.test/robots.txt")}) as server:
        outcome(server, PATHS[:3])
    assert [request.path for request in server.log] == ["/robots.txt"]


def test_robots_texts() -> None:
    """Groups, byte order marks, odd bytes: what protego makes of them is what counts."""
    assert robots_from(Answer("u", status=200, text=b"\xef\xbb\xbfUser-agent: *\nDisallow: /")).refuses(
        "http://a.test/x"
    )
    assert robots_from(Answer("u", status=200, text=b"\xff\xfe\x00")).refuses("http://a.test/x") is None
    assert (
        robots_of("User-agent: undust\nDisallow: /a\n\nUser-agent: *\nDisallow: /").refuses("http://h.test/b")
        is None
    )
    assert robots_of("User-agent: *\nCrawl-delay: -5\nRequest-rate: x").delay_s == 0


def test_a_delay_that_nobody_waits_for() -> None:
    """A host that wants hours between requests is not asked at all."""
    with serving({**PAGES, "/robots.txt": robots("User-agent: *\nCrawl-delay: 86400")}) as server:
        found = outcome(server, PATHS)
    assert [request.path for request in server.log] == ["/robots.txt"]
    assert "86,400 s between requests" in found.reason


def busy(times: int, status: int = 429, **headers: str) -> Script:
    """A script that is busy so many times, then shows a page."""
    left = itertools.count(times, -1)

    def script(connection: Connection, _request: Request) -> None:
        if next(left) > 0:
            connection.reply(b"later", status=status, **headers)
        else:
            connection.reply(b"<p>here you are")

    return script


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after(status: int) -> None:
    """It is waited for as long as the host says, and asked again."""
    with serving({"/a": busy(1, status, Retry_After="3")}) as server:
        found = outcome(server, ["/a?x=1"])
    assert [request.path for request in server.log] == ["/robots.txt", "/a?x=1", "/a?x=1", "/a"]
    assert pauses(server)[1] >= 3
    assert found.positives == 1


def test_back_off() -> None:
    """Without a time, the pauses double; after three more tries it is given up."""
    with serving({"/a": busy(99), "/b": page("b")}) as server:
        found = outcome(server, ["/a?x=1"])
    waits = pauses(server)[1:]
    assert [len(waits), found.unknown] == [3, 1]
    assert [wait >= least for wait, least in zip(waits, (1, 2, 4), strict=True)] == [True] * 3


@pytest.mark.parametrize("asked", ["100000", "Wed, 21 Oct 2065 07:28:00 GMT"])
def test_a_host_that_wants_to_be_left_alone(asked: str) -> None:
    """For longer than anybody waits: then it is, for the rest of the job."""
    with serving({**PAGES, "/p1": busy(99, Retry_After=asked)}) as server:
        found = outcome(server, ["/p1?x=1", *PATHS[2:]])
    assert server.asked("/p1") <= 1
    last = [request.path for request in server.log][-1]
    assert last.startswith("/p1") or server.asked("/p1") == 0
    assert found.verdict == "undecided" or found.positives < 5


def test_budgets() -> None:
    """No request more than was allowed, robots.txt included; what is left is undecided."""
    for told in ({"max_fetches": 5}, {"max_fetches_per_host": 5}):
        with serving(PAGES) as server:
            found = tried(server, PATHS, **told)
        assert len(server.log) == found.fetches == 5
        assert found.outcomes[0].positives == 2
        assert "budget" in found.outcomes[0].reason
