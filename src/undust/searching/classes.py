"""Classes of URLs that keep what fails apart from what holds, after a site was asked about some of both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from undust.edits import ShapeCapture
from undust.searching.guard_index import GuardIndex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.edits import Guard

_MOST, _LEAST_URLS = 3, 3
"""Classes that are named, at most, and URLs of each, at least: fewer are single pages."""


def classes_apart(right: Sequence[str], wrong: Sequence[str], every: Sequence[str]) -> list[str]:
    """Return guards that all URLs meet where a rule is wrong, and none where it is right, the widest first.

    A single value of a parameter is no class: where one order of a list differs, the next one may, too.

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
