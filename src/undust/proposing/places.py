"""What two URLs of one page have at the same places, and where they differ: below the segment, all at once.

Labels, segments and values are runs of typed tokens. Where two differ, the text before and after the
difference stays, with numbers left open, and the text between is removed, however many words it has.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from undust.edits import Rewrite, Shape, ShapeCapture, ShapeParameter, making
from undust.edits.shapes import (
    EDIT_HOST,
    PATH,
    REST,
    codes_behind_word,
    joined_run,
    narrowest_class,
    typed_run,
)
from undust.proposing.idle_parts import is_plain, parts_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undust.edits import Edit
    from undust.edits.shapes import Piece, Run
    from undust.proposing.idle_parts import SeenParts, SeenSite

LEAST_PAGES = 3
_MOST = 400
"""Differences that are proposed, those of most pages first."""
_KEPT = 6
"""Distinct texts of a place that are remembered: enough to distinguish a word of the scheme from a value."""
MOST_PLACES = 5
_TOKEN = re.compile(r"[0-9]+(?=T[0-9]{2})|T(?=[0-9]{2})|[A-Za-z0-9]+|%[0-9A-F]{2}|.", re.DOTALL)
"""Words, escapes and signs; day and hour of a date with a time are apart."""
_JOINT = re.compile(r"[+,|~_-]|%2C|%20|%7C")
_WORDS = ShapeCapture()


class UrlPlace(NamedTuple):
    """A place: a part of the URL, and the number of a label or segment, or a name."""

    part: str
    at: int | str


class Cut(NamedTuple):
    """What stays of a place before and after the removed part, and between two removed parts."""

    before: Run = ()
    behind: Run = ()
    between: Run = ()


Cuts = tuple[tuple[UrlPlace, Cut], ...]
Removed = tuple[tuple[str, str], ...]
"""What is removed at one place, part by part, in both URLs."""
Middles = tuple[Removed, ...]
"""What is removed at each place of some cuts."""


@dataclass
class Group:
    """The same difference on many pages."""

    pages: set[int] = field(default_factory=set)
    pairs: list[tuple[SeenParts, SeenParts, Middles]] = field(default_factory=list)

    def add(self, page: int, left: SeenParts, right: SeenParts, middles: Middles) -> None:
        """Note one more pair."""
        self.pages.add(page)
        self.pairs.append((left, right, middles))

    @cached_property
    def context(self) -> dict[UrlPlace, set[str]]:
        """Some of the texts of each place."""
        found: dict[UrlPlace, set[str]] = defaultdict(set)
        for pair in self.pairs:
            for parts in pair[:2]:
                for place, text in _places(parts):
                    if len(some := found[place]) < _KEPT:
                        some.add(text)
        return found

    def forgotten(self, number: int, part: int = 0) -> set[str]:
        """Return some of the texts that are removed at a place, by its number in the cuts."""
        found: set[str] = set()
        for _, _, middles in self.pairs:
            if len(found) >= _KEPT:
                break
            found.update(middles[number][part])
        return found


def places(seen: SeenSite) -> Iterator[Edit]:
    """Yield the parts to remove where pages have URLs of one scheme that differ there."""
    groups: dict[tuple[int, int, bool, Cuts], Group] = defaultdict(Group)
    respelled: dict[Edit, set[int]] = defaultdict(set)
    for row, other, page in seen.pairs:
        found = _compared(seen.urls[row], seen.urls[other])
        for edit in found.respelled:
            respelled[edit].add(page)
        for key, middles in found.cuts:
            groups[key].add(page, seen.parts[row], seen.parts[other], middles)
    yield from (edit for edit, pages in sorted(respelled.items(), key=_rank) if len(pages) >= LEAST_PAGES)
    several = [item for item in groups.items() if len(item[1].pages) >= LEAST_PAGES]
    several.sort(key=lambda item: (-len(item[1].pages), str(item[0])))
    said = {_extent(cuts, group) for (*_, cuts), group in several if not _is_opened(cuts)}
    for (_, segments, is_empty, cuts), group in several[:_MOST]:
        if _is_opened(cuts) and _extent(cuts, group) in said:
            continue  # all that it was seen to do can be said with the words that stay
        yield from _forgetting(segments, cuts, group, is_empty=is_empty)


def _is_opened(cuts: Cuts) -> bool:
    return any(_WORDS in (*cut.before, *cut.behind) for _, cut in cuts)


def _extent(cuts: Cuts, group: Group) -> tuple[object, ...]:
    """Return where something stays before and after the differences, and on which pages this was seen."""
    sides = tuple((place, bool(cut.before), bool(cut.behind)) for place, cut in cuts)
    return sides, frozenset(group.pages)


class _Compared(NamedTuple):
    """What two URLs of one page show: ways of writing, and what may be removed where they differ."""

    respelled: tuple[Edit, ...] = ()
    cuts: tuple[tuple[tuple[int, int, bool, Cuts], Middles], ...] = ()


@lru_cache(1 << 13)
def _compared(url: str, other: str) -> _Compared:
    """Return what two URLs show; most of them are still there when something else was learned."""
    left, right = parts_of(url), parts_of(other)
    found = differing(left, right)
    if found is None or not 0 < len(found) <= MOST_PLACES:
        return _Compared()
    is_path = any(place.part == "path" for place in found)
    size = (left.host.count("."), len(left.segments) if is_path else 0)
    cuts = tuple(
        ((*size, any("" in texts for parts in middles for texts in parts), cuts), middles)
        for cuts, middles in _cuts(found)
    )
    return _Compared(tuple(respellings(left, found)), cuts)


def _rank(item: tuple[Edit, set[int]]) -> tuple[int, str]:
    return -len(item[1]), item[0].text


def _places(parts: SeenParts) -> Iterator[tuple[UrlPlace, str]]:
    yield from ((UrlPlace("host", at), label) for at, label in enumerate(parts.host.split(".")))
    yield from ((UrlPlace("path", at), segment) for at, segment in enumerate(parts.segments))


def differing(left: SeenParts, right: SeenParts) -> dict[UrlPlace, tuple[str, str]] | None:
    """Return the places where two URLs of one scheme differ; None if they have not the same places."""
    if left.scheme != right.scheme or len(left.segments) != len(right.segments):
        return None
    ours, theirs = left.host.split("."), right.host.split(".")
    if len(ours) != len(theirs) or sorted(left.names) != sorted(right.names):
        return None
    both = enumerate(zip(ours, theirs, strict=True))
    found = {UrlPlace("host", at): pair for at, pair in both if pair[0] != pair[1]}
    both = enumerate(zip(left.segments, right.segments, strict=True))
    found |= {UrlPlace("path", at): pair for at, pair in both if pair[0] != pair[1]}
    if len(set(left.names)) < len(left.names):
        return found if sorted(left.query) == sorted(right.query) else None
    values = dict(parameter.partition("=")[::2] for parameter in right.query)
    for parameter in left.query:
        name, _, value = parameter.partition("=")
        if value != values[name]:
            if not is_plain(name):
                return None
            found[UrlPlace("query", name)] = value, values[name]
    return found


def _cuts(found: dict[UrlPlace, tuple[str, str]]) -> Iterator[tuple[Cuts, Middles]]:
    """Yield what may stay before and after each difference; of several at once, all or nothing."""
    options = [[(place, *option) for option in _options(*pair)] for place, pair in found.items()]
    several = 2
    if len(options) > several:
        options = [[each[0], each[-1]] for each in options]
    for chosen in product(*options):
        cuts = tuple((place, cut) for place, cut, _ in chosen)
        yield cuts, tuple(middles for _, _, middles in chosen)


def _options(left: str, right: str) -> list[tuple[Cut, Removed]]:
    """Return ways to cut a place: what is equal stays, on both sides, on one, or on none."""
    ours, theirs = _TOKEN.findall(left), _TOKEN.findall(right)
    least = min(len(ours), len(theirs))
    before = next((at for at in range(least) if ours[at] != theirs[at]), least)
    behind = next((at for at in range(least - before) if ours[-1 - at] != theirs[-1 - at]), least - before)
    found: dict[Cut, Removed] = {}
    for head, tail in ((before, behind), (0, behind), (before, 0), (0, 0)):
        middles = ["".join(some[head : len(some) - tail]) for some in (ours, theirs)]
        cut = Cut(typed_run(ours[:head]), typed_run(ours[len(ours) - tail :]))
        found.setdefault(cut, ((middles[0], middles[1]),))
        if head + tail and head + tail == before + behind:
            # A page's own words, such as a title, are as open as its number.
            words = Cut(_opened(ours[:head]), _opened(ours[len(ours) - tail :][::-1])[::-1])
            found.setdefault(words, ((middles[0], middles[1]),))
    first, *others = found.items()
    stays, parts = _number_between(*(some[before : len(some) - behind] for some in (ours, theirs)))
    two = [(Cut(first[0].before, first[0].behind, stays), parts)] if stays else []
    return [first, *two, *others]


def _number_between(ours: list[str], theirs: list[str]) -> tuple[Run, Removed]:
    """Return the first equal number between two signs, and what is before and after it: a title and a code.

    >>> _number_between(["red", ",", "7", ",", "f3"], ["a", "-", "cup", ",", "7", ",", "9a"])
    ((',', ShapeCapture(name='', kind='int', is_many=False, form=''), ','), (('red', 'a-cup'), ('f3', '9a')))
    """
    signed = [
        {tuple(some[at - 1 : at + 2]): at for at in range(len(some) - 3, 1, -1) if some[at].isdigit()}
        for some in (ours, theirs)
    ]
    for stays, at in reversed(signed[0].items()):
        if stays in signed[1] and not (stays[0].isalnum() or stays[2].isalnum()):
            both = ((ours, at), (theirs, signed[1][stays]))
            before, behind = (
                ["".join(some[: at - 1]) for some, at in both],
                ["".join(some[at + 2 :]) for some, at in both],
            )
            return typed_run(list(stays)), ((before[0], before[1]), (behind[0], behind[1]))
    return (), ()


def _opened(tokens: list[str]) -> Run:
    """Return what stays on one side of a difference: any words, and the sign next to the difference.

    >>> _opened(["red", "-", "cup", "~"])
    (ShapeCapture(name='', kind='', is_many=False, form=''), '~')
    """
    if ";" in tokens[1:]:  # no capture holds one, and what follows is a name
        at = len(tokens) - 1 - tokens[::-1].index(";")
        return (_WORDS, *typed_run(tokens[at:])) if ";" not in tokens[:at] else typed_run(tokens)
    if len(tokens) > 1 and not tokens[-1].isalnum():
        return (_WORDS, tokens[-1])
    return typed_run(tokens)


def _forgetting(segments: int, cuts: Cuts, group: Group, *, is_empty: bool) -> Iterator[Edit]:
    """Yield the edit that hides what differs from the key; if it was missing too, it is removed."""
    builder = _Builder(cuts, group, is_empty=is_empty)
    source = builder.shape(segments)
    if not is_empty:
        yield making.hidden(source, builder.hidden)
    elif len(builder.hidden) == 1:
        yield Rewrite(source=source, target=builder.without(source))


class _Builder:
    """Writes the shape of a group's URLs."""

    def __init__(self, cuts: Cuts, group: Group, *, is_empty: bool) -> None:
        self.cuts, self.group, self.is_empty = dict(cuts), group, is_empty
        self._number = {place: number for number, (place, _) in enumerate(cuts)}
        self.hidden: list[str] = []
        self._glue: tuple[str, str] = ("", "")
        self._names = iter("abcdefgijklmnoqrtuvwxyz")

    def shape(self, segments: int) -> Shape:
        """Return the shape, open where the group does not differ."""
        has_host = any(place.part == "host" for place in self.cuts)
        labels = 1 + max((at for part, at in self.group.context if part == "host" and isinstance(at, int)))
        host = tuple(self._run(UrlPlace("host", at)) for at in range(labels)) if has_host else ((EDIT_HOST,),)
        path = tuple(self._run(UrlPlace("path", at)) for at in range(segments)) if segments else ((PATH,),)
        named = [(place, cut) for place, cut in self.cuts.items() if place.part == "query"]
        parts = [ShapeParameter(str(place.at), self._cut(place, cut)) for place, cut in named]
        return Shape(host=host, path=path, query=(*parts, REST))

    def _run(self, place: UrlPlace) -> Run:
        if place in self.cuts:
            return self._cut(place, self.cuts[place])
        texts = self.group.context[place]
        if len(texts) == 1:
            return (next(iter(texts)),)
        return (ShapeCapture(next(self._names), narrowest_class(texts)),)

    def _cut(self, place: UrlPlace, cut: Cut) -> Run:
        if cut.between:
            hidden = [self._hidden(self.group.forgotten(self._number[place], part)) for part in (0, 1)]
            stay = [list(self._open(run)) for run in (cut.before, cut.between, cut.behind)]
            return joined_run([*stay[0], hidden[0], *stay[1], hidden[1], *stay[2]])
        texts = {text for text in self.group.forgotten(self._number[place]) if text}
        head, tail = _ends(texts) if self.is_empty else ("", "")
        self._glue = head, tail
        inner = {text[len(head) : len(text) - len(tail)] for text in texts}
        if not self.is_empty and len(inner) >= _KEPT:
            head, inner = codes_behind_word(inner)
        capture = self._hidden(inner)
        return joined_run([*self._open(cut.before), head, capture, tail, *self._open(cut.behind)])

    def _hidden(self, texts: set[str]) -> ShapeCapture:
        capture = ShapeCapture(next(self._names), narrowest_class(texts) if len(texts) >= _KEPT else "")
        self.hidden.append(capture.name)
        return capture

    def _open(self, run: Run) -> Iterator[Piece]:
        for piece in run:
            yield ShapeCapture(next(self._names), piece.kind) if isinstance(piece, ShapeCapture) else piece

    def without(self, source: Shape) -> Shape:
        """Return the shape without the removed part, and without what joined it to the rest."""
        head, tail = self._glue

        def less(run: Run) -> Run:
            for at, piece in enumerate(run):
                if isinstance(piece, ShapeCapture) and piece.name in self.hidden:
                    before = "".join(map(str, run[:at])) if head and at else ""
                    kept: list[Piece] = list(run[:at])
                    if before.endswith(head) and head:
                        kept[-1] = str(kept[-1]).removesuffix(head)
                    rest: list[Piece] = list(run[at + 1 :])
                    if rest and isinstance(rest[0], str):
                        rest[0] = rest[0].removeprefix(tail)
                    return joined_run([each for each in (*kept, *rest) if each != ""]) or ("",)
            return run

        parts = tuple(
            ShapeParameter(part.name, less(part.value))
            if isinstance(part, ShapeParameter) and part.value
            else part
            for part in source.query
        )
        host, path = tuple(map(less, source.host)), tuple(map(less, source.path))
        return Shape(source.scheme, host, path, parts).written()


