"""nginx and Apache themselves: a URL made to hurt holds a worker no longer than its length explains.

The processor time of the server is measured, so that other work on the machine does not count.
"""

from __future__ import annotations

import http.client
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.exchange.exports.in_servers import configured
from tests.exchange.exports.test_linear_time import (
    JUDGED,
    MOST_ABOVE_A_MATCH,
    SHAPES,
    SIZES,
    hostile,
    least_times,
    matching,
    repeated,
    rule_text,
)
from tests.servers import serving
from undust import Rule, RuleSet
from undust.exchange.exports import export

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.exchange.exports.test_linear_time import Case
    from tests.servers import Server

REQUESTS = 3
"""For a URL at a time: the quickest counts."""
COUNTS = (4, 6, 8)
MOST = 11.0
"""Growth for four times the length. All pairs would take sixteen times as long. Over a single doubling a rule
may begin to act that shorter URLs do not meet."""
NO_RULES = "norules.test"
"""A host without rules. Where the server takes more than four times as long for its URLs, so much more is
allowed: Apache takes six times as long for 20 kB as for 5."""


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


def quickest(server: Server, connection: http.client.HTTPConnection, url: str) -> tuple[int, float]:
    """What a server answers, and the least processor time that it took for it."""
    parts, best, status = urlsplit(url), float("inf"), 0
    for _ in range(REQUESTS):
        before = server.processor_time()
        connection.putrequest("GET", parts.path, skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", parts.netloc)
        connection.putheader("X-Forwarded-Proto", parts.scheme)
        connection.endheaders()
        answer = connection.getresponse()
        answer.read()
        status = answer.status
        best = min(best, server.processor_time() - before)
    return status, best


def is_too_slow(times: Sequence[float], without: Sequence[float]) -> bool:
    """Whether the times of the sizes, and of a match at last, grow too fast beside those without a rule.

    >>> is_too_slow([55, 85, 344, 713, 90], [52, 87, 161, 317])
    False
    >>> is_too_slow([102, 287, 961, 3500, 90], [52, 87, 161, 317])
    True
    """
    *sizes, match = times
    growths = (
        [long / short for short, long in zip(some, some[2:], strict=False)] for some in (sizes, without)
    )
    grows = any(own > MOST * max(1.0, plain / 4) for own, plain in zip(*growths, strict=True))
    return grows or sizes[SIZES.index(JUDGED)] > MOST_ABOVE_A_MATCH * match


@pytest.mark.slow
@pytest.mark.parametrize(("name", "target"), [("nginx", "nginx"), ("apache2", "apache")])
def test_time_grows_with_the_length(name: str, target: str) -> None:
    """Four times the length takes at most eleven times as long, and failing is no slower than matching."""
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
        timed_of = partial(quickest, server, connection)

        def timed(case: Case) -> list[float]:
            shape, host, (start, unit, end) = case
            own = start.replace("shop.test", host)
            answers = [timed_of(repeated(own, unit, end, size)) for size in SIZES]
            assert 301 not in [status for status, _ in answers], case
            status, match = timed_of(matching(shape, JUDGED).replace("shop.test", host))
            assert status == 301, case
            return [*(spent for _, spent in answers), match]

        starts = {start.replace("shop.test", NO_RULES): (unit, end) for _, _, (start, unit, end) in cases}
        without = [
            min(timed_of(repeated(start, *kind, size))[1] for start, kind in starts.items()) for size in SIZES
        ]
        best = least_times(
            cases, lambda waiting: list(map(timed, waiting)), partial(is_too_slow, without=without)
        )
    slow = {case: times for case, times in best.items() if is_too_slow(times, without)}
    assert not slow
