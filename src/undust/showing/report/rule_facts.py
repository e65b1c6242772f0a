"""Each rule with what it does to the URLs at hand: examples, counter-examples, what its conditions spare."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.measuring.counts import agreeing, coded, is_near, least_agreeing
from undust.privacy.masking import STARS
from undust.rules import RuleSet
from undust.showing.listing import short_ids
from undust.showing.report.limits import spread
from undust.showing.words import in_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from undust.measuring import Labelled, RuleRow
    from undust.rules import Rule
    from undust.showing.report.material import Material
    from undust.showing.report.texts import Texts

    Ints = NDArray[np.int64]


def told_rules(material: Material, alone: Mapping[str, RuleRow]) -> list[dict[str, Any]]:
    """Return the rules of a site in their order; `alone` has by id what each does without the others."""
    chosen = list(material.rules)[: material.limits.rules]
    names = short_ids(material.rules)
    trials = _Trials(material, ()) if material.labelled is not None else None
    told, keeps = [], []
    for rule in chosen:
        row = alone.get(rule.id)
        said = _said(rule, names[rule.id], material.texts)
        said["alone"] = None if row is None else {"saved": row.saved, "lost": row.lost}
        if rule.kind == "keep":
            keeps += [rule] if rule.status == "active" else []
        elif trials:
            said |= trials.of(rule, keeps)
        told.append(said)
    return told


def _said(rule: Rule, short: str, texts: Texts) -> dict[str, Any]:
    """Return what the rule file says of a rule."""
    return {
        "id": rule.id,
        "short": short,
        "site": rule.site,
        "kind": rule.kind,
        "words": texts.said(in_words(rule)),
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
    """Where the forms that a rule changes end, and whom they meet there."""

    forms: Ints
    """Those that it changes."""
    images: pa.Array
    """What becomes of each."""
    anchor: Ints
    """Of each: the form that stands for whoever is there, itself where nobody else is."""


class _Trials:
    """The URLs of a site as they stand under some rules, and one more rule at a time."""

    def __init__(self, material: Material, base: Sequence[Rule]) -> None:
        labelled = material.labelled
        assert labelled is not None  # noqa: S101 -- the caller looked
        self.labelled: Labelled = labelled
        self.material = material
        self.base = base
        standing = RuleSet(base).compile().batch(labelled.urls, keys=True, threads=material.threads)
        self.names, codes = coded(standing)
        """The distinct forms in which the URLs stand."""
        self.urls_at = np.bincount(codes, minlength=len(self.names))
        first = np.zeros(len(self.names), np.int64)
        first[codes[::-1]] = np.arange(len(codes))[::-1]
        self.page_at = labelled.known.codes[first]

    def of(self, rule: Rule, shields: Sequence[Rule] = ()) -> dict[str, Any]:
        """Return what a rule does: how many URLs it changes, whom they meet, and examples of both."""
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
        forms = _touched(replace(rule, status="active"), self.names)
        together = RuleSet([*self.base, *shields, replace(rule, status="active")]).compile()
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
        bare = replace(rule, status="active", when=(), unless=())
        forms = np.setdiff1d(_touched(bare, self.names), changed)
        few = [forms[at] for at in spread(len(forms), self.material.limits.examples)]
        shown = [texts.url(str(self.names[int(form)])) for form in few]
        return {"spares": self._urls(forms), "spared": shown}


def _are_masked(rule: Rule) -> bool:
    """Return whether the examples in the file of a rule were masked when it was learned."""
    return any(STARS in text for pair in rule.examples for text in pair)


def _touched(rule: Rule, forms: pa.Array) -> Ints:
    return np.unique(np.asarray(RuleSet([rule]).compile().touched(forms)[0], np.int64))


def told_refusals(material: Material) -> dict[str, Any] | None:
    """Return what learning did not take, each with what it would do after the others; None if unknown."""
    refusals = material.refusals
    if refusals is None:
        return None
    trials = _Trials(material, material.active) if material.labelled is not None else None
    shown = refusals.found[: material.limits.refused]
    return {
        "candidates": refusals.candidates,
        "total": sum(refusals.counts.values()),
        "counts": [[reason, count] for reason, count in _largest_first(refusals.counts)],
        "rules": [
            {
                "rule": material.texts.said(str(one.rule)),
                "words": material.texts.said(in_words(one.rule)),
                "by": one.rule.learned_by,
                "reason": one.reason,
                "pages": one.pages,
                "lost": one.lost,
                **(trials.of(one.rule) if trials and one.rule.kind != "keep" else {}),
            }
            for one in shown
        ],
    }


def _largest_first(counts: Mapping[str, int]) -> Sequence[tuple[str, int]]:
    return sorted(((reason, count) for reason, count in counts.items() if count), key=lambda c: (-c[1], c[0]))
