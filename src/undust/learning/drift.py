"""What became of rules that were learned before: each is proved again on new evidence, or retired.

All pages of the new evidence may speak: no old rule was made from them. What fails is switched off with
the reason and the day, and stays in the file. What a person switched off stays off. The day is given,
never read from a clock, so that learning remains a function of its input.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from undust.edits import DROP, Given
from undust.judging import KeyState, Site
from undust.judging.effect import lost_in
from undust.learning.bounds import kind_and_bits
from undust.learning.rule_evidence import SeenUrls, accumulated, counted, pairs_of
from undust.learning.site_pages import SitePages
from undust.learning.state import State
from undust.rules.compiled import rules_in_effect
from undust.rules.language import RETIRED
from undust.statistics import interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from undust.learning.site_pages import Requirements
    from undust.learning.state import Effect
    from undust.pages.clustering import SiteClusters
    from undust.rules import Rule

Fate = Literal["holds", "not seen", "retired", "off", "back", "new"]
SUDDEN, SUDDEN_SHARE = 3, 0.3
"""If this many rules, and this share of those tested, are retired at once, it is not drift …"""
SUDDEN_ON_SITE = 0.5
"""… nor is such a share of the rules of one site, however many others hold."""


@dataclass(frozen=True)
class Drift:
    """The rules of before and after, by what became of them."""

    fates: tuple[tuple[Fate, Rule], ...] = field(default=())

    def of(self, fate: Fate) -> tuple[Rule, ...]:
        """Return the rules with one fate."""
        return tuple(rule for each, rule in self.fates if each == fate)

    @property
    def counts(self) -> dict[Fate, int]:
        """How many rules had each fate."""
        return dict(sorted(Counter(fate for fate, _ in self.fates).items()))

    @property
    def is_sudden(self) -> bool:
        """Whether so much failed at once that the evidence is as doubtful as the rules."""
        retired, held = len(self.of("retired")), len(self.of("holds"))
        return (retired >= SUDDEN and retired > SUDDEN_SHARE * (retired + held)) or bool(self.flipped)

    @property
    def flipped(self) -> tuple[str, ...]:
        """The sites most of whose rules failed at once."""
        retired, held = (Counter(rule.site for rule in self.of(fate)) for fate in ("retired", "holds"))
        return tuple(
            site
            for site, count in sorted(retired.items())
            if count >= SUDDEN and count > SUDDEN_ON_SITE * (count + held[site])
        )

    @property
    def out_of_effect(self) -> tuple[Rule, ...]:
        """The rules that stay active and do nothing any more: what they need is off."""
        acting = {rule.id for rule in rules_in_effect(rule for _, rule in self.fates)}
        active = (rule for _, rule in self.fates if rule.status == "active")
        return tuple(rule for rule in active if rule.id not in acting)

    def as_json(self) -> dict[str, Any]:
        """Return the counts, and each retired rule with its reason, for machines."""
        return {
            "counts": self.counts,
            "sudden": self.is_sudden,
            "flipped": list(self.flipped),
            "retired": [
                {"id": rule.id, "site": rule.site, "rule": str(rule), **rule.extra[RETIRED]}
                for rule in self.of("retired")
            ],
            "out_of_effect": [rule.id for rule in self.out_of_effect],
        }


def proved_again(
    site: SiteClusters, rules: Sequence[Rule], requirements: Requirements, today: str | None = None
) -> list[tuple[Fate, Rule]]:
    """Return the rules of one site, in their order, each with what the new evidence says of it."""
    pages, seen = SitePages(site, requirements), SeenUrls.of(site)
    active = [rule for rule in rules if rule.status == "active"]
    whole = State(pages, active)
    effects = {rule.id: _in_company(rule, whole) for rule in active}
    fails = {key: effect for key, (effect, _) in effects.items() if _fails(effect, requirements)}
    fails |= _together([rule for rule in active if rule.id not in fails], pages, requirements)
    done: list[tuple[Fate, Rule]] = []
    for rule in rules:
        if rule.status != "active":
            done.append(("off", rule))
        elif rule.id in fails:
            done.append(("retired", retired(rule, _reason(fails[rule.id]), today)))
        elif not effects[rule.id][0].moved:
            done.append(("not seen", rule))
        else:
            done.append(("holds", _measured(rule, *effects[rule.id], seen, today)))
    return done


def proved_beside(site: SiteClusters, learned: Sequence[Rule], others: Sequence[Rule]) -> list[Rule]:
    """Return the rules that were proved elsewhere and lose no page of a site behind those learned from it.

    One that only leaves out a part may join any. Where a learned rule has conditions, others may not: they
    write URLs in forms that the conditions do not name, and so undo what these protect.

    Args:
        site: What was seen.
        learned: The rules that it has taught.
        others: Rules that are not known from it, in their order.

    """
    has_conditions = any(rule.kind == "keep" or rule.when or rule.unless for rule in learned)
    known = {rule.id for rule in learned}
    state = KeyState(Site.of(site), tuple(Given(rule=rule) for rule in learned))
    lost, found = lost_in(state), []
    for rule in others:
        if rule.id in known or (has_conditions and not kind_and_bits(rule)[0].startswith(DROP)):
            continue
        after = KeyState(state.site, (*state.edits, Given(rule=rule)))
        # Rules that undo each other put all others out of effect.
        if lost_in(after) <= lost and len(after.keys) <= len(state.keys):
            state, lost = after, lost_in(after)
            found.append(rule)
    return found


def retired(rule: Rule, reason: str, today: str | None) -> Rule:
    """Return a rule switched off, with the reason and the day."""
    said = {"reason": reason} | ({"when": today} if today else {})
    return replace(rule, status="disabled", extra={**rule.extra, RETIRED: said})


def is_off(rule: Rule) -> bool:
    """Return whether a person switched a rule off; what evidence retired may come back by evidence."""
    return rule.status == "disabled" and RETIRED not in rule.extra


def _in_company(rule: Rule, whole: State) -> tuple[Effect, dict[str, int]]:
    """Return what a rule does beyond what all the others do without it, and the same in pairs of URLs."""
    pages, rules = whole.pages, whole.rules
    without = State(pages, [other for other in rules if other.id != rule.id])
    # Those that keep are part of the state, which knows them.
    effect = without.effect_of_all([other for other in rules if other.kind != "keep"])
    if not effect.moved:
        if rule.kind == "keep" or without.form_of_urls().equals(whole.form_of_urls()):
            return effect, {}
        # Without it the others leave forms that it does not match; it acts before those behind it.
        place = rules.index(rule)
        behind = [other for other in rules[place + 1 :] if other.kind == "keep"]
        effect = State(pages, [*rules[:place], *behind]).effect(rule)
    before_it, with_it = (pairs_of(some, pages.of_url) for some in (without.image, whole.image))
    false = max(0, with_it[1] - before_it[1]) if effect.lost else 0
    return effect, {
        "support": max(0, with_it[0] - before_it[0]) + false,
        "false_positives": false,
        "saves": max(0, len(without.images) - len(np.unique(whole.image))),
    }


def _together(rules: list[Rule], pages: SitePages, requirements: Requirements) -> dict[str, Effect]:
    """Return the rules to blame where each seems idle because another one does the same harm."""
    blamed: dict[str, Effect] = {}
    bare = State(pages, [rule for rule in rules if rule.kind == "keep"])
    left = [rule for rule in rules if rule.kind != "keep"]
    while left and _fails(bare.effect_of_all(left), requirements):
        alone = {rule.id: bare.effect(rule) for rule in left}
        worst = max(left, key=lambda rule: (alone[rule.id].lost, rule.id))
        blamed[worst.id] = alone[worst.id]
        left.remove(worst)
    return blamed


def _fails(effect: Effect, requirements: Requirements) -> bool:
    """Return whether pages are lost beyond what chance explains; one page that changed is not a proof."""
    return effect.lost > 0 and interval(effect.lost, effect.lost + effect.pages)[0] > requirements.max_fpr


def _reason(effect: Effect) -> str:
    seen = effect.lost + effect.pages
    return f"{effect.lost:,} of the {seen:,} pages it touches would be lost"


def _measured(rule: Rule, effect: Effect, counts: dict[str, int], seen: SeenUrls, today: str | None) -> Rule:
    """Return a rule with the figures of all inputs so far, the new one included."""
    validated = {"how": "new evidence", "when": today} if today else rule.validated
    new = replace(
        rule,
        support=counts["support"],
        false_positives=counts["false_positives"],
        saves=counts["saves"],
        validated=validated,
    )
    return accumulated(rule, counted(new, seen, effect.pages, effect.lost), seen)


def merged(before: Iterable[tuple[Fate, Rule]], learned: Iterable[Rule]) -> list[tuple[Fate, Rule]]:
    """Return the rules of before in their places, then those learned now.

    What was retired once and is learned again takes the place of its old self.
    """
    new = {rule.id: rule for rule in learned}
    old = list(before)
    known = {rule.id for _, rule in old}
    back = {rule.id for fate, rule in old if fate == "off" and not is_off(rule) and rule.id in new}
    done: list[tuple[Fate, Rule]] = [
        ("back", new[rule.id]) if rule.id in back else (fate, rule) for fate, rule in old
    ]
    return [*done, *(("new", rule) for key, rule in new.items() if key not in known)]
