"""What contradicts an edit though all pages that it brings together are one: where else to look.

A folder that has the pages of another is another one all the same where other pages of the two differ.
A number that is removed as a default may be one of many that do nothing on short lists: `page=1` shows the
same as a list without it. Where `page=2` shows the same too, the list is short and gives no information about
longer ones, of which `page=0` may be the first page. Only a list of which another number shows something else
identifies the default.

A finished set still merges a few pages that differ. Where it merges hardly any other there, the URLs are left
as they are: it loses more there than it removes. Pages with a clock, which every fetch shows in another form,
are such a class.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from undust.edits import Given, Keep, ShapeCapture, making, whole_places
from undust.judging import KeyState, effects
from undust.judging.effect import SUPPORTS, lost_in, transition
from undust.proposing import parts_of
from undust.searching.classes import GuardIndex
from undust.searching.guards import EXCEPTION_COST, MANY_PAGES, WHERE_COST
from undust.searching.kinds import is_renaming

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from undust.edits import Edit, Guard
    from undust.judging import EditEffect
    from undust.searching.objective import Objective


TWO_PLACES = "the two places differ elsewhere"
SHORT_LISTS = "any number does nothing on these pages, and not on others"


WEIGHT_OF_LOST = 10
"""A page that is lost weighs as much as this many URLs that are removed."""
_KEEPS, _TRIED = 3, 8
"""Classes of URLs that are left alone by a finished set, at most, and classes that are tried for each."""
_PART = 0.5
"""A class with more of the site's URLs than this is the site."""


class RefusedEdit(NamedTuple):
    """An edit that was not taken."""

    edit: Edit
    reason: str
    pages: int
    """Pages that it would bring together."""
    lost: int
    """Pages that it would merge with another."""
    saved: int
    """URLs that it would remove."""


def more_wrong(whole: EditEffect, unseen: EditEffect) -> float:
    """Return how many more pages of an effect would be wrong if all failed as often as those unseen."""
    tested = unseen.pages + unseen.wrong
    expected = unseen.wrong * (whole.pages + whole.wrong) / tested if tested else whole.pages
    return max(0.0, expected - whole.wrong)


def left_out_by_guards(before: KeyState, effect: EditEffect) -> float:
    """Return how many pages count against an accepted edit though its guards leave them out.

    They count as in the search: what fails on one or two pages that a guard names may fail on others.
    """
    guards, bare = len(effect.edit.when) + len(effect.edit.unless), replace(effect.edit, when=(), unless=())
    if not guards or not bare.rules(before.site.name):
        return 0.0
    pages = max(0, effects(before, [bare])[0].lost - effect.lost)
    if pages < MANY_PAGES * guards:
        return float(pages)
    return guards * max(WHERE_COST, EXCEPTION_COST * MANY_PAGES * guards / pages)


def doubt_about(state: KeyState, effect: EditEffect, objective: Objective) -> str | None:
    """Return why an edit is not to be trusted, or None."""
    if not _is_one_place(state, effect.edit, objective):
        return TWO_PLACES
    return None if _is_default(state, effect, objective) else SHORT_LISTS


def _is_one_place(state: KeyState, edit: Edit, objective: Objective) -> bool:
    """Return whether two places that an edit gives one name are one wherever both were seen."""
    rules = edit.rules(state.site.name) if is_renaming(edit) else None
    whole = whole_places(rules[-1]) if rules else None
    if whole is None:
        return True
    (effect,) = effects(state, [Given(rule=whole)])
    return effect.lost <= objective.most * (effect.lost + effect.pages)


def _is_default(state: KeyState, effect: EditEffect, objective: Objective) -> bool:
    """Return whether numbers that an edit removes as defaults are so, and lists are not just short."""
    edit = effect.edit
    for name in sorted(name for name, value in edit.defaults.items() if value.isdigit()):
        every = making.dropped(name).guarded(when=edit.when, unless=edit.unless)
        (whole,) = effects(state, [every])
        others = _other_numbers(effect, whole, name)
        if not others.confirm(objective.least_pages):
            wrong = effect.wrong + others.telling
            if not objective.may_drop_numbers(every, effect.distinct_pages, wrong):
                return False
    return True


def _other_numbers(default: EditEffect, whole: EditEffect, name: str) -> OtherNumbers:
    """Return what other values do, from what the removal of one value does, and of all."""
    usual = default.edit.defaults[name]
    is_other = np.array(
        [
            any(_value(whole.texts[image], name) not in {None, usual} for image in sides)
            for sides in zip(whole.left.tolist(), whole.right.tolist(), strict=True)
        ],
        np.bool_,
    )
    differ = np.unique(whole.group[is_other & (whole.ratios < 0)])
    votes = default.ratios >= SUPPORTS
    same = np.union1d(default.left[votes], default.right[votes])
    agree = np.unique(whole.group[np.isin(whole.left, same) | np.isin(whole.right, same)])
    return OtherNumbers(
        len(np.unique(whole.page[is_other & (whole.ratios >= SUPPORTS)])),
        len(differ),
        len(np.intersect1d(differ, agree)),
    )


