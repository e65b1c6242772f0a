"""Rules that are likely on a site without stored pages: proposed from URLs, sizes and what else there is.

The same search as for rules that are learned, over weaker evidence and with a lower bar. What comes out is a
guess: nothing of it may be applied before the site was asked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from undust.edits import KEEP, Given, Rewrite, Several, ShapeCapture, rewrite_from
from undust.edits.making import SESSIONS, TRACKING, dropped
from undust.edits.shapes import EDIT_ANY
from undust.judging import KeyState, effects
from undust.judging.effect import transition
from undust.rules import program_of
from undust.searching.kinds import NUMBER_DROPPED, NUMBER_MASKED, base_kind_of, kind_of
from undust.searching.objective import NOTHING_EXCUSED, Objective
from undust.searching.search import Search
from undust.searching.sized_site import site_of_clusters

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from undust.edits import Edit
    from undust.judging import EditEffect, Site
    from undust.pages.clustering import SiteClusters
    from undust.rules import Rule
    from undust.searching.objective import Worth
    from undust.searching.removed_texts import Excused

LEAST_URLS = 5
"""URLs of a site below which nothing is proposed."""
MOST_LIKELY, MOST_JUDGED = 200, 400
"""Rules of a site that are proposed, and that are judged if a published learner proposes them."""
LEAST_SAVED = 3
"""URLs that a rule must make redundant to be worth asking about."""
MOST_EXAMPLES = 3
_CAPTURE, _DIGITS = re.compile(r"\{[^{}]*\}"), re.compile(r"[0-9]+")
_NAME = re.compile(r"\{\w+")
_GUARD = re.compile(" (?:when|unless) ")
_SURE, _DOUBTFUL = 0.95, 0.2
"""How likely a rule is said to be, at most and at least: sizes prove nothing, and refute nothing."""


@dataclass(frozen=True)
class Guess(Objective):
    """The objective for rules that are asked about later: what is refuted costs a few fetches, no page."""

    loss: float = 3.0
    target: float = 0.02
    worst: float = -4.0
    right: float = 0.6
    most: float = 0.3
    least_pages: int = 0
    refuted: frozenset[str] = field(default_factory=frozenset)
    """Texts of edits that the site has refuted."""
    matters: frozenset[str] = field(default_factory=frozenset)
    """Parameters without which the site was seen to show another page."""

    def worth_having(self, effect: EditEffect, excused: Excused = NOTHING_EXCUSED) -> Worth | None:
        """Return what an edit is worth if it is worth asking about, else None."""
        # An exception was made for what contradicts an edit; what was not seen yet would need more.
        if effect.edit.unless or effect.edit.text in self.refuted or forgets_too_much(effect.edit):
            return None
        if swaps_numbers(effect.edit.text):
            return None
        # Where a list has one row its order does nothing, so that a few answers are right by chance.
        if effect.edit.is_mask and self.matters.intersection(effect.edit.removes):
            return None
        return super().worth_having(effect, excused)

    def lost_unseen(self, effect: EditEffect, rate: float) -> float:
        """Return what is expected to be lost of pages of which nothing is known: they will be asked for."""
        return rate * effect.unseen

    def is_tested(self, effect: EditEffect) -> bool:  # noqa: ARG002 -- of no edit
        """Return True: the test is to ask the site."""
        return True


def swaps_numbers(text: str) -> bool:
    """Return whether a rule writes one number where another was, but for hosts: it names another page.

    >>> swaps_numbers('replace "=3$" → "=4"'), swaps_numbers('replace "/latest/" → "/v1/"')
    (True, False)
    >>> swaps_numbers("rewrite {s}://{h}/{p**}/2003/{a} → {s}://{h}/{p}/2005/{a}")
    True
    >>> swaps_numbers("rewrite {s}://{h}/ticket/0{n:int} → {s}://{h}/ticket/{n}")
    False
    """
    kind, _, rest = text.partition(" ")
    sides = [_CAPTURE.sub("{}", side) for side in _GUARD.split(rest)[0].split(" → ")]
    if kind == "rewrite":
        sides = [side.partition("://")[2].partition("/")[2] for side in sides]
    source, *target = (side.strip('"').rstrip("$") for side in sides)
    return _changes_numbers(source, target[0]) if len(target) == 1 else False


def _changes_numbers(source: str, target: str) -> bool:
    return source != target and _DIGITS.sub("0", source) == _DIGITS.sub("0", target)


def forgets_too_much(edit: Edit) -> bool:
    """Return whether an edit removes what has no name, several places of a path, or one in the key alone.

    A few answers show whether one parameter matters. They do not show it of all that may ever come: what is
    right for nearly all URLs and wrong for a few is not found by asking about ten.
    """
    if isinstance(edit, Several):
        return any(map(forgets_too_much, edit.parts))
    if not isinstance(edit, Rewrite):
        return False
    unnamed = [part for part in edit.source.query if isinstance(part, ShapeCapture) and not part.name]
    kept = {capture.name for capture in edit.target.captures() if capture.form != EDIT_ANY}
    runs = (*edit.source.host, *edit.source.path)
    places = [piece for run in runs for piece in run if isinstance(piece, ShapeCapture)]
    forgotten = [piece for piece in places if not piece.name or piece.name not in kept]
    return bool(unnamed) or len(forgotten) > 1 or (bool(forgotten) and edit.is_mask)


@dataclass(frozen=True)
class LikelyRule:
    """A rule that may hold, and what supports it."""

    rule: Rule
    edit: str
    """The text of the edit that it says, before that was kept to where it seems to hold."""
    urls: int
    """URLs that it would make redundant."""
    alike: int
    """Of those: with the same size, digest or declaration as the URL they become …"""
    unlike: int
    """… and with another one."""
    true: float
    """How likely it is that the rule is right, as far as all this shows."""
    examples: tuple[tuple[str, str], ...] = ()
    """URLs and what becomes of them."""


def likely_rules(  # noqa: PLR0913 -- one for each thing that is known beforehand
    found: SiteClusters,
    *,
    asked: Iterable[tuple[str, str, bool]] = (),
    refuted: Iterable[str] = (),
    too_wide: Iterable[str] = (),
    matters: Iterable[str] = (),
    given: Iterable[Rule] = (),
    seed: int = 0,
) -> list[LikelyRule]:
    """Return the rules that are likely on a site, those that would remove most URLs first.

    Args:
        found: Its clusters, with whatever evidence there is.
        asked: Pairs of URLs, and whether the site itself shows one page for both.
        refuted: The texts of edits that it has refuted.
        too_wide: The texts of edits that hold, if at all, only where the input shows them at work.
        matters: Parameters without which the site was seen to show another page.
        given: Rules that hold: what is likely is seen behind them.
        seed: Another number draws other URLs.

    """
    narrow = frozenset(too_wide)
    held = tuple(given)
    site = site_of_clusters(found, asked=asked, given=held, seed=seed)
    if len(site.urls) < LEAST_URLS:
        return []
    bare = KeyState(site, tuple(Given(rule=rule) for rule in held))
    search = Search(bare, Guess(refuted=frozenset(refuted), matters=frozenset(matters)))
    state = search.run()
    edits = [edit for edit in state.edits if edit.operation != KEEP and not isinstance(edit, Given)]
    rules: list[LikelyRule] = []
    wide = [search.proposed_as(edit) for edit in edits]
    for effect, open_effect in zip(effects(bare, edits), effects(bare, wide), strict=True):
        origin = open_effect.edit
        is_open = origin.text not in narrow and open_effect.saved >= effect.saved
        rules += _guessed(bare, state, effect, origin.text, open_effect if is_open else effect)
    found_rules: dict[str, LikelyRule] = {}
    for each in sorted(rules, key=lambda each: (-each.urls, str(each.rule))):
        found_rules.setdefault(with_plain_names(str(each.rule)), each)
    return list(found_rules.values())[:MOST_LIKELY]


def with_plain_names(text: str) -> str:
    """Return a rule with its captures named in their order: what differs in names alone is one rule.

    >>> one, other = "rewrite /{b}/{a:int} → /{a}", "rewrite /{a}/{b:int} → /{b}"
    >>> with_plain_names(one)
    'rewrite /{c0}/{c1:int} → /{c1}'
    >>> with_plain_names(one) == with_plain_names(other)
    True
    """
    names: dict[str, str] = {}
    return _NAME.sub(lambda found: names.setdefault(found[0], f"{{c{len(names)}"), text)


def forgotten_by(rule: Rule) -> frozenset[str]:
    """Return the parameters that a rule removes.

    >>> from undust.rules import Rule
    >>> drop = Rule.parse("rewrite {s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p}?{rest}", site="a.test")
    >>> sorted(forgotten_by(drop))
    ['sid']
    """
    return frozenset(rewrite_from(rule).removes if rule.kind == "rewrite" else ())


def without_visits(site: str) -> tuple[Rule, ...]:
    """Return rules of a site that remove what names visits on most sites, a parameter or family each."""
    return tuple(rule for name in (*TRACKING, *SESSIONS) for rule in dropped(name).rules(site) or ())


def of_visits(found: SiteClusters, *, refuted: Container[str] = (), seed: int = 0) -> list[LikelyRule]:
    """Return the rules that remove what names visits on most sites, as far as the site has it.

    They are worth asking about even where no two URLs of the input are one without it.

    Args:
        found: The clusters of the site.
        refuted: Ids of rules that it has refuted.
        seed: Another number draws other URLs.

    """
    site = site_of_clusters(found, seed=seed)
    rules = () if len(site.urls) < LEAST_URLS else without_visits(site.name)
    likely = [_judged(site, rule, least=0) for rule in rules]
    return [each for each in likely if each is not None and each.rule.id not in refuted]


def _guessed(
    bare: KeyState, state: KeyState, effect: EditEffect, text: str, said: EditEffect
) -> list[LikelyRule]:
    """Return the rules of an edit, if it does enough alone or beside the others.

    Args:
        bare: The site without edits.
        state: The site under all that were found.
        effect: Of the edit as it was accepted.
        text: Of the edit before it was kept to where it seems to hold.
        said: The effect of the edit that is proposed, the narrow or the wide one.

    """
    examples = _examples(bare, said)
    if effect.saved < LEAST_SAVED:
        effect = transition(state.without(effect.edit), state, effect.edit)
    speaking = int((effect.ratios != 0).sum())
    if effect.saved < LEAST_SAVED or (speaking and effect.pages < LEAST_SAVED):
        return []
    true = round(min(_SURE, max(_DOUBTFUL, _true(effect))), 2)
    shown = said if said.saved >= LEAST_SAVED else effect
    counts = shown.saved, shown.pages, shown.lost
    rules = said.edit.rules(bare.site.name) or ()
    return [LikelyRule(rule, text, *counts, true, examples) for rule in rules]


def _true(effect: EditEffect) -> float:
    """Return how likely an edit is true by sizes, and no likelier than its kind is with as many pages.

    Sizes that differ say little where two visits to one page differ in size; a few that are alike say little
    of a kind that is seldom true. Of small numbers they say nothing: the pages of short lists are alike.
    """
    guess = Guess()
    kind, pages = kind_of(effect), effect.pages
    if base_kind_of(effect) in {NUMBER_DROPPED, NUMBER_MASKED}:
        pages = 0
    of_kind = guess.risk.is_true(kind, effect.edit.bits, pages, 0.0)
    return min(1.0 - guess.worth(effect).rate, of_kind)


def _examples(bare: KeyState, effect: EditEffect) -> tuple[tuple[str, str], ...]:
    """Return some URLs that an edit changes, and what it makes of them."""
    if effect.edit.is_mask:
        return ()
    own = KeyState(bare.site, (effect.edit,))
    images = own.images
    rows = effect.moved[effect.met][:MOST_EXAMPLES] if effect.met.any() else effect.moved[:MOST_EXAMPLES]
    texts = bare.image_texts
    places = {text: row for row, text in enumerate(bare.site.texts)}
    return tuple(
        (texts[row], images[int(own.image[places[texts[row]]])].as_py())
        for row in rows.tolist()
        if texts[row] in places
    )


def likely_of(
    found: SiteClusters, rules: Iterable[Rule], *, seed: int = 0, most: int = MOST_LIKELY
) -> list[LikelyRule]:
    """Return those of some rules that are likely, without what others of them do already.

    Args:
        found: The clusters of the site, with whatever evidence there is.
        rules: The best first, as their learner ranks them.
        seed: Another number draws other URLs.
        most: At most this many are returned.

    """
    site = site_of_clusters(found, seed=seed)
    if len(site.urls) < LEAST_URLS:
        return []
    named: dict[str, Rule] = {}
    for rule in rules:
        named.setdefault(with_plain_names(str(rule)), rule)
    tried = list(named.values())[:MOST_JUDGED]
    judged = [judged for rule in tried if (judged := _judged(site, rule)) is not None]
    judged.sort(key=lambda each: (-each.alike if each.alike else 0, -each.urls, str(each.rule)))
    chosen: list[LikelyRule] = []
    left = len(site.urls)
    for each in judged:
        if len(chosen) == most:
            break
        keys = program_of([*(one.rule for one in chosen), each.rule]).batch(site.urls, keys=True)
        count = len(pa.array(keys).unique())
        if left - count >= LEAST_SAVED:
            chosen.append(each)
            left = count
    return sorted(chosen, key=lambda each: (-each.urls, str(each.rule)))


def _judged(site: Site, rule: Rule, least: int = LEAST_SAVED) -> LikelyRule | None:
    """Return a rule with what supports it; None if it does too little, or more contradicts it.

    With `least` 0 it need not be seen to do anything.
    """
    program = program_of([rule])
    rows = np.unique(np.asarray(pa.array(program.touched(site.urls)[0])))
    if len(rows) < LEAST_SAVED:
        return None
    keys = pa.array(program.batch(site.urls, keys=True)).dictionary_encode()
    code = np.asarray(keys.indices)
    touched = np.isin(code, np.unique(code[rows]))
    inside = np.flatnonzero(touched)
    order = inside[np.argsort(code[inside], kind="stable")]
    starts = np.diff(code[order], prepend=-1) != 0
    first = order[np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))]
    left, right = order[~starts], first[~starts]
    ratios = site.evidence.ratios(left, right)
    alike, unlike = int((ratios > 0).sum()), int((ratios < 0).sum())
    # What names visits on most sites is asked about even where pages have another size at every visit.
    is_unlikely = unlike > alike or (alike + unlike and alike < least)
    if len(left) < least or (least and is_unlikely):
        return None
    true = round(min(_SURE, max(_DOUBTFUL, (alike + 0.5) / (alike + unlike + 1.0))), 2)
    texts = site.texts
    examples = [(texts[row], keys[row].as_py()) for row in rows[:MOST_EXAMPLES].tolist()]
    shown = () if ":any" in (rule.target or "") else tuple(examples)
    return LikelyRule(rule, str(rule), len(left), alike, unlike, true, shown)
