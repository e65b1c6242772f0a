"""Where an edit that fails somewhere holds: guards found among the URLs where it is right and wrong."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from undust.edits import Guard, ShapeCapture, ShapeParameter
from undust.proposing import parts_of
from undust.proposing.parameters import is_plain
from undust.searching.forgotten import Excused, is_numbered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from undust.edits import Edit
    from undust.edits.shapes import Run
    from undust.judging import EditEffect, KeyState

    Ints = NDArray[np.int64]

WHERE, EXCEPTIONS = 8, 3
"""Guards that are tried for where an edit holds, and exceptions that it has, at most."""
WHERE_COST, EXCEPTION_COST, MANY_PAGES = 0.1, 0.5, 3
"""Pages that count as lost for a guard, and for an exception. An exception where an edit fails on at least
this many pages is a class of pages; one of fewer names single pages, and counts for each of them."""
_FEW = 0.03
"""The share of failures among what a guard leaves, at most."""
_NEARLY_ALL, REACHES = 0.98, 2
"""The share of what an edit is seen to do that its guards leave, and how many guards it gets at most."""
ELSEWHERE = 0.95
"""A folder or host with this share of a site's URLs is the site."""
MANY_HOMES = 5
"""Folders in which an edit must hold before it is taken to hold in others."""
LEFT_OUT, LEFT_OUT_SHARE = 3, 0.2
"""What a guard must leave out of what nobody saw, at least."""
RESTLESS_PAGES, RESTLESS_LOST = 10, 0.3
"""An edit tells of restless pages if it holds on so many pages and fails on at most such a share of them."""
RESTLESS_VOTES, RESTLESS_SHARE, RESTLESS_FAILS = 3, 0.3, 8
"""It fails in a class of pages by so many votes, such a share against it; all edits together by so many."""
RESTLESS_PART = 0.5
"""A class with more of the site's URLs than this is no class."""
RESTLESS_TWICE = 0.25
"""Pages that are another one at every fetch are seldom seen twice: less than this share of a class."""
RESTLESS_EDITS, RESTLESS_MOST = 3, 0.75
"""So many edits fail in a class of restless pages, and such a share of those that do anything there."""
LONGEST_VALUE, LONGEST_SEGMENT = 40, 24
PartOfUrl = TypeVar("PartOfUrl", str, tuple[str, ...])
_ANY: Run = (ShapeCapture(),)
_MANY: Run = (ShapeCapture(is_many=True),)
_PREFIX = re.compile(r"[A-Za-z0-9]{1,16}[:,._-](?=[^;&/])")
_ENDING = re.compile(r"\.[A-Za-z0-9]{1,6}$")
_RUN = re.compile(r"[^;&]+")


def _of_host(host: str) -> Iterator[Guard]:
    yield Guard(host=((host,),))


def _of_path(segments: tuple[str, ...]) -> Iterator[Guard]:
    first, *others = segments
    if not others:
        yield Guard(path=((first,),))
        return
    if first:
        yield Guard(path=((first,), _MANY))
        if len(others) > 1 and others[0]:
            yield Guard(path=((first,), (others[0],), _MANY))
            if _RUN.fullmatch(first):
                yield Guard(path=(_ANY, (others[0],), _MANY))
    if all(_RUN.fullmatch(segment) or not segment for segment in segments):
        yield Guard(path=tuple(_ANY if segment else ("",) for segment in segments))
    last = segments[-1]
    if _RUN.fullmatch(last):
        if (ending := _ENDING.search(last)) and ending.start():
            yield Guard(path=(_MANY, (ShapeCapture(), ending[0])))
        if prefix := _PREFIX.match(last):
            yield Guard(path=(_MANY, (prefix[0], ShapeCapture())))
    if len(last) < LONGEST_SEGMENT:
        yield Guard(path=(_MANY, (last,)))


def _of_parameter(parameter: str) -> Iterator[Guard]:
    name, equals, value = parameter.partition("=")
    if not is_plain(name):
        return
    if ";" in value:
        yield Guard(query=(ShapeParameter(name, _behind(value)),))
        return
    yield Guard(query=(ShapeParameter(name),))
    if equals and not value:
        yield Guard(query=(ShapeParameter(name, ("",)),))
    elif equals:
        yield from (Guard(query=(ShapeParameter(name, run),)) for run in _of_value(value))


