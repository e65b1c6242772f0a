"""Where an edit that fails somewhere holds: guards found among the URLs where it is right and wrong."""

from __future__ import annotations

from collections import Counter
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from undust.edits import Guard, ShapeCapture, ShapeParameter
from undust.proposing import parts_of
from undust.searching.classes import GuardIndex, context_of, fitted, one_of, summing
from undust.searching.removed_texts import Excused, is_numbered
from undust.statistics import misses_by_luck

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from undust.edits import Edit
    from undust.judging import EditEffect, KeyState
    from undust.searching.classes import GuardsMet

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

WHERE, EXCEPTIONS = 8, 3
"""Guards that are tried for where an edit holds, and exceptions that it has, at most."""
WHERE_COST, EXCEPTION_COST, MANY_PAGES = 0.1, 0.5, 3
"""Pages that count as lost for a guard, and for an exception. An exception where an edit fails on at least
this many pages is a class of pages; one of fewer names single pages, and each of them counts as lost: what
failed there may fail on others."""
OTHER_VALUES = 10
"""An edit must hold this many times as often with other values of a parameter as it fails with one, for that
value to be an exception. Else the next value may fail too, and each page counts."""
_FEW = 0.03
"""The share of failures among what a guard leaves, at most."""
BROAD, _HALF = 4, 0.5
"""Guards that get a second guard at most, and by which share an edit may fail more often under one."""
_NEARLY_ALL, REACHES = 0.98, 2
"""The share of what an edit is seen to do that its guards leave, and how many guards it gets at most."""
ELSEWHERE = 0.95
"""A folder or host with this share of a site's URLs is the site."""
LEFT_OUT, LEFT_OUT_SHARE = 3, 0.2
"""What a guard must leave out of what was not seen, at least."""
RESTLESS_PAGES, RESTLESS_LOST = 10, 0.3
"""An edit shows unstable pages if it holds on at least this many pages and fails on at most this share."""
RESTLESS_SHARE, RESTLESS_FAILS = 0.3, 8
"""The share of votes by which it, and all edits together, fail in a class of pages, and how many fail."""
RESTLESS_PART = 0.5
"""A class with more of the site's URLs than this is the site."""
RESTLESS_TWICE = 0.5
"""Pages that are another one at every fetch are seldom seen twice: less than this part of the share that is
usual on the site."""
RESTLESS_EDITS, RESTLESS_MOST = 3, 0.5
"""Edits that fail in a class of unstable pages, and their share of those that do anything there, at least."""


class Narrowed(NamedTuple):
    """An edit with guards that leave failures out."""

    edit: Edit
    excused: Excused


