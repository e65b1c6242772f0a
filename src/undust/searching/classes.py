"""Classes of URLs, and of texts that an edit removes: how to describe no more than what was seen.

The guards that a site's URLs meet are numbers: counting and comparing numbers is quick. `classes_apart`
returns classes that separate what fails from what holds, after a site was asked about some of both.
`fitted` describes what an edit removes from a path: `/{*}/{a}` → `/{a}`, seen where the first segment was
`c-books` or `c-music`, becomes `/c-{*}/{a}` → `/{a}`, because it was not seen what `/index.php/{a}` shows.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Self, TypeVar

import numpy as np

from undust.edits import MASK, Guard, Rewrite, Several, ShapeCapture, ShapeParameter, is_somebodys
from undust.edits.shapes import joined_run
from undust.proposing import parts_of
from undust.proposing.idle_parts import is_plain
from undust.searching.removed_texts import compiled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from undust.edits import Edit
    from undust.edits.shapes import Piece, Run

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]


LONGEST_VALUE, LONGEST_SEGMENT = 40, 24
PartOfUrl = TypeVar("PartOfUrl", str, tuple[str, ...])
_OPEN = ShapeCapture()
_ANY: Run = (_OPEN,)
_NUMBER: Run = (ShapeCapture(kind="int"),)
_MANY: Run = (ShapeCapture(is_many=True),)
_YEAR = re.compile(r"(?:19|20)[0-9]{2}")
_PREFIX = re.compile(r"[A-Za-z0-9]{1,16}[:,._-](?=[^;&/])")
_ENDING = re.compile(r"\.[A-Za-z0-9]{1,6}$")
_RUN = re.compile(r"[^;&]+")
_MOST, _LEAST_URLS = 3, 3
"""Classes that are named, at most, and URLs of each, at least: fewer are single pages."""
MOST_LISTED = 5
"""Words of a list, at most."""
UNHEARD = 0.05
"""The share of URLs with a word that no other URL has, up to which the words are taken to be all."""
_LEAST = 3
"""Different texts that show a class."""
_WORDS = re.compile(r"[A-Za-z0-9_-]+")
_CLASSES = (
    ("int", re.compile(r"[0-9]+")),
    ("uuid", re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")),
    ("word", _WORDS),
)


def _of_host(host: str) -> Iterator[Guard]:
    yield Guard(host=((host,),))


def _of_path(segments: tuple[str, ...]) -> Iterator[Guard]:
    first, *others = segments
    if not others:
        yield from _of_only_segment(first)
        return
    if first:
        yield Guard(path=(_folder(first), _MANY))
        if len(others) > 1 and others[0] and not is_of_time(first, others[0]):
            yield Guard(path=(_folder(first), (others[0],), _MANY))
            if _RUN.fullmatch(first):
                yield Guard(path=(_ANY, (others[0],), _MANY))
    if all(_RUN.fullmatch(segment) or not segment for segment in segments):
        yield Guard(path=tuple(_ANY if segment else ("",) for segment in segments))
    last = segments[-1]
    if _RUN.fullmatch(last):
        if (ending := _ENDING.search(last)) and ending.start():
            yield Guard(path=(_MANY, (_OPEN, ending[0])))
        if prefix := _PREFIX.match(last):
            yield Guard(path=(_MANY, (prefix[0], _OPEN)))
    if len(last) < LONGEST_SEGMENT:
        yield Guard(path=(_MANY, (last,)))


def _folder(name: str) -> Run:
    """Return what a folder is called; a number, such as a year, is one of many and no class of its own."""
    return _NUMBER if name.isdigit() and name.isascii() else (name,)


def is_of_time(first: str, second: str) -> bool:
    """Return whether the second folder of a URL is a year, or a number below a number, such as a month.

    A number elsewhere is that of a page, which may be the one of its kind that changes.

    >>> is_of_time("blog", "2009"), is_of_time("2009", "07"), is_of_time("events", "3390")
    (True, True, False)
    """
    return bool(_YEAR.fullmatch(second)) or (first.isdigit() and second.isdigit())


def _of_only_segment(segment: str) -> Iterator[Guard]:
    yield Guard(path=((segment,),))
    if _RUN.fullmatch(segment) and (prefix := _PREFIX.match(segment)):
        yield Guard(path=((prefix[0], _OPEN),))


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
            run += [f"{name}=", _OPEN]
        elif part and not place:
            run.append(_OPEN)
        elif part:
            run.append(part)
    return tuple(run)


def _of_value(value: str) -> Iterator[Run]:
    if len(value) < LONGEST_VALUE:
        yield (value,)
    if prefix := _PREFIX.match(value):
        yield prefix[0], _OPEN
    if (ending := _ENDING.search(value)) and ending.start():
        yield _OPEN, ending[0]
    if value.isdigit() and value.isascii():
        yield _NUMBER


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
    """Return where a URL stands: its first folder, or its name at the root; all numbers are one folder."""
    first, *others = parts_of(url).segments
    return Guard(path=(_folder(first), _MANY) if others else ((first,),))


def one_of(homes: Iterable[Guard]) -> Guard | None:
    """Return one guard for a few folders; None where there are more, or one is a page.

    >>> print(one_of(context_of(f"http://a.test/{folder}/x") for folder in ("eve", "u")))
    /{*:eve|u}/{**}
    """
    paths = [home.path or () for home in homes]
    names = sorted({str(run[0]) for path in paths for run in path[:1]})
    if any(len(path) == 1 or path[0] == _NUMBER for path in paths) or not 1 < len(names) <= MOST_LISTED:
        return None
    return (
        Guard(path=((ShapeCapture(kind="|".join(names)),), _MANY))
        if all(map(_is_public_word, names))
        else None
    )


def classes_apart(right: Sequence[str], wrong: Sequence[str], every: Sequence[str]) -> list[str]:
    """Return guards that all URLs meet where a rule is wrong, and none where it is right, the widest first.

    A single value of a parameter does not make a class: where one order of a list differs, the next may, too.

    Args:
        right: URLs on which the rule is right.
        wrong: URLs on which it is wrong.
        every: All URLs that it changes.

    >>> pages = [f"http://a.test/{name}" for name in ("x/a.html", "y/b.html", "z/c.html")]
    >>> index = [f"http://a.test/{name}/index.html" for name in "xyz"]
    >>> classes_apart(pages, index[:2], [*pages, *index])
    ['/{**}/index.html']

    """
    index = GuardIndex()
    good, bad, whole = (index.met_by(urls) for urls in (right, wrong, every))
    holds, fails, meets = (some.counted(len(index.guards)) for some in (good, bad, whole))
    may = np.flatnonzero((fails == bad.size) & (holds == 0) & (meets >= _LEAST_URLS)).tolist()
    named = [
        (-int(meets[each]), str(index.guards[each]), each) for each in may if _is_class(index.guards[each])
    ]
    # Of guards that leave out the same URLs one is enough.
    found: dict[bytes, str] = {}
    for _, guard, number in sorted(named):
        found.setdefault(whole.meets(number).tobytes(), guard)
    return list(found.values())[:_MOST]


def _is_class(guard: Guard) -> bool:
    """Return whether a guard says more than a single value of a parameter."""
    return all(any(isinstance(piece, ShapeCapture) for piece in part.value or ()) for part in guard.query)


def fitted(edit: Edit, urls: Sequence[str], site: str) -> Edit:
    """Return an edit that removes from paths only what is like the texts that it removes from some URLs."""
    if isinstance(edit, Several):
        parts = tuple(fitted(part, urls, site) for part in edit.parts)
        return edit if parts == edit.parts else _if_said(replace(edit, parts=parts), edit, site)
    if not isinstance(edit, Rewrite) or not edit.removes or not urls:
        return edit
    kept = {capture.name for capture in edit.target.captures() if capture.form != "any"}
    path = tuple(_fitted_run(edit, at, kept, urls) for at in range(len(edit.source.path)))
    if path == edit.source.path:
        return edit
    source = replace(edit.source, path=path)
    target = edit.target
    if edit.operation == MASK:
        hidden = frozenset(capture.name for capture in target.captures() if capture.form == "any")
        if target != edit.source.masked(hidden):
            return edit
        target = source.masked(hidden)
    return _if_said(replace(edit, source=source, target=target), edit, site)


def _if_said(edit: Edit, other: Edit, site: str) -> Edit:
    return edit if edit.rules(site) else other


def _fitted_run(edit: Rewrite, at: int, kept: set[str], urls: Iterable[str]) -> Run:
    """Return one segment of a pattern with the captures that are removed as narrow as what was seen."""
    path = edit.source.path
    run = path[at]
    captures = [piece for piece in run if isinstance(piece, ShapeCapture)]
    is_wide = any(piece.is_many for piece in captures)
    if is_wide or all(piece.kind or piece.name in kept for piece in captures):
        return run
    is_behind = any(
        isinstance(piece, ShapeCapture) and piece.is_many for before in path[:at] for piece in before
    )
    place = at - len(path) if is_behind else at
    pattern, _ = compiled(run)
    found = [
        match.groups()
        for segments in (parts_of(url).segments for url in urls)
        if (len(segments) >= -place if is_behind else len(segments) > at)
        and (match := pattern.fullmatch(segments[place]))
    ]
    fitting = iter(range(len(captures)))
    pieces: list[Piece] = []
    for piece in run:
        if not isinstance(piece, ShapeCapture):
            pieces.append(piece)
            continue
        number = next(fitting)
        is_removed = not piece.kind and piece.name not in kept
        texts = Counter(groups[number] for groups in found)
        pieces += _narrowed(piece, texts, is_mask=edit.operation == MASK) if is_removed else [piece]
    return joined_run(pieces)


def _narrowed(piece: ShapeCapture, texts: Counter[str], *, is_mask: bool) -> list[Piece]:
    """Return a capture of texts: a list of words where all were seen, else what all have in common."""
    singles = sum(count == 1 for count in texts.values())
    is_closed = len(texts) <= MOST_LISTED and singles <= UNHEARD * texts.total()
    if is_closed and all(map(_is_public_word, texts)):
        if len(texts) > 1:
            return [replace(piece, kind="|".join(sorted(texts)))]
        return [*texts] if texts and not is_mask else [piece]
    if len(texts) < _LEAST:
        return [piece]
    head, tail = _ends([*texts])
    inner = [text[len(head) : len(text) - len(tail)] for text in texts]
    kind = next((name for name, pattern in _CLASSES if all(map(pattern.fullmatch, inner))), "")
    return [each for each in (head, replace(piece, kind=kind), tail) if each]


def _common(texts: list[str]) -> str:
    """Return what all texts begin with."""
    first, last = min(texts), max(texts)
    return first[: next((at for at, sign in enumerate(first) if last[at : at + 1] != sign), len(first))]


def _ends(texts: list[str]) -> tuple[str, str]:
    """Return what all texts begin and end with, up to a sign that joins it to the rest."""
    head = _to_joint(_common(texts))
    rest = [text[len(head) :][::-1] for text in texts]
    tail = _to_joint(_common(rest))[::-1]
    is_any_left = all(len(text) > len(tail) for text in rest)
    return head, tail if is_any_left else ""


def _to_joint(text: str) -> str:
    """Return a text up to its last sign."""
    return text[: max((at + 1 for at, sign in enumerate(text) if sign in "-._~,:+"), default=0)]


def _is_public_word(text: str) -> bool:
    return bool(_WORDS.fullmatch(text)) and not is_somebodys(text)


def summing(classes: Sequence[tuple[int, ...]]) -> Callable[[Ints], Ints]:
    """Return what adds up the URLs in each class of guards, from the number of those that meet each guard."""
    flat = np.array([number for each in classes for number in each], np.int64)
    owner = np.repeat(np.arange(len(classes)), [len(each) for each in classes])

    def summed(counts: Ints) -> Ints:
        padded = np.pad(counts, (0, max(0, len(classes) - len(counts))))
        return np.bincount(owner, padded[flat], len(classes)).astype(np.int64)

    return summed
