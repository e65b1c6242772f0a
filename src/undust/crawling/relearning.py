"""When and how a crawl learns again: rows of one site to its rules, one site after the other in a thread.

Only this file calls the learner of whole inputs. Another function of this form can take its place:
`CrawlLearner(learn=function)`.
"""

from __future__ import annotations

import logging
from queue import SimpleQueue
from threading import Condition, Thread
from typing import TYPE_CHECKING, NamedTuple

from undust.learning import Requirements
from undust.learning.edited import combined_rules
from undust.pages.clustering import find_in_site

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from undust.rules import Rule


IN_A_CRAWL = Requirements(min_support=4, blind_support=5, narrowed_support=6)
"""What a rule must show in a crawl: less than for good, because every rule is tested by later fetches."""
MOST_LEARNED = 8_000
"""Observations of one site that are learned from at a time."""
FIRST_ROWS = 24
"""Observations of a site before rules are learned for the first time …"""
GROWTH = 1.5
"""… and by which factor they have grown at each later time; only if URLs of one page are left that no rule
makes one."""
logger = logging.getLogger(__name__)


class ObservedSite(NamedTuple):
    """What is known of one site when its rules are learned."""

    site: str
    rows: pa.Table
    """Observations in the columns of `undust.read`; the latest of each URL."""
    given: Sequence[Rule] = ()
    """Rules to start from: those that a person gave, and those that the crawl has proved."""
    unwanted: Sequence[Rule] = ()
    """Rules that are not to be learned again."""


if TYPE_CHECKING:
    Learn = Callable[[ObservedSite], Sequence[Rule]]


def learn_in_a_crawl(evidence: ObservedSite) -> Sequence[Rule]:
    """Return the rules of a site as it looks now; a pure function."""
    clusters = find_in_site(evidence.rows, evidence.site)
    return combined_rules(clusters, IN_A_CRAWL, evidence.given, evidence.unwanted).rules


def next_learning(rows: int) -> int:
    """Return at how many observations of a site its rules are learned again, after they were at `rows`.

    >>> next_learning(0), next_learning(24), next_learning(1000)
    (24, 36, 1500)
    """
    return max(FIRST_ROWS, int(rows * GROWTH))


class Background:
    """Calls a function with each name that was added, in order; a name that waits is not added twice."""

    def __init__(self, work: Callable[[str], None]) -> None:
        self._work = work
        self._queue: SimpleQueue[str | None] = SimpleQueue()
        self._open: set[str] = set()
        self._changed = Condition()
        self._thread = Thread(target=self._run, name="undust learning", daemon=True)
        self._thread.start()

    def add(self, name: str) -> None:
        """Add a name."""
        with self._changed:
            if name in self._open:
                return
            self._open.add(name)
        self._queue.put(name)

    def _run(self) -> None:
        while (name := self._queue.get()) is not None:
            try:
                self._work(name)
            except Exception:
                # The crawl goes on with the rules it has; one site must not end the learning of the others.
                logger.exception("learning the rules of %s failed; the rules from before stay in use", name)
            finally:
                with self._changed:
                    self._open.discard(name)
                    self._changed.notify_all()

    def settle(self) -> None:
        """Wait until nothing is left to do."""
        with self._changed:
            self._changed.wait_for(lambda: not self._open)

    def close(self) -> None:
        """End the thread after what was added."""
        self._queue.put(None)
        self._thread.join()
