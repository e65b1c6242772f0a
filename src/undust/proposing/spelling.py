"""What many sites do not distinguish, and some do: order, case, slashes, hosts, idle segments."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from undust.edits import Rewrite, making
from undust.proposing.seen import frequent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undust.edits import Edit
    from undust.proposing.seen import SeenSite

HOSTS, SEGMENTS, _FOLDERS = 12, 40, 10
"""At most this many hosts, segments and folders are tried, the most frequent first."""
_IN_FOLDER = 2
_ENDING = re.compile(r"\.[A-Za-z0-9]{1,8}$")


def spellings(seen: SeenSite) -> Iterator[Edit]:
    """Yield that a way of writing does not matter."""
    yield Rewrite(source=making.OPEN, target=making.SAME)
    for form in ("sorted", "amp", "unique", "plain", "lower", "first", "last"):
        yield making.respelled(form)
    for form in ("plain", "lower"):
        yield making.respelled(form, path=True)
    yield making.swapped("//", "/")
    yield making.without_slash()
    folders = Counter(parts.segments[0] for parts in seen.parts if len(parts.segments) == _IN_FOLDER)
    yield from (making.capitalised(folder) for folder in frequent(folders, 3, _FOLDERS) if folder)
    yield from _authorities(seen)


def _authorities(seen: SeenSite) -> Iterator[Edit]:
    if len({parts.scheme for parts in seen.parts}) > 1:
        yield making.scheme_to("https")
        yield making.scheme_to("http")
    hosts = frequent(Counter(parts.host for parts in seen.parts), 2, HOSTS)
    yield from (making.host_to(old, new) for old in hosts for new in hosts if old != new)


def last_segments(seen: SeenSite) -> Iterator[Edit]:
    """Yield that a frequent last segment, such as an index page, or the ending of a name does not matter."""
    for last in frequent(Counter(parts.segments[-1] for parts in seen.parts), 3, SEGMENTS):
        if last:
            yield making.last_segment_dropped(last, slash=True)
            yield making.last_segment_dropped(last, slash=False)
    endings = (found[0] for parts in seen.parts if (found := _ENDING.search(parts.segments[-1])))
    yield from (making.ending_dropped(ending) for ending in frequent(Counter(endings), 3, SEGMENTS))


def idle_segments(seen: SeenSite) -> Iterator[Edit]:
    """Yield that a frequent first or second segment does not matter."""
    first = Counter(parts.segments[0] for parts in seen.parts if len(parts.segments) > 1)
    yield from (making.first_segment_dropped(name) for name in frequent(first, 3, SEGMENTS) if name)
    second = Counter(parts.segments[1] for parts in seen.parts if len(parts.segments) > _IN_FOLDER)
    yield from (making.second_segment_dropped(name) for name in frequent(second, 5, SEGMENTS) if name)
