"""Two rewrites in a row as one: the right side of the first, read by the second.

A capture of the second rule takes whatever the first one writes there, text and captures alike. Where
the second would have to look inside a captured piece, or where the first carries a piece from one part
of the URL to another (which changes what the piece may hold), one rule cannot say it: then there is
no answer, rather than one that is nearly right.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from undust.rules.pattern import Capture, Parameter, Pattern, Text, is_stretch, written

if TYPE_CHECKING:
    from collections.abc import Iterator

Bound = Text | tuple[Text, ...] | tuple[Parameter, ...]
Bindings = dict[str, Bound]


def chained(source: str, middle: str, wanted: str, target: str) -> str | None:
    """Return the right side of `source → …` that does `source → middle` and then `wanted → target`."""
    left, read_second = Pattern.parse(source), Pattern.parse(wanted)
    homes = {capture.name: (place, capture.is_many) for capture, place in _places(left)}
    # A right side does not say how much a name holds; the left side that captured it does.
    long_names = [name for name, (_, is_many) in homes.items() if name and is_many]
    written_first = Pattern.parse(_with_stars(middle, long_names))
    if any(homes[capture.name][0] != place for capture, place in _places(written_first)):
        return None
    bound: Bindings = {}
    fits = (
        _bind_text(read_second.scheme or (), written_first.scheme or (), bound)
        and _bind_host(read_second, written_first, bound)
        and _bind_texts(read_second.path or (), written_first.path or (), bound)
        and _bind_query(read_second.query or (), written_first.query or (), bound)
    )
    return _filled(Pattern.parse(target), bound) if fits else None


def _with_stars(text: str, names: list[str]) -> str:
    return re.sub(rf"\{{({'|'.join(names)})(?=[:}}])", r"{\1**", text) if names else text


def _without_stars(text: str) -> str:
    return re.sub(r"\*\*(?=[:}])", "", text)


def _places(pattern: Pattern) -> Iterator[tuple[Capture, str]]:
    """Yield each named capture with the part of the URL it is in."""
    parts: dict[str, tuple[Text, ...]] = {
        "scheme": (pattern.scheme or (),),
        "host": pattern.host or (),
        "path": pattern.path or (),
        "value": tuple(entry.value or () for entry in pattern.query or ()),
        "query": tuple((entry.several,) for entry in pattern.query or () if entry.several),
    }
    for place, texts in parts.items():
        for piece in (piece for text in texts for piece in text):
            if isinstance(piece, Capture) and piece.name is not None:
                yield piece, place


def _bind_host(wanted: Pattern, given: Pattern, bound: Bindings) -> bool:
    match wanted.host, given.host:
        case ((Capture(is_many=False, detail=None) as capture,),), ((Capture(is_many=False),),):
            # A capture alone is the whole host with its port; with a port written, it is not.
            return wanted.port == given.port and _bind(capture, given.host[0], bound)
        case _:
            hosts = [tuple(map(written, each.host or ())) for each in (wanted, given)]
            return hosts[0] == hosts[1] and wanted.port == given.port and "{" not in "".join(hosts[0])


def _bind_text(wanted: Text, given: Text, bound: Bindings) -> bool:
    """Let a capture that is a whole part take whatever is written there; text must be the same text."""
    match wanted:
        case (Capture(is_many=False, detail=None) as capture,) if given:
            return _bind(capture, given, bound)
        case _ if all(isinstance(piece, str) for piece in (*wanted, *given)):
            return wanted == given
        case _:
            return False


def _bind(capture: Capture, given: Text | tuple[Text, ...] | tuple[Parameter, ...], bound: Bindings) -> bool:
    if capture.name is not None:
        bound[capture.name] = given
    return True


def _bind_texts(wanted: tuple[Text, ...], given: tuple[Text, ...], bound: Bindings) -> bool:
    place = next((place for place, text in enumerate(wanted) if is_stretch(text)), None)
    if place is None:
        # A stretch in `given` has a length that is not known yet, so only another stretch can take it.
        return (
            len(wanted) == len(given)
            and not any(map(is_stretch, given))
            and all(_bind_text(*pair, bound) for pair in zip(wanted, given, strict=True))
        )
    tail = len(wanted) - place - 1
    if len(given) < place + tail:
        return False
    cut = len(given) - tail
    stretch = wanted[place][0]
    return (
        isinstance(stretch, Capture)
        and _bind(stretch, given[place:cut], bound)
        and _bind_texts(wanted[:place], given[:place], bound)
        and _bind_texts(wanted[place + 1 :], given[cut:], bound)
    )


def _bind_query(wanted: tuple[Parameter, ...], given: tuple[Parameter, ...], bound: Bindings) -> bool:
    # A captured list may hold the very parameter that is wanted by name: then nothing can be said.
    if any(entry.several for entry in given) and any(not _takes_all(entry) for entry in wanted):
        return False
    left = list(given)
    for entry in wanted:
        if _takes_all(entry) and entry.several is not None:
            _bind(entry.several, tuple(left), bound)
            left = []
            continue
        taken = next((each for each in left if each.name == entry.name), None)
        if taken is None or entry.several is not None or not _bind_value(entry, taken, bound):
            return False
        left.remove(taken)
    return not left


def _takes_all(entry: Parameter) -> bool:
    return entry.several is not None and entry.several.detail is None


def _bind_value(wanted: Parameter, given: Parameter, bound: Bindings) -> bool:
    if wanted.value is None or given.value is None:
        return wanted.value == given.value
    return _bind_text(wanted.value, given.value, bound)


def _filled(target: Pattern, bound: Bindings) -> str | None:
    """Return the second right side with every name replaced by what it took; None if a form forbids it."""
    try:
        scheme = _fill_text(target.scheme or (), bound)
        host = [_fill_text(label, bound) for label in target.host or ()]
        path = [text for segment in target.path or () for text in _fill_segment(segment, bound)]
        query = [text for entry in target.query or () for text in _fill_entry(entry, bound)]
    except _CannotFillError:
        return None
    port = f":{target.port}" if target.port else ""
    text = f"{scheme}://{'.'.join(host)}{port}/{'/'.join(path)}" + (f"?{'&'.join(query)}" if query else "")
    return _without_stars(text)


class _CannotFillError(Exception):
    pass


def _fill_text(text: Text, bound: Bindings) -> str:
    return "".join(
        written(_taken(piece, bound)) if isinstance(piece, Capture) else piece  # type: ignore[arg-type]
        for piece in text
    )


def _fill_segment(segment: Text, bound: Bindings) -> list[str]:
    match segment:
        case (Capture() as capture,) if (taken := _taken(capture, bound)) and isinstance(taken[0], tuple):
            return [written(text) for text in taken]
        case (Capture() as capture,) if not _taken(capture, bound):
            return []
        case _:
            return [_fill_text(segment, bound)]


def _fill_entry(entry: Parameter, bound: Bindings) -> list[str]:
    if entry.several is not None:
        return [str(taken) for taken in _taken(entry.several, bound)]
    if entry.value is None:
        return [entry.name]
    return [f"{entry.name}={_fill_text(entry.value, bound)}"]


def _taken(capture: Capture, bound: Bindings) -> Bound:
    """Return what a capture of the second rule took, with the form the second rule gives it."""
    taken = bound[capture.name or ""]
    if capture.detail is None:
        return taken
    match taken:
        case (Capture(detail=None) as inner,):
            return (Capture(inner.name, inner.is_many, capture.detail),)
        case ((Capture(detail=None) as inner,),):
            return ((Capture(inner.name, inner.is_many, capture.detail),),)
        case (Parameter(several=Capture(detail=None) as inner),):
            return (Parameter("", several=Capture(inner.name, inner.is_many, capture.detail)),)
        case _:
            raise _CannotFillError
