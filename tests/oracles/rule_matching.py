"""A pattern against a normalized URL: what was captured, or that it does not match.

Everything is done component by component, on lists of labels, segments and parameters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.oracles.normalize import Url, characters
from tests.oracles.rule_syntax import (
    CLASS_CHARACTERS,
    CLASS_SHAPES,
    HostPattern,
    Many,
    Param,
    Pattern,
    Run,
    Template,
)


@dataclass(frozen=True)
class Captured:
    """What a name holds. `units` are segments or parameters; other kinds have one unit, their text."""

    kind: str
    units: tuple[str, ...]


Captures = dict[str, Captured]


def match(pattern: Pattern, url: Url) -> Captures | None:
    """The captures if the whole URL matches, else None."""
    captures: Captures = {}
    matches = (
        match_scheme(pattern.scheme, url, captures)
        and match_host(pattern.host, url, captures)
        and match_path(pattern.path, url, captures)
        and match_query(pattern, url, captures)
    )
    return captures if matches else None


def keep_units(captures: Captures, name: str | None, kind: str, units: list[str]) -> None:
    """Remember what a capture took, unless it forgets."""
    if name:
        captures[name] = Captured(kind, tuple(units))


def match_scheme(scheme: str | Run | None, url: Url, captures: Captures) -> bool:
    """A literal scheme is equal; a captured or unwritten one is any."""
    if isinstance(scheme, Run):
        keep_units(captures, scheme.name, "scheme", [url.scheme])
    return not isinstance(scheme, str) or scheme == url.scheme


def match_host(host: HostPattern | None, url: Url, captures: Captures) -> bool:
    """Host and port."""
    if host is None:
        return True
    if host.port is not None and host.port != url.port:
        return False
    if host.whole:
        text = url.authority if host.port is None else url.host
        if host.whole.klass:
            return match_text((host.whole,), text, "host", "", captures)
        keep_units(captures, host.whole.name, "host", [text])
        return True
    labels = [url.host] if url.host.startswith("[") else url.host.split(".")
    taken = match_units(host.labels, labels, "host", ".&;", captures)
    if taken is None:
        return False
    many = next((label for label in host.labels if isinstance(label, Many)), None)
    if many:
        keep_units(captures, many.name, "host", [".".join(taken)])
    return many is None or bool(taken)


def match_path(path: tuple[Template | Many, ...] | None, url: Url, captures: Captures) -> bool:
    """All segments; a trailing slash is an empty last segment."""
    if path is None:
        return True
    taken = match_units(path, url.path[1:].split("/"), "path", "/&;", captures)
    if taken is None:
        return False
    for segment in path:
        if isinstance(segment, Many):
            keep_units(captures, segment.name, "segments", taken)
    return True


def match_units(
    patterns: tuple[Template | Many, ...], units: list[str], kind: str, stops: str, captures: Captures
) -> list[str] | None:
    """What the one `**` takes of the units (nothing without it), or None if a template does not match."""
    place = next((index for index, item in enumerate(patterns) if isinstance(item, Many)), None)
    before = patterns if place is None else patterns[:place]
    after = () if place is None else patterns[place + 1 :]
    spare = len(units) - len(before) - len(after)
    if spare < 0 or (place is None and spare):
        return None
    taken = units[len(before) : len(before) + spare]
    rest = units[: len(before)] + units[len(before) + spare :]
    for template, unit in zip(before + after, rest, strict=True):
        if isinstance(template, Many) or not match_text(template, unit, kind, stops, captures):
            return None
    return taken


def match_query(pattern: Pattern, url: Url, captures: Captures) -> bool:
    """Parameters by name, in any order: first those with a name, then the lists, then the rest."""
    if pattern.query is None:
        return True
    left = url.query.split("&") if url.query else []
    for item in pattern.query:
        if isinstance(item, Param):
            fitting = next((at for at, param in enumerate(left) if match_param(item, param, captures)), None)
            if fitting is None:
                return False
            left.pop(fitting)
    for item in pattern.query:
        if isinstance(item, Many) and item.names:
            taken = [param for param in left if is_listed(item, param)]
            left = [param for param in left if not is_listed(item, param)]
            if not taken and item.name is None:
                return False
            keep_units(captures, item.name, "params", taken)
    for item in pattern.query:
        if isinstance(item, Many) and not item.names:
            keep_units(captures, item.name, "params", left)
            left = []
    return not left or pattern.open_query


def match_param(item: Param, param: str, captures: Captures) -> bool:
    """One parameter against `x`, `x=`, `x={v}` or `x={**}`."""
    name, equals, value = param.partition("=")
    if name != item.name:
        return False
    if isinstance(item.value, Many):
        return ";" not in value
    if item.value is None or not equals:
        return item.value is None and not equals
    return match_text(item.value, value, "value", "&;", captures)


def is_listed(item: Many, param: str) -> bool:
    """Whether a list takes this parameter; one that forgets takes none with a raw `;`."""
    if item.name is None and ";" in param:
        return False
    name = param.partition("=")[0]
    return any(name.startswith(one[:-1]) if one.endswith("*") else name == one for one in item.names)


def match_text(template: Template, text: str, kind: str, stops: str, captures: Captures) -> bool:
    """Literals and runs against one label, segment or value, each run as long as it can be, from the left."""
    positions = boundaries(text)
    # From the right: where each piece may begin, and how far it then reaches so that the rest still matches.
    farthest: list[dict[int, int]] = []
    beginnings = {len(text)}
    for piece in reversed(template):
        farthest.insert(0, farthest_ends(piece, text, positions, beginnings, stops))
        beginnings = set(farthest[0])
    if 0 not in beginnings:
        return False
    at = 0
    for piece, reach in zip(template, farthest, strict=True):
        if isinstance(piece, Run):
            keep_units(captures, piece.name, kind, [text[at : reach[at]]])
        at = reach[at]
    return True


def boundaries(text: str) -> list[int]:
    """The positions between characters; a percent triplet is one character."""
    positions = [0]
    for character in characters(text):
        positions.append(positions[-1] + len(character))
    return positions


def farthest_ends(
    piece: str | Run, text: str, positions: list[int], goals: set[int], stops: str
) -> dict[int, int]:
    """For each position where the piece may begin, the farthest of the goals where it may end."""
    if isinstance(piece, Run) and piece.klass not in CLASS_SHAPES and piece.klass != "list":
        return farthest_ends_of_run(piece, text, positions, goals, stops)
    out = {}
    for start in positions:
        reached = [end for end in fixed_ends(piece, text, start) if end in goals]
        if reached:
            out[start] = max(reached)
    return out


def farthest_ends_of_run(
    run: Run, text: str, positions: list[int], goals: set[int], stops: str
) -> dict[int, int]:
    """The same for a run of characters: what the next position reaches, this one reaches too."""
    out: dict[int, int] = {}
    for start, end in zip(reversed(positions[:-1]), reversed(positions[1:]), strict=True):
        character = text[start:end]
        if character in stops or (run.klass and character not in CLASS_CHARACTERS[run.klass]):
            continue
        if end in out:
            out[start] = out[end]
        elif end in goals:
            out[start] = end
    return out


def fixed_ends(piece: str | Run, text: str, start: int) -> list[int]:
    """Where a literal, an item of a list or a shape that begins at `start` ends."""
    if isinstance(piece, str):
        return [start + len(piece)] if text.startswith(piece, start) else []
    if piece.klass == "list":
        return [start + len(item) for item in piece.items if text.startswith(item, start)]
    shape = re.compile(CLASS_SHAPES[piece.klass or ""]).match(text, start)
    return [shape.end()] if shape else []
