"""The texts that an edit removes: whether they look like the page of a list, and have no effect.

A number above one is most likely a page of a list. What was seen to do nothing at 0 and 1, or as a word, says
nothing of larger numbers: votes for those are counted by themselves.

Whether they have no effect was seen of each part by itself, and with several values. An edit for lists that
removes all but the page number may be right on every list and never have met two searches; and a parameter
with one value says nothing about its others.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from undust.edits import Named, Rewrite, Several, ShapeCapture, ShapeParameter, is_somebodys
from undust.judging.effect import SUPPORTS
from undust.proposing import parts_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from undust.edits import Edit
    from undust.edits.shapes import Run
    from undust.judging import EditEffect


_MOST_VOTES = 300
"""Votes of an edit that are looked at."""
_LONGEST = 4
"""Digits of a number that may be the page of a list."""
_READ = "removal"
"""Where what was read of an edit is kept with it."""
_CLASSES = {"int": "[0-9]+", "hex": "[0-9a-fA-F]+", "alpha": "[A-Za-z]+"}
_MOST_LOOKED_AT = 400
"""Votes, and images that move, that are looked at."""
LEAST_OTHERS, LEAST_SHARE = 3, 0.15
"""At least this many proofs, and this share of them, come from values other than the most frequent."""
OF_ONE_VISITOR = 10
"""Proofs with one value that looks like a visitor's own: more pages than one has."""
PROOFS = 2
"""A part is idle if it differed between at least this many pairs of URLs of one page."""
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


class Excused(NamedTuple):
    """Failures that guards leave out and that count all the same: as much is to be expected elsewhere."""

    pages: float = 0.0
    numbers: int = 0
    """URLs in which a number above one was removed."""

    def with_more(self, other: Excused) -> Excused:
        """Return both together."""
        return Excused(self.pages + other.pages, self.numbers + other.numbers)


class NumberVotes(NamedTuple):
    """Votes about URLs in which an edit removes a number above one; each page is heard once for the edit."""

    right: float
    wrong: float
    silent: float


class RemovedPart(NamedTuple):
    """A part of a URL that an edit removes."""

    label: str
    """What it is called: a name, a family of names, or the place of a segment."""
    name: str
    text: str