def _behind(value: str) -> Run:
    """Return a value with semicolons in which names are written and values are open."""
    run: list[str | ShapeCapture] = []
    for place, part in enumerate(value.split(";")):
        name, equals, text = part.partition("=")
        run += [";"] if place else []
        if equals and text:
            run += [f"{name}=", ShapeCapture()]
        elif part and not place:
            run.append(ShapeCapture())
        elif part:
            run.append(part)
    return tuple(run)


def _of_value(value: str) -> Iterator[Run]:
    if len(value) < LONGEST_VALUE:
        yield (value,)
    if prefix := _PREFIX.match(value):
        yield prefix[0], ShapeCapture()
    if (ending := _ENDING.search(value)) and ending.start():
        yield ShapeCapture(), ending[0]
    if value.isdigit() and value.isascii():
        yield (ShapeCapture(kind="int"),)


class Narrowed(NamedTuple):
    """An edit with guards that leave failures out."""

    edit: Edit
    excused: Excused


class Guards:
    """The guards of a site's URLs, numbered as they come up: counting numbers is quick."""

    def __init__(self) -> None:
        self._guards: list[Guard] = []
        self._numbers: dict[str, int] = {}
        self._of_url: dict[str, Ints] = {}
        self._of_parts: dict[tuple[object, object], tuple[int, ...]] = {}
        self._homes: Counter[Guard] | None = None

    def of(self, url: str) -> Ints:
        """Return the numbers of the guards that a URL meets."""
        if url not in self._of_url:
            parts = parts_of(url)
            found = [*self._of_part(parts.host, _of_host), *self._of_part(parts.segments, _of_path)]
            for parameter in parts.query:
                found += self._of_part(parameter, _of_parameter)
            self._of_url[url] = np.array(list(dict.fromkeys(found)), np.int64)
        return self._of_url[url]

    def _of_part(self, part: PartOfUrl, guards: Callable[[PartOfUrl], Iterator[Guard]]) -> tuple[int, ...]:
        """Return the numbers of the guards of one part; URLs share most of their parts."""
        key = guards, part
        if key not in self._of_parts:
            self._of_parts[key] = tuple(self._number(guard) for guard in guards(part))
        return self._of_parts[key]

    def _number(self, guard: Guard) -> int:
        number = self._numbers.setdefault(str(guard), len(self._guards))
        if number == len(self._guards):
            self._guards.append(guard)
        return number

    def where_it_holds(self, state: KeyState, effect: EditEffect, least: int) -> list[Narrowed]:
        """Return an edit under guards under which it hardly fails, and with exceptions where it does."""
        sides = _Sides(self, state, effect)
        holds, fails = self._counted(sides.good), self._counted(sides.bad)
        may = (holds >= least) & (fails <= _FEW * holds) & (fails < len(sides.bad))
        numbers = np.flatnonzero(may).tolist()
        ranked = sorted((-int(holds[number]), str(self._guards[number]), number) for number in numbers)
        found = [effect.edit.guarded(when=[self._guards[number]]) for _, _, number in ranked[:WHERE]]
        cost = Excused(WHERE_COST)
        return [*(Narrowed(edit, cost) for edit in found), *self._excepting(effect.edit, sides)]

    def exceptions(self, state: KeyState, effect: EditEffect) -> list[Narrowed]:
        """Return an edit with one exception more after the other, where it fails."""
        return list(self._excepting(effect.edit, _Sides(self, state, effect)))

    def _excepting(self, edit: Edit, sides: _Sides) -> Iterator[Narrowed]:
        some: list[Guard] = []
        excused = Excused()
        for number in self._exceptions(sides.good, sides.bad):
            some.append(self._guards[number])
            excused = excused.with_more(sides.excused_by(number))
            yield Narrowed(edit.guarded(unless=some), excused)

    def reach(self, state: KeyState, effect: EditEffect) -> Edit:
        """Return an edit that holds where it was seen to hold, and not where nobody saw it.

        What it would move and no vote speaks for is left out, as far as a guard tells it from what votes
        speak for. Votes of one folder, or of one of several hosts, speak for no other. Where no vote speaks,
        as in a list of URLs, there is no place to keep an edit to.
        """
        edit = effect.edit
        if not effect.ratios.any():
            return edit
        sides = np.where(np.isin(effect.left, effect.moved), effect.left, effect.right)
        shown = np.unique(sides[effect.ratios > 0])
        unseen = np.setdiff1d(effect.moved, shown)
        texts = state.image_texts
        good = self._counted([self.of(texts[image]) for image in shown.tolist()])
        other = self._counted([self.of(texts[image]) for image in unseen.tolist()])
        good = np.pad(good, (0, len(other) - len(good)))
        may = np.flatnonzero(good >= _NEARLY_ALL * len(shown)).tolist()
        chosen: list[int] = []
        for _ in range(REACHES):
            if not may or len(unseen) == 0:
                break
            best = min(may, key=lambda number: (other[number], -good[number], str(self._guards[number])))
            if len(unseen) - other[best] < max(LEFT_OUT, LEFT_OUT_SHARE * len(unseen)):
                break
            edit = edit.guarded(when=[self._guards[best]])
            unseen = unseen[: int(other[best])]
            may.remove(best)
            chosen.append(best)
        silent = self._silent(state, effect, chosen)
        edit = self._at_home(state, self._unheard(edit, silent, good), shown)
        return self._not_abroad(state, edit, effect.moved, shown)

    def _not_abroad(self, state: KeyState, edit: Edit, moved: Ints, shown: Ints) -> Edit:
        """Return an edit without the folders that it changes and of which no vote speaks.

        What holds in many folders is taken to hold in others, too; what holds in a few is not.
        """
        if not edit.is_open or any(guard.path for guard in edit.when):
            return edit
        texts = state.image_texts
        homes = {context_of(texts[image]) for image in shown.tolist()}
        if len(homes) >= MANY_HOMES:
            return edit
        abroad = Counter(context_of(texts[image]) for image in moved.tolist())
        unseen = sorted((-count, str(home), home) for home, count in abroad.items() if home not in homes)
        return edit.guarded(unless=[home for _, _, home in unseen[:EXCEPTIONS]])

    def _silent(self, state: KeyState, effect: EditEffect, chosen: list[int]) -> list[Ints]:
        """Return the images that an edit merges under guards and of which no vote speaks."""
        sides = np.where(np.isin(effect.left, effect.moved), effect.left, effect.right)
        silent = np.unique(sides[effect.ratios == 0])
        urls = [self.of(state.image_texts[image]) for image in silent.tolist()]
        return [url for url in urls if all(number in url for number in chosen)]

    def _unheard(self, edit: Edit, urls: list[Ints], good: Ints) -> Edit:
        """Return an edit without the classes of pages that it merges and of which no vote speaks."""
        for _ in range(EXCEPTIONS):
            counts = self._counted(urls)
            counts[: len(good)][good > 0] = 0
            if counts.max(initial=0) < LEFT_OUT:
                break
            ties = np.flatnonzero(counts == counts.max()).tolist()
            best = min(ties, key=lambda number: str(self._guards[number]))
            edit = edit.guarded(unless=[self._guards[best]])
            urls = [url for url in urls if best not in url]
        return edit

    def _at_home(self, state: KeyState, edit: Edit, shown: Ints) -> Edit:
        """Return an edit that stays in the only folder, and on the only host, where it was seen to hold."""
        texts = state.image_texts
        homes = {context_of(texts[image]) for image in shown.tolist()}
        if len(homes) == 1 and edit.is_open and not any(guard.path for guard in edit.when):
            (home,) = homes
            if self._share(state, home) < ELSEWHERE:
                edit = edit.guarded(when=[home])
        hosts = {parts_of(texts[image]).host for image in shown.tolist()}
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

    def restless(self, state: KeyState, judged: Sequence[EditEffect]) -> Guard | None:
        """Return the class of pages where edits fail that hold elsewhere: pages that change by themselves."""
        columns = np.zeros((4, 0), np.int64)
        for effect in judged:
            if effect.pages < RESTLESS_PAGES or effect.lost > RESTLESS_LOST * effect.pages:
                continue
            sides = _Sides(self, state, effect)
            holds, fails = (self._counted(some) for some in (sides.good, sides.bad))
            told = holds + fails >= RESTLESS_VOTES
            rows = np.stack((holds, fails, told, told & (fails >= RESTLESS_SHARE * (holds + fails))))
            columns = np.pad(columns, ((0, 0), (0, rows.shape[1] - columns.shape[1])))
            columns += rows.astype(np.int64)
        holds, fails, touched, failed = columns
        may = (failed >= RESTLESS_EDITS) & (failed >= RESTLESS_MOST * touched) & (fails >= RESTLESS_FAILS)
        if not may.any():
            return None
        everywhere = self._counted([self.of(url) for url in state.image_texts])
        may &= everywhere[: len(may)] < RESTLESS_PART * len(state.images)
        if not may.any():
            return None
        found = np.flatnonzero(may).tolist()
        found.sort(key=lambda number: (-fails[number], holds[number], str(self._guards[number])))
        calm = (number for number in found[:WHERE] if self._twice(state, number) < RESTLESS_TWICE)
        number = next(calm, None)
        return None if number is None else self._guards[number]

    def _twice(self, state: KeyState, number: int) -> float:
        """Return the share of a class of images that show a page which another one of it shows too."""
        images = [row for row, url in enumerate(state.image_texts) if number in self.of(url)]
        counts = Counter(state.site.page[state.image_speaker[images]].tolist())
        return sum(count for count in counts.values() if count > 1) / max(1, len(images))

    def _counted(self, urls: Sequence[Ints]) -> Ints:
        flat = np.concatenate(urls) if urls else np.zeros(0, np.int64)
        return np.bincount(flat, minlength=len(self._guards))

    def _exceptions(self, good: list[Ints], bad: list[Ints]) -> Iterator[int]:
        """Yield guards that cover what fails and little of what holds, one after the other."""
        for _ in range(EXCEPTIONS):
            if not bad:
                return
            ours, theirs = self._counted(good), self._counted(bad)
            worth = np.where(theirs > 0, theirs - ours / 2, -np.inf)
            ties = np.flatnonzero(worth == worth.max())
            best = max(ties.tolist(), key=lambda number: str(self._guards[number]))
            if theirs[best] <= ours[best] / 2:
                return
            yield best
            good = [some for some in good if best not in some]
            bad = [some for some in bad if best not in some]


