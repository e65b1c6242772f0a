"""Parameters that do nothing, alone or together, and values that are the default."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import combinations
from typing import TYPE_CHECKING

from undust.edits import Guard, ShapeParameter, making
from undust.proposing.seen import frequent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undust.edits import Edit
    from undust.proposing.seen import SeenSite

_NAMES, _PAIRS, SETS, _VALUES = 300, 120, 40, 400
"""At most this many are tried, the most frequent first."""
_LARGEST = 4
_TOGETHER = 24
"""Names of one URL that are tried in pairs, the most frequent of the site first."""
LEAST_PAGES = 3
_LONGEST = 40
"""Characters of a value that is written."""
_PLAIN = re.compile(r"[A-Za-z0-9_.\-\[\]%~]+")


def is_plain(name: str) -> bool:
    """Return whether the name of a parameter can be written in a pattern unchanged."""
    return bool(_PLAIN.fullmatch(name))


def drops(seen: SeenSite) -> Iterator[Edit]:
    """Yield that parameters are left out: one, a family, several that come together, all but some."""
    names = [name for name in frequent(seen.names, 2, _NAMES) if is_plain(name)]
    for name in names:
        yield making.dropped(name)
        yield making.masked(name)
    yield from _families(names)
    sets = Counter(frozenset(filter(is_plain, parts.names)) for parts in seen.parts)
    yield from _together(sets, names)
    yield from _only(sets)
    yield from _behind_semicolons(seen)


def _families(names: list[str]) -> Iterator[Edit]:
    counts: Counter[str] = Counter()
    for name in names:
        head, underscore, _ = name.partition("_")
        if underscore and head:
            counts[f"{head}_*"] += 1
    yield from (making.dropped(prefix) for prefix, count in sorted(counts.items()) if count > 1)


def _together(sets: Counter[frozenset[str]], known: list[str]) -> Iterator[Edit]:
    """Yield pairs of known names; URLs with hundreds of names add no more work than others."""
    rank = {name: place for place, name in enumerate(known)}
    pairs: Counter[tuple[str, str]] = Counter()
    for names, count in sets.items():
        some = sorted((name for name in names if name in rank), key=rank.__getitem__)[:_TOGETHER]
        for left, right in combinations(sorted(some), 2):
            pairs[left, right] += count
    for (left, right), count in sorted(pairs.items(), key=lambda item: (-item[1], item[0]))[:_PAIRS]:
        if count >= _LARGEST:
            yield making.dropped_together(left, right)
            yield making.masked(left, right)


def _only(sets: Counter[frozenset[str]]) -> Iterator[Edit]:
    ranked = sorted(sets.items(), key=lambda item: (-item[1], sorted(item[0])))
    for names, count in ranked[:SETS]:
        if 0 < len(names) <= _LARGEST <= count:
            yield making.only(*names).guarded(when=[Guard(query=(ShapeParameter(min(names)),))])


def _behind_semicolons(seen: SeenSite) -> Iterator[Edit]:
    """Yield the same for the text after a `;`, which then separates parameters."""
    parts = (part for each in seen.parts for parameter in each.query for part in parameter.split(";")[1:])
    names = Counter(part.partition("=")[0] for part in parts)
    some = [name for name in frequent(names, 3, _NAMES // 10) if is_plain(name)]
    yield from (making.separated_by_ampersands(making.dropped(name)) for name in some)
    for left, right in combinations(some[:_LARGEST], 2):
        yield making.separated_by_ampersands(making.dropped(left, right))


def on_any_path(seen: SeenSite) -> Iterator[Edit]:
    """Yield that a page which a parameter names is the same on every path, such as a sitemap or a search."""
    pages: defaultdict[str, set[int]] = defaultdict(set)
    for left, right, page in seen.pairs:
        ours, theirs = seen.parts[left], seen.parts[right]
        if ours.query and ours.segments != theirs.segments and sorted(ours.query) == sorted(theirs.query):
            for name in ours.names:
                pages[name].add(page)
    counts = Counter({name: len(some) for name, some in pages.items() if is_plain(name)})
    yield from (making.on_any_path(name) for name in frequent(counts, LEAST_PAGES, _NAMES))


def defaults(seen: SeenSite) -> Iterator[Edit]:
    """Yield that a frequent value of a parameter is what the site takes anyway."""
    counts = Counter(parameter for parts in seen.parts for parameter in set(parts.query))
    for parameter in frequent(counts, 3, _VALUES):
        name, equals, value = parameter.partition("=")
        if is_plain(name) and len(value) <= _LONGEST:
            yield making.dropped_value(name, value if equals else None)
