"""The guards that a site's URLs meet, as numbers: counting and comparing numbers is quick."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Self, TypeVar

import numpy as np

from undust.edits import Guard, ShapeCapture, ShapeParameter
from undust.proposing import parts_of
from undust.proposing.idle_parts import is_plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from undust.edits.shapes import Run

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

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
        yield from _of_only_segment(first)
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


def _of_only_segment(segment: str) -> Iterator[Guard]:
    yield Guard(path=((segment,),))
    if _RUN.fullmatch(segment) and (prefix := _PREFIX.match(segment)):
        yield Guard(path=((prefix[0], ShapeCapture()),))


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


class GuardIndex:
    """The guards of a site's URLs, numbered as they come up."""

    def __init__(self) -> None:
        self.guards: list[Guard] = []
        self._numbers: dict[str, int] = {}
        self._of_url: dict[str, Ints] = {}
        self._of_parts: dict[tuple[object, object], tuple[int, ...]] = {}

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
            self._of_parts[key] = tuple(self.number_of(guard) for guard in guards(part))
        return self._of_parts[key]

    def number_of(self, guard: Guard) -> int:
        """Return the number of a guard; a new one gets the next."""
        number = self._numbers.setdefault(str(guard), len(self.guards))
        if number == len(self.guards):
            self.guards.append(guard)
        return number

    def classes(self, known: int) -> list[tuple[int, ...]]:
        """Return classes of URLs: each of the first guards alone, and all that a parameter has together.

        No single guard says that a URL has a parameter whatever is behind a `;` in its value.
        """
        found: dict[str, list[int]] = {}
        for number, guard in enumerate(self.guards[:known]):
            if guard.query and (guard.query[0].value == _MANY or ";" in (guard.query[0].value or ())):
                found.setdefault(guard.query[0].name, []).append(number)
        together = [tuple(numbers) for numbers in found.values() if len(numbers) > 1]
        return [*((number,) for number in range(known)), *together]

    def met_by(self, urls: Iterable[str]) -> GuardsMet:
        """Return the guards that some URLs meet."""
        each = [self.of(url) for url in urls]
        flat = np.concatenate(each) if each else np.zeros(0, np.int64)
        return GuardsMet(flat, np.repeat(np.arange(len(each)), [len(some) for some in each]), len(each))


class GuardsMet:
    """Guards by number, and the number of the URL that meets each."""

    def __init__(self, flat: Ints, owner: Ints, size: int) -> None:
        self._flat, self._owner, self.size = flat, owner, size

    def counted(self, guards: int) -> Ints:
        """Return how many of the URLs meet each of the first guards."""
        return np.bincount(self._flat, minlength=guards)

    def meets(self, number: int) -> Bools:
        """Return of each URL whether it meets a guard."""
        found = np.zeros(self.size, np.bool_)
        found[self._owner[self._flat == number]] = True
        return found

    def only(self, chosen: Bools) -> Self:
        """Return the same for some of the URLs."""
        stays = chosen[self._owner]
        place = np.cumsum(chosen) - 1
        return type(self)(self._flat[stays], place[self._owner[stays]], int(chosen.sum()))


def context_of(url: str) -> Guard:
    """Return where a URL stands: its first folder, or its name at the root."""
    segments = parts_of(url).segments
    return Guard(path=((segments[0],),) if len(segments) == 1 else ((segments[0],), _MANY))
