"""The rules of a site, found by the search among edits, each with what pages that were held out say of it.

Nothing is proposed from the pages that are held out, so what they say of a rule was not chosen by luck.

The rules together are checked on the final sample: pages that neither proposal nor selection saw. Of a large
site some pages are set aside before anything is proposed, and the rules that are learned from the
others are checked on them. A smaller site needs all its pages: its rules are learned from all. What the same
learning loses on unseen pages is found by cross-fitting: the pages are cut into five parts, the rules are
learned again without a part, and checked on it; the smaller the site, the more parts are checked. So are the
other pages of a large site where many pages change and those set aside show too little. Pages are drawn by
their first URLs alone, and of many sites the checked ones by their names alone.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.edits import KEEP, Given
from undust.judging import KeyState, Site
from undust.judging.checked import CheckedPages, checked_pages, safe_apart
from undust.judging.effect import SUPPORTS, lost_in, transition
from undust.judging.site import WithoutUnstable
from undust.learning.bounds import pairs_with_one_key
from undust.learning.loop import Learning
from undust.learning.loop import learn_site as learn_in_rounds
from undust.learning.outcome import SiteRules, Unwanted, refused_rules, weightiest
from undust.learning.rule_evidence import COUNTED, Record, SeenUrls, counted, pairs_of
from undust.learning.site_pages import Requirements
from undust.rules import program_of
from undust.searching import Objective, Risk, learn_site
from undust.searching.doubts import left_alone, left_out_by_guards
from undust.statistics import upper_bound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from undust.edits import Edit
    from undust.judging import EditEffect
    from undust.pages.clustering import SiteClusters
    from undust.rules import Rule
    from undust.searching.objective import KindPrior

    Bools = NDArray[np.bool_]
    Ints = NDArray[np.int64]
    Learn = Callable[[SiteClusters], SiteRules]

_EXAMPLES, _USUAL_SUPPORT = 3, Requirements().min_support


def edited_rules(  # noqa: PLR0913 -- one for each thing that is known beforehand
    found: SiteClusters,
    requirements: Requirements | None = None,
    given: Sequence[Rule] = (),
    unwanted: Sequence[Rule] = (),
    priors: Mapping[str, KindPrior] | None = None,
    *,
    unstable: Sequence[int] | None = None,
) -> SiteRules:
    """Return the rules of one site; a pure function of what it is given.

    Args:
        found: Its clusters.
        requirements: What a rule must show.
        given: Rules that are in use already: they come first, and the others are judged beside them.
        unwanted: Rules that a person switched off; no other rule may do the same.
        priors: What is known of kinds of edits beforehand, instead of what undust brings along.
        unstable: Pages that change between fetches, by their numbers, if they are known.

    """
    asked = requirements or Requirements()
    site = seen = Site.of(found, seed=asked.seed, most_urls=asked.most_urls, most_bytes=asked.most_bytes)
    unstable = _unstable(found, asked) if unstable is None else unstable
    if len(unstable):
        site = replace(site, evidence=WithoutUnstable(site.evidence, np.isin(site.page, unstable)))
    held = site.drawn(f"held out {asked.seed}", asked.held_out)
    off = Unwanted(unwanted, found.node_urls).done_by if unwanted else None
    objective = replace(_objective(asked, priors), has_versions=found.evidence_of_pairs.has_blocks)
    learned = learn_site(site, objective, given=given, is_unwanted=off, held=held)
    state = learned.state
    if not found.evidence_of_pairs.has_blocks:
        # Pages that change between fetches said nothing of the edits; here they are lost like any other.
        state = KeyState(site, left_alone(KeyState(seen, state.edits)).edits)
    measured = {rule.id: rule for rule in _measured(found, state, held)}
    pairs = pairs_with_one_key(state, held)
    return SiteRules(
        site.name,
        tuple(measured.get(rule.id, rule) for rule in state.rules),
        learned.candidates,
        dict(sorted(Counter(each.reason for each in learned.refused).items())),
        urls=learned.urls,
        left=len(state.keys),
        pages=learned.pages,
        lost=lost_in(state),
        sampled=len(site.urls) if site.is_sample else 0,
        refused=tuple(refused_rules(learned.refused, site.name)),
        held_pairs=pairs.pairs,
        held_false=pairs.false,
        unstable=tuple(unstable),
    )


def combined_rules(
    found: SiteClusters,
    requirements: Requirements | None = None,
    given: Sequence[Rule] = (),
    unwanted: Sequence[Rule] = (),
    priors: Mapping[str, KindPrior] | None = None,
) -> SiteRules:
    """Return what all proposals together give, and behind it what the search among edits finds from there.

    Where pages are compared by what they are made of, the search alone finds more, and loses less: it weighs
    what each pair of pages says.
    """
    if found.evidence_of_pairs.has_blocks:
        return edited_rules(found, requirements, given, unwanted, priors)
    first = learn_in_rounds(found, requirements, given, unwanted)
    if not found.known.any() and not (found.nodes_of_cluster > 1).any():
        return first
    taken = tuple(dict.fromkeys((*given, *first.rules)))
    more = edited_rules(found, requirements, taken, unwanted, priors, unstable=first.unstable)
    known = {rule.id for rule in taken}
    new = sorted((rule for rule in more.rules if rule.id not in known), key=lambda rule: rule.kind != "keep")
    keeps = sum(rule.kind == "keep" for rule in new)
    both = sorted((*more.refused, *first.refused), key=lambda each: (-each.pages, -each.lost))
    refused = {str(each.rule): each for each in reversed(both)}
    return replace(
        more,
        # What is kept was judged to be so by all rules but those from before.
        rules=(*first.rules[: len(given)], *new[:keeps], *first.rules[len(given) :], *new[keeps:]),
        candidates=first.candidates + more.candidates,
        rejected=dict(sorted((Counter(first.rejected) + Counter(more.rejected)).items())),
        refused=weightiest(refused.values()),
    )


def _unstable(found: SiteClusters, asked: Requirements) -> Sequence[int]:
    """Return the pages that change between fetches, by their numbers."""
    learning = Learning(found, asked)
    return learning.unstable().pages.tolist() if learning.pages.has_sketches else ()


def _objective(asked: Requirements, priors: Mapping[str, KindPrior] | None) -> Objective:
    objective = Objective.under(asked.max_fpr)
    if asked.min_support != _USUAL_SUPPORT:
        objective = replace(objective, least_pages=asked.min_support)
    return objective if priors is None else replace(objective, risk=Risk(dict(priors)))


def _measured(found: SiteClusters, state: KeyState, held: Bools) -> Iterator[Rule]:
    """Yield the rules of a state's edits with their evidence, each measured where it works."""
    # What was there already comes first, and is not measured.
    first = next((at for at, edit in enumerate(state.edits) if not _is_there(edit)), None)
    if first is None:
        return
    seen, before = SeenUrls.of(found), KeyState(state.site, state.edits[:first])
    for edit in state.edits[first:]:
        after = before.with_edit(edit)
        if not _is_there(edit):
            evidence = _evidence(before, after, edit, held)
            yield from (evidence.beside(rule, seen) for rule in edit.rules(state.site.name) or ())
        before = after


