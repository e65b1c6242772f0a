"""Labels of hosts that are segments of a path elsewhere."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from undust.edits import Rewrite, Shape, ShapeCapture
from undust.edits.shapes import PATH, REST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undust.edits import Edit
    from undust.proposing.seen import SeenParts, SeenSite

LEAST_PAGES = 3
_FOLDERS = 2
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
    for at in range(min(_FOLDERS + 1, len(right.segments))):
        is_it = right.segments[at].lower() == label and right.segments[at + 1 :] == left.segments
        if is_it and not any(segment.lower() == label for segment in right.segments[:at]):
            user = ShapeCapture("u")
            source = Shape(host=((user,), *((part,) for part in base.split("."))), path=((PATH,),))
            folders = tuple((segment,) for segment in right.segments[:at])
            target = Shape(host=((right.host,),), path=(*folders, (user,), (PATH,)), query=(REST,))
            yield Rewrite(source=source, target=target.written())
