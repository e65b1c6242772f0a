"""What rules lose: at most, all rules of a site together and each by a model; and how likely one is false.

A rule is admitted on what is likely; for the set a person is promised that at most `max_fpr` of the pairs
of URLs that it sends to one form show two pages, with 95 % confidence. While there are false pairs and the
bound is not kept, the rule with most of them goes. Without a single false pair more evidence is all
that would help: then the bound is stated, and the rules stay.

A rule that was seen right on eight pages is hardly known; that most rules of its kind are right is known from
other sites, and that rules of its kind are right on this site from the rules beside it. One model adds these
up: the kind of the edit, its kind on this site, and the pages of this rule that were held out. The bound is
the share of pages that it does not exceed with 95 % probability.

How likely a rule is to be false depends on how many rules of its shape are: a prior learned on the site. Five
clean pages say much about a session id on a site where nearly every such proposal holds, and little about a
value that looks like a default where one in fifty does. Of each shape of candidates it is estimated
which share is true, from what all of them did; a rule is believed if, given its own record, few of the pages
that it will touch are expected to be lost.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from math import exp, log, log1p
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from undust.edits import DROP, MASK, RESPELL, WRITE, Rewrite, forms_of, rewrite_from, shape_from
from undust.judging import EditEffect
from undust.learning.rule_evidence import COUNTED, Record
from undust.learning.state import Effect, State
from undust.pages import EVIDENCE_MOST
from undust.pages.clustering.near_copies import agreement
from undust.proposing.papers import LEARNERS
from undust.searching.kinds import CASE, GUARDED, ORDER, base_kind_of
from undust.searching.objective import RISK, Risk
from undust.statistics import log_beta, upper_bound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from undust.judging import KeyState
    from undust.learning.site_pages import SitePages
    from undust.rules import Rule

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


_CLASS = re.compile(r"\{\w*\*{0,2}:([\w|]+)\}")
_CASES = frozenset({"lower", "capital"})
_CODES = frozenset({"hex", "uuid"})
_WORST = 0.1
"""Share of the pages that are looked at as the worst ones."""
_LEAST_WORST = 1.0
"""What the mean ratio of the worst pages must be."""
_LEAST_RIGHT = 0.95
"""The share of pages that must be expected to be right; since no ratio exceeds 4, it is 0.982 at most."""
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


def pairs_with_one_key(state: KeyState, held: Bools) -> HeldPairs:
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
    wrong: float


def with_bounds(rules: Sequence[Rule], risk: Risk = RISK) -> tuple[Rule, ...]:
    """Return the rules of one site, those with counted pages with the bound of the model."""
    found = list(rules)
    by_kind: dict[str, list[_Known]] = defaultdict(list)
    for place, rule in enumerate(found):
        record = Record.from_json(rule.extra.get(COUNTED))
        if record is not None and rule.kind != "keep":
            kind, bits = kind_and_bits(rule)
            wrong = record.lost + record.left_out
            by_kind[kind].append(_Known(place, kind, bits, record.pages, wrong))
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


PUBLISHED_METHODS = frozenset(learner.name for learner in LEARNERS)
TRUE_FAILS = 0.003
"""Share of pages on which a true rule seems to fail: pages change between two fetches."""
FALSE_A, FALSE_B = 0.6, 0.5
"""A false rule fails nearly everywhere or hardly anywhere (Beta), as fitted to real sites."""
PSEUDO = 4.0
"""Candidates that a prior weighs as much as."""
_UNKNOWN, UNKNOWN_PUBLISHED = 0.8, 0.5
"""The share that is true where nothing was tried yet: five clean pages will then do; not so for the published
learners, whose rules say where they hold by names of pages."""
_STEPS = 12
_CAPTURED = re.compile(r"\{[a-z0-9_]+(?:\*\*)?(?::[a-z|]+)?\}", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")


def shape_of(rule: Rule) -> str:
    """Return what a rule looks like, whatever its words are.

    >>> from undust import Rule
    >>> shape_of(Rule.parse('rewrite {s}://{h}/{a}/{b:int}?sid={v} → {s}://{h}/{a}?id={b}', site="a.test"))
    'c://c/c/c?w=c'
    """
    source = rule.source.replace("{**", "{*").replace("{*}", "*")
    return _WORD.sub("w", _CAPTURED.sub("\0", source)).replace("\0", "c")


class TrialRecord(Protocol):
    """What a candidate did to the pages of a site."""

    @property
    def lost(self) -> int:
        """Pages that it lost."""

    @property
    def pages(self) -> int:
        """Pages of which it sent several URLs to one form."""


@dataclass
class Beliefs:
    """What is known of the shapes of candidates on one site."""

    trials: dict[tuple[str, str], dict[str, tuple[int, int]]] = field(default_factory=dict)
    """By proposer and shape: the candidates, each with the pages that it lost and those that it merged."""
    shares: dict[tuple[str, str], float] = field(default_factory=dict)
    """Which share of a shape is true, of those that were tried, by its proposer's prior."""
    priors: dict[str, float] = field(default_factory=dict)
    """The same of all shapes of a proposer."""

    def note(self, records: Iterable[tuple[Rule, TrialRecord]]) -> None:
        """Add what candidates did; the shares are estimated anew."""
        for rule, effect in records:
            if effect.lost + effect.pages:
                of_shape = self.trials.setdefault((rule.learned_by or "", shape_of(rule)), {})
                of_shape[str(rule)] = (effect.lost, effect.pages)
        self.shares.clear()
        self.priors.clear()

    def share(self, proposer: str, shape: str) -> float:
        """Return which share of the candidates of a shape is true."""
        key = proposer, shape
        if proposer not in self.priors:
            own = (of_shape for (other, _), of_shape in self.trials.items() if other == proposer)
            self.priors[proposer] = _share(_odds_of(own), _before_any_trial(proposer))
        if key not in self.shares:
            # For every proposer: what fails for one must not be accepted for another.
            alike = (of_shape for (_, other), of_shape in self.trials.items() if other == shape)
            self.shares[key] = _share(_odds_of(alike), self.priors[proposer])
        return self.shares[key]

    def risk(self, rule: Rule, effect: TrialRecord) -> float:
        """Return the share of pages that a rule is expected to lose where it is used."""
        share = self.share(rule.learned_by or "", shape_of(rule))
        is_true = 1 / (1 + exp(-_log_odds(effect.lost, effect.pages)) * (1 - share) / share)
        trials = effect.lost + effect.pages
        fails = (FALSE_A + effect.lost) / (FALSE_A + FALSE_B + trials)
        return is_true * TRUE_FAILS + (1 - is_true) * fails