def _is_there(edit: Edit) -> bool:
    """Return whether an edit is a rule of before, or only keeps URLs as they are."""
    return edit.operation == KEEP or isinstance(edit, Given)


class _Evidence(NamedTuple):
    """What an edit did: its pages are all, its pairs of URLs those that were held out."""

    pages: int
    lost: int
    left_out: float
    support: int
    false: int
    saves: int
    examples: tuple[tuple[str, str], ...]

    def beside(self, rule: Rule, seen: SeenUrls) -> Rule:
        """Return a rule with what was seen of it."""
        measured = replace(
            rule,
            support=self.support,
            false_positives=self.false,
            fpr=self.false / self.support if self.support else 0.0,
            fpr_upper=round(upper_bound(self.lost, self.lost + self.pages), 6),
            saves=self.saves,
            examples=self.examples,
        )
        return counted(measured, seen, self.pages, self.lost, self.left_out)


def _evidence(before: KeyState, after: KeyState, edit: Edit, held: Bools) -> _Evidence:
    effect = transition(before, after, edit)
    tested = effect.among(held[effect.page])
    rows = np.flatnonzero(held[before.site.page])
    page = before.site.page[rows]
    support_before, false_before = pairs_of(before.key[rows], page)
    support_after, false_after = pairs_of(after.key[rows], page)
    false = max(0, false_after - false_before) if tested.lost else 0
    saves = len(np.unique(before.key[rows])) - len(np.unique(after.key[rows]))
    return _Evidence(
        effect.pages,
        effect.lost,
        left_out_by_guards(before, effect),
        max(0, support_after - support_before) + false,
        false,
        max(0, saves),
        tuple(_examples(before, after, effect)),
    )


def _examples(before: KeyState, after: KeyState, effect: EditEffect) -> Iterator[tuple[str, str]]:
    """Yield a few of the URLs that come together with others, and what becomes of them."""
    proofs = np.unique(effect.left[effect.ratios >= SUPPORTS])
    if effect.edit.is_mask:
        became, texts = after.key, after.keys
    else:
        proofs = proofs[np.isin(proofs, effect.moved)]
        became, texts = after.image, after.images
    if len(proofs):
        few = proofs[np.unique(np.linspace(0, len(proofs) - 1, _EXAMPLES).astype(np.int64))]
        for image in few.tolist():
            row = int(np.flatnonzero(before.image == image)[0])
            yield before.image_texts[image], str(texts[int(became[row])])


