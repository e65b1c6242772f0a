"""The sites of a crawl: each is begun with the rules that are given for it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from undust.crawling.places import Traps
from undust.crawling.rule_tests import RuleTests
from undust.crawling.rules_in_use import PriorRules, RulesInUse
from undust.crawling.site_crawl import SiteCrawl
from undust.rules.language import ANY_SITE
from undust.urls.url import LONGEST_NAME, SITE_NAME, suffixes

if TYPE_CHECKING:
    from undust.rules import Rule, RuleSet


class CrawledSites:
    """The sites by their names."""

    def __init__(self, start: RuleSet, seed: int, explore: float, *, prior: bool, skip_traps: bool) -> None:
        self._start, self._seed, self._explore = start, seed, explore
        self._uses_prior, self._skip_traps = prior, skip_traps
        self._bases: dict[str, list[Rule]] = {}
        for rule in start:
            self._bases.setdefault(rule.site, []).append(rule)
        self._for_all = start.with_rules(self._bases.get(ANY_SITE, ()))
        self._site_of = suffixes().site
        self._sites: dict[str, SiteCrawl] = {}
        self.are_restoring = False
        """Whether the past is done again."""

    def of(self, url: str) -> SiteCrawl | None:
        """Return the site of a URL; None if it is not a URL."""
        if not url.isascii() and not _is_encodable(url):
            return None
        name = self._site_of(url)
        if name is None:
            return None
        site = self._sites.get(name)
        return self.named(name) if site is None else site

    def named(self, name: str) -> SiteCrawl:
        """Return a site by its name; begin it if it is new."""
        site = self._sites.get(name)
        if site is None:
            site = self._sites[name] = self._begun(name)
        return site

    def _begun(self, name: str) -> SiteCrawl:
        own = self._bases.get(name, [])
        base = self._start.with_rules([*own, *self._bases.get(ANY_SITE, [])]) if own else self._for_all
        can_learn = len(name) <= LONGEST_NAME and re.match(SITE_NAME, name) is not None
        has_prior = self._explore and self._uses_prior and can_learn
        rules = RulesInUse(name, base, PriorRules(name) if has_prior else PriorRules(name, frozenset()))
        made = SiteCrawl(name, rules, RuleTests(self._seed, self._explore), Traps(name, self._skip_traps))
        made.can_learn, made.is_restoring = can_learn, self.are_restoring
        return made

    def in_order(self) -> list[SiteCrawl]:
        """Return the sites, sorted by their names."""
        return [self._sites[name] for name in sorted(self._sites)]

    def believed(self) -> RuleSet:
        """Return the rules of all sites that outlive the crawl, and what was given for others."""
        own = [rule for site in self.in_order() for rule in site.final.rules]
        unseen = sorted(self._bases.keys() - self._sites.keys() - {ANY_SITE})
        given = [rule for site in unseen for rule in self._bases[site]]
        return self._start.with_rules([*own, *given, *self._for_all])


def _is_encodable(url: str) -> bool:
    try:
        url.encode()
    except UnicodeEncodeError:
        return False
    return True
