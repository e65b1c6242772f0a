"""nginx and Apache themselves: a URL made to hurt holds a worker no longer than its length explains."""

from __future__ import annotations

import http.client
from contextlib import closing
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.exchange.exports.in_servers import configured
from tests.exchange.exports.test_linear_time import (
    JUDGED,
    SHAPES,
    SIZES,
    hostile,
    matching,
    repeated,
    rule_text,
    too_slow,
)
from tests.servers import serving
from undust import Rule, RuleSet
from undust.exchange.exports import export

if TYPE_CHECKING:
    from tests.exchange.exports.test_linear_time import Case

REPEATS = 12
"""Requests for a URL, of which the quickest counts: other work on the machine only adds time."""
COUNTS = (4, 6, 8)
MOST = 3.2
"""Growth for each doubling, beyond the work of the server itself. All pairs would take four."""

NO_RULES = "norules.test"
"""A host without rules: what a server takes for its URLs is its own work, which is not in proportion to the
length (Apache takes three times as long for 20 kB as for 10), and is taken off."""
LEAST_SHARE = 0.5
"""Less than this share of the time of a short request is taken for nothing but noise."""


def site_of(shape: str, count: int) -> str:
    """The site of a rule with a shape and so many captures."""
    return f"s{list(SHAPES).index(shape)}n{count}.test"


def rules() -> RuleSet:
    """Each rule on a site of its own, so that none is in the way of another."""
    return RuleSet(
        Rule.parse(rule_text(shape, count), site=site_of(shape, count))
        for shape in SHAPES
        for count in COUNTS
    )


def quickest(connection: http.client.HTTPConnection, url: str) -> tuple[int, float]:
    """What a server answers, and the shortest time in which it did."""
    parts, best, status = urlsplit(url), float("inf"), 0
    for _ in range(REPEATS):
        start = perf_counter()
        connection.putrequest("GET", parts.path, skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", parts.netloc)
        connection.putheader("X-Forwarded-Proto", parts.scheme)
        connection.endheaders()
        answer = connection.getresponse()
        answer.read()
        best, status = min(best, perf_counter() - start), answer.status
    return status, best


@pytest.mark.parametrize(("name", "target"), [("nginx", "nginx"), ("apache2", "apache")])
def test_time_grows_with_the_length(name: str, target: str) -> None:
    """Twice the length takes at most 3.2 times as long, and failing is hardly slower than matching."""
    exported = export(rules(), target)
    assert exported.refused == ()
    cases = [
        (shape, site_of(shape, count), kind)
        for shape in SHAPES
        for count in COUNTS
        for kind in hostile(shape)
        if not kind[2].endswith("%")  # no URL: both servers refuse it before they look at the rules
    ]
    with (
        serving(name, partial(configured, name, exported.text)) as server,
        closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=200)) as connection,
    ):
        without = dict.fromkeys(SIZES, float("inf"))

        def timed(case: Case) -> list[float]:
            shape, host, (start, unit, end) = case
            own, other = (start.replace("shop.test", name) for name in (host, NO_RULES))
            for size in SIZES:
                without[size] = min(without[size], quickest(connection, repeated(other, unit, end, size))[1])
            answers = [quickest(connection, repeated(own, unit, end, size)) for size in SIZES]
            assert 301 not in [status for status, _ in answers], case
            status, match = quickest(connection, matching(shape, JUDGED).replace("shop.test", host))
            assert status == 301, case
            least = without[SIZES[0]] * LEAST_SHARE
            pairs = zip((*SIZES, JUDGED), (*(spent for _, spent in answers), match), strict=True)
            return [max(least, spent - without[size]) for size, spent in pairs]

        slow = too_slow(cases, lambda waiting: list(map(timed, waiting)), MOST)
    assert not slow, f"{len(slow)} cases: {slow[:3]}"
