"""When and how a crawl learns again: rows of one site to its rules, one site after the other in a thread.

Only this file calls the learner of whole inputs. Another function of this form can take its place:
`CrawlLearner(learn=function)`.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Condition, Thread
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from undust.learning import Requirements, masked, proved_beside
from undust.learning.bounds import with_bounds
from undust.learning.edited import FinalSample, combined_rules
from undust.measuring.targets import with_targets
from undust.pages.clustering import find_in_site
from undust.rules import program_of
from undust.rules.language import is_mask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from undust.rules import Rule


IN_A_CRAWL = Requirements(min_support=4, blind_support=5, narrowed_support=6)
"""What a rule must show in a crawl: less than for good, because every rule is tested by later fetches."""
MOST_LEARNED = 8_000
"""Observations of one site that are learned from at a time."""
MOST_LEARNED_FOR_GOOD = 20_000
"""The same for the rules that outlive the crawl."""
NEW_FOR_GOOD = 1.1
"""These are learned again, when they are asked for, if the site has grown by this factor or a rule failed."""
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
    is_for_good: bool = False
    """Whether the rules are for use without the tests of a crawl."""


if TYPE_CHECKING:
    Learn = Callable[[ObservedSite], Sequence[Rule]]


def learn_in_a_crawl(evidence: ObservedSite) -> Sequence[Rule]:
    """Return the rules of a site as it looks now; a pure function."""
    clusters = find_in_site(evidence.rows, evidence.site)
    asked = Requirements() if evidence.is_for_good else IN_A_CRAWL
    return combined_rules(clusters, asked, evidence.given, evidence.unwanted).rules


def learn_for_good(
    learn: Learn, evidence: ObservedSite, proved: Sequence[Rule], skipped: Sequence[str]
) -> list[Rule]:
    """Return the rules of a site that outlive its crawl.

    What was fetched teaches them as any other input does, by the same demands. It lacks the duplicates that
    rules skipped; so what later fetches have proved comes behind, if it loses nothing there. As those of
    `learn`, any part of the rules is as safe as the whole, as far as what was fetched shows.

    Args:
        learn: Learns from what was fetched.
        evidence: What was fetched, and the rules to start from.
        proved: Rules that never failed in the tests of the crawl.
        skipped: The URLs that were not fetched: of the proved rules, those that change any URL stay.

    """
    taught = learn(evidence._replace(is_for_good=True))
    known = {rule.id for rule in taught}
    learned = [*(rule for rule in evidence.given if rule.id not in known), *taught]
    clusters = find_in_site(evidence.rows, evidence.site)
    others = proved_beside(clusters, learned, proved)
    urls = pa.array([*evidence.rows["url"].to_pylist(), *skipped], pa.large_string())
    used = set(pa.array(program_of([*learned, *others]).used(urls)[1]).unique().to_pylist())
    others = [rule for at, rule in enumerate(others, len(learned)) if at in used]
    rules = _without_idle_masks([*learned, *others], urls) if others else learned
    bounded = with_bounds(with_targets(clusters, rules))
    final = FinalSample.of(clusters, Requirements())
    return list(masked(final.safe_apart(bounded, evidence.given)))


def _without_idle_masks(rules: list[Rule], urls: pa.Array) -> list[Rule]:
    """Return rules without the masks of what others remove."""
    keys = pa.array(program_of(rules).batch(urls, keys=True))
    for mask in [rule for rule in rules if is_mask(rule)]:
        others = [rule for rule in rules if rule is not mask]
        if pa.array(program_of(others).batch(urls, keys=True)).equals(keys):
            rules = others
    return rules


@dataclass
class FinalRules:
    """The rules of one site that outlive its crawl, as they were learned last."""

    rules: tuple[Rule, ...] = ()
    _made_from: tuple[int, int] = (-1, 0)
    """How many observations there were, and how often rules had failed."""

    def are_due(self, observed: int, failures: int) -> bool:
        """Return whether enough is new to learn them again."""
        rows, failed = self._made_from
        return failures != failed or observed > rows * NEW_FOR_GOOD

    def set(self, rules: Iterable[Rule], observed: int, failures: int) -> None:
        """Keep what was learned."""
        self.rules, self._made_from = tuple(rules), (observed, failures)


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