SETS_ASIDE = 20_000
"""URLs of a site from which on pages are set aside, which costs no time."""
ASIDE, ENOUGH = 0.2, 20_000
"""The share of the pages of a large site that are set aside, and the number beyond which no more are."""
LEARNED_FROM, MOST_ASIDE = 15_000, 0.5
"""Of a site with more pages than the first, all others are set aside, up to this share of its pages, and of
the URLs that are looked at at once: where pages change, it takes many to see what is lost."""
OTHER_PARTS, AS_MANY, ALL_BUT = 2, 0.8, 0.95
"""Into which the other pages of a large site are cut, to check them as well where pages change; one part, if
such a share of their number is set aside. Only if the last share of the URLs of a giant site is looked at."""
PARTS = 5
"""Into which a smaller site is cut."""
CHECKED_PARTS = ((1_000, 2), (SETS_ASIDE, 1))
"""URLs of a site at most, and how many parts are then checked: learning again without one takes about four
fifths of the time."""
CHECKED_SITES, CHECKED_SHARE = 50, 0.02
"""Of at most this many sites each one is checked. Of more, about as many, or this share if that is more:
learning then takes at most 4 % longer for it. Large sites are always checked."""
FINAL_PURPOSE = "final"
"""Keeps these draws apart from all others."""


def is_checked_site(site: str, sites: int, seed: int = 0) -> bool:
    """Return whether the pages of a site are checked, by its name and the number of sites of the job.

    >>> is_checked_site("a.test", 50), sum(is_checked_site(f"{n}.test", 500) for n in range(500))
    (True, 57)
    """
    drawn = hashlib.blake2b(f"{FINAL_PURPOSE} {seed} {site}".encode(), digest_size=8).digest()
    return int.from_bytes(drawn) < max(CHECKED_SITES / max(1, sites), CHECKED_SHARE) * 2.0**64


