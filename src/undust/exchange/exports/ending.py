"""Rules that provably come to an end, each URL at one that no rule changes.

A server that redirects, or a list of expressions applied until nothing changes, cannot notice that it goes
round in circles, as the canonicalizer does. So rules are exported only if they end: whenever a rule can act
on its own result, or on that of rules that act on its own, something must become less each time. What
may be counted is tried in turn: parameters, segments, letters, segments with a certain text.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from undust.exchange.exports.expressions import host_literal, path_literal, query_literal
from undust.exchange.exports.overlap import captured_as, is_listed
from undust.rules.pattern import Capture, Pattern, Text, is_stretch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

Sides = tuple[Pattern, Pattern]


@dataclass(frozen=True)
class TextSides:
    """The two texts of a `replace` that acts on path and query."""

    old: str
    new: str

    def parameters(self) -> int | None:
        """Return by how many parameters the result can be larger at most."""
        return 0 if frozenset("&?").isdisjoint(self.old + self.new) else None

    def segments(self) -> int | None:
        """Return by how many segments the path can be longer at most."""
        more = self.new.count("/") - self.old.count("/")
        return max(more, 0) if frozenset("?").isdisjoint(self.old + self.new) else None

    def length(self) -> int | None:
        """Return by how many characters the result is longer."""
        return len(self.new) - len(self.old)

    def nothing(self) -> int | None:
        """Return 0, for what a text in path or query cannot change."""
        return 0

    def unknown(self) -> int | None:
        """Return None, if it cannot be decided."""
        return None


Measure = tuple["Callable[[Sides], int | None]", "Callable[[TextSides], int | None]"]
"""What a rule can add to something that is counted, for a rewrite and for a `replace`."""


def endless(
    sides: Mapping[int, Sides | TextSides],
    edges: Sequence[frozenset[int]],
    known: Callable[[list[int]], list[list[int | None]]] = lambda _: [],
) -> list[int]:
    """Return rules that may go round in circles, or nothing if all come to an end.

    `edges` has for each rule the rules that may act on its result; `known` returns more things to count for
    some rules, each with what every one of them adds to it at most.
    """
    waiting = [list(sides)]
    while waiting:
        for circle in _circles(waiting.pop(), edges):
            left = _without_shrinking([sides[place] for place in circle], known, circle)
            if left is None:
                return circle
            waiting.append([circle[place] for place in left])
    return []


def _without_shrinking(
    sides: list[Sides | TextSides],
    known: Callable[[list[int]], list[list[int | None]]],
    circle: list[int],
) -> list[int] | None:
    """Return the rules that do not make something less, or None if there is nothing to count."""
    return next(
        (
            [place for place, delta in enumerate(deltas) if delta == 0]
            for deltas in _all_counted(sides, known, circle)
            if all(delta is not None and delta <= 0 for delta in deltas) and any(deltas)
        ),
        None,
    )


def _all_counted(
    sides: list[Sides | TextSides],
    known: Callable[[list[int]], list[list[int | None]]],
    circle: list[int],
) -> Iterator[list[int | None]]:
    yield from _counted(sides)
    yield from known(circle)


def _counted(sides: list[Sides | TextSides]) -> Iterator[list[int | None]]:
    rewrites = [each for each in sides if not isinstance(each, TextSides)]
    for of_rewrite, of_replace in _measures(rewrites):
        yield [of_replace(each) if isinstance(each, TextSides) else of_rewrite(each) for each in sides]


def _measures(sides: list[Sides]) -> Iterator[Measure]:
    yield parameters, TextSides.parameters
    yield partial(_scheme, scheme="http"), TextSides.nothing
    yield partial(_scheme, scheme="https"), TextSides.nothing
    yield segments, TextSides.segments
    yield length, TextSides.length
    yield _labels, TextSides.nothing
    for host in dict.fromkeys(_literal_host(source) for source, _ in sides):
        if host is not None:
            yield partial(_host_is, host=host), TextSides.nothing
    for literal in dict.fromkeys(text for source, _ in sides for text in _literal_segments(source)):
        yield partial(_segments_like, literal=literal), TextSides.unknown
    for name in dict.fromkeys(name for source, _ in sides for name in _names(source)):
        yield partial(_named, name=name), TextSides.unknown


def _circles(places: list[int], edges: Sequence[frozenset[int]]) -> Iterator[list[int]]:
    """Yield the groups of rules that can follow each other round, and those that can follow themselves."""
    among = set(places)
    groups = [sorted(group) for group in _strongly_connected(places, edges, among)]
    yield from sorted(group for group in groups if len(group) > 1 or group[0] in edges[group[0]])


def _strongly_connected(
    places: list[int], edges: Sequence[frozenset[int]], among: set[int]
) -> Iterator[list[int]]:
    """Yield the strongly connected components of the rules (Tarjan 1972, without recursion)."""
    number: dict[int, int] = {}
    lowest: dict[int, int] = {}
    stack: list[int] = []
    done: set[int] = set()
    for start in places:
        if start in number:
            continue
        way = [(start, iter(edges[start] & among))]
        number[start] = lowest[start] = len(number)
        stack.append(start)
        while way:
            place, others = way[-1]
            for other in others:
                if other not in number:
                    number[other] = lowest[other] = len(number)
                    stack.append(other)
                    way.append((other, iter(edges[other] & among)))
                    break
                if other not in done:
                    lowest[place] = min(lowest[place], number[other])
            else:
                way.pop()
                if way:
                    lowest[way[-1][0]] = min(lowest[way[-1][0]], lowest[place])
                if lowest[place] == number[place]:
                    group = stack[stack.index(place) :]
                    del stack[-len(group) :]
                    done.update(group)
                    yield group


def parameters(sides: Sides) -> int | None:
    """Return by how many parameters the result can be larger at most."""
    source, target = sides
    forgotten = sum(
        entry.several is None or (entry.several.name is None and entry.several.detail is not None)
        for entry in source.query or ()
    )
    if _is_doubled(entry.several for entry in target.query or () if entry.several):
        return None
    return sum(entry.several is None for entry in target.query or ()) - forgotten


def _is_doubled(refs: Iterable[Capture]) -> bool:
    names = [ref.name for ref in refs]
    return len(set(names)) < len(names)


def _scheme(sides: Sides, scheme: str) -> int:
    source, target = ((side.scheme or ("",))[0] for side in sides)
    before = source == scheme if isinstance(source, str) else None
    if isinstance(target, str):
        return int(target == scheme) - int(before or False)
    return 0


def _labels(sides: Sides) -> int | None:
    source, target = (side.host or () for side in sides)
    stretches = [sum(map(is_stretch, source)), sum(_is_ref_of(label, source) for label in target)]
    if stretches == [1, 1] or _literal_host(sides[0]) or sides[0].host == target:
        return len(target) - len(source)
    return None


def _is_ref_of(label: Text, labels: tuple[Text, ...]) -> bool:
    names = {
        piece.name for each in labels if is_stretch(each) for piece in each if isinstance(piece, Capture)
    }
    return len(label) == 1 and isinstance(label[0], Capture) and label[0].name in names


def _literal_host(pattern: Pattern) -> str | None:
    labels = pattern.host or ()
    if not labels or any(isinstance(piece, Capture) for label in labels for piece in label):
        return None
    return host_literal(".".join("".join(map(str, label)) for label in labels))


def _host_is(sides: Sides, host: str) -> int:
    before, after = map(_literal_host, sides)
    if after is None:
        return 0 if sides[0].host == sides[1].host else 1
    return int(after == host) - int(before == host)


def segments(sides: Sides) -> int | None:
    """Return by how many segments the path can be longer at most."""
    cases = _path_cases(sides)
    return None if cases is None else max((after - before for before, after in cases), default=-1)


def _path_cases(sides: Sides) -> list[tuple[int, int]] | None:
    """Return segments before and after, with the stretch being one segment, and with it being none."""
    source, target = sides
    known = captured_as(source)
    fixed = [segment for segment in source.path or ((),) if not is_stretch(segment)]
    has_stretch = len(fixed) < len(source.path or ((),))
    written, stretches = 0, 0
    for segment in target.path or ((),):
        kinds = [known[piece.name or ""] for piece in segment if isinstance(piece, Capture)]
        if any(kind == "value" and capture.detail is None for kind, capture in kinds):
            return None
        is_many = any(kind == "segments" for kind, _ in kinds)
        stretches += is_many
        written += not is_many
    if stretches > 1:
        return None
    cases = [(len(fixed) + has_stretch, max(written + stretches, 1))]
    empty = (len(fixed), max(written, 1))
    return [*cases, empty] if has_stretch and not is_idle_at_root(sides) else cases


def is_idle_at_root(sides: Sides) -> bool:
    """Whether a rule leaves `/` what it is, because its stretch is empty there and it does nothing else."""
    source, target = sides
    fixed = [segment for segment in source.path or ((),) if not is_stretch(segment)]
    is_same = (source.scheme, source.host, source.query) == (target.scheme, target.host, _as_source(target))
    is_bare = all(len(segment) == 1 and isinstance(segment[0], Capture) for segment in target.path or ())
    return fixed == [()] and is_bare and is_same


def _as_source(target: Pattern) -> object:
    return tuple(
        type(entry)("", several=Capture(entry.several.name, is_many=True, detail=None))
        if entry.several
        else entry
        for entry in target.query or ()
    )


def length(sides: Sides) -> int | None:
    """Return by how many characters the result can be longer at most."""
    source, target = sides
    known = captured_as(source)
    refs = [piece for piece in _captures(target) if piece.name]
    if _is_doubled(refs) or any(ref.detail is not None for ref in refs):
        return None
    moved = [known[ref.name or ""] for ref in _path_refs(target)]
    if any(kind in {"value", "host"} and capture.detail is None for kind, capture in moved):
        return None
    moved = [known[ref.name or ""] for ref in _value_refs(target)]
    if any(kind in {"segment", "segments"} and capture.detail is None for kind, capture in moved):
        return None
    cases = _path_cases(sides)
    if cases is None:
        return None
    dropped = {name for name, (kind, _) in known.items() if kind in {"segment", "value"}} - {
        ref.name for ref in refs
    }
    anonymous = sum(
        piece.name is None and not piece.is_many
        for text in _texts(source)
        for piece in text
        if isinstance(piece, Capture)
    )
    slashes = max((after - before for before, after in cases), default=0)
    letters = _letters(target, is_target=True) - _letters(source, is_target=False)
    return letters + slashes - len(dropped) - anonymous


def _captures(pattern: Pattern) -> Iterator[Capture]:
    for text in (pattern.scheme or (), *_texts(pattern)):
        yield from (piece for piece in text if isinstance(piece, Capture))


def _texts(pattern: Pattern) -> Iterator[Text]:
    yield from pattern.host or ()
    yield from pattern.path or ()
    for entry in pattern.query or ():
        yield (entry.several,) if entry.several else entry.value or ()


def _path_refs(target: Pattern) -> list[Capture]:
    return [piece for segment in target.path or () for piece in segment if isinstance(piece, Capture)]


def _value_refs(target: Pattern) -> list[Capture]:
    return [
        piece for entry in target.query or () for piece in (entry.value or ()) if isinstance(piece, Capture)
    ]


def _letters(pattern: Pattern, *, is_target: bool) -> int:
    """Return the characters that are surely there, but for slashes before segments."""
    scheme = (pattern.scheme or ("",))[0]
    count = len(scheme) if isinstance(scheme, str) else (5 if is_target else 4) if scheme.name is None else 0
    labels = pattern.host or ()
    literals = _literal_host(pattern) or "".join(p for label in labels for p in label if isinstance(p, str))
    count += len(literals.replace(".", "")) + len(labels)
    count += len(pattern.port or "") + bool(pattern.port)
    for segment in pattern.path or ():
        count += sum(len(path_literal(piece)) for piece in segment if isinstance(piece, str))
    for entry in pattern.query or ():
        if entry.several is None:
            value = entry.value
            count += 1 + len(query_literal(entry.name))
            if value is not None and not is_stretch(value):
                count += 1 + sum(len(query_literal(piece)) for piece in value if isinstance(piece, str))
        elif entry.several.name is None and entry.several.detail:
            count += 1 + min(len(name.removesuffix("*")) for name in entry.several.detail.split("|"))
    return count


def _literal_segments(pattern: Pattern) -> Iterator[str]:
    for segment in pattern.path or ((),):
        if all(isinstance(piece, str) for piece in segment):
            yield path_literal("".join(map(str, segment)))


def _segments_like(sides: Sides, literal: str) -> int | None:
    source, target = sides
    known = captured_as(source)
    whole = {
        segment[0].name
        for segment in source.path or ()
        if len(segment) == 1 and isinstance(segment[0], Capture)
    }
    count = sum(text == literal for text in _literal_segments(target))
    for segment in target.path or ((),):
        refs = [piece for piece in segment if isinstance(piece, Capture)]
        if any(known[ref.name or ""][0] not in {"segment", "segments"} for ref in refs):
            return None
        count += bool(refs) and not (len(segment) == 1 and refs[0].name in whole)
    if _is_doubled(_path_refs(target)):
        return None
    count += literal == "" and all(is_stretch(segment) or segment for segment in target.path or ())
    return count - sum(text == literal for text in _literal_segments(source))


def _names(pattern: Pattern) -> Iterator[str]:
    return (query_literal(entry.name) for entry in pattern.query or () if entry.several is None)


def _named(sides: Sides, name: str) -> int | None:
    source, target = sides
    if _is_doubled(entry.several for entry in target.query or () if entry.several):
        return None
    lists = [
        e.several.detail
        for e in source.query or ()
        if e.several and e.several.name is None and e.several.detail
    ]
    listed = any(is_listed(name, names) for names in lists)
    return (
        list(_names(target)).count(name)
        - list(_names(source)).count(name)
        - (listed and len(lists) == 1 and "|" not in (lists[0] or "") and "*" not in (lists[0] or ""))
    )
