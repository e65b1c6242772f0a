"""What changes on the pages of a site from fetch to fetch, known from URLs whose pages have one text.

A counter, a clock or a token is a block that many pages have, and hardly ever twice with the same digits. One
of twenty lines, or an advertisement, is a block that many pages have, and no more often where the rest of the
text is the same. Both say nothing about which page it is. What belongs to a page is there at every fetch: of
two URLs of the page, both have it.

This is read where URLs of one text differ in nothing but what names no page: random codes and words that each
URL has for itself, long numbers, names of sessions, words of which pages show nothing. Where they differ in
anything else (`size=36`), what differs on the pages may be due to that, and says nothing.

What differs between such URLs more often than by chance distinguishes pages: of four sizes of a shoe each is
there once. Then the codes name pages, and nothing of these pages is taken for a change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust._core import components
from undust.pages.clustering.near_copies import ANCHORS, TITLE, candidates
from undust.pages.clustering.nodes import counted
from undust.pages.clustering.shapes import mixed
from undust.pages.facts import Passing, UrlShapes
from undust.reading.text import DIGITS_MASK, DIGITS_SHIFT, KEY_SHIFT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from undust.pages import SiteEvidence
    from undust.pages.clustering.shapes import Shapes

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Hashes = NDArray[np.uint64]

MOST_READ = 5_000
"""Pages that are read; of a larger site, all pages of some of its texts."""
ONE_TEXT = 0.6
"""So much of their words two pages share, what changes included, if they have one text."""
OWN_VALUES, PLAIN_VALUES = 0.7, 0.5
"""A part of URLs names no page by itself if it has this many values for each URL, and at most such a share of
them are plain numbers."""
URLS_OF_FORM = 10
"""URLs of one form that show by themselves which of their parts are such."""
MOST_OF_PAGE = 50
"""URLs of one page; more of one text are a list under many names."""
PAGES_WITH, TEXTS_WITH = 6, 2
"""Pages with a block, up to which none may have it twice by chance, and texts on whose pages it must be."""
STAYING, LASTING_TEXTS = 0.98, 10
"""Share of the pages with a number of which another of the group must have the same, and texts with it, for
it to stay at every fetch."""
MOST_LASTING = 16
"""Such numbers that are looked at, those of most pages."""
CHANCE, APART, DEPENDS = 2.0, 3.0, 4.0
"""Standard deviations from what is expected: of a block that changes, at most; of one that distinguishes
pages, and of one that depends on a value, at least."""
PAGES_OF_VALUE, MOST_PARAMETERS = 8, 20
"""Pages with most values of a parameter that show whether they depend on it, and parameters looked at."""
_PLAIN, _NUMBER = r"^[0-9]{1,7}$", r"^[0-9]*$"
_VISITS = r"(?i)^\?(?:utm_.*|fbclid|gclid|sid|phpsessid|jsessionid|session_?id|session|oscsid|zenid)$"
_NO_KEYS = np.zeros(0, np.int64)
_NOTHING = Passing(_NO_KEYS, _NO_KEYS, _NO_KEYS)


def passing_blocks(evidence: SiteEvidence, shapes: Shapes, rows: Ints) -> Passing:
    """Return what changes from fetch to fetch on the pages of a site.

    Args:
        evidence: Of the site.
        shapes: Of its URLs.
        rows: The pages that may be compared.

    """
    blocks = evidence.facts.blocks
    left, right = _of_one_text(evidence, rows)
    if not len(left):
        return _NOTHING
    text = np.asarray(pa.array(components(left, right, len(evidence.facts))))
    rows = np.unique(np.concatenate((left, right)))
    rows = rows[text[rows] % (1 + len(rows) // MOST_READ) == 0]
    is_own = _is_own(shapes) | _shown_nowhere(shapes, blocks, rows, text)[shapes.key]
    rest, _ = _rests(shapes, ~is_own)
    group = _numbered(mixed(text[rows].astype(np.uint64), rest[rows]))
    urls = np.bincount(group, minlength=1)[group]
    several = (urls > 1) & (urls <= MOST_OF_PAGE)
    return _passing(*_taken_apart(blocks, rows[several]), _numbered(group[several]))


def neighbours(shapes: Shapes) -> UrlShapes:
    """Return which URLs look alike, and which differ in one value, whatever each URL has for itself."""
    is_own = _is_own(shapes)
    if not is_own.any():
        return UrlShapes(shapes.skeleton, shapes.context, shapes.row)
    stays = ~is_own
    rest, entry = _rests(shapes, stays)
    row = shapes.row[stays]
    # URLs that differ in no other value do not count as neighbours: one of them stands for all.
    is_first = np.zeros(len(rest), np.bool_)
    is_first[np.unique(rest, return_index=True)[1]] = True
    context = _numbered(mixed(rest[row] - entry, shapes.key[stays].astype(np.uint64)))[is_first[row]]
    context = np.concatenate((shapes.context, shapes.context_count + context))
    return UrlShapes(shapes.skeleton, context, np.concatenate((shapes.row, row[is_first[row]])))


def _of_one_text(evidence: SiteEvidence, rows: Ints) -> tuple[Ints, Ints]:
    """Return pairs of rows whose pages share most words and their title, whatever else differs."""
    block, row = evidence.anchors(rows, ANCHORS)
    some = block % (1 + len(rows) // MOST_READ) == 0
    found = [(row[:0], row[:0])]
    for left, right in candidates(block[some], row[some]):
        features = evidence.features(left, right)
        is_one = (features[:, 0] >= ONE_TEXT) & (features[:, 5] >= TITLE)
        found.append((left[is_one], right[is_one]))
    left, right = (np.concatenate(each) for each in zip(*found, strict=True))
    return left, right


def _rests(shapes: Shapes, stays: Bools) -> tuple[Hashes, Hashes]:
    """Return a hash for what stays of each URL, and one for each entry that stays."""
    rest = mixed(shapes.place.astype(np.uint64), np.zeros(len(shapes.place), np.uint64))
    entry = mixed(shapes.key[stays].astype(np.uint64), shapes.value[stays].astype(np.uint64))
    np.add.at(rest, shapes.row[stays], entry)
    return rest, entry


def _is_own(shapes: Shapes) -> Bools:
    """Return of each entry whether each URL has such a value for itself, or it is known to name a visit."""
    is_plain = _match(shapes.value_texts, _PLAIN)
    is_visit = np.asarray(pc.match_substring_regex(shapes.key_names, _VISITS), np.bool_)
    urls = np.bincount(shapes.scope, minlength=1)[shapes.scope]
    of_form, of_key = (_has_own_values(part, shapes.value, is_plain) for part in (shapes.scope, shapes.key))
    return np.asarray(np.where(urls >= URLS_OF_FORM, of_form, of_key) | is_visit[shapes.key], np.bool_)


def _has_own_values(part: Ints, value: Ints, is_plain: Bools) -> Bools:
    """Return of each entry whether the entries of its part have most values once, and few plain numbers.

    >>> part, value = np.array([0, 0, 0, 1, 1, 1, 2, 2]), np.array([0, 1, 2, 3, 3, 3, 4, 5])
    >>> _has_own_values(part, value, np.arange(6) >= 4).tolist()
    [True, True, True, False, False, False, False, False]
    """
    urls = np.bincount(part, minlength=1)
    values = np.bincount(counted(part, value)[0], minlength=len(urls))
    plain = np.bincount(part, is_plain[value], minlength=len(urls))
    return np.asarray(((values >= OWN_VALUES * urls) & (plain <= PLAIN_VALUES * urls))[part], np.bool_)


def _shown_nowhere(shapes: Shapes, blocks: pa.Array, rows: Ints, text: Ints) -> Bools:
    """Return of each parameter whether pages show nothing that depends on its values, all of them words.

    A size, a colour or a currency is on the pages that it is asked for; where a visitor comes from does
    not. It takes several texts with each value to see that.
    """
    found = np.zeros(len(shapes.key_names), np.bool_)
    is_number = _match(shapes.value_texts, _NUMBER)
    page, block = _taken_apart(blocks, rows)
    page, shown, _ = counted(page, _numbered(block >> DIGITS_SHIFT))
    having = np.bincount(shown)
    for key, entries in _parameters(shapes, rows):
        if is_number[shapes.value[entries]].any():
            continue
        value = np.full(len(shapes.skeleton), -1, np.int64)
        value[shapes.row[entries]] = shapes.value[entries]
        number = _numbered(value[rows])
        pages, texts = np.bincount(number), np.bincount(counted(number, text[rows])[0])
        is_seen = (pages[number] >= PAGES_OF_VALUE).mean() >= OWN_VALUES and not (texts < pages / 2).any()
        if len(pages) > 1 and is_seen:
            asked, what, together = counted(number[page], shown)
            expected = pages[asked] * having[what] / len(rows)
            found[key] = not (together > expected + DEPENDS * np.sqrt(expected) + 2).any()
    return found


def _parameters(shapes: Shapes, rows: Ints) -> Iterator[tuple[int, Ints]]:
    """Yield the parameters that most of some URLs have, each with its entries there."""
    inside = np.flatnonzero(np.isin(shapes.row, rows) & shapes.is_named[shapes.key])
    urls = np.bincount(shapes.key[inside], minlength=1)
    often = np.argsort(-urls, kind="stable")[:MOST_PARAMETERS]
    for key in often[urls[often] >= PAGES_OF_VALUE].tolist():
        yield key, inside[shapes.key[inside] == key]


def _taken_apart(blocks: pa.Array, rows: Ints) -> tuple[Ints, Ints]:
    """Return the blocks of some pages, and before them for each the place of its page among these."""
    some = blocks.take(pa.array(rows))
    sizes = np.asarray(pc.fill_null(pc.list_value_length(some), 0), np.int64)
    return np.repeat(np.arange(len(rows)), sizes), np.asarray(some.flatten(), np.int64)


def _passing(page: Ints, block: Ints, group: Ints) -> Passing:
    """Return the blocks that pages of one group share by chance; none if some distinguish these pages."""
    if not len(block):
        return _NOTHING
    has_digits = block >> DIGITS_SHIFT & DIGITS_MASK > 0
    with_digits = _by_chance(block[has_digits] >> DIGITS_SHIFT, page[has_digits], group, digits=True)
    rest = ~np.isin(block >> KEY_SHIFT, with_digits.by_chance)
    whole = _by_chance(block[rest] >> KEY_SHIFT, page[rest], group, digits=False)
    if with_digits.tell_apart or whole.tell_apart:
        return _NOTHING._replace(lasting=with_digits.lasting)
    return Passing(with_digits.by_chance, whole.by_chance, with_digits.lasting)


class _Shared(NamedTuple):
    """How pages of one group share blocks."""

    by_chance: Ints
    """Keys that they share no more often than pages of different groups do."""
    lasting: Ints
    """Keys that they share always, with digits that few pages of different groups share."""
    tell_apart: bool
    """Whether they share any less often than by chance."""


def _by_chance(what: Ints, page: Ints, group: Ints, *, digits: bool) -> _Shared:
    """Return which keys pages of one group share by chance, and which always.

    Args:
        what: Keys of blocks, or keys with digits: then these must be equal as well.
        page: Of each: the page that has it.
        group: Of each page.
        digits: Whether keys have digits.

    """
    what, page, _ = counted(what, page)
    key = what >> (KEY_SHIFT - DIGITS_SHIFT) if digits else what
    keys, owner = np.unique(key, return_inverse=True)
    code, of_group = _numbered(what), group[page]
    together = _numbered(code * (int(group.max(initial=0)) + 1) + of_group)
    has_partner = np.bincount(together)[together] > 1
    # That pages have a number says nothing of which one; that they have a block is asked of all pages.
    among = np.bincount(counted(owner, page)[0])[owner] if digits else np.full(len(key), len(group))
    share = np.minimum((np.bincount(code)[code] - 1) / np.maximum(among - 1, 1), 1.0)
    chance = 1 - (1 - share) ** (np.bincount(group)[of_group] - 1)
    having, seen, expected = (np.bincount(owner, each) for each in (np.ones(len(key)), has_partner, chance))
    texts = np.bincount(counted(owner, of_group)[0])
    # A partner of a page has that page as its own: partners come in twos.
    deviation = np.sqrt(2 * expected)
    most = np.minimum(expected + CHANCE * deviation + 2, (expected + having) / 2)
    is_passing = (seen <= np.where(having >= PAGES_WITH, most, 0.0)) & (texts >= TEXTS_WITH)
    is_passing &= digits | (having <= len(group) / 2)
    is_lasting = (seen >= STAYING * having) & (expected <= having / 2) & (texts >= LASTING_TEXTS)
    often = np.flatnonzero(is_lasting)[np.argsort(-having[is_lasting], kind="stable")][:MOST_LASTING]
    return _Shared(keys[is_passing], keys[often], bool((seen < expected - APART * deviation - 1).any()))


def _match(texts: pa.Array, pattern: str) -> Bools:
    return np.asarray(pc.fill_null(pc.match_substring_regex(texts, pattern), True), np.bool_)  # noqa: FBT003


def _numbered(values: NDArray[np.integer]) -> Ints:
    return np.asarray(np.unique(values, return_inverse=True)[1].reshape(-1), np.int64)
