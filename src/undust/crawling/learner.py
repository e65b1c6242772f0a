"""The learner inside a crawl: it decides which URLs to fetch, and learns from every response."""

from __future__ import annotations

import logging
import time
from collections import Counter
from threading import RLock
from typing import TYPE_CHECKING, Any, NoReturn, Self

from undust.crawling.fetched import PageRecord, as_text, from_text, table_from
from undust.crawling.journal import Journal
from undust.crawling.messages import IS_NO_URL, Decision, Responses
from undust.crawling.relearning import (
    MOST_LEARNED,
    MOST_LEARNED_FOR_GOOD,
    Background,
    ObservedSite,
    learn_for_good,
    learn_in_a_crawl,
)
from undust.crawling.rule_tests import EXPLORE
from undust.crawling.sites import CrawledSites
from undust.errors import SourceError, UndustError
from undust.rules import Rule, RuleSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from os import PathLike

    from undust.crawling.places import Trap
    from undust.crawling.relearning import Learn
    from undust.crawling.site_crawl import SiteCrawl

logger = logging.getLogger(__name__)

OBSERVED_EVENT, SKIPPED_EVENT, RULES_EVENT, TEMPLATE_EVENT = "o", "s", "r", "t"
"""The kinds of events in the file of a state."""
FOLLOWED_SECONDS = 1.0
"""How often a follower looks for what the writer has added."""


