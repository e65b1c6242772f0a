"""What many sites do not distinguish, and some do: order, case, slashes, hosts, idle segments."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from undust.edits import Rewrite, Shape, ShapeCapture, making
from undust.edits.shapes import PATH, REST
from undust.proposing.seen import frequent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undust.edits import Edit
    from undust.proposing.seen import SeenParts, SeenSite


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


LEAST_PAGES = 3
_FOLDERS_BEFORE = 2
"""Segments before the label's place in a path, at most."""


def labels(seen: SeenSite) -> Iterator[Edit]:
    """Yield that a label of the host is a segment of the path, and the other way round."""
    found: dict[Edit, set[int]] = defaultdict(set)
    for row, other, page in seen.pairs:
        for left, right in ((row, other), (other, row)):
            for edit in _moved(seen.parts[left], seen.parts[right]):
                found[edit].add(page)
    for edit, pages in sorted(found.items(), key=lambda item: (-len(item[1]), item[0].text)):
        if len(pages) >= LEAST_PAGES:
            yield edit
            if (turned := edit.inverse()) is not None:
                yield turned


def _moved(left: SeenParts, right: SeenParts) -> Iterator[Edit]:
    label, _, base = left.host.partition(".")
    if left.host == right.host or not base or not right.host.endswith(base):
        return
    for at in range(min(_FOLDERS_BEFORE + 1, len(right.segments))):
        is_it = right.segments[at].lower() == label and right.segments[at + 1 :] == left.segments
        if is_it and not any(segment.lower() == label for segment in right.segments[:at]):
            user = ShapeCapture("u")
            source = Shape(host=((user,), *((part,) for part in base.split("."))), path=((PATH,),))
            folders = tuple((segment,) for segment in right.segments[:at])
            target = Shape(host=((right.host,),), path=(*folders, (user,), (PATH,)), query=(REST,))
            yield Rewrite(source=source, target=target.written())