class Guards:
    """Chooses guards for the edits of a site."""

    def __init__(self) -> None:
        self._index = GuardIndex()
        self._homes: Counter[Guard] | None = None
        self._classes: set[Guard] = set()
        """Exceptions of edits that were accepted, where those failed on many pages."""
        self._many: set[Guard] = set()
        """Exceptions that were tried where an edit failed on many pages."""

    @property
    def known(self) -> int:
        """How many such classes are known."""
        return len(self._classes)

    def learn_from(self, edit: Edit) -> None:
        """Remember the classes of pages where an accepted edit fails: others may fail there, too."""
        self._classes.update(guard for guard in edit.unless if guard in self._many)

    def where_it_holds(
        self, state: KeyState, effect: EditEffect, least: int, chosen: EditEffect | None = None
    ) -> list[Narrowed]:
        """Return an edit under guards under which it hardly fails, and with exceptions where it does.

        Args:
            state: Where the URLs stand.
            effect: What the edit would do.
            least: Pages where it must hold under a guard.
            chosen: The same with some of the votes, by which guards are chosen; the others can then show
                whether they were chosen by luck.

        """
        edit, whole = effect.edit, _Sides(self._index, state, effect)
        sides = whole if chosen is None else _Sides(self._index, state, chosen)
        holds, fails = self._counted(sides.good), self._counted(sides.bad)
        useful = (holds >= least) & (fails < sides.bad.size) & ~self._of_removed(edit)
        choices = int((holds >= least).sum())
        one = [
            Narrowed(edit.guarded(when=[self._guard(number)]), whole.excused_by_luck(number, choices))
            for number in self._largest(holds, useful & (fails <= _FEW * holds), WHERE)
        ]
        broad = self._largest(holds, useful & (fails > _FEW * holds) & (fails <= _HALF * holds), BROAD)
        asked = least, choices
        two = [each for number in broad for each in self._under(edit, (sides, whole), number, asked)]
        return [*one, *two, *self._excepting(edit, sides, whole)]

    def _of_removed(self, edit: Edit) -> Bools:
        """Return of each guard whether it is about a value that the edit removes: a default is another edit.

        What is removed under `page=1` would be removed from `page=2&page=1`, too.
        """
        removed = [
            bool(guard.query) and guard.query[0].value is not None and guard.query[0].name in edit.removes
            for guard in self._index.guards
        ]
        return np.array(removed, np.bool_)

    def _under(
        self, edit: Edit, both: tuple[_Sides, _Sides], first: int, asked: tuple[int, int]
    ) -> Iterator[Narrowed]:
        """Yield an edit under a guard that is not enough, with a second one, or with exceptions."""
        (sides, whole), (least, choices) = both, asked
        inside, every = sides.under(first), whole.under(first)
        under = edit.guarded(when=[self._guard(first)])
        holds, fails = self._counted(inside.good), self._counted(inside.bad)
        may = (holds >= least) & (fails <= _FEW * holds)
        excused = whole.excused_by_luck(first, choices)
        for number in self._largest(holds, may, 1):
            more = every.excused_by_luck(number, int((holds >= least).sum()))
            yield Narrowed(under.guarded(when=[self._guard(number)]), excused.with_more(more))
        for narrowed in self._excepting(under, inside, every):
            yield narrowed._replace(excused=narrowed.excused.with_more(excused))

    def _largest(self, holds: Ints, may: Bools, most: int) -> list[int]:
        """Return the guards that hold most often, by number."""
        numbers = np.flatnonzero(may).tolist()
        ranked = sorted((-int(holds[number]), str(self._guard(number)), number) for number in numbers)
        return [number for _, _, number in ranked[:most]]

    def _guard(self, number: int) -> Guard:
        return self._index.guards[number]

    def exceptions(self, state: KeyState, effect: EditEffect) -> list[Narrowed]:
        """Return an edit with one exception more after the other, where it fails."""
        sides = _Sides(self._index, state, effect)
        return list(self._excepting(effect.edit, sides, sides))

    def _excepting(self, edit: Edit, sides: _Sides, whole: _Sides) -> Iterator[Narrowed]:
        some: list[Guard] = []
        excused = Excused()
        for number in self._exceptions(sides.good, sides.bad):
            some.append(self._guard(number))
            excused = excused.with_more(self._excused_by(number, whole))
            yield Narrowed(edit.guarded(unless=some), excused)

    def _excused_by(self, number: int, sides: _Sides) -> Excused:
        """Return the failures that an exception leaves out, as far as they concern other pages."""
        if self._guard(number) in self._classes:
            return Excused(WHERE_COST)
        is_one_value = self._is_one_value(number, sides)
        if not is_one_value and sides.pages_under(number) >= MANY_PAGES:
            self._many.add(self._guard(number))
        return sides.excused_by(number, is_one_value)

    def _rank(self, guard: Guard) -> tuple[bool, str]:
        """Return what comes first of exceptions that explain as much: where others fail as well."""
        return guard in self._classes, str(guard)

    def _is_one_value(self, number: int, sides: _Sides) -> bool:
        """Return whether a guard names one value of a parameter, and others were hardly seen to hold."""
        guard = self._guard(number)
        if not guard.query or any(isinstance(piece, ShapeCapture) for piece in guard.query[0].value or ()):
            return False
        any_value = self._index.number_of(Guard(query=(ShapeParameter(guard.query[0].name),)))
        holds = int(sides.good.meets(any_value).sum() - sides.good.meets(number).sum())
        return holds < OTHER_VALUES * int(sides.bad.meets(number).sum())

    def reach(self, state: KeyState, effect: EditEffect, *, holds_in_others: Callable[[int], bool]) -> Edit:
        """Return an edit that holds where it was seen to hold, and not where it was not seen.

        What it would move without the support of a vote is left out, as far as a guard separates it from what
        votes support. Votes of some folders, or of one of several hosts, support no other, unless edits of
        this kind are known to hold in others when they hold in that many. Without votes, as in a list of
        URLs, there is no place to keep an edit to.
        """
        edit, texts = effect.edit, state.image_texts
        if not effect.ratios.any():
            return edit
        sides = np.where(np.isin(effect.left, effect.moved), effect.left, effect.right)
        shown = np.unique(sides[effect.ratios > 0])
        seen = [texts[image] for image in shown.tolist()]
        edit, homes = fitted(edit, seen, state.site.name), set(map(context_of, seen))
        is_known = holds_in_others(len(homes))
        unseen = np.zeros(0, np.int64) if is_known else np.setdiff1d(effect.moved, shown)
        good = self._counted(self._index.met_by(seen))
        other = self._counted(self._index.met_by(texts[image] for image in unseen.tolist()))
        good = np.pad(good, (0, len(other) - len(good)))
        may = np.flatnonzero(good >= _NEARLY_ALL * len(shown)).tolist()
        chosen: list[int] = []
        for _ in range(REACHES):
            if not may or len(unseen) == 0:
                break
            best = min(may, key=lambda number: (other[number], -good[number], str(self._guard(number))))
            if len(unseen) - other[best] < max(LEFT_OUT, LEFT_OUT_SHARE * len(unseen)):
                break
            edit = edit.guarded(when=[self._guard(best)])
            unseen = unseen[: int(other[best])]
            may.remove(best)
            chosen.append(best)
        silent = self._silent(state, effect, chosen)
        edit = self._on_host(state, self._unheard(edit, silent, good), shown)
        return edit if is_known else self._at_home(state, edit, effect.moved, homes)

    def _at_home(self, state: KeyState, edit: Edit, moved: Ints, homes: set[Guard]) -> Edit:
        """Return an edit that stays in the folders where it was seen to hold, or out of a few others."""
        if not edit.is_open or any(guard.path for guard in edit.when):
            return edit
        if len(homes) == 1:
            (home,) = homes
            return edit.guarded(when=[home]) if self._share(state, home) < ELSEWHERE else edit
        abroad = Counter(context_of(state.image_texts[image]) for image in moved.tolist())
        unseen = sorted((-count, str(home), home) for home, count in abroad.items() if home not in homes)
        if len(unseen) > EXCEPTIONS and (listed := one_of(homes)):
            return edit.guarded(when=[listed])
        return edit.guarded(unless=[home for _, _, home in unseen[:EXCEPTIONS]])

    def _silent(self, state: KeyState, effect: EditEffect, chosen: list[int]) -> GuardsMet:
        """Return the images that an edit merges under guards and of which no vote speaks."""
        sides = np.where(np.isin(effect.left, effect.moved), effect.left, effect.right)
        silent = np.unique(sides[effect.ratios == 0])
        met = self._index.met_by(state.image_texts[image] for image in silent.tolist())
        for number in chosen:
            met = met.only(met.meets(number))
        return met

    def _unheard(self, edit: Edit, urls: GuardsMet, good: Ints) -> Edit:
        """Return an edit without the classes of pages that it merges and of which no vote speaks."""
        for _ in range(EXCEPTIONS):
            counts = self._counted(urls)
            counts[: len(good)][good > 0] = 0
            if counts.max(initial=0) < LEFT_OUT:
                break
            ties = np.flatnonzero(counts == counts.max()).tolist()
            best = min(ties, key=lambda number: str(self._guard(number)))
            edit = edit.guarded(unless=[self._guard(best)])
            urls = urls.only(~urls.meets(best))
        return edit

    def _on_host(self, state: KeyState, edit: Edit, shown: Ints) -> Edit:
        """Return an edit that stays on the only host where it was seen to hold."""
        hosts = {parts_of(state.image_texts[image]).host for image in shown.tolist()}
        if len(hosts) == 1 and edit.is_for_all_hosts:
            (host,) = hosts
            if state.site.hosts[host] < ELSEWHERE * len(state.site.texts):
                edit = edit.guarded(when=[Guard(host=((host,),))])
        return edit

    def _share(self, state: KeyState, home: Guard) -> float:
        """Return the share of the site's URLs that are in a folder."""
        if self._homes is None:
            self._homes = Counter(map(context_of, state.site.texts))
        return self._homes[home] / len(state.site.texts)

    def unstable(self, state: KeyState, judged: Sequence[EditEffect]) -> tuple[Guard, ...]:
        """Return the class of pages where edits fail that hold elsewhere: pages that change by themselves."""
        sides = [
            _Sides(self._index, state, effect)
            for effect in judged
            if effect.pages >= RESTLESS_PAGES and effect.lost <= RESTLESS_LOST * effect.pages
        ]
        # Hundreds of edits may fail nowhere: what they hold for is asked only if others fail often enough.
        if not self._fail_together([each for each in sides if each.bad.size]):
            return ()
        votes = [(self._counted(each.good), self._counted(each.bad)) for each in sides]
        classes = self._index.classes(len(self._index.guards))
        summed = summing(classes)
        columns = np.zeros((4, len(classes)), np.int64)
        for counts in votes:
            holds, fails = map(summed, counts)
            told = holds + fails > 0
            columns += np.stack((holds, fails, told, told & (fails >= RESTLESS_SHARE * (holds + fails))))
        holds, fails, touched, failed = columns
        may = (failed >= RESTLESS_EDITS) & (failed >= RESTLESS_MOST * touched) & (fails >= RESTLESS_FAILS)
        may &= fails >= RESTLESS_SHARE * (holds + fails)
        if not may.any():
            return ()
        met = self._index.met_by(state.image_texts)
        may &= summed(self._counted(met)) < RESTLESS_PART * len(state.images)
        names = [tuple(self._guard(number) for number in each) for each in classes]
        found = sorted(np.flatnonzero(may).tolist(), key=lambda at: (-fails[at], holds[at], str(names[at])))
        usual = self._twice(state, np.arange(len(state.images)))
        for at in found[:WHERE]:
            inside = np.any([met.meets(number) for number in classes[at]], axis=0)
            if self._twice(state, np.flatnonzero(inside)) < RESTLESS_TWICE * usual:
                return names[at]
        return ()

    def _fail_together(self, sides: Sequence[_Sides]) -> bool:
        """Return whether enough edits fail, and often enough, in any one class of pages."""
        classes = self._index.classes(len(self._index.guards))
        summed = summing(classes)
        fails, edits = np.zeros((2, len(classes)), np.int64)
        for each in sides:
            counts = summed(self._counted(each.bad))
            fails += counts
            edits += counts > 0
        return bool(np.any((fails >= RESTLESS_FAILS) & (edits >= RESTLESS_EDITS)))

    def _twice(self, state: KeyState, images: Ints) -> float:
        """Return the share of some images that show a page which another one of them shows too."""
        counts = np.bincount(state.site.page[state.image_speaker[images]])
        return float(counts[counts > 1].sum() / max(1, len(images)))

    def _counted(self, urls: GuardsMet) -> Ints:
        return urls.counted(len(self._index.guards))

    def _exceptions(self, good: GuardsMet, bad: GuardsMet) -> Iterator[int]:
        """Yield guards that cover what fails and little of what holds, one after the other."""
        for _ in range(EXCEPTIONS):
            if not bad.size:
                return
            ours, theirs = self._counted(good), self._counted(bad)
            worth = np.where(theirs > 0, theirs - ours / 2, -np.inf)
            ties = np.flatnonzero(worth == worth.max())
            best = max(ties.tolist(), key=lambda number: self._rank(self._guard(number)))
            if theirs[best] <= ours[best] / 2:
                return
            yield best
            good, bad = (some.only(~some.meets(best)) for some in (good, bad))