class CrawlLearner:
    """Decides for a crawler which URLs to fetch, and learns rules from what it fetched.

    >>> import undust
    >>> learner = undust.CrawlLearner()
    >>> for item in range(30):
    ...     for session in "abc":
    ...         url = f"http://shop.test/item?id={item}&sid={session}{item}"
    ...         if learner.decide(url).action == "fetch":
    ...             learner.observe({"url": url, "status": 200, "digest": f"text of {item}"})
    >>> learner.counts["skipped"] > 20
    True
    >>> len(learner.rules)
    1
    """

    def __init__(  # noqa: PLR0913 -- one for each thing that a person may say
        self,
        state: str | PathLike[str] | None = None,
        *,
        rules: RuleSet | None = None,
        seed: int = 0,
        explore: float = EXPLORE,
        prior: bool = True,
        skip_traps: bool = False,
        background: bool = False,
        follow: bool = False,
        learn: Learn = learn_in_a_crawl,
    ) -> None:
        """Start, or go on with what a folder holds.

        Args:
            state: A folder for the state; without one everything is kept in memory only.
            rules: Rules to start with; those for all sites (`*`) help on every site from its first page.
            seed: Another number tests the rules on other URLs.
            explore: The chance that a URL which would be skipped is fetched to test a rule about which
                nothing is known; it falls as the rule proves right. 0: rules are not tested.
            prior: Test on each site the rules of most sites, such as the removal of tracking parameters.
            skip_traps: Skip new URLs in places where new URLs bring no new pages.
            background: Learn in a thread of its own, instead of inside `observe`.
            follow: Use the state that another process writes, without changing it.
            learn: Another function from the observations of a site to its rules.

        """
        if not 0 <= explore <= 1:
            message = f"explore is {explore!r}; give a share from 0 to 1, such as {EXPLORE}"
            raise UndustError(message)
        if follow and state is None:
            message = "there is no state to follow; name its folder"
            raise UndustError(message)
        self._learn = learn
        self._lock = RLock()
        self._for_good = RLock()
        """Held while rules are learned that outlive the crawl: once for all who ask at a time."""
        self._sites = CrawledSites(rules or RuleSet(), seed, explore, prior=prior, skip_traps=skip_traps)
        self._crawl_of: Callable[[str], SiteCrawl | None] = self._sites.of
        self._waiting: dict[str, None] = {}
        """Sites with URLs to hand back."""
        self.counts: Counter[str] = Counter()
        self._responses = Responses(self._on_template)
        self._journal = None if state is None else Journal(state, follow=follow)
        self._is_follower = follow
        self._followed = time.monotonic()
        if self._journal:
            try:
                self._load()
            except BaseException:
                self._journal.close()
                raise
        self._background = Background(self._learn_all) if background and not follow else None

    # What a crawler calls

    def decide(self, url: str) -> Decision:
        """Return whether to fetch a URL.

        A URL that is to be fetched and was not observed yet may be asked about again. Each URL that is
        skipped may come back from `returned` later.
        """
        with self._lock:
            if self._is_follower:
                self._follow()
            site = self._crawl_of(url)
            if site is None:
                self.counts["decided"] += 1
                return Decision(url, "fetch", url, url, IS_NO_URL)
            decision, is_new = site.decide(url)
            self.counts["decided"] += 1
            if is_new:
                self.counts["skipped"] += 1
                self._write([SKIPPED_EVENT, url])
            elif decision.explore:
                self.counts["explored"] += 1
            return decision

    def decide_many(self, urls: Iterable[str]) -> list[Decision]:
        """Return the same for several URLs, in their order."""
        return [self.decide(url) for url in urls]

    def observe(self, row: Mapping[str, Any]) -> None:
        """Take what was seen of a URL: a row with the columns of any input, of which only `url` is required.

        Report errors and redirects too: if a URL gave an error, another one of its key is fetched.
        """
        url = row.get("url")
        if not isinstance(url, str):
            message = f"the observation {dict(row)!r} has no text as its url; give a row with a url"
            raise SourceError(message[:500])
        record = PageRecord.of(row)
        with self._lock:
            site = self._crawl_of(url)
            if site is None:
                return
            data = record.to_bytes()
            if self._journal and site.fetched.records.get(url) != data:
                self._write([OBSERVED_EVENT, url, as_text(data)])
            self._take(site, url, record)
        if site.is_due and not self.follows:
            if self._background:
                self._background.add(site.site)
            else:
                self._learn_site(site.site)

    def observe_many(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Take several rows, in their order."""
        for row in rows:
            self.observe(row)

    def observe_response(
        self, url: str, status: int, headers: Mapping[str, str | Iterable[str]], body: bytes
    ) -> None:
        """Take a response: the row is made of its status, headers and body.

        Args:
            url: The URL that was asked for.
            status: The status of the response, such as 200.
            headers: Its headers by name; a header that came several times is a list.
            body: Its body, unpacked or as its Content-Encoding says.

        """
        with self._lock:
            site = self._crawl_of(url)
            rows = self._responses.rows(site.site, url, status, headers, body) if site else ()
            if site and rows:
                site.fetched.has_sketches = True
        for row in rows:
            self.observe(row)

    def returned(self, most: int | None = None) -> list[str]:
        """Return URLs that were skipped and are to be fetched after all, each once; at most this many.

        Ask now and then, and once more before the crawl ends.
        """
        done: list[str] = []
        with self._lock:
            for name in list(self._waiting):
                queue = self._sites.named(name).returned
                while queue and (most is None or len(done) < most):
                    done.append(queue.popleft())
                if not queue:
                    del self._waiting[name]
            self.counts["returned"] += len(done)
        return done

    @property
    def rules(self) -> RuleSet:
        """The rules of all sites for use without the tests of a crawl.

        They are learned when they are asked for, from what was fetched, and again when a site has grown by a
        tenth or a rule has failed; that takes as long as `learn`.
        """
        with self._for_good:
            with self._lock:
                sites = self._sites.in_order()
            for site in sites:
                self._learn_for_good(site)
            with self._lock:
                return self._sites.believed()

    @property
    def traps(self) -> tuple[Trap, ...]:
        """Places where many URLs were fetched and almost no new page was found lately."""
        with self._lock:
            return tuple(trap for site in self._sites.in_order() for trap in site.traps.found())

    def settle(self) -> None:
        """Wait until what is due has been learned; only with `background` there is something to wait for."""
        if self._background:
            self._background.settle()

    def close(self) -> None:
        """Complete the state on disk; the learner cannot be used afterwards."""
        if self._background:
            self._background.close()
        with self._lock:
            self._crawl_of = _closed
            if self._journal:
                self._journal.close()
                self._journal = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def follows(self) -> bool:
        """Whether another process writes the state."""
        return self._is_follower

    # The sites

    def _take(self, site: SiteCrawl, url: str, record: PageRecord) -> None:
        self.counts["observed"] += url not in site.fetched
        known = site.traps.pages
        self.counts["withdrawn"] += site.observe(url, record)
        if site.is_changed:
            self._note_rules(site)
        self.counts["pages"] += site.traps.pages - known
        if site.returned:
            self._waiting[site.site] = None

    # Learning

    def _learn_all(self, name: str) -> None:
        """Learn the rules of a site until nothing that was seen meanwhile makes it due again."""
        while self._sites.named(name).is_due:
            self._learn_site(name)

    def _learn_site(self, name: str) -> None:
        """Learn the rules of a site anew; only the first and the last step hold the lock."""
        with self._lock:
            site = self._sites.named(name)
            if not site.is_due:
                return
            site.is_learning = True
            rows = len(site.fetched)
            latest = site.fetched.latest(MOST_LEARNED)
            given, unwanted = site.rules.given()
            given = list({rule.id: rule for rule in (*given, *site.rules.proved(site.tests))}.values())
        try:
            learned = self._learn(ObservedSite(name, table_from(latest), given, unwanted))
        except Exception:
            # The crawl goes on with the rules it has, and without those of one site the others do.
            logger.exception("learning the rules of %s failed; the rules from before stay in use", name)
            with self._lock:
                site.is_learning, site.is_due_early, site.learned_at = False, False, rows
            return
        with self._lock:
            site.is_learning = False
            site.believe(learned, rows)
            self.counts["learned"] += 1
            self._note_rules(site)

    def _learn_for_good(self, site: SiteCrawl) -> None:
        """Learn the rules of a site that outlive the crawl, if enough is new; no decision waits for it."""
        with self._lock:
            state = len(site.fetched), sum(site.rules.withdrawn.values())
            if not site.final.are_due(*state):
                return
            given, off = site.rules.given()
            found = [*given, *site.rules.never_failed(site.tests)]
            latest, skipped = site.fetched.latest(MOST_LEARNED_FOR_GOOD), list(site.skipped)
        if latest and site.can_learn:
            evidence = ObservedSite(site.site, table_from(latest), given, off)
            try:
                found = learn_for_good(self._learn, evidence, found[len(given) :], skipped)
            except Exception:
                logger.exception("learning the rules of %s failed; those proved in the crawl stay", site.site)
        with self._lock:
            found = [rule for rule in found if not site.rules.is_refuted(rule)]
            site.final.set([*found, *off], *state)

    def _note_rules(self, site: SiteCrawl) -> None:
        if site.returned:
            self._waiting[site.site] = None
        site.is_changed = False
        facts = [site.learned_at, site.rules.withdrawn, list(site.rules.ids), site.tests.needed]
        self._write([RULES_EVENT, site.site, site.rules.of_site(), facts])

    def _on_template(self, site: str, text: str) -> None:
        self._write([TEMPLATE_EVENT, site, text])

    # The state on disk

    def _write(self, event: list[Any]) -> None:
        if self._journal and not self.follows:
            self._journal.add(event)

    def _load(self) -> None:
        self._sites.are_restoring = True
        self._replay()
        self._sites.are_restoring = False
        for site in self._sites.in_order():
            site.restored()
            if site.returned:
                self._waiting[site.site] = None

    def _follow(self) -> None:
        now = time.monotonic()
        if now - self._followed >= FOLLOWED_SECONDS:
            self._followed = now
            self._replay()

    def _replay(self) -> None:
        """Do again what the file says was done."""
        if self._journal is None:
            return
        for kind, *facts in self._journal.events():
            _EVENTS[kind](self, *facts)

    def _observed_before(self, url: str, data: str) -> None:
        site = self._crawl_of(url)
        if site is not None:
            site.observe(url, PageRecord.from_bytes(from_text(data)))

    def _skipped_before(self, url: str) -> None:
        site = self._crawl_of(url)
        # What the writer skipped is handed back by the writer alone.
        if site is not None and url not in site.fetched and not self.follows:
            site.skipped[url] = 0

    def _believed_before(self, name: str, raw: list[dict[str, Any]], facts: list[Any]) -> None:
        site = self._sites.named(name)
        site.learned_at, withdrawn, ids, site.tests.needed = facts
        own = [Rule.from_json(each) for each in raw]
        site.restore_rules(own, withdrawn, ids)
        if site.returned:
            self._waiting[name] = None

    def _template_before(self, site: str, text: str) -> None:
        self._responses.restore(site, text)


def _closed(_: str) -> NoReturn:
    message = "the learner is closed; make another one for the same state"
    raise UndustError(message)


_EVENTS: dict[str, Callable[..., None]] = {
    OBSERVED_EVENT: CrawlLearner._observed_before,  # noqa: SLF001 -- its own
    SKIPPED_EVENT: CrawlLearner._skipped_before,  # noqa: SLF001
    RULES_EVENT: CrawlLearner._believed_before,  # noqa: SLF001
    TEMPLATE_EVENT: CrawlLearner._template_before,  # noqa: SLF001
}
