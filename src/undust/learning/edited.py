"""The rules of a site, found by the search among edits, each with what pages that were held out say of it.

Nothing is proposed from the pages that are held out, so what they say of a rule was not chosen by luck.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from undust.edits import KEEP, Given
from undust.judging import KeyState, Site
from undust.judging.effect import SUPPORTS, transition
from undust.judging.site import WithoutUnstable
from undust.learning.bounds import HeldPairs
from undust.learning.loop import Learning
from undust.learning.loop import learn_site as learn_in_rounds
from undust.learning.outcome import SiteRules
from undust.learning.refusals import MOST_REFUSED, RefusedRule, Unwanted, weightiest
from undust.learning.requirements import Requirements
from undust.learning.rule_evidence import SeenUrls, counted, pairs_of
from undust.rules.verdict import first_of_each_reason
from undust.searching import Objective, Risk, learn_site
from undust.statistics import upper_bound

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from undust.edits import Edit
    from undust.judging import EditEffect
    from undust.pages.clustering import SiteClusters
    from undust.rules import Rule
    from undust.searching import RefusedEdit
    from undust.searching.objective import KindPrior

    Bools = NDArray[np.bool_]

_EXAMPLES = 3
_USUAL_SUPPORT = Requirements().min_support


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
    site = Site.of(found, seed=asked.seed, most_urls=asked.most_urls, most_bytes=asked.most_bytes)
    unstable = _unstable(found, asked) if unstable is None else unstable
    if len(unstable):
        site = replace(site, evidence=WithoutUnstable(site.evidence, np.isin(site.page, unstable)))
    held = site.drawn(f"held out {asked.seed}", asked.held_out)
    off = Unwanted(unwanted, found.node_urls).done_by if unwanted else None
    objective = replace(_objective(asked, priors), has_versions=found.evidence_of_pairs.has_blocks)
    learned = learn_site(site, objective, given=given, is_unwanted=off, held=held)
    measured = {rule.id: rule for rule in _measured(found, learned.state, held)}
    pairs = _held_pairs(learned.state, held)
    return SiteRules(
        site.name,
        tuple(measured.get(rule.id, rule) for rule in learned.rules),
        learned.candidates,
        dict(sorted(Counter(each.reason for each in learned.refused).items())),
        urls=learned.urls,
        left=learned.left,
        pages=learned.pages,
        lost=learned.lost,
        sampled=len(site.urls) if site.is_sample else 0,
        refused=tuple(_refused_rules(learned.refused, site.name)),
        held_pairs=pairs.pairs,
        held_false=pairs.false,
        restless=tuple(unstable),
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
    more = edited_rules(found, requirements, taken, unwanted, priors, unstable=first.restless)
    known = {rule.id for rule in taken}
    both = sorted((*more.refused, *first.refused), key=lambda each: (-each.pages, -each.lost))
    refused = {str(each.rule): each for each in reversed(both)}
    return replace(
        more,
        rules=(*first.rules, *(rule for rule in more.rules if rule.id not in known)),
        candidates=first.candidates + more.candidates,
        rejected=dict(sorted((Counter(first.rejected) + Counter(more.rejected)).items())),
        refused=weightiest(refused.values()),
    )


def _unstable(found: SiteClusters, asked: Requirements) -> Sequence[int]:
    """Return the pages that change between fetches, by their numbers."""
    learning = Learning(found, asked)
    return learning.restless().pages.tolist() if learning.pages.has_sketches else ()


def _objective(asked: Requirements, priors: Mapping[str, KindPrior] | None) -> Objective:
    objective = Objective.under(asked.max_fpr)
    if asked.min_support != _USUAL_SUPPORT:
        objective = replace(objective, least_pages=asked.min_support)
    return objective if priors is None else replace(objective, risk=Risk(dict(priors)))


def _refused_rules(some: Sequence[RefusedEdit], site: str) -> Iterator[RefusedRule]:
    """Yield the refused edits that concern most pages, and one of each reason, as rules."""
    ranked = sorted(some, key=lambda each: (-each.pages, -each.lost, each.edit.text))
    for at in first_of_each_reason([each.reason for each in ranked], MOST_REFUSED):
        each = ranked[at]
        if rules := each.edit.rules(site):
            yield RefusedRule(rules[-1], each.reason, each.pages, each.lost, each.saved)


def _measured(found: SiteClusters, state: KeyState, held: Bools) -> Iterator[Rule]:
    """Yield the rules of a state's edits with their evidence, each measured where it works."""
    seen = SeenUrls.of(found) if state.edits else None
    before = KeyState(state.site)
    for edit in state.edits:
        after = before.with_edit(edit)
        if edit.operation != KEEP and not isinstance(edit, Given) and seen is not None:
            evidence = _evidence(before, after, edit, held)
            yield from (evidence.beside(rule, seen) for rule in edit.rules(state.site.name) or ())
        before = after


class _Evidence(NamedTuple):
    """What an edit did: its pages are all, its pairs of URLs those that were held out."""

    pages: int
    lost: int
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
        return counted(measured, seen, self.pages, self.lost)


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


def _held_pairs(state: KeyState, held: Bools) -> HeldPairs:
    """Return the pairs of URLs of held-out pages that have one key."""
    site = state.site
    rows = np.flatnonzero(held[site.page])
    if not len(rows):
        return HeldPairs(0, 0)
    key = np.unique(state.key[rows], return_inverse=True)[1].reshape(-1)
    pages = site.count
    pairs, counts = np.unique(key * pages + site.page[rows], return_counts=True)
    order = np.lexsort((pairs, -counts, pairs // pages))
    main_of_key = (pairs % pages)[order[np.flatnonzero(np.diff(pairs[order] // pages, prepend=-1))]]
    first = np.full(pages, -1, np.int64)
    first[site.page[::-1]] = np.arange(len(site.page))[::-1]
    main = main_of_key[key]
    other = site.page[rows] != main
    other[other] = site.evidence.ratios(rows[other], first[main[other]]) < 0
    total = np.bincount(key).astype(np.int64)
    wrong = np.bincount(key, other, len(total)).astype(np.int64)
    every = int((total * (total - 1) // 2).sum())
    right = total - wrong
    true = int((right * (right - 1) // 2 + wrong * (wrong - 1) // 2).sum())
    return HeldPairs(every, every - true)