def number_votes(effect: EditEffect, supports: float) -> NumberVotes:
    """Return how the votes of an edit speak where it removes the number of a page."""
    count = len(effect.ratios)
    if not effect.edit.removes or not count:
        return NumberVotes(0.0, 0.0, 0.0)
    some = np.arange(0, count, 1 + count // _MOST_VOTES)
    # What is wrong is rare, and all of it is heard.
    wrong = np.flatnonzero(effect.ratios < 0)[:_MOST_VOTES]
    sides = np.where(np.isin(effect.left, effect.moved), effect.left, effect.right)
    numbered = np.array([is_numbered(effect.edit, effect.texts[image]) for image in sides[some].tolist()])
    share = count / len(some)
    ratios = effect.ratios[some]
    bad = sum(is_numbered(effect.edit, effect.texts[image]) for image in sides[wrong].tolist())
    right = _pages(effect, some[numbered & (ratios >= supports)], share)
    silent = share * int((numbered & (ratios >= 0) & (ratios < supports)).sum())
    return NumberVotes(right, float(bad), silent)


def votes_beside_default(effect: EditEffect, supports: float) -> NumberVotes:
    """Return how the votes of an edit speak where it removes another value than the most frequent one.

    A value that most links have may be the default: that it does nothing says nothing of others.
    """
    count = len(effect.ratios)
    some = np.arange(0, count, 1 + count // _MOST_VOTES)
    # What is wrong is rare, and all of it is heard.
    some = np.union1d(some, np.flatnonzero(effect.ratios < 0)[:_MOST_VOTES])
    removed = [
        [(part.label, part.text) for image in sides for part in removed_by(effect.edit, effect.texts[image])]
        for sides in zip(effect.left[some].tolist(), effect.right[some].tolist(), strict=True)
    ]
    values: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for label, text in (part for parts in removed for part in parts):
        values[label][text] += 1
    usual = {label: max(texts, key=lambda text: (texts[text], text)) for label, texts in values.items()}
    # Where nothing is known of what is removed, as with labels of hosts, there is no default either.
    is_other = np.array(
        [not parts or any(text != usual[label] for label, text in parts) for parts in removed], np.bool_
    )
    ratios, group = effect.ratios[some], effect.group[some]
    wrong, silent = (
        len(np.unique(group[is_other & votes])) for votes in (ratios < 0, (ratios >= 0) & (ratios < supports))
    )
    share = count / len(some) if len(some) else 1.0
    right = _pages(effect, some[is_other & (ratios >= supports)], share)
    return NumberVotes(right, float(wrong), share * silent)


def _pages(effect: EditEffect, votes: NDArray[np.int64], share: float) -> float:
    """Return about how many pages votes are of, of which a share was looked at.

    Under several keys, with a session or without, a list is as short as it was: it says one thing once.
    """
    return min(share * len(np.unique(effect.page[votes])), float(effect.distinct_pages))


def is_numbered(edit: Edit, url: str) -> bool:
    """Return whether an edit removes from a URL what may be the page of a list."""
    return any(is_page_number(text) for text in texts_forgotten(edit, url))


def is_page_number(text: str) -> bool:
    """Return whether a text may say which page of a list is meant.

    >>> [is_page_number(text) for text in ("2", "150", "1", "0", "1692491576736", "new")]
    [True, True, False, False, False, False]
    """
    return text.isdigit() and text.isascii() and len(text) <= _LONGEST and int(text) > 1


def texts_forgotten(edit: Edit, url: str) -> Iterator[str]:
    """Yield the texts of a URL that an edit removes, as far as its shape shows them."""
    yield from (part.text for part in removed_by(edit, url))


def removed_by(edit: Edit, url: str) -> Iterator[RemovedPart]:
    """Yield the parts of a URL that an edit removes, as far as its shape shows them."""
    if isinstance(edit, Several):
        for part in edit.parts:
            yield from removed_by(part, url)
    if not isinstance(edit, Rewrite) or not edit.removes:
        return
    parts = parts_of(url)
    kept, named, lists, is_rest_kept = _read(edit)
    yield from _of_path(edit.source.path, parts.segments, kept)
    for parameter in filter(None, parts.query):
        name, _, value = parameter.partition("=")
        if name in named:
            run = named[name].value or ()
            is_whole = len(run) == 1 and isinstance(run[0], ShapeCapture) and run[0].name not in kept
            texts = [value] if is_whole else [*_of_run(run, value, kept).values()]
            yield from (RemovedPart(name, name, text) for text in texts)
            continue
        for listed, families, is_kept in lists:
            label = name if name in listed else _label(name, families)
            if label:
                if not is_kept:
                    yield RemovedPart(label, name, value)
                break
        else:
            if not is_rest_kept:
                yield RemovedPart(name, name, value)


class _Removal(NamedTuple):
    """What an edit says of the parameters of a URL."""

    kept: frozenset[str]
    """Captures that it writes."""
    named: dict[str, ShapeParameter]
    lists: list[tuple[frozenset[str], tuple[str, ...], bool]]
    """Of each list of names: those to look up, those to go through, and whether it is kept."""
    is_rest_kept: bool


def _read(edit: Rewrite) -> _Removal:
    """Return what an edit says of parameters; it is asked about hundreds of URLs, one after the other."""
    known = edit.__dict__.get(_READ)
    if known is None:
        kept = frozenset(capture.name for capture in edit.target.captures() if capture.form != "any")
        query = edit.source.query
        known = edit.__dict__[_READ] = _Removal(
            kept,
            {part.name: part for part in query if isinstance(part, ShapeParameter)},
            [_names_in(part, kept) for part in query if isinstance(part, Named)],
            any(isinstance(part, ShapeCapture) and part.is_many and part.name in kept for part in query),
        )
    found: _Removal = known
    return found


def _names_in(part: Named, kept: frozenset[str]) -> tuple[frozenset[str], tuple[str, ...], bool]:
    """Return the names of a list to look one up, or to go through if families are among them."""
    has_families = any(name.endswith("*") for name in part.names)
    return frozenset(() if has_families else part.names), part.names * has_families, part.capture in kept


def _label(name: str, names: tuple[str, ...]) -> str:
    """Return the name, or the family, under which a list of names has a parameter."""
    for each in names:
        if name == each or (each.endswith("*") and name.startswith(each[:-1])):
            return each
    return ""


def _of_path(path: tuple[Run, ...], segments: tuple[str, ...], kept: frozenset[str]) -> Iterator[RemovedPart]:
    """Yield what is removed from a path, from the end where its beginning is open."""
    if len(path) == 1 and isinstance(path[0][0], ShapeCapture) and path[0][0].is_many:
        if path[0][0].name not in kept:
            yield RemovedPart("/", "/", "/".join(segments))
        return
    for place, (run, segment) in enumerate(zip(reversed(path), reversed(segments), strict=False)):
        if any(isinstance(piece, ShapeCapture) and piece.is_many for piece in run):
            return
        for name, text in _of_run(run, segment, kept).items():
            label = f"/{place}{name}"
            yield RemovedPart(label, label, text)


def _of_run(run: Run, text: str, kept: frozenset[str]) -> dict[str, str]:
    pattern, names = compiled(run)
    found = pattern.fullmatch(text)
    if not found:
        return {}
    return {name: each for name, each in zip(names, found.groups(), strict=True) if name not in kept}


@lru_cache(1 << 10)
def compiled(run: Run) -> tuple[re.Pattern[str], tuple[str, ...]]:
    """Return a run as a regular expression with a group for each capture, and the names of those."""
    said = "".join(
        re.escape(piece) if isinstance(piece, str) else f"({_CLASSES.get(piece.kind, '.+?')})"
        for piece in run
    )
    return re.compile(said), tuple(piece.name for piece in run if isinstance(piece, ShapeCapture))


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
    if not edit.removes:
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
    group_of = dict(zip(effect.left.tolist(), effect.group.tolist(), strict=True))
    # A part that is never missing is in the URL that others come under, too.
    group_of |= zip(effect.right.tolist(), effect.group.tolist(), strict=True)
    numbers = [
        (tuple(sorted(part.text for part in parts)), group)
        for image, group in group_of.items()
        if (parts := [part for part in removed_by(effect.edit, effect.texts[image]) if _is_number(part.text)])
    ]
    # What changes keys alone moves no image.
    if not numbers or len(numbers) < LOSING_SHARE * (len(effect.moved) or len(group_of)):
        return False
    values: defaultdict[int, set[tuple[str, ...]]] = defaultdict(set)
    groups: defaultdict[tuple[str, ...], set[int]] = defaultdict(set)
    for removed, group in numbers:
        values[group].add(removed)
        groups[removed].add(group)
    idle = sum(len(values[group]) > 1 or len(groups[removed]) > 1 for removed, group in numbers)
    return idle < max(LEAST_OTHERS, LEAST_SHARE * len(numbers))


def _is_number(text: str) -> bool:
    return text.isdigit() and len(text) <= _LONGEST_NUMBER
