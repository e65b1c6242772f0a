"""The parts of a site's URLs, and those that may do nothing: parameters, defaults, ways of writing, hosts.

Proposers look at one URL of each key, in parts, and at which of them show one page.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import cached_property, lru_cache
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from undust.edits import Guard, Rewrite, Shape, ShapeCapture, ShapeParameter, making
from undust.edits.shapes import PATH, REST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from undust.edits import Edit
    from undust.edits.shapes import Run
    from undust.judging import KeyState

    Propose = Callable[["SeenSite"], Iterable[Edit]]


_FEW = 6
"""Of a page with more URLs than this, only some pairs are compared."""


USUAL_PARTS = 16
"""Segments, and parameters, of a usual URL. Of 24 real sites none has more than 13."""


class SeenParts(NamedTuple):
    """A URL in normal form, in parts as written."""

    scheme: str
    host: str
    segments: tuple[str, ...]
    query: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return tuple(parameter.partition("=")[0] for parameter in self.query)

    @property
    def has_usual_length(self) -> bool:
        """Whether it has no more segments and parameters than URLs of real sites."""
        return len(self.segments) <= USUAL_PARTS and len(self.query) <= USUAL_PARTS


@lru_cache(1 << 14)
def parts_of(url: str) -> SeenParts:
    """Return the parts of a URL in normal form."""
    scheme, _, rest = url.partition("://")
    rest, _, query = rest.partition("?")
    host, _, path = rest.partition("/")
    return SeenParts(scheme, host, tuple(path.split("/")), tuple(query.split("&")) if query else ())


class SeenSite:
    """One image of each key whose page is known, with that page.

    Args:
        state: The current URLs.
        held: Pages that are not looked at; what is proposed can be tested on them.

    """

    def __init__(self, state: KeyState, held: NDArray[np.bool_] | None = None) -> None:
        self.site = state.site.name
        is_seen = state.site.is_labelled[state.speaker]
        rows = np.flatnonzero(is_seen if held is None else is_seen & ~held[state.page_of_key])
        texts = state.image_texts
        self.urls = [texts[image] for image in state.image_of_key[rows].tolist()]
        self.pages: list[int] = state.site.page[state.speaker[rows]].tolist()
        self._offered: dict[Propose, list[Edit]] = {}

    def offered(self, propose: Propose) -> list[Edit]:
        """Return what a proposer offers; the same as long as the URLs stay where they are."""
        if propose not in self._offered:
            self._offered[propose] = list(propose(self))
        return self._offered[propose]

    @cached_property
    def parts(self) -> list[SeenParts]:
        """Each URL in parts."""
        return [parts_of(url) for url in self.urls]

    @cached_property
    def usual_parts(self) -> list[SeenParts]:
        """Those of usual length: hundreds of parameters in a URL have thousands of values, pairs and sets."""
        return [parts for parts in self.parts if parts.has_usual_length]

    @cached_property
    def names(self) -> Counter[str]:
        """How many URLs have each parameter."""
        return Counter(name for parts in self.parts for name in set(parts.names))

    @cached_property
    def of_page(self) -> dict[int, list[int]]:
        """The rows of each page that has several of usual length, the shortest URL first.

        Two URLs of hundreds of parameters take long to compare, and differ in more than an edit can say.
        """
        every = rows_of_pages(self.urls, self.pages)
        if len(self.usual_parts) == len(self.parts):
            return every
        short = [parts.has_usual_length for parts in self.parts]
        usual = {page: [row for row in rows if short[row]] for page, rows in every.items()}
        return {page: rows for page, rows in usual.items() if len(rows) > 1}

    @cached_property
    def pairs(self) -> list[tuple[int, int, int]]:
        """Pairs of a page's rows with that page: all of few, else neighbours and those with the shortest."""
        return [(left, right, page) for page, rows in self.of_page.items() for left, right in _pairs(rows)]


def rows_of_pages(urls: Sequence[str], pages: Sequence[int]) -> dict[int, list[int]]:
    """Return the rows of each page that has several, the shortest URL first.

    >>> rows_of_pages(["a/long", "b", "a"], [7, 8, 7])
    {7: [2, 0]}
    """
    found: dict[int, list[int]] = defaultdict(list)
    for row, page in enumerate(pages):
        found[page].append(row)
    return {
        page: sorted(rows, key=lambda row: (len(urls[row]), urls[row]))
        for page, rows in found.items()
        if len(rows) > 1
    }