def _before_any_trial(proposer: str) -> float:
    return UNKNOWN_PUBLISHED if proposer in PUBLISHED_METHODS else _UNKNOWN


def _odds_of(shapes: Iterable[Mapping[str, tuple[int, int]]]) -> list[float]:
    return [_log_odds(*each) for of_shape in shapes for each in of_shape.values()]


def _share(log_odds: list[float], prior: float) -> float:
    """Return which share of candidates is true (expectation and maximization)."""
    odds = np.exp(np.asarray(log_odds))
    share = prior
    for _ in range(_STEPS):
        is_true = odds * share / (odds * share + 1 - share)
        share = float((is_true.sum() + PSEUDO * prior) / (len(odds) + PSEUDO))
    return share


def _log_odds(lost: int, pages: int) -> float:
    """Return how much likelier a record is for a true rule than for a false one, as a logarithm."""
    true = lost * log(TRUE_FAILS) + pages * log1p(-TRUE_FAILS)
    false = log_beta(FALSE_A + lost, FALSE_B + pages) - log_beta(FALSE_A, FALSE_B)
    return max(-500.0, min(500.0, true - false))


def votes_of(effect: Effect) -> Floats:
    """Return the ratio of each page that a rule brings together with another URL, of one page or two."""
    known = max(effect.pages - int((effect.votes >= 0).sum()), 0)
    return np.concatenate((effect.votes, np.full(known, EVIDENCE_MOST)))


def are_convincing(votes: Floats) -> bool:
    """Return whether pages that come together are one, in the tail as well."""
    return worst(votes) >= _LEAST_WORST and share_right(votes) >= _LEAST_RIGHT


def worst(votes: Floats) -> float:
    """Return the mean of the worst tenth.

    >>> float(worst(np.array([4.0] * 19 + [-4.0])))
    0.0
    """
    count = max(1, int(np.ceil(_WORST * len(votes))))
    return float(np.sort(votes)[:count].mean()) if len(votes) else 0.0


def share_right(votes: Floats) -> float:
    """Return the share of pages that are expected to be right.

    >>> share_right(np.zeros(3))
    0.5
    """
    return float((1 / (1 + np.exp(-votes))).mean()) if len(votes) else 0.5
