"""Whether what an edit removes was seen to have no effect: each part by itself, and with several values.

An edit for lists that removes all but the page number may be right on every list and never have met two
searches; and a parameter with one value says nothing about its others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import numpy as np

from undust.edits import is_somebodys
from undust.judging.effect import SUPPORTS
from undust.searching.forgotten import is_page_number, removed_by

if TYPE_CHECKING:
    from undust.judging import EditEffect

_MOST_LOOKED_AT = 400
"""Votes, and images that move, that are looked at."""
LEAST_OTHERS, LEAST_SHARE = 3, 0.15
"""At least this many proofs, and this share of them, come from values other than the most frequent."""
OF_ONE_VISITOR = 10
"""Proofs with one value that looks like a visitor's own: more pages than one has."""
PROOFS = 2
"""A part is idle if it differed between so many pairs of URLs of one page."""
UNPROVED = 0.02
"""Of the URLs that an edit changes, at most this share may have a part that it removes untested, none if that
may be the page of a list."""
NAMES_OF_FAMILY, _COMMON_FAMILIES = 3, frozenset({"utm_*"})
"""Names of a family that must be idle; two are enough for one that no site has for itself, because other
sites add it to links to count visits."""
LOSING_SHARE = 0.5
"""Share of the changed URLs that must lose a number before the edit is one about numbers."""
_FOUND = "untested_parts"
"""Where what was found of an effect is kept with it."""
_LONGEST_NUMBER = 9
"""Digits; longer numbers are times and tokens."""


def is_varied(effect: EditEffect) -> bool:
    """Return whether each part that an edit removes was seen to be idle."""
    return not untested_parts(effect)


def untested_parts(effect: EditEffect) -> frozenset[str]:
    """Return the parts that an edit removes from many URLs and that were not seen to be idle."""
    # Several stages ask about the same effect.
    if _FOUND not in effect.__dict__:
        effect.__dict__[_FOUND] = _untested_parts(effect)
    found: frozenset[str] = effect.__dict__[_FOUND]
    return found


def _untested_parts(effect: EditEffect) -> frozenset[str]:
    edit = effect.edit
    if not edit.forgets:
        return frozenset()
    values: defaultdict[str, Counter[str]] = defaultdict(Counter)
    differs: Counter[str] = Counter()
    names: defaultdict[str, Counter[str]] = defaultdict(Counter)
    votes = np.flatnonzero(effect.ratios >= SUPPORTS)
    for vote in votes[:: 1 + len(votes) // _MOST_LOOKED_AT].tolist():
        sides = [
            {part.name: part for part in removed_by(edit, effect.texts[side])}
            for side in (int(effect.left[vote]), int(effect.right[vote]))
        ]
        apart: set[str] = set()
        for name in sides[0].keys() | sides[1].keys():
            ours, theirs = sides[0].get(name), sides[1].get(name)
            if (ours and ours.text) != (theirs and theirs.text):
                part = ours or theirs
                assert part is not None  # noqa: S101 -- the name is of one of them
                apart.add(part.label)
                names[part.label][name] += 1
                for each in (ours, theirs):
                    if each:
                        values[each.label][each.text] += 1
        differs.update(apart)
    moved = effect.moved[:: 1 + len(effect.moved) // _MOST_LOOKED_AT].tolist()
    has: Counter[str] = Counter()
    numbered: set[str] = set()
    for image in moved:
        parts = list(removed_by(edit, effect.texts[image]))
        has.update({part.label for part in parts})
        numbered.update(part.label for part in parts if is_page_number(part.text))
    several = {
        label
        for label in has
        if differs[label] >= PROOFS and _are_several(label, values[label], names[label])
    }
    return frozenset(
        label
        for label, count in has.items()
        if label not in several and (count > UNPROVED * len(moved) or label in numbered)
    )


def _are_several(label: str, values: Counter[str], names: Counter[str]) -> bool:
    frequent = max(values, key=lambda text: (values[text], text), default="")
    if values[frequent] >= OF_ONE_VISITOR and is_somebodys(frequent):
        # A session id that is the same on all pages names none of them, and others have another one.
        return True
    others = values.total() - values[frequent]
    if others < LEAST_OTHERS or others < LEAST_SHARE * values.total():
        return False
    if not label.endswith("*"):
        return True
    least = PROOFS if label in _COMMON_FAMILIES else NAMES_OF_FAMILY
    return sum(count >= PROOFS for count in names.values()) >= least


def may_name_versions(effect: EditEffect) -> bool:
    """Return whether an edit removes numbers that were never seen to be without meaning.

    A wiki shows every revision of a page at `?title=Tea&oldid=417`. A revision differs from the page as
    little as two fetches of one page do, so content does not show whether it matters. The URLs can: a number
    that does not matter is seen with several values on one page (`sid=1`, `sid=2`), or with one value on
    several pages (`print=1`). A number that belongs to one page, and is the only one there, may name a
    version of it.
    """
    numbers = [
        (tuple(sorted(part.text for part in parts)), page)
        for image, page in zip(*_sides(effect), strict=True)
        if (parts := [part for part in removed_by(effect.edit, effect.texts[image]) if _is_number(part.text)])
    ]
    if len(numbers) < LOSING_SHARE * len(effect.moved):
        return False
    values: defaultdict[int, set[tuple[str, ...]]] = defaultdict(set)
    pages: defaultdict[tuple[str, ...], set[int]] = defaultdict(set)
    for removed, page in numbers:
        values[page].add(removed)
        pages[removed].add(page)
    idle = sum(len(values[page]) > 1 or len(pages[removed]) > 1 for removed, page in numbers)
    return idle < max(LEAST_OTHERS, LEAST_SHARE * len(numbers))


def _sides(effect: EditEffect) -> tuple[list[int], list[int]]:
    """Return the images that an edit moves to where another one is, and the group of each."""
    sides = np.where(np.isin(effect.left, effect.moved), effect.left, effect.right)
    return sides.tolist(), effect.group.tolist()


def _is_number(text: str) -> bool:
    return text.isdigit() and len(text) <= _LONGEST_NUMBER