@dataclass(frozen=True, eq=False)
class FinalSample:
    """Which pages of a site its rules are checked on."""

    site: SiteClusters
    requirements: Requirements
    part: Ints
    """Of each cluster the part it is in."""
    parts: int
    """How many parts are checked, each by rules that were learned without it …"""
    more: int
    """… and how many more, where pages change and what is stated would be vague."""
    is_large: bool

    @classmethod
    def of(cls, site: SiteClusters, requirements: Requirements) -> FinalSample:
        """Draw the pages."""
        urls = int((site.cluster_of_node >= 0).sum())
        drawn = site.drawn(requirements.seed, FINAL_PURPOSE)
        if urls > SETS_ASIDE:
            share = share_aside(len(drawn), urls, requirements.most_urls)
            others = 1 if share >= AS_MANY * (1.0 - share) else OTHER_PARTS
            part = 1 + ((drawn - share) / (1.0 - share) * others).astype(np.int64)
            part[drawn < share] = 0
            return cls(site, requirements, part, 1, others, is_large=True)
        checked = next(parts for most, parts in CHECKED_PARTS if urls <= most)
        return cls(site, requirements, (drawn * PARTS).astype(np.int64), checked, 0, is_large=False)

    @property
    def source(self) -> SiteClusters:
        """What the rules that are used are learned from."""
        return self._without(0) if self.is_large else self.site

    def _without(self, part: int) -> SiteClusters:
        """Return the site without the pages of a part; where it sends URLs to is known all the same."""
        return replace(self.site.keeps(self.part != part), edges=self.site.edges)

    def completed(self, learned: SiteRules) -> SiteRules:
        """Return what was learned of the source with the URLs and pages of the whole site."""
        if not self.is_large:
            return learned
        unstable, urls = learned.unstable, int((self.site.cluster_of_node >= 0).sum())
        if unstable:
            unstable = _same_pages(self._judged(self.source), unstable, self._judged(self.site))
        return replace(learned, urls=urls, pages=self.site.cluster_count, unstable=unstable)

    def safe_apart(
        self, rules: Sequence[Rule], given: Sequence[Rule] = (), unstable: Sequence[int] | None = None
    ) -> tuple[Rule, ...]:
        """Return the rules of the whole site, each safe without the others; those given keep their text."""
        site = self._judged(self.site)
        pages = _unstable(self.site, self.requirements) if unstable is None else unstable
        site = replace(site, evidence=WithoutUnstable(site.evidence, np.isin(site.page, pages)))
        return safe_apart(site, rules, {rule.id for rule in given})

    def checked(self, learned: SiteRules, learn: Learn, given: Sequence[Rule] = ()) -> CheckedPages:
        """Return what the rules do to pages that they were not learned from.

        Args:
            learned: What was learned, as it is used and `completed`.
            learn: Learns from other pages in the same way.
            given: Rules from before. If they may have been learned from these pages, no page is left to
                check them on.

        """
        if not any(rule.kind != "keep" for rule in learned.rules) or self._may_know(given):
            return CheckedPages()
        whole, site = self._judged(self.site), self._looked_at(learned.rules)
        unstable = np.isin(np.arange(site.count), _same_pages(whole, learned.unstable, site))
        evidence = None if self.site.evidence_of_pairs.has_blocks else site.evidence
        site = replace(site, evidence=WithoutUnstable(site.evidence, unstable[site.page]))
        trials = self._trials(site, learned, learn)
        return checked_pages(trials, unstable, evidence, self.parts)

    def _looked_at(self, rules: Sequence[Rule]) -> Site:
        """Return the site, or of a giant one the pages that are set aside and those that they meet, first.

        A page is lost under any other one: those that rules bring together with checked pages are looked at.
        """
        asked, nodes = self.requirements, np.flatnonzero(self.site.cluster_of_node >= 0)
        page, urls = self.site.cluster_of_node[nodes], self.site.node_urls.take(pa.array(nodes))
        lengths = np.bincount(page, np.asarray(pc.binary_length(urls), np.int64))
        if not self.is_large or (len(nodes) <= asked.most_urls and lengths.sum() <= asked.most_bytes):
            return self._judged(self.site)
        key = np.asarray(pa.array(program_of(rules).batch(urls, keys=True)).dictionary_encode().indices)
        is_first = self.part == 0
        is_first[page[np.isin(key, key[is_first[page]])]] = True
        order = np.lexsort((self.site.drawn(asked.seed, FINAL_PURPOSE), ~is_first))
        fits = np.cumsum(np.bincount(page)[order]) <= asked.most_urls
        chosen = np.zeros(len(order), np.bool_)
        chosen[order[fits & (np.cumsum(lengths[order]) <= asked.most_bytes)]] = True
        return self._judged(self.site.keeps(chosen))

    def _judged(self, some: SiteClusters) -> Site:
        asked = self.requirements
        return Site.of(some, seed=asked.seed, most_urls=asked.most_urls, most_bytes=asked.most_bytes)

    def _trials(self, site: Site, learned: SiteRules, learn: Learn) -> Iterator[tuple[KeyState, Bools]]:
        """Yield the site under rules, each time with the pages that these were not learned from."""
        node = np.asarray(pc.index_in(site.urls, value_set=self.site.node_urls.cast(site.urls.type)))
        part_of_page = np.full(site.count, -1, np.int64)
        part_of_page[site.page[::-1]] = self.part[self.site.cluster_of_node[node[::-1]]]
        is_whole = len(site.urls) >= ALL_BUT * int((self.site.cluster_of_node >= 0).sum())
        for part in range(self.parts + (self.more if is_whole else 0)):
            is_used = self.is_large and not part
            rules = learned.rules if is_used else learn(self._without(part)).rules
            yield KeyState(site, tuple(Given(rule=rule) for rule in rules)), part_of_page == part

    def _may_know(self, given: Sequence[Rule]) -> bool:
        """Return whether rules from before may have been learned from URLs of this input."""
        records = [Record.from_json(rule.extra.get(COUNTED)) for rule in given]
        if not any(records):
            return False
        seen = SeenUrls.of(self.site)
        return any(record is not None and record.new_share(seen) < 1.0 for record in records)


def share_aside(pages: int, urls: int, most_urls: int) -> float:
    """Return the share of the pages of a large site that are set aside.

    >>> [round(share_aside(pages, 3 * pages, 60_000), 2) for pages in (10_000, 15_000, 30_000, 100_000)]
    [0.2, 0.2, 0.33, 0.1]
    """
    beyond = min(1.0 - LEARNED_FROM / pages, MOST_ASIDE)
    return min(max(ASIDE, beyond), ENOUGH / pages, MOST_ASIDE * most_urls / urls)


def _same_pages(one: Site, pages: Sequence[int], other: Site) -> tuple[int, ...]:
    """Return the numbers of some pages of a site in another sample of it."""
    urls = one.urls.filter(pa.array(np.isin(one.page, pages)))
    return tuple(np.unique(other.page[np.asarray(pc.is_in(other.urls, value_set=urls), np.bool_)]).tolist())
