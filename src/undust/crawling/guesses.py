"""From two URLs with the same text to edits that may explain it: guesses, each of which has to pass tests.

The learner of whole inputs wants several pages before it proposes anything. A crawl that waits for them
fetches most duplicates first. One pair is enough for a guess, and a guess that is wrong costs nothing: the
URLs that test it would have been fetched without it.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import unquote

from undust.crawling.rule_tests import CHOICE_PAGES, FEW_PAGES, NUMBER_PAGES, VISIT_PAGES
from undust.edits import DROP, Guard, ShapeCapture, making
from undust.proposing import parts_of
from undust.proposing.idle_parts import is_plain
from undust.proposing.places import differing, respellings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from undust.edits import Edit
    from undust.proposing import SeenParts

GUESS = "guess"
"""What `learned_by` says of such a rule."""
MOST_DIFFERENT = 3
"""Parameters in which two URLs of a guess may differ."""
LONGEST_VALUE = 40
"""Characters of a value that is written."""
LEAST_VALUES, MOSTLY = 3, 0.6
_RANDOM = re.compile(r"=(?=[^&]*\d)[A-Za-z0-9_-]{4,}&?$")
"""A parameter names a visit if it has this many values, such a share of all are different, and such a share
of them looks like this."""
_COUNTS = re.compile(r"=(?!0*[01]\b)\d{1,4}&?$")
"""Of a parameter: a number above one that may count pages."""
_WORD = re.compile(r"[A-Za-z_.]{1,16}")
"""A segment that is not the name of a page."""
_ENDING = re.compile(r"\.[A-Za-z0-9]{1,8}$")


def guesses(one: str, other: str) -> Iterator[Edit]:
    """Yield the edits that may make one of two URLs of a page the other, the most general first.

    >>> print(next(guesses("http://a.test/i?id=1&sid=4f1e", "http://a.test/i?id=1")).text)
    rewrite {s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p}?{rest}
    """
    left, right = sorted((parts_of(one), parts_of(other)), key=lambda parts: (len(str(parts)), parts))
    if left[:3] == right[:3]:
        yield from _of_queries(left, right)
    elif left[1:] == right[1:]:
        yield making.scheme_to("https")
    elif (left.scheme, *left[2:]) == (right.scheme, *right[2:]):
        yield making.host_to(right.host, left.host)
        yield making.host_to(left.host, right.host)
    elif (*left[:2], left.query) == (*right[:2], right.query):
        yield from _of_paths(left, right)
    yield from _of_numbers(left, right)


def _of_queries(left: SeenParts, right: SeenParts) -> Iterator[Edit]:
    ours, theirs = Counter(left.query), Counter(right.query)
    if ours == theirs:
        yield making.respelled("sorted")
    elif set(ours) == set(theirs):
        yield making.respelled("unique")
    different = sorted((ours - theirs) + (theirs - ours))
    names = {text.partition("=")[0] for text in different}
    names = {name for name in names if is_plain(name)}
    if not names or len(names) > MOST_DIFFERENT:
        return
    heads = Counter(name.partition("_")[0] for name in names if "_" in name)
    yield from (making.dropped(f"{head}_*") for head, count in sorted(heads.items()) if head and count > 1)
    yield from (making.dropped(name) for name in sorted(names))
    for text in different:
        name, equals, value = text.partition("=")
        if is_plain(name) and len(value) <= LONGEST_VALUE:
            yield making.dropped_value(name, value if equals else None)
    for form in ("plain", "lower"):
        yield making.respelled(form)


def _of_paths(left: SeenParts, right: SeenParts) -> Iterator[Edit]:
    short, long = left.segments, right.segments
    if len(short) > len(long):
        short, long = long, short
    if [*filter(None, short)] == [*filter(None, long)]:
        yield making.swapped("//", "/")
        yield making.without_slash()
    for form, same in (("lower", str.lower), ("plain", unquote)):
        if [*map(same, short)] == [*map(same, long)]:
            yield making.respelled(form, path=True)
    yield from _of_segments(short, long)


def _of_segments(short: tuple[str, ...], long: tuple[str, ...]) -> Iterator[Edit]:
    if long[:-1] == short:
        yield making.last_segment_dropped(long[-1], slash=False)
    if short[-1] == "" and long[:-1] == short[:-1]:
        yield making.last_segment_dropped(long[-1], slash=True)
    if long[1:] == short and _WORD.fullmatch(long[0]):
        yield making.first_segment_dropped(long[0])
    if len(long) > 1 and (long[0], *long[2:]) == short and _WORD.fullmatch(long[1]):
        yield making.second_segment_dropped(long[1])
    if short[:-1] == long[:-1]:
        for name, bare in ((short[-1], long[-1]), (long[-1], short[-1])):
            ending = _ENDING.search(name)
            if ending and name == bare + ending[0]:
                yield making.ending_dropped(ending[0])


def _of_numbers(left: SeenParts, right: SeenParts) -> Iterator[Edit]:
    if found := differing(left, right):
        yield from respellings(left, found)


def needed_tests(edit: Edit, values: Collection[str]) -> int:
    """Return for how many pages a guess must hold, by what it leaves out on the site.

    A text that is another one nearly every time names a visit. One of few may be a choice, which changes
    long lists and leaves short ones as they are: that takes many pages to see. A small number counts the
    pages of a list, and where there is no such page many sites show another one.
    """
    if edit.operation == DROP and any(map(_COUNTS.search, values)):
        return NUMBER_PAGES
    if edit.operation != DROP or not edit.forgets:
        return FEW_PAGES
    different = set(values)
    is_random = sum(_RANDOM.search(value) is not None for value in different) >= MOSTLY * len(different)
    is_visit = is_random and len(different) >= max(LEAST_VALUES, MOSTLY * len(values))
    return VISIT_PAGES if is_visit else CHOICE_PAGES


def narrowed(edit: Edit, url: str) -> Iterator[Edit]:
    """Yield an edit that fails elsewhere for URLs like one: in its folder, or with its parameters.

    >>> found = narrowed(making.dropped("order"), "http://a.test/ticket/7?order=id")
    >>> next(found).text.partition(" when ")[2]
    '/ticket/{**}'
    """
    parts = parts_of(url)
    if len(parts.segments) > 1 and parts.segments[0]:
        yield edit.guarded(when=[Guard(path=((parts.segments[0],), (ShapeCapture(is_many=True),)))])