class _Sides:
    """The guards of the URLs that an edit moves rightly, and of those that it moves wrongly."""

    def __init__(self, guards: Guards, state: KeyState, effect: EditEffect) -> None:
        moved = np.where(np.isin(effect.left, effect.moved), effect.left, effect.right)
        texts = state.image_texts
        wrong = np.flatnonzero(effect.ratios < 0)
        bad, first = np.unique(moved[wrong], return_index=True)
        self.good = [guards.of(texts[image]) for image in np.unique(moved[effect.ratios > 0]).tolist()]
        self._urls = [texts[image] for image in bad.tolist()]
        self.bad = [guards.of(url) for url in self._urls]
        self._group = effect.group[wrong[first]].tolist()
        self._edit = effect.edit

    def excused_by(self, number: int) -> Excused:
        """Return the failures that an exception leaves out, as far as they tell of other pages."""
        covered = [at for at, url in enumerate(self.bad) if number in url]
        pages = len({self._group[at] for at in covered})
        if pages >= MANY_PAGES:
            return Excused(EXCEPTION_COST)
        numbers = sum(is_numbered(self._edit, self._urls[at]) for at in covered)
        return Excused(EXCEPTION_COST * pages, numbers)


def context_of(url: str) -> Guard:
    """Return where a URL stands: its first folder, or its name at the root."""
    segments = parts_of(url).segments
    return Guard(path=((segments[0],),) if len(segments) == 1 else ((segments[0],), _MANY))