def left_alone(state: KeyState) -> KeyState:
    """Return a finished state without what loses more in some class of URLs than it removes there."""
    for _ in range(_KEEPS):
        trials = [KeyState(state.site, (keep, *state.edits)) for keep in islice(_keeps(state), _TRIED)]
        best = max(trials, key=_kept_value, default=state)
        if _kept_value(best) <= _kept_value(state):
            break
        state = best
    return state


def _kept_value(state: KeyState) -> int:
    return -len(state.keys) - WEIGHT_OF_LOST * lost_in(state)


def _keeps(state: KeyState) -> Iterator[Keep]:
    """Yield what leaves classes alone where a state may lose more than it removes, the best first.

    Of classes where it does so alike, the one with most URLs comes first. A single page is not a class: what
    is known of it may be wrong.
    """
    if not lost_in(state):
        return
    bare = state.kept_only
    effect = transition(bare, state, state.edits[0])
    sides = np.where(np.isin(effect.left, effect.moved), effect.left, effect.right)
    index = GuardIndex()
    bad, good, every = (
        index.met_by(bare.image_texts[image] for image in some.tolist())
        for some in (sides[effect.ratios < 0], sides[effect.ratios > 0], np.arange(len(bare.images)))
    )
    fails, holds, has = (some.counted(len(index.guards)) for some in (bad, good, every))
    worth = WEIGHT_OF_LOST * fails - holds
    may = np.flatnonzero((fails > 0) & (worth > 0) & (has <= _PART * len(bare.images)))
    ranked = sorted((-int(worth[at]), -int(has[at]), str(index.guards[at]), at) for at in may.tolist())
    keeps = (Keep(when=(index.guards[at],)) for _, _, _, at in ranked if _is_class(index.guards[at]))
    yield from (keep for keep in keeps if keep.rules(state.site.name))


def _is_class(guard: Guard) -> bool:
    """Return whether a guard is for all of a folder, or for a parameter with any value."""
    if guard.query:
        return guard.query[0].value is None
    last = guard.path[-1] if guard.path else ()
    return any(isinstance(piece, ShapeCapture) and piece.is_many for piece in last)


def _value(url: str, name: str) -> str | None:
    found = (parameter.partition("=") for parameter in parts_of(url).query)
    return next((value for each, _, value in found if each == name), None)


class OtherNumbers(NamedTuple):
    """What the other values of a parameter do, if one value may be its default."""

    idle: int
    """Pages that other values show as well."""
    telling: int
    """URLs for which another value shows another page: these identify the default."""
    agree: int
    """Those of them that show the same page with the possible default and without it."""

    def confirm(self, least: int) -> bool:
        """Return whether at least this many URLs identify the default, or lists are not mainly short."""
        return self.agree >= least or self.idle <= self.telling


def other_numbers(shown: Iterable[tuple[str, int]], name: str, default: str) -> OtherNumbers:
    """Return what the other values of a parameter do.

    >>> pages = [("http://a.test/x", 1), ("http://a.test/x?p=1", 1), ("http://a.test/x?p=2", 1)]
    >>> other_numbers(pages, "p", "1")
    OtherNumbers(idle=1, telling=0, agree=0)
    >>> other_numbers([*pages[:2], ("http://a.test/x?p=2", 2)], "p", "1")
    OtherNumbers(idle=0, telling=1, agree=1)

    Args:
        shown: URLs, each with the number of its page.
        name: The parameter.
        default: The value that may be its default.

    """
    idle: set[int] = set()
    telling = agree = 0
    for pages in _pages_by_value(shown, name):
        others = {page for value, page in pages.items() if value not in {None, default}}
        if not others or len(pages) == 1:
            continue
        if len(set(pages.values())) == 1:
            idle |= others
            continue
        telling += 1
        agree += pages.get(None, -1) == pages.get(default, -2)
    return OtherNumbers(len(idle), telling, agree)


def _pages_by_value(shown: Iterable[tuple[str, int]], name: str) -> Iterable[dict[str | None, int]]:
    """Return, for each URL that was seen with the parameter, the page that each of its values shows."""
    found: defaultdict[str, dict[str | None, int]] = defaultdict(dict)
    without: dict[str, int] = {}
    for url, page in shown:
        value, rest = _value_and_rest(url, name) if f"{name}=" in url else (None, url)
        if value is None:
            without.setdefault(rest, page)
        else:
            found[rest].setdefault(value, page)
    for rest, pages in found.items():
        if rest in without:
            pages[None] = without[rest]
    return found.values()


def _value_and_rest(url: str, name: str) -> tuple[str | None, str]:
    """Return the first value of a parameter, and the URL without it."""
    head, _, query = url.partition("?")
    parameters = query.split("&")
    for place, parameter in enumerate(parameters):
        own, _, value = parameter.partition("=")
        if own == name:
            rest = parameters[:place] + parameters[place + 1 :]
            return value, f"{head}?{'&'.join(rest)}" if rest else head
    return None, url
