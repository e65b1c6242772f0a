"""What learning gave, of one site and of all: rules, what they do to the data, and what was not taken.

What is not taken: candidates that were refused, with the reason, and rules that a person switched off.

A person who reviews rules asks for the reasons first. Any rule that would do the work of one that is switched
off is not wanted either.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from undust.judging.checked import CheckedPages, checked_of_sites
from undust.learning.bounds import HeldPairs
from undust.learning.rule_evidence import masked
from undust.rules import RuleSet, program_of
from undust.rules.language import is_proposed
from undust.rules.verdict import first_of_each_reason
from undust.statistics import Totals

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from undust.learning.drift import Drift
    from undust.learning.state import Effect
    from undust.rules import Rule
    from undust.searching import RefusedEdit

    Work = tuple[tuple[str, str], ...]


MERGED = "merged different pages"
NOWHERE = "leads to where the site has no page"
MADE_UP_URLS = "creates URLs that were not observed"
AGAINST = "works against another rule"
TOGETHER = "the rules together would exceed --max-fpr"
MOST_REFUSED = 100
"""Of a site, those that concern most pages, and one of each reason; all are counted."""
_SHOWN = 200
"""A sample of this many URLs that a rule changes, from all over the site; and the first this
many, among which are neighbours that it brings together."""


@dataclass(frozen=True)
class RefusedRule:
    """A candidate that was not taken."""

    rule: Rule
    reason: str
    pages: int
    """Pages that would need fewer URLs under it."""
    lost: int
    """Pages that it would lose."""
    saved: int
    """URLs that it would remove."""


def refused(rule: Rule, reason: str, effect: Effect) -> RefusedRule:
    """Return why a candidate is not taken, without the columns of what it would have done."""
    return RefusedRule(rule, reason, effect.pages, effect.lost, effect.saved)


@dataclass
class Refusals:
    """The refusals of one site: each candidate once, the weightiest kept."""

    found: dict[str, RefusedRule] = field(default_factory=dict)
    """By the text of the rule; what is refused twice keeps its last reason."""

    def note(self, one: RefusedRule) -> None:
        """Write down why a candidate was not taken."""
        self.found[str(one.rule)] = one

    def counts(self, taken: set[str]) -> dict[str, int]:
        """Return how many candidates were not taken, by reason, without those accepted later."""
        counts = Counter(one.reason for text, one in self.found.items() if text not in taken)
        return dict(sorted(counts.items()))

    def weightiest(self, taken: set[str]) -> tuple[RefusedRule, ...]:
        """Return those that concern most pages, without those accepted later."""
        return weightiest(refused for text, refused in self.found.items() if text not in taken)


def weightiest(some: Iterable[RefusedRule]) -> tuple[RefusedRule, ...]:
    """Return the refused candidates that concern most pages, and at least one of each reason."""
    ranked = sorted(some, key=lambda one: (-one.pages, -one.lost, str(one.rule)))
    return tuple(ranked[at] for at in first_of_each_reason([one.reason for one in ranked], MOST_REFUSED))


def refused_rules(some: Sequence[RefusedEdit], site: str) -> Iterator[RefusedRule]:
    """Yield the refused edits that concern most pages, and one of each reason, as rules."""
    ranked = sorted(some, key=lambda each: (-each.pages, -each.lost, each.edit.text))
    for at in first_of_each_reason([each.reason for each in ranked], MOST_REFUSED):
        each = ranked[at]
        if rules := each.edit.rules(site):
            yield RefusedRule(rules[-1], each.reason, each.pages, each.lost, each.saved)


def work_of(rules: Sequence[Rule], urls: pa.Array) -> Work:
    """Return what rules would do, if they were on: some of the URLs that they change, and to what."""
    found: list[tuple[str, str]] = []
    for rule in rules:
        canonical = RuleSet([_alone(rule.with_status("active"))]).compile()
        rows = np.unique(canonical.touched(urls)[0].to_numpy())
        spread = np.linspace(0, max(len(rows) - 1, 0), _SHOWN).astype(np.int64)
        some = rows[np.union1d(spread, np.arange(_SHOWN))] if len(rows) > _SHOWN else rows
        found += ((url, canonical(url)) for url in urls.take(pa.array(some)).to_pylist())
    return tuple(found)


def does(rule: Rule, work: Iterable[tuple[str, str]]) -> bool:
    """Return whether a rule does any of this work, or a part of it.

    One that changes a URL, and leaves alone what the work would make of it, is about the same part.
    """
    pairs = tuple(work)
    if not pairs:
        return False
    canonical = RuleSet([_alone(rule)]).compile()
    return any(
        (image := canonical(url)) == becomes or (image != url and canonical(becomes) == becomes)
        for url, becomes in pairs
    )


def _alone(rule: Rule) -> Rule:
    """Return a rule that acts, whatever it needs and whether or not its results are to be fetched."""
    return replace(rule, fetch=True, needs=())


class Unwanted:
    """Rules that are off, and URLs of a site that they would bring together."""

    def __init__(self, rules: Sequence[Rule], urls: pa.Array) -> None:
        self.rules = [_alone(rule.with_status("active")) for rule in rules]
        self.urls = pa.array(
            sorted({url for pair in work_of(rules, urls) for url in pair}), pa.large_string()
        )

    def done_by(self, rule: Rule, others: Sequence[Rule]) -> bool:
        """Return whether a rule beside others brings together what was to stay apart, in whatever form."""
        if not len(self.urls):
            return False
        together, before, after = (
            pa.array(program_of(rules).batch(self.urls, keys=True)).to_pylist()
            for rules in ([*others, *self.rules], others, [*others, rule])
        )
        met: dict[tuple[str, str], str] = {}
        return any(
            met.setdefault((group, now), stood) != stood
            for group, now, stood in zip(together, after, before, strict=True)
        )


@dataclass(frozen=True)
class SiteRules:
    """What was learned of one site."""

    site: str
    rules: tuple[Rule, ...]
    """In the order in which they are applied, each with its evidence."""
    candidates: int
    rejected: Mapping[str, int]
    """Why candidates were not taken, and how many."""
    urls: int
    left: int
    """URLs that remain distinct under the rules."""
    pages: int
    lost: int
    """Pages under the form of another, near copies forgiven."""
    sampled: int = 0
    """URLs that were looked at, if not all."""
    refused: tuple[RefusedRule, ...] = ()
    """The weightiest of the candidates that were not taken."""
    held_pairs: int = 0
    """Pairs of URLs of held-out pages that the rules send to one form."""
    held_false: int = 0
    """… that show two pages."""
    unstable: tuple[int, ...] = ()
    """Pages that are another one at every fetch, by their numbers in `Pages`."""
    checked: CheckedPages = field(default_factory=CheckedPages)
    """Pages that nothing was learned from, and what the rules do to them."""


@dataclass(frozen=True)
class Outcome:
    """The rules of each site with what was seen on the way."""

    sites: Sequence[SiteRules]
    keeps_values: bool = False
    """Whether examples show the values of parameters that are dropped."""
    has_evidence: bool = True
    """Whether the input has evidence of which URLs show one page."""
    across: tuple[Rule, ...] = ()
    """Rules for all sites."""
    before: RuleSet = field(default_factory=RuleSet)
    """The rules that were there before."""
    drift: Drift | None = None
    """What became of them, if they were proved again."""
    failed: Mapping[str, str] = field(default_factory=dict)
    """Sites that gave nothing for an error, each with the reason."""
    doubts: tuple[str, ...] = ()
    """What would be evidence and is not believed, by name, of the sites that have no other."""
    totals: Mapping[str, Totals] = field(default_factory=dict)
    """What becomes of the URLs of each site, counted as everywhere; by its own rules, unless `is_by_all`."""
    proposed: Sequence[Rule] = ()
    """Rules that are likely and unproven; those of most URLs of each site first."""
    is_by_all: bool = False
    """Whether `totals` count what the rules for all sites do as well."""

    @property
    def rules(self) -> RuleSet:
        """All rules, by site and then in the order in which they are applied; last those for all sites."""
        found: Iterable[Rule] = (*(rule for site in self.sites for rule in site.rules), *self.across)
        if self.drift is not None:
            found = (rule for _, rule in self.drift.fates)
        found = list(found)
        known = {rule.id for rule in found}
        found += [rule for rule in self.proposed if rule.id not in known]
        rules = self.before.with_rules(found if self.keeps_values else masked(found))
        return rules.with_check(self.checked.as_json() if self.checked.pages else None)

    @property
    def site_counts(self) -> tuple[int, int, int]:
        """How many sites there are, with how many URLs and pages to learn from."""
        urls, pages = (sum(getattr(site, name) for site in self.sites) for name in ("urls", "pages"))
        return len(self.sites), urls, pages

    @property
    def rejected(self) -> Counter[str]:
        """Why candidates were not taken, and how many."""
        total: Counter[str] = Counter()
        for site in self.sites:
            total.update(site.rejected)
        return total

    @property
    def checked(self) -> CheckedPages:
        """The pages of all sites that nothing was learned from, and what each site's own rules do to them."""
        return checked_of_sites(site.checked for site in self.sites)

    @property
    def held(self) -> HeldPairs:
        """The pairs of held-out pages of all sites that the rules send to one form."""
        return HeldPairs(
            *(sum(getattr(site, name) for site in self.sites) for name in ("held_pairs", "held_false"))
        )

    @property
    def all_totals(self) -> Totals:
        """The counts of all sites together."""
        return sum(self.totals.values(), Totals())

    @staticmethod
    def _counts(totals: Totals) -> dict[str, Any]:
        """Return counts by the names of `evaluate --json`."""
        return {
            "urls": totals.judged,
            "canonical_urls": totals.left,
            "clusters": totals.pages,
            "lost_pages": totals.merged_pages,
            "totals": totals.as_json(),
        }

    @property
    def candidates(self) -> int:
        """How many candidates there were."""
        return sum(site.candidates for site in self.sites)

    @property
    def sampled(self) -> dict[str, dict[str, int]]:
        """The URLs that were looked at and all URLs, of each site that was learned from a sample."""
        return {
            site.site: {"sampled": site.sampled, "urls": site.urls} for site in self.sites if site.sampled
        }

    def _each_site(self) -> Iterator[tuple[SiteRules, Totals, int]]:
        """Yield what was learned of each site, what becomes of its URLs, and how many rules are likely."""
        proposed = Counter(rule.site for rule in self.proposed)
        for site in self.sites:
            yield site, self.totals.get(site.site, Totals()), proposed[site.site]

    def by_site(self) -> dict[str, dict[str, Any]]:
        """Return the counts of each site, for machines."""
        return {
            site.site: {
                **self._counts(totals),
                "rules": len(site.rules),
                "proposed": proposed,
                "candidates": site.candidates,
                "held_out_pairs": site.held_pairs,
                "held_out_false_pairs": site.held_false,
                "checked": site.checked.as_json(),
            }
            for site, totals, proposed in self._each_site()
        }

    def as_json(self) -> dict[str, Any]:
        """Return the counts for machines."""
        rules = self.rules
        proposed = sum(map(is_proposed, rules))
        return {
            "sites": self.site_counts[0],
            **self._counts(self.all_totals),
            "held_out_pairs": self.held.pairs,
            "held_out_false_pairs": self.held.false,
            "fpr_upper": round(self.checked.upper, 6),
            "checked": self.checked.as_json(),
            "rules": len(rules) - proposed,
            "active": sum(rule.status == "active" for rule in rules),
            "proposed": proposed,
            "rules_for_all_sites": len(self.across),
            "candidates": self.candidates,
            "rejected": dict(sorted(self.rejected.items())),
            "sampled": self.sampled,
            "failed": dict(sorted(self.failed.items())),
        } | ({"drift": self.drift.as_json()} if self.drift else {})
