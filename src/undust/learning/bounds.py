"""What rules lose at most: all rules of a site together, on held-out pages, and each rule by a model.

A rule is admitted on what is likely; for the set a person is promised that at most `max_fpr` of the pairs
of URLs that it sends to one form show two pages, with 95 % confidence. While there are false pairs and the
bound is not kept, the rule with most of them goes. Without a single false pair more evidence is all
that would help: then the bound is stated, and the rules stay.

A rule that was seen right on eight pages is hardly known; that most rules of its kind are right is known from
other sites, and that rules of its kind are right on this site from the rules beside it. One model adds these
up: the kind of the edit, its kind on this site, and the pages of this rule that were held out. The bound is
the share of pages that it does not exceed with 95 % probability.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from undust.edits import DROP, MASK, RESPELL, WRITE, Rewrite
from undust.edits.reading import forms_of, rewrite_from, shape_from
from undust.judging import EditEffect
from undust.learning.rule_evidence import COUNTED, Record
from undust.learning.state import State
from undust.pages.clustering.near_copies import agreement
from undust.searching.kinds import CASE, GUARDED, ORDER, base_kind_of
from undust.searching.objective import RISK, Risk
from undust.statistics import upper_bound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from undust.learning.site_pages import SitePages
    from undust.rules import Rule

    Ints = NDArray[np.int64]


_CLASS = re.compile(r"\{\w*\*{0,2}:([\w|]+)\}")
_CASES = frozenset({"lower", "capital"})
_CODES = frozenset({"hex", "uuid"})
_BESIDE = 0.01
"""Share of the pages that rules may lose beside those that they were counted on. With it, 4 of 105 sets of
the sites that it was chosen on lose more than is stated, and 3 of 82 of others (`bench.calibration`)."""


class HeldPairs(NamedTuple):
    """Pairs of URLs of held-out pages that rules send to one form."""

    pairs: int
    false: int
    """Those of two pages that are not near copies, and do not change at every fetch."""

    @property
    def fpr_upper(self) -> float:
        """What the share of false pairs does not exceed, with 95 % confidence."""
        return upper_bound(self.false, self.pairs)


def held_pairs(state: State) -> HeldPairs:
    """Return the pairs of held-out pages that have one image now."""
    pages = state.pages
    rows = np.flatnonzero(pages.is_held[state.on])
    image, page, urls = state.at[rows], state.on[rows], state.urls_of_pair[rows]
    order = np.lexsort((page, -urls, image))
    image, page, urls = image[order], page[order], urls[order]
    starts = np.diff(image, prepend=-1) != 0
    group = np.cumsum(starts) - 1
    main = page[starts][group] if len(group) else page
    apart = np.where(_is_other(pages, page, main), urls, 0)
    total = np.bincount(group, urls, int(starts.sum()))
    wrong = np.bincount(group, apart, int(starts.sum()))
    pairs = int(_pairs(total).sum())
    return HeldPairs(pairs, pairs - int(_pairs(total - wrong).sum() + _pairs(apart).sum()))


def bounded(state: State, most: float, least_rules: int, may_go: Callable[[Rule], bool]) -> State:
    """Return the state without the rules that keep the set from its bound.

    Args:
        state: All rules at work.
        most: What the upper limit may be.
        least_rules: This many of the first rules stay whatever they do.
        may_go: Whether a rule was seen to send two pages to one form, so that it pays to try without it.

    """
    found = held_pairs(state)
    while found.false and found.fpr_upper > most:
        trials = [
            (held_pairs(without), place, without)
            for place in range(least_rules, len(state.rules))
            if may_go(state.rules[place])
            for without in [State(state.pages, [*state.rules[:place], *state.rules[place + 1 :]])]
        ]
        best = min(trials, key=lambda trial: (trial[0].false, -trial[0].pairs, trial[1]), default=None)
        if best is None or best[0].false >= found.false:
            break
        found, _, state = best
    return state


def _is_other(pages: SitePages, page: Ints, main: Ints) -> NDArray[np.bool_]:
    """Return whether pages are others than the main ones beside them, so that they would be lost."""
    other: NDArray[np.bool_] = (page != main) & ~pages.silent[page] & ~pages.silent[main]
    if pages.has_blocks:
        other[other] = pages.differ(page[other], main[other])
        return other
    ours, theirs = pages.sketch[page], pages.sketch[main]
    rows = np.flatnonzero(other & (ours >= 0) & (theirs >= 0))
    if len(rows):
        other[rows] = agreement(pages.site.sketches, ours[rows], theirs[rows]) < pages.needed
    return other


def _pairs(urls: NDArray[np.float64] | Ints) -> NDArray[np.float64] | Ints:
    return urls * (urls - 1) // 2


class _Known(NamedTuple):
    """A rule with what its own pages say."""

    place: int
    kind: str
    bits: float
    right: int
    wrong: int


def with_bounds(rules: Sequence[Rule], risk: Risk = RISK) -> tuple[Rule, ...]:
    """Return the rules of one site, those with counted pages with the bound of the model."""
    found = list(rules)
    by_kind: dict[str, list[_Known]] = defaultdict(list)
    for place, rule in enumerate(found):
        record = Record.from_json(rule.extra.get(COUNTED))
        if record is not None and rule.kind != "keep":
            kind, bits = kind_and_bits(rule)
            by_kind[kind].append(_Known(place, kind, bits, record.pages, record.lost))
    for some in by_kind.values():
        likely = [risk.is_true(each.kind, each.bits, each.right, each.wrong) for each in some]
        for known, own in zip(some, likely, strict=True):
            beside = sum(likely) - own, len(some) - 1
            upper = risk.upper(known.kind, known.bits, known.right, known.wrong, beside)
            found[known.place] = replace(found[known.place], fpr_upper=round(upper, 6))
    return tuple(found)


def modelled_loss(rules: Iterable[Rule], pages: int) -> float:
    """Return the share of the pages of a site that its rules lose at most, from the bounds of each.

    Each may lose its share of the pages that it brings together, and all of them some pages besides. The sum
    is a cautious bound: it is unlikely that all of them lose as much at once.
    """
    lost = _BESIDE * pages
    for rule in rules:
        record = Record.from_json(rule.extra.get(COUNTED))
        if rule.status == "active" and rule.kind != "keep" and rule.fpr_upper is not None and record:
            lost += rule.fpr_upper * (record.pages + record.lost)
    return min(1.0, lost / max(1, pages))


def kind_and_bits(rule: Rule) -> tuple[str, float]:
    """Return the kind of the edit that a rule says, and how much it takes to say it.

    >>> from undust.rules import Rule
    >>> drop = Rule.parse("rewrite {s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p}?{rest}", site="a.test")
    >>> kind_and_bits(drop)[0]
    'drop visit'
    """
    name, bits = _replaced(rule) if rule.kind == "replace" else _rewritten(rule)
    return f"{name}{GUARDED}" if rule.when or rule.unless else name, bits


def _replaced(rule: Rule) -> tuple[str, float]:
    is_shorter = len(rule.target or "") < len(rule.source)
    edit = Rewrite(source=shape_from(f"{{s}}://{{h}}/{rule.source}"), target=shape_from("{s}://{h}/"))
    return f"{DROP} nothing" if is_shorter else WRITE, edit.bits


def _rewritten(rule: Rule) -> tuple[str, float]:
    forms, edit = forms_of(rule), rewrite_from(rule)
    if "any" in forms:
        return f"{MASK} {_look_of_classes(_CLASS.findall(rule.source))}", edit.bits
    if edit.operation == RESPELL and forms:
        return f"{RESPELL} {CASE if forms & _CASES else ORDER}", edit.bits
    urls = [url for url, _ in rule.examples]
    some, nothing = np.arange(len(urls)), np.zeros(0, np.int64)
    never, none = np.zeros(len(urls), np.bool_), np.zeros(0)
    shown = EditEffect(edit, some, never, never, never, 0, nothing, nothing, nothing, none, nothing, urls)
    return base_kind_of(shown), edit.bits


def _look_of_classes(classes: Iterable[str]) -> str:
    """Return what texts of such classes look like; of several, the most doubtful."""
    known = set(classes)
    if "int" in known:
        return "number"
    return "random" if known and known <= _CODES else "word"
