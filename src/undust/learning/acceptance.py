"""What a rule must show before it is accepted: enough pages, of enough kinds, and next to nothing lost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from undust.edits import Given
from undust.edits.places import whole_places
from undust.judging.default_numbers import other_numbers
from undust.judging.verdict import LEAST_RISK
from undust.learning.beliefs import PUBLISHED_METHODS, Beliefs
from undust.learning.diversity import is_diverse
from undust.learning.rule_traits import adds_a_value, makes_up, renames, renumbers
from undust.learning.unstable_pages import CALM, UnstablePages
from undust.learning.versions import may_name_versions
from undust.learning.votes import are_convincing, votes_of
from undust.rules.verdict import prefers_other_form

if TYPE_CHECKING:
    from undust.learning.requirements import Requirements
    from undust.learning.site_pages import SitePages
    from undust.learning.state import Effect, State
    from undust.rules import Rule

MET = {"differences": 0.5, "parameters": 0.05, "equivalences": 0.1, "settings": 0.1}
"""Share of the merges that must lead to a form seen before, so that what a rule writes can be fetched."""

DEFAULTS = 3
"""Lists that identify the default of a number."""

UNFOUNDED = 0.5
"""The largest share of the URLs that a rule creates that were never observed."""


@dataclass
class Acceptance:
    """The demands on the rules of one site."""

    requirements: Requirements
    pages: SitePages
    beliefs: Beliefs = field(default_factory=Beliefs)
    """What became of other candidates."""
    restless: UnstablePages = CALM
    """How many pages show another text at every fetch."""

    def are_met(self, state: State, effect: Effect, rule: Rule) -> bool:
        """Return whether a rule may be accepted for what it does to a state."""
        if effect.pages < self.least_pages(rule) or effect.pages_held < self.requirements.held_pages:
            return False
        if effect.target_seen_share < MET.get(rule.learned_by or "", 0.0) or not is_diverse(
            state, effect, rule, self.requirements.number_support
        ):
            return False
        if self.pages.has_blocks and not self._are_one(state, effect, rule):
            return False
        loses_little = (
            effect.lost == 0 if rule.when or rule.unless else self._loses_little(state, effect, rule)
        )
        if not loses_little or not self._leads_somewhere(state, effect, rule):
            return False
        return self._is_one_place(state, rule) and self._is_default(state, effect, rule)

    @staticmethod
    def _are_one(state: State, effect: Effect, rule: Rule) -> bool:
        """Return whether the blocks of the pages that come together say that they are one."""
        return are_convincing(votes_of(effect)) and not may_name_versions(state, effect, rule)

    def _is_one_place(self, state: State, rule: Rule) -> bool:
        """Return whether two places that a rule gives one name are one wherever both were seen."""
        whole = whole_places(rule) if renames(rule) else None
        if whole is None:
            return True
        effect = state.effect(whole)
        return effect.lost <= self.requirements.max_fpr * (effect.lost + effect.pages)

    def _is_default(self, state: State, effect: Effect, rule: Rule) -> bool:
        """Return whether the numbers that a rule removes are defaults, and lists are not merely short."""
        for name, value in Given(rule=rule).defaults.items():
            if not value.isdigit():
                continue
            others = other_numbers(zip(state.texts, state.page_of_image.tolist(), strict=True), name, value)
            is_idle = not others.telling and effect.pages >= self.requirements.number_support
            if not is_idle and not others.confirm(DEFAULTS):
                return False
        return True

    def least_pages(self, rule: Rule) -> int:
        """Return for how many pages a rule must hold."""
        requirements = self.requirements
        least = (
            requirements.min_support
            if self.pages.has_sketches
            else max(requirements.min_support, requirements.blind_support)
        )
        if conditions := len(rule.when) + len(rule.unless):
            least = max(least, requirements.narrowed_support) * conditions
        if adds_a_value(rule) or renames(rule):
            least = max(least, requirements.literal_support)
        if renumbers(rule):
            least = max(least, requirements.number_support)
        return max(least, requirements.published_support) if rule.learned_by in PUBLISHED_METHODS else least

    def _loses_little(self, state: State, effect: Effect, rule: Rule) -> bool:
        if rule.learned_by in PUBLISHED_METHODS and effect.lost:
            return False
        most = self.requirements.max_fpr * (effect.lost + effect.pages)
        if effect.lost > most:
            return self.restless.excuses(effect.lost, effect.pages) and self._on_calm(state, effect) <= most
        return self.beliefs.risk(rule, effect) <= max(self.requirements.max_fpr, LEAST_RISK)

    def _on_calm(self, state: State, effect: Effect) -> int:
        """Return how many images a rule would move wrongly, though other rules show that the page is calm."""
        pages = state.page_of_image[effect.sources[effect.blamed]]
        return int(np.isin(pages, self.restless.calm).sum())

    def _leads_somewhere(self, state: State, effect: Effect, rule: Rule) -> bool:
        """Return whether next to nothing is sent to where the site was seen to have no page."""
        gone = state.leading_nowhere(effect, rule)
        if gone is not None and int(gone.sum()) > self.requirements.max_fpr * effect.moved:
            return False
        if prefers_other_form(rule) and state.welcome_share(effect, rule) <= UNFOUNDED:
            return False
        return not makes_up(rule) or state.unseen_target_share(effect, rule) <= UNFOUNDED
