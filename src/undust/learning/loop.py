"""One site: propose from the current form of its URLs, prove, accept, and propose again.

Cheap and general proposals come first. Once `www` and the session id are removed, what separates two URLs of
a page is single and small, conflicts vanish, and every rule is proved together with those it will work with.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from undust.learning.acceptance import Acceptance
from undust.learning.bounds import bounded, held_pairs
from undust.learning.failing_pages import (
    BY_CHANCE,
    by_chance,
    exceptions,
    restless_pages,
    volatile_class,
    where_it_holds,
    worst_exception,
)
from undust.learning.outcome import (
    AGAINST,
    MERGED,
    NOWHERE,
    TOGETHER,
    Refusals,
    RefusedRule,
    SiteRules,
    Unwanted,
    refused,
)
from undust.learning.proposals import TIERS, differences, drops, equivalences, published
from undust.learning.reach import tightened, wider
from undust.learning.rule_evidence import Ledger
from undust.learning.site_pages import Requirements, SitePages
from undust.learning.state import LOST_WEIGHT, Effect, State
from undust.learning.texts import OPEN, REST_OF_URL, UrlForms, openness, turned, with_conditions
from undust.statistics import interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from undust.learning.failing_pages import UnstablePages
    from undust.learning.proposals import Propose
    from undust.learning.reach import Wider
    from undust.pages.clustering import SiteClusters
    from undust.rules import Rule

LOOKING_FOR_VOLATILE: dict[str, Propose] = {"empty queries": equivalences, "parameters": drops}
"""Before which tiers pages that change are looked for, and by whose proposals."""
KEEPS = 4
SPARED = 2
"""Exceptions of a rule that is good without them."""
NARROWED = 60
"""At most this many failing candidates of a tier are narrowed, those with most pages first."""
AHEAD = 8
"""This many of the next best candidates are judged along with one that must be judged again."""
LEAST_SAVED = 3
UNFOUNDED_TURNED = 0.3
"""Where the direction is a choice, fewer of the URLs that a rule writes may be unobserved ones."""
UNDONE = 0.1
"""Share of what a rule changes that those before it may change back."""


@dataclass
class Learning:
    """The loop over one site."""

    site: SiteClusters
    requirements: Requirements
    given: Sequence[Rule] = ()
    unwanted: Sequence[Rule] = ()
    proposals: set[str] = field(default_factory=set)
    """The texts of all rules that were proposed; one that is tried again is the same candidate."""
    refusals: Refusals = field(default_factory=Refusals)

    def __post_init__(self) -> None:
        self.pages = SitePages(self.site, self.requirements)
        self.state = State(self.pages, self.given)
        self.ledger = Ledger(self.pages)
        self.tried = {str(rule) for rule in self.given}
        self.demands = Acceptance(self.requirements, self.pages)
        self.proposed: dict[Propose, tuple[UrlForms, dict[str, Rule]]] = {}
        """What was proposed last, and from which forms: from the same ones the same would be."""
        self.formed: tuple[pa.Array, UrlForms] | None = None
        self.off = Unwanted(self.unwanted, self.pages.urls)

    def run(self) -> SiteRules:
        """Return the rules of the site."""
        if self.pages.has_sketches:
            self._find_restless()
        for round_ in range(self.requirements.rounds):
            before = len(self.state.rules)
            for name, propose in TIERS:
                if self._is_full():
                    break
                if round_ == 0 and name in LOOKING_FOR_VOLATILE:
                    self._keep_volatile(LOOKING_FOR_VOLATILE[name])
                if propose is not published or self._has_pages_for_published():
                    self._tier(propose)
            if len(self.state.rules) == before:
                break
            self._widen()
        self._bound_the_set()
        self._drop_needless()
        held = held_pairs(self.state)
        taken = {str(rule) for rule in self.state.rules}
        return SiteRules(
            self.site.site,
            tuple(self.ledger.with_evidence(self.state.rules)),
            len(self.proposals | self.refusals.found.keys()),
            self.refusals.counts(taken),
            urls=len(self.pages.urls),
            left=len(self.state.images),
            pages=self.pages.count,
            lost=self.state.lost(),
            sampled=len(self.pages.urls) if self.pages.is_sample else 0,
            refused=self.refusals.weightiest(taken),
            held_pairs=held.pairs,
            held_false=held.false,
            unstable=tuple(self.demands.unstable.pages.tolist()),
        )

    def _is_full(self) -> bool:
        """Return whether there are as many rules as a site may have: then nothing is looked for."""
        return len(self.state.rules) >= self.requirements.most_rules

    def _has_pages_for_published(self) -> bool:
        """Return whether as many pages have several images as a rule must bring together; few sites do."""
        images = np.bincount(self.state.on)
        return int((images > 1).sum()) >= self.requirements.published_support

    def _widen(self) -> None:
        """Let one rule stand for several, where it does at least what they do and is good by itself."""
        done = False
        while not done:
            done = not any(self._stands_for(found) for found in wider(self.state.rules[len(self.given) :]))

    def _stands_for(self, found: Wider) -> bool:
        text = str(found.rule)
        if text in self.tried:
            return False
        self.tried.add(text)
        self.proposals.add(text)
        first, *others = (len(self.given) + place for place in found.places)
        narrow = self.state.rules
        without = [rule for place, rule in enumerate(narrow) if place not in {first, *others}]
        apart = State(self.pages, without)
        rule = tightened(found.rule, apart)
        effect = apart.effect(rule)
        whole = State(self.pages, [*without[:first], rule, *without[first:]])
        saves = len(whole.images) <= len(self.state.images) and whole.lost() <= self.state.lost()
        if not saves or not self.demands.are_met(apart, effect, rule):
            self.refusals.note(refused(rule, "narrower rules do it better", effect))
            return False
        self.ledger.note(rule, effect, apart.image, apart.images, whole)
        self.state = whole
        return True

    def _drop_needless(self) -> None:
        """Remove rules that are never applied, and the removal of an empty query if other rules do it too."""
        rules, uses = self.state.rules, self.state.uses()
        used = [
            rule
            for place, rule in enumerate(rules)
            if place < len(self.given) or rule.kind == "keep" or uses[place]
        ]
        self.state.rules = used
        others = [
            rule
            for place, rule in enumerate(used)
            if place < len(self.given) or (rule.source, rule.target) != (OPEN, REST_OF_URL)
        ]
        if len(others) < len(used) and self.state.images_under(others).equals(self.state.images_under(used)):
            self.state.rules = others

    def _bound_the_set(self) -> None:
        most = self.requirements.max_fpr + self.demands.unstable.rate
        before = self.state
        self.state = bounded(before, most, len(self.given), self.ledger.has_false_pairs)
        for rule in before.rules:
            if rule not in self.state.rules:
                effect = self.state.effect(rule)
                self.refusals.note(refused(rule, TOGETHER, effect))

    def _proposed(self, propose: Propose) -> list[Rule]:
        """Return new proposals, made from training pages only, as the URLs stand now."""
        forms = self._forms()
        seen, found = self.proposed.get(propose, (None, {}))
        if seen is not forms:
            found = {str(rule): rule for rule in propose(forms) if rule is not None}
            self.proposed[propose] = forms, found
        return [rule for text, rule in found.items() if text not in self.tried]

    def _forms(self) -> UrlForms:
        """Return the forms of training pages; the same object until the URLs stand elsewhere."""
        if self.formed is None or self.formed[0] is not self.state.images:
            page = self.state.page_of_image
            rows = np.flatnonzero(~self.pages.is_held[page] & self.pages.is_labelled[page])
            forms = UrlForms(self.site.site, self.state.some_texts(rows), page[rows].tolist())
            self.formed = self.state.images, forms
        return self.formed[1]

    def unstable(self) -> UnstablePages:
        """Return which pages are another one at every fetch."""
        rules = [rule for propose in LOOKING_FOR_VOLATILE.values() for rule in self._proposed(propose)]
        in_path = [rule for rule in self._proposed(differences) if ";" in rule.source and not rule.when]
        return restless_pages(self.state, [*rules, *in_path])

    def _find_restless(self) -> None:
        self.demands.unstable = self.unstable()
        self.state.silence(self.demands.unstable.pages)

    def _keep_volatile(self, propose: Propose) -> None:
        for _ in range(KEEPS):
            rules = self._proposed(propose)
            keep = volatile_class(self.state, rules, self._is_good) if rules else None
            if keep is None or str(keep) in self.tried:
                return
            self.tried.add(str(keep))
            self.state.keep(keep)

    def _tier(self, propose: Propose) -> None:
        rules = self._proposed(propose)
        self.proposals.update(map(str, rules))
        heap: list[tuple[float, int, str, int]] = []
        failing: list[tuple[int, str, RefusedRule]] = []
        by_text = {str(rule): rule for rule in rules}
        effects = list(self.state.effects(rules))
        self.demands.beliefs.note(zip(rules, effects, strict=True))
        good: list[tuple[Rule, float]] = []
        for (text, rule), effect in zip(by_text.items(), effects, strict=True):
            if self._is_good(effect, rule) and effect.gain > 0:
                good.append((rule, effect.value))
            elif self._fails(effect, rule) and effect.pages >= self.requirements.narrowed_support:
                reason = MERGED if effect.lost else NOWHERE
                failing.append((-effect.pages, text, refused(rule, reason, effect)))
            else:
                self.refusals.note(refused(rule, self.demands.refusal(self.state, effect, rule), effect))
        for rule, value in (*good, *self._better_turned(good)):
            by_text[str(rule)] = rule
            heap.append((-value, openness(rule), str(rule), len(self.state.rules)))
        heapq.heapify(heap)
        self._take(heap, by_text)
        failing.sort(key=lambda item: item[:2])
        for place, (_, _, failed) in enumerate(failing):
            if self._is_full():
                break
            # One look at the URLs for all that wait; it holds until the next rule is accepted.
            self.state.effects([waiting.rule for _, _, waiting in failing[place:NARROWED]])
            if place >= NARROWED or not self._narrow(failed.rule):
                self.refusals.note(failed)

    def _better_turned(self, good: Sequence[tuple[Rule, float]]) -> list[tuple[Rule, float]]:
        """Return what is worth more than a good rule and says the same from right to left."""
        known = {str(rule) for rule, _ in good} | self.tried
        other_way = {
            str(each): (each, value)
            for rule, value in good
            for each in turned(rule)
            if str(each) not in known
        }
        effects = self.state.effects([rule for rule, _ in other_way.values()])
        return [
            (rule, effect.value)
            for (rule, value), effect in zip(other_way.values(), effects, strict=True)
            if effect.value > value
            and self._is_good(effect, rule)
            and self.state.unseen_target_share(effect, rule) <= UNFOUNDED_TURNED
        ]

    def _take(self, heap: list[tuple[float, int, str, int]], rules: Mapping[str, Rule]) -> None:
        """Accept the best one after the other; what a rule is worth is seen anew after each."""
        while heap and not self._is_full():
            _, how_open, text, version = heapq.heappop(heap)
            rule = rules[text]
            if version != len(self.state.rules):
                # Those that come next will be asked for as well, most likely.
                ahead = [rules[each[2]] for each in heapq.nsmallest(AHEAD, heap)]
                effect = self.state.effects([rule, *ahead])[0]
                if self._is_good(effect, rule) and effect.gain > 0:
                    heapq.heappush(heap, (-effect.value, how_open, text, len(self.state.rules)))
                else:
                    self.refusals.note(refused(rule, "another rule does it", effect))
            else:
                self._accept(self._spared(rule))

    def _fails(self, effect: Effect, rule: Rule) -> bool:
        """Return whether a rule fails anywhere, so that it may hold elsewhere."""
        if effect.lost or effect.pages < self.requirements.narrowed_support:
            return effect.lost > 0
        gone = self.state.leading_nowhere(effect, rule)
        return gone is not None and bool(gone.any())

    def _where(self, effect: Effect, rule: Rule) -> tuple[list[str], list[str]]:
        """Return the images where a rule holds, and those where it fails."""
        gone = self.state.leading_nowhere(effect, rule)
        fails = effect.blamed if gone is None else effect.blamed | gone
        holds = effect.merging & ~fails
        return self.state.some_texts(effect.sources[holds]), self.state.some_texts(effect.sources[fails])

    def _spared(self, rule: Rule) -> Rule:
        """Return a good rule with exceptions where its few failures lie together."""
        for _ in range(SPARED):
            effect = self.state.effect(rule)
            if not effect.lost:
                break
            good, bad = self._where(effect, rule)
            exception = worst_exception(good, bad)
            spared = with_conditions(rule, unless=(exception,)) if exception else None
            if spared is None or self.state.effect(spared, effect.touched).value <= effect.value:
                break
            rule = spared
        return rule

    def _accept(self, rule: Rule) -> bool:
        """Accept a rule, unless together with the others it does not do what it does alone."""
        if str(rule) in self.tried or self._is_full():
            return False
        self.tried.add(str(rule))
        rule = tightened(rule, self.state)
        self.tried.add(str(rule))
        if self.off.done_by(rule, self.state.rules):
            return False
        effect = self.state.effect(rule)
        if self.state.undone(effect, rule) > UNDONE * effect.moved:
            self.refusals.note(refused(rule, AGAINST, effect))
            return False
        images, lost, before = len(self.state.images), self.state.lost(), self.state.image
        before_texts = self.state.images
        self.state.accept(rule, effect.touched)
        saved, lost = images - len(self.state.images), self.state.lost() - lost
        too_little = saved < max(LEAST_SAVED, effect.saved / 2)
        if too_little or LOST_WEIGHT * lost > saved or lost > effect.lost + self.requirements.max_fpr * saved:
            self.state.retract()
            self.refusals.note(refused(rule, AGAINST, effect))
            return False
        self.ledger.note(rule, effect, before, before_texts, self.state)
        return True

    def _narrow(self, rule: Rule) -> bool:
        """Accept a rule that fails somewhere under conditions; several times if several hold apart."""
        accepted = False
        for _ in range(3):
            effect = self.state.effect(rule)
            if self._is_good(effect, rule):
                return self._accept(rule) or accepted
            if effect.pages < self.requirements.narrowed_support:
                break
            if interval(effect.lost, effect.lost + effect.pages)[0] <= self.requirements.max_fpr:
                # It may well keep the bound; so its exceptions need not be separated from chance as strictly.
                spared = self._spared(rule)
                if self._is_good(self.state.effect(spared), spared):
                    return self._accept(spared) or accepted
            good, bad = self._where(effect, rule)
            trials = [
                with_conditions(rule, when=(pattern,))
                for pattern in where_it_holds(good, bad, self.requirements.narrowed_support)
            ]
            if found := exceptions(good, bad, self.state.some_texts(effect.sources)):
                trials.append(with_conditions(rule, unless=found))
            new = [each for each in trials if each is not None and str(each) not in self.tried]
            best: tuple[float, str, Rule] | None = None
            for narrowed, got in zip(new, self.state.effects(new, effect.touched), strict=True):
                holds = int((got.merging & ~got.failing).sum())
                is_luck = by_chance(len(good) + len(bad), len(bad), holds) > BY_CHANCE
                if not is_luck and self._is_good(got, narrowed) and got.value > 0:
                    best = max(filter(None, (best, (got.value, str(narrowed), narrowed))))
            if best is None or not self._accept(best[2]):
                break
            accepted = True
        return accepted

    def _is_good(self, effect: Effect, rule: Rule) -> bool:
        return self.demands.are_met(self.state, effect, rule)


def learn_site(
    site: SiteClusters,
    requirements: Requirements | None = None,
    given: Sequence[Rule] = (),
    unwanted: Sequence[Rule] = (),
) -> SiteRules:
    """Return the rules of one site; a pure function of what it is given.

    Args:
        site: Its clusters.
        requirements: What a rule must show.
        given: Rules that are deployed already: they come first, and the others are proved beside them.
        unwanted: Rules that a person switched off; no other rule may do the same.

    """
    return Learning(site, requirements or Requirements(), given, unwanted).run()