def _pairs(rows: list[int]) -> Iterator[tuple[int, int]]:
    if len(rows) <= _FEW:
        yield from combinations(rows, 2)
        return
    step = max(1, len(rows) // (4 * _FEW))
    some = rows[: 4 * _FEW * step : step]
    near = {(left, right) for left in some[:3] for right in some if left != right}
    near |= set(pairwise(some)) | set(zip(some, some[2:], strict=False))
    yield from sorted({(min(pair), max(pair)) for pair in near})


def frequent(counts: Counter[str], least: int, most: int) -> list[str]:
    """Return the most frequent texts, by count and then by text."""
    if len(counts) > most:
        # Of hundreds of thousands only those that may be among the first are put in order.
        least = max(least, sorted(counts.values(), reverse=True)[most - 1])
    ranked = sorted((item for item in counts.items() if item[1] >= least), key=lambda it: (-it[1], it[0]))
    return [text for text, _ in ranked[:most]]


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
    """Yield that parameters are removed: one, a family, several that come together, all but some."""
    names = [name for name in frequent(seen.names, 2, _NAMES) if is_plain(name)]
    for name in names:
        yield making.dropped(name)
        yield making.masked(name)
    yield from _families(names)
    sets = Counter(frozenset(filter(is_plain, parts.names)) for parts in seen.usual_parts)
    yield from _together(sets, names)
    yield from _only(sets)
    yield from _apart(seen)
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


def _apart(seen: SeenSite) -> Iterator[Edit]:
    """Yield that all parameters are removed in which URLs of one page differ, if they differ in nothing else.

    Where each URL has some of them, with values of its own, the removal of one merges nothing.
    """
    pages: defaultdict[str, set[int]] = defaultdict(set)
    for left, right, page in seen.pairs:
        ours, theirs = seen.parts[left], seen.parts[right]
        if (ours.host, ours.segments) == (theirs.host, theirs.segments):
            for parameter in set(ours.query) ^ set(theirs.query):
                pages[parameter.partition("=")[0]].add(page)
    counts = Counter({name: len(some) for name, some in pages.items() if is_plain(name)})
    names = frequent(counts, LEAST_PAGES, _TOGETHER)
    yield from (making.dropped(*names[:some]) for some in range(3, len(names) + 1))


def _behind_semicolons(seen: SeenSite) -> Iterator[Edit]:
    """Yield the same for the text after a `;`, which then separates parameters."""
    queries = (parameter for each in seen.usual_parts for parameter in each.query)
    parts = (part for parameter in queries for part in parameter.split(";")[1:])
    names = Counter(part.partition("=")[0] for part in parts)
    some = [name for name in frequent(names, 3, _NAMES // 10) if is_plain(name)]
    yield from (making.separated_by_ampersands(making.dropped(name)) for name in some)
    for left, right in combinations(some[:_LARGEST], 2):
        yield making.separated_by_ampersands(making.dropped(left, right))


def lone_parameters(seen: SeenSite) -> Iterator[Edit]:
    """Yield parameters that may mean something only beside others: `ns` on a page, and `do=media&ns`."""
    alone = Counter(parts.names[0] for parts in seen.parts if len(parts.query) == 1)
    for name in frequent(alone, LEAST_PAGES, _NAMES):
        if is_plain(name) and seen.names[name] > alone[name]:
            yield making.dropped_alone(name)


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


def on_one_path(seen: SeenSite) -> Iterator[Edit]:
    """Yield that a page which a parameter names is at one place, with what else has to be said there.

    A product is at `/c-books?id=7`, in whatever category, and at `/index.php?id=7&route=product`.
    """
    found: defaultdict[tuple[int, str, SeenParts], set[int]] = defaultdict(set)
    for row, other, page in seen.pairs:
        for ours, theirs in ((seen.parts[row], seen.parts[other]), (seen.parts[other], seen.parts[row])):
            more = [parameter for parameter in theirs.query if parameter not in ours.query]
            if len(ours.query) != 1 or len(theirs.query) != 1 + len(more) or not more:
                continue
            (name,) = ours.names
            if ours.host == theirs.host and all(
                map(is_plain, (name, *(each.partition("=")[0] for each in more)))
            ):
                place = SeenParts("", "", theirs.segments, tuple(sorted(more)))
                found[len(ours.segments), name, place].add(page)
    ranked = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
    for (depth, name, place), pages in ranked[:SETS]:
        if len(pages) >= LEAST_PAGES and sum(map(len, place.query)) <= _LONGEST:
            yield making.on_one_path(depth, name, place.segments, place.query)


def defaults(seen: SeenSite) -> Iterator[Edit]:
    """Yield that a frequent value of a parameter is what the site takes anyway."""
    counts = Counter(parameter for parts in seen.usual_parts for parameter in set(parts.query))
    for parameter in frequent(counts, 3, _VALUES):
        name, equals, value = parameter.partition("=")
        if is_plain(name) and len(value) <= _LONGEST:
            yield making.dropped_value(name, value if equals else None)


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


_FOLDERS_BEFORE = 2
"""Segments before the label's place in a path, at most."""


def labels(seen: SeenSite) -> Iterator[Edit]:
    """Yield that a label of the host is a segment of the path, and the reverse."""
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
        both = _one_name(label, right.segments[at].lower())
        # The root of a host is one empty segment, and a folder's may be none.
        is_it = right.segments[at + 1 :] == left.segments or (
            left.segments == ("",) and not right.segments[at + 1 :]
        )
        if is_it and both and not any(segment.lower() == label for segment in right.segments[:at]):
            ours, theirs = both
            source = Shape(host=(ours, *((part,) for part in base.split("."))), path=((PATH,),))
            folders = tuple((segment,) for segment in right.segments[:at])
            target = Shape(host=((right.host,),), path=(*folders, theirs, (PATH,)), query=(REST,))
            yield Rewrite(source=source, target=target.written())


def _one_name(label: str, segment: str) -> tuple[Run, Run] | None:
    """Return how a label and a segment write one name, which has a word or a sign more in one of them.

    >>> ["".join(map(str, run)) for run in _one_name("ann-blog", "ann") or ()]
    ['{u}-blog', '{u}']
    """
    user = ShapeCapture("u")
    shorter, longer = sorted((label, segment), key=len)
    if not shorter or not (longer.startswith(shorter) or longer.endswith(shorter)):
        return None
    before, _, behind = longer.partition(shorter)
    if before[-1:].isalnum() or behind[:1].isalnum():
        return None
    run: Run = tuple(piece for piece in (before, user, behind) if piece)
    return ((user,), run) if len(segment) >= len(label) else (run, (user,))
