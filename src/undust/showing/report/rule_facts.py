"""What each rule does to the URLs: examples, counter-examples, URLs that its conditions exclude."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.display import how_many
from undust.measuring.counts import agreeing, coded, is_near, least_agreeing
from undust.privacy.masking import STARS
from undust.rules import RuleSet
from undust.rules.language import short_ids
from undust.rules.verdict import (
    LEVELS,
    RuleVerdict,
    alike_on_sites,
    first_of_each_reason,
    leading,
    use_of,
    verdicts,
    wrong_targets,
)
from undust.showing.report.material import spread
from undust.showing.words import in_words, in_words_with_conditions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from undust.measuring import Labelled, RuleRow
    from undust.rules import Rule
    from undust.showing.report.material import Material, Texts

    Ints = NDArray[np.int64]


_SHOWN_ALIKE, _SHOWN_SITES = 100, 8
"""Rules that several sites have, and how many of these sites are named."""
_MOST_LOST = 0.01
"""Pages that a rule may lose for each URL that it removes before it is called risky."""


@dataclass(frozen=True)
class RuleTrials:
    """What single rules were seen to do to the URLs at hand, by id."""

    alone: Mapping[str, RuleRow] = field(default_factory=dict)
    """What each does without the others."""
    without: Mapping[str, int] = field(default_factory=dict)
    """How many more pages are lost if it alone is switched off; below 0 if fewer."""
    leading: Mapping[str, Rule] = field(default_factory=dict)
    """Rules whose file does not say where they lead, with where they lead here."""

    def judged(self, rule: Rule, judged: RuleVerdict) -> RuleVerdict:
        """Return the verdict of the file, or what the URLs at hand say against the rule."""
        if judged.level not in {"look", "ok"} or (rule.review or {}).get("verdict"):
            return judged
        own = self.alone.get(rule.id)
        if (fewer := -self.without.get(rule.id, 0)) > 0:
            is_much = own is None or fewer > _MOST_LOST * own.saved
            many = "is" if fewer == 1 else "are"
            reason = f"{how_many(fewer, 'page')} of this input {many} lost because of it"
            return RuleVerdict("risky" if is_much else "look", reason)
        if own is not None and own.lost > 0:
            return RuleVerdict(
                "look", f"safe only with other rules: alone it loses {how_many(own.lost, 'page')}"
            )
        led = self.leading.get(rule.id)
        return (led and wrong_targets(rule, leading(led))) or judged


def told_rules(material: Material, tried: RuleTrials) -> list[dict[str, Any]]:
    """Return the rules of a site in their order."""
    chosen = list(material.rules)[: material.limits.rules]
    names = short_ids(material.rules)
    trials = _Trials(material, ()) if material.labelled is not None else None
    told, keeps = [], []
    for rule, judged in zip(chosen, verdicts(material.rules), strict=False):
        row, led = tried.alone.get(rule.id), tried.leading.get(rule.id, rule)
        said = _said(rule, names[rule.id], material.texts)
        said |= _judged(led, tried.judged(rule, judged), material.texts)
        said["needed"] = max(0, tried.without.get(rule.id, 0))
        said["alone"] = None if row is None else _alone(row)
        if rule.kind == "keep":
            keeps += [rule] if rule.status == "active" else []
        elif trials:
            said |= trials.of(rule, keeps)
        told.append(said)
    return told


def _alone(row: RuleRow) -> dict[str, int]:
    """Return what a rule does alone; `saved` is the older name of `removed`."""
    return {"removed": row.saved, "lost": row.lost, "saved": row.saved}


def _judged(rule: Rule, judged: RuleVerdict, texts: Texts) -> dict[str, Any]:
    """Return what a person needs to decide on a rule."""
    return {
        "status": rule.status,
        "verdict": judged.level,
        "urgency": LEVELS.index(judged.level),
        "reason": judged.reason,
        "use": use_of(rule),
        "leads": str(leading(rule)) if rule.targets else None,
        "needs": list(rule.needs),
        "review": {key: texts.said(value) for key, value in rule.review.items()} if rule.review else None,
    }


def _said(rule: Rule, short: str, texts: Texts) -> dict[str, Any]:
    """Return what the rule file has about a rule."""
    return {
        "id": rule.id,
        "short": short,
        "site": rule.site,
        "kind": rule.kind,
        "words": texts.said(in_words_with_conditions(rule)),
        "from": texts.said(rule.source),
        "to": None if rule.target is None else texts.said(rule.target),
        "when": list(map(texts.said, rule.when)),
        "unless": list(map(texts.said, rule.unless)),
        "except": list(rule.except_sites),
        "on": rule.status == "active",
        "by": rule.learned_by,
        "support": rule.support,
        "false": rule.false_positives,
        "fpr": rule.fpr,
        "bound": rule.fpr_upper,
        "saves": rule.saves,
        "validated": dict(rule.validated) if rule.validated else None,
        "extra": dict(rule.extra) or None,
        "examples": [texts.change(*pair) for pair in rule.examples],
    }


@dataclass(frozen=True)
class Met:
    """Where the forms that a rule changes end, and the pages there."""

    forms: Ints
    """Those that it changes."""
    images: pa.Array
    """What becomes of each."""
    anchor: Ints
    """Of each: the form of the page that is there, itself if there is no other."""


class _Trials:
    """The URLs of a site under some rules, and one more rule at a time."""

    def __init__(self, material: Material, base: Sequence[Rule]) -> None:
        labelled = material.labelled
        assert labelled is not None  # noqa: S101 -- the caller looked
        self.labelled: Labelled = labelled
        self.material = material
        self.base = base
        standing = RuleSet(base).compile().batch(labelled.urls, keys=True, threads=material.threads)
        self.names, codes = coded(standing)
        """The distinct forms of the URLs."""
        self.urls_at = np.bincount(codes, minlength=len(self.names))
        first = np.zeros(len(self.names), np.int64)
        first[codes[::-1]] = np.arange(len(codes))[::-1]
        self.page_at = labelled.known.codes[first]

    def of(self, rule: Rule, shields: Sequence[Rule] = ()) -> dict[str, Any]:
        """Return what a rule does: the URLs it changes, what they are merged with, and examples of both."""
        met, texts = self._met(rule, shields), self.material.texts.besides(rule)
        others = met.anchor != met.forms
        same = self.page_at[met.forms] == self.page_at[met.anchor]
        wrong = np.flatnonzero(others & ~same)
        wrong = np.array([at for at in wrong if not self._is_near(met.forms[at], met.anchor[at])], np.int64)
        right = np.flatnonzero(others & same)
        few = self.material.limits.examples
        told: dict[str, Any] = {
            "changes": self._urls(met.forms),
            "right": self._urls(met.forms[right]),
            "wrong": self._urls(met.forms[wrong]),
            "counter": [self._pair(met, int(wrong[at]), texts) for at in spread(len(wrong), few)],
        }
        # What was masked in the file of the rule says less than what is at hand.
        if not rule.examples or (len(met.forms) and _are_masked(rule)):
            chosen = right if len(right) else np.arange(len(met.forms))
            told["examples"] = [self._change(met, int(chosen[at]), texts) for at in spread(len(chosen), few)]
        if rule.when or rule.unless:
            told |= self._spared(rule, met.forms, texts)
        return told

    def _met(self, rule: Rule, shields: Sequence[Rule]) -> Met:
        alone = replace(rule, status="active", needs=())
        forms = _touched(alone, self.names)
        together = RuleSet([*self.base, *shields, alone]).compile()
        before = self.names.take(pa.array(forms))
        images = together.batch(before, keys=True, threads=self.material.threads).cast(before.type)
        changes = np.asarray(pc.not_equal(images, before), np.bool_)
        forms, images = forms[changes], images.filter(pa.array(changes))
        place = np.asarray(pc.fill_null(pc.index_in(images, value_set=self.names), -1), np.int64)
        names, codes = coded(images)
        first = np.zeros(len(names), np.int64)
        first[codes[::-1]] = forms[::-1]
        return Met(forms, images, np.where(place >= 0, place, first[codes]))

    def _urls(self, forms: Ints) -> int:
        return int(self.urls_at[forms].sum())

    def _is_near(self, one: int, other: int) -> bool:
        known = self.labelled.known
        left, right = (str(known.names[int(self.page_at[form])]) for form in (one, other))
        return is_near(known.sketches.get(left), known.sketches.get(right))

    def _change(self, met: Met, at: int, texts: Texts) -> list[list[str]]:
        return texts.change(str(self.names[int(met.forms[at])]), str(met.images[at]))

    def _pair(self, met: Met, at: int, texts: Texts) -> dict[str, Any]:
        meets = texts.url(str(self.names[int(met.anchor[at])]))
        return {"change": self._change(met, at, texts), "meets": meets, "why": self._why(met, at, texts)}

    def _why(self, met: Met, at: int, texts: Texts) -> str:
        """Return how we know that a URL and the one it meets show different pages."""
        known = self.labelled.known
        left, right = (str(known.names[int(self.page_at[form])]) for form in (met.forms[at], met.anchor[at]))
        if self.material.has_labels:
            return f"their labels differ: {texts.said(left)} and {texts.said(right)}"
        one, other = known.sketches.get(left), known.sketches.get(right)
        if one is None or other is None:
            return "their contents differ, and no redirect or rel=canonical joins them"
        return (
            f"their texts differ: {agreeing(one, other)} of {len(one)} samples agree, and pages that are "
            f"alike agree in {least_agreeing(len(one))}"
        )

    def _spared(self, rule: Rule, changed: Ints, texts: Texts) -> dict[str, Any]:
        """Return URLs that the rule would change, were it not for its conditions."""
        bare = replace(rule, status="active", needs=(), when=(), unless=())
        forms = np.setdiff1d(_touched(bare, self.names), changed)
        few = [forms[at] for at in spread(len(forms), self.material.limits.examples)]
        shown = [texts.url(str(self.names[int(form)])) for form in few]
        return {"spares": self._urls(forms), "spared": shown}


def _are_masked(rule: Rule) -> bool:
    """Return whether the examples in the file of a rule were masked when it was learned."""
    return any(STARS in text for pair in rule.examples for text in pair)


def _touched(rule: Rule, forms: pa.Array) -> Ints:
    return np.unique(np.asarray(RuleSet([rule]).compile().touched(forms)[0], np.int64))


def told_alike(rules: Sequence[Rule], said: Callable[[str], str]) -> list[dict[str, Any]]:
    """Return the rules that several sites have, each once, those that need a person first."""
    judged = verdicts(rules)
    told: list[dict[str, Any]] = []
    for places in alike_on_sites(rules, judged):
        if len(places) == 1:
            continue
        own = [rules[place] for place in places]
        bounds = [rule.fpr_upper for rule in own if rule.fpr_upper is not None]
        told.append(
            {
                "words": said(in_words_with_conditions(own[0])),
                "rule": said(str(own[0])),
                "verdict": judged[places[0]].level,
                "urgency": LEVELS.index(judged[places[0]].level),
                "sites": [rule.site for rule in own[:_SHOWN_SITES]],
                "site_count": len(own),
                "removed": sum(rule.saves or 0 for rule in own),
                "bound": max(bounds, default=None),
            }
        )
    told.sort(key=lambda one: (one["urgency"], -one["site_count"], one["rule"]))
    return told[:_SHOWN_ALIKE]


def told_refusals(material: Material) -> dict[str, Any] | None:
    """Return what learning did not take, each with what it would do after the others; None if unknown."""
    refusals = material.refusals
    if refusals is None:
        return None
    trials = _Trials(material, material.active) if material.labelled is not None else None
    places = first_of_each_reason([one.reason for one in refusals.found], material.limits.refused)
    shown = [refusals.found[at] for at in places]
    alike = Counter(in_words(one.rule) for one in shown)
    return {
        "candidates": refusals.candidates,
        "total": sum(refusals.counts.values()),
        "counts": [[reason, count] for reason, count in _largest_first(refusals.counts)],
        "rules": [
            {
                "rule": material.texts.said(str(one.rule)),
                "words": material.texts.said(_told_apart(one.rule, alike)),
                "by": one.rule.learned_by,
                "reason": one.reason,
                "pages": one.pages,
                "lost": one.lost,
                **(trials.of(one.rule) if trials and one.rule.kind != "keep" else {}),
            }
            for one in shown
        ],
    }


def _told_apart(rule: Rule, alike: Counter[str]) -> str:
    """Return what a rule does in words, with the rule itself where several do the same in words."""
    words = in_words(rule)
    return words if alike[words] == 1 else f"{words}: {rule}"


def _largest_first(counts: Mapping[str, int]) -> Sequence[tuple[str, int]]:
    return sorted(((reason, count) for reason, count in counts.items() if count), key=lambda c: (-c[1], c[0]))