def _ends(texts: set[str]) -> tuple[str, str]:
    """Return the signs with which all texts begin and end, where they are next to what stays."""
    first = {text[:1] for text in texts}
    last = {text[-1:] for text in texts}
    head = next(iter(first)) if len(first) == 1 and not next(iter(first)).isalnum() else ""
    tail = next(iter(last)) if len(last) == 1 and not next(iter(last)).isalnum() else ""
    return head, tail


def respellings(parts: SeenParts, found: dict[UrlPlace, tuple[str, str]]) -> Iterator[Edit]:
    """Yield that zeros before a number, or the order inside a value, do not matter."""
    ((place, (left, right)), *others) = found.items()
    if others or place.part == "host":
        return
    for run in dict.fromkeys(_numbered(_TOKEN.findall(left), _TOKEN.findall(right))):
        yield _without_zeros(place, parts, run)
    if place.part == "query" and sorted(_TOKEN.findall(left)) == sorted(_TOKEN.findall(right)):
        for joint in dict.fromkeys(_JOINT.findall(left)):
            if sorted(left.split(joint)) == sorted(right.split(joint)):
                yield making.swapped_inside(str(place.at), joint)


def _numbered(ours: list[str], theirs: list[str]) -> Iterator[Run]:
    """Yield the texts of a place in which one number, called `n`, has more zeros before it in one of two."""
    apart = [at for at, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]]
    at = apart[0] if len(ours) == len(theirs) and len(apart) == 1 else -1
    left, right = (ours[at], theirs[at]) if at >= 0 else ("", "")
    if not (left.isdigit() and right.isdigit()) or left.lstrip("0") != right.lstrip("0"):
        return
    head, tail = ours[:at], ours[at + 1 :]
    for before, behind in ((typed_run(head), typed_run(tail)), (_opened(head), _opened(tail[::-1])[::-1])):
        names = iter("abcdefgijklm")
        run = (*before, ShapeCapture("n", "int"), *behind)
        yield tuple(
            ShapeCapture(next(names), piece.kind)
            if isinstance(piece, ShapeCapture) and not piece.name
            else piece
            for piece in run
        )


def _without_zeros(place: UrlPlace, parts: SeenParts, number: Run) -> Edit:
    if place.part == "query":
        return making.unpadded(Shape(query=(ShapeParameter(str(place.at), number), REST)))
    at, path = int(place.at), parts.segments
    if at == len(path) - 1:
        is_plain_path = len(number) == 1 and not any(map(str.isdigit, path[:at]))
        before = tuple((segment,) for segment in path[:at]) if is_plain_path else ((PATH,),)
        return making.unpadded(Shape(path=(*before, number)))
    names = iter("tuvwxyz" * len(path))
    runs = (
        number if place == at else (ShapeCapture(next(names)) if text else "",)
        for place, text in enumerate(path)
    )
    return making.unpadded(Shape(path=tuple(runs)))