class _Sides:
    """The guards of the URLs that an edit moves rightly, and of those that it moves wrongly."""

    def __init__(self, index: GuardIndex, state: KeyState, effect: EditEffect) -> None:
        moved = np.where(np.isin(effect.left, effect.moved), effect.left, effect.right)
        texts = state.image_texts
        wrong = np.flatnonzero(effect.ratios < 0)
        bad, first = np.unique(moved[wrong], return_index=True)
        self._urls = [texts[image] for image in bad.tolist()]
        self.bad = index.met_by(self._urls)
        self._held = index, texts, np.unique(moved[effect.ratios > 0])
        self._group = effect.group[wrong[first]]
        self._edit = effect.edit
        self._per_url = (effect.pages + effect.wrong) / max(1, len(np.unique(moved[effect.ratios != 0])))

    @cached_property
    def good(self) -> GuardsMet:
        """The guards of the URLs that it moves rightly."""
        index, texts, images = self._held
        return index.met_by(texts[image] for image in images.tolist())

    def under(self, number: int) -> _Sides:
        """Return the same where a guard holds."""
        found = copy(self)
        found.__dict__["good"] = self.good.only(self.good.meets(number))
        stays = self.bad.meets(number)
        found.bad = self.bad.only(stays)
        inside = zip(self._urls, stays.tolist(), strict=True)
        found._urls = [url for url, is_in in inside if is_in]  # noqa: SLF001 -- its own kind
        found._group = self._group[stays]  # noqa: SLF001
        return found

    def excused_by_luck(self, number: int, choices: int) -> Excused:
        """Return what a guard leaves out by luck, as one of several that could be chosen."""
        some = np.array([[each.meets(number).sum(), each.size] for each in (self.good, self.bad)])
        chosen, every = (self._per_url * some).T.tolist()
        return Excused(WHERE_COST + misses_by_luck(chosen, every, choices))

    def pages_under(self, number: int) -> int:
        """Return on how many pages an edit fails where a guard holds."""
        return len(np.unique(self._group[self.bad.meets(number)]))

    def excused_by(self, number: int, is_one_value: bool) -> Excused:  # noqa: FBT001 -- a fact of the guard
        """Return the failures that an exception leaves out, as far as they concern other pages."""
        covered = self.bad.meets(number)
        pages = self.pages_under(number)
        if pages >= MANY_PAGES and not is_one_value:
            return Excused(max(WHERE_COST, EXCEPTION_COST * MANY_PAGES / pages))
        numbers = sum(is_numbered(self._edit, self._urls[at]) for at in np.flatnonzero(covered).tolist())
        return Excused(float(pages), numbers)
