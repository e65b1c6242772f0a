"""What changes on pages from fetch to fetch, known from URLs that show one text.

A counter, a clock or a token is a block that many pages have, and never twice with the same digits. One of
twenty lines, or an advertisement, is a block that many pages have, but not more often beside itself on a page
of the same text. Both say nothing about which page it is. What is on a page because of the page is there at
every fetch: of two URLs of it, both have it.

That is seen where URLs of one text differ in nothing but what names no page: random codes and words that each
URL has for itself, long numbers, names of sessions. Where they differ in a value that others have too
(`size=36`), what differs on the pages may be due to that, and says nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust._core import components
from undust.pages.clustering.near_copies import candidates
from undust.pages.clustering.nodes import counted
from undust.pages.clustering.shapes import mixed
from undust.pages.facts import Passing, UrlShapes
from undust.reading.text import DIGITS_MASK, DIGITS_SHIFT, KEY_SHIFT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from undust.pages import SiteEvidence
    from undust.pages.clustering.shapes import Shapes

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]
    Hashes = NDArray[np.uint64]

ANCHORS = 8
MOST_ROWS = 20_000
SHARED, TITLE = 0.6, 0.9
"""So much of the words, and of the title, pages must share to be looked at as one text."""
OWN_VALUES = 0.7
"""A part of URLs is one that each URL has for itself if it has this many values for each URL."""
PLAIN = 0.5
"""At most this share of such values may be plain numbers."""
LEAST_URLS = 10
"""URLs of one form that say by themselves which of their parts are such."""
MOST_ALIKE = 50
"""Pages with one text of which more are a list under many names, and no page with many URLs."""
FEW, LEAST_TEXTS = 6, 2
"""Pages with a block of which one may have it twice by chance, and texts on whose pages it must be."""
SLACK, APART = 2.0, 3.0
"""Deviations from what is expected by chance."""
LEAST_VALUES, LEAST_SHOWN, SURELY = 2, 8, 4.0
"""Values of a parameter, pages with most of them, and deviations of what depends on a value, at least."""
_NUMBER = r"^[0-9]*$"
_PLAIN = r"^[0-9]{1,7}$"
_VISITS = r"(?i)^\?(?:utm_.*|fbclid|gclid|sid|phpsessid|jsessionid|session_?id|session|oscsid|zenid)$"


def passing_blocks(evidence: SiteEvidence, shapes: Shapes, rows: Ints) -> Passing:
    """Return what changes from fetch to fetch on the pages of a site."""
    nothing = Passing(np.zeros(0, np.int64), np.zeros(0, np.int64))
    block, row = evidence.anchors(rows, ANCHORS)
    if not len(row):
        return nothing
    step = 1 + len(rows) // MOST_ROWS
    some = block % step == 0
    pairs = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
    for left, right in candidates(block[some], row[some]):
        features = evidence.features(left, right)
        alike = (features[:, 0] >= SHARED) & (features[:, 5] >= TITLE)
        pairs.append((left[alike], right[alike]))
    left, right = (np.concatenate(each) for each in zip(*pairs, strict=True))
    if not len(left):
        return nothing
    text = np.asarray(pa.array(components(left, right, len(evidence.facts))))
    in_text = np.zeros(len(text), np.bool_)
    in_text[left] = in_text[right] = True
    rows = np.flatnonzero(in_text)
    own = _is_own(shapes) | _shows_nowhere(shapes, evidence.facts.blocks, rows, text)[shapes.key]
    rest = _rests(shapes, ~own)[0]
    group = np.unique(mixed(text[rows].astype(np.uint64), rest[rows]), return_inverse=True)[1].reshape(-1)
    alike = np.bincount(group)[group]
    several = (alike > 1) & (alike <= MOST_ALIKE)
    return _unrelated(evidence.facts.blocks, rows[several], group[several])


def _shows_nowhere(shapes: Shapes, blocks: pa.Array, rows: Ints, text: Ints) -> Bools:
    """Return of each parameter whether pages show nothing that depends on its values, all of them words.

    A size, a colour or a currency stands on the pages that it is asked for, whatever else differs there; where
    visitors come from does not.
    """
    found = np.zeros(len(shapes.key_names), np.bool_)
    plain = np.asarray(pc.fill_null(pc.match_substring_regex(shapes.value_texts, _NUMBER), True), np.bool_)
    page, what = _explode(blocks, rows)
    what = np.unique(what >> DIGITS_SHIFT, return_inverse=True)[1].reshape(-1)
    page, what, _ = counted(page, what)
    having = np.bincount(what)
    inside = np.isin(shapes.row, rows) & shapes.is_named[shapes.key]
    for key in np.unique(shapes.key[inside]).tolist():
        entries = np.flatnonzero(inside & (shapes.key == key))
        if plain[shapes.value[entries]].any():
            continue
        value = np.full(len(shapes.skeleton), -1, np.int64)
        value[shapes.row[entries]] = shapes.value[entries]
        number = np.unique(value[rows], return_inverse=True)[1].reshape(-1)
        pages = np.bincount(number)
        texts = np.bincount(counted(number, text[rows])[0])
        if len(pages) < LEAST_VALUES or (pages[number] >= LEAST_SHOWN).mean() < OWN_VALUES or (texts < pages / 2).any():
            continue
        asked, shown, together = counted(number[page], what)
        expected = pages[asked] * having[shown] / len(rows)
        depends = together > expected + SURELY * np.sqrt(expected) + SLACK
        found[key] = not depends.any()
    return found


def neighbours(shapes: Shapes) -> UrlShapes:
    """Return which URLs look alike, and which differ in one value, whatever each URL has for itself."""
    known = shapes.skeleton, shapes.context, shapes.row
    own = _is_own(shapes)
    if not own.any():
        return UrlShapes(*known)
    stays = ~own
    rest, entry = _rests(shapes, stays)
    key, row = shapes.key[stays].astype(np.uint64), shapes.row[stays]
    context = np.unique(mixed(rest[row] - entry, key), return_inverse=True)[1].astype(np.int64)
    more = int(shapes.context.max(initial=-1)) + 1
    return UrlShapes(shapes.skeleton, np.concatenate((known[1], more + context)), np.concatenate((known[2], row)))


def _rests(shapes: Shapes, stays: Bools) -> tuple[Hashes, Hashes]:
    """Return a hash for what stays of each URL, and one for each entry that stays."""
    rest = mixed(shapes.place.astype(np.uint64), np.zeros(len(shapes.place), np.uint64))
    entry = mixed(shapes.key[stays].astype(np.uint64), shapes.value[stays].astype(np.uint64))
    np.add.at(rest, shapes.row[stays], entry)
    return rest, entry


def _is_own(shapes: Shapes) -> Bools:
    """Return of each entry whether such values are no names that several URLs share, nor short numbers."""
    plain = np.asarray(pc.fill_null(pc.match_substring_regex(shapes.value_texts, _PLAIN), True), np.bool_)
    visit = np.asarray(pc.match_substring_regex(shapes.key_names, _VISITS), np.bool_)
    urls = np.bincount(shapes.scope)[shapes.scope]
    by_scope, by_key = (_has_own_values(part, shapes.value, plain) for part in (shapes.scope, shapes.key))
    return np.where(urls >= LEAST_URLS, by_scope, by_key) | visit[shapes.key]


def _has_own_values(part: Ints, value: Ints, is_plain: Bools) -> Bools:
    """Return of each entry whether the entries of its part have most values once, and few are numbers."""
    urls = np.bincount(part)
    parts, _, _ = counted(part, value)
    values = np.bincount(parts, minlength=len(urls))
    plain = np.bincount(part, is_plain[value], minlength=len(urls))
    return np.asarray(((values >= OWN_VALUES * urls) & (plain <= PLAIN * urls))[part], np.bool_)


def _unrelated(blocks: pa.Array, rows: Ints, group: Ints) -> Passing:
    """Return the blocks that pages of one group do not share more often than chance would have it."""
    page, flat = _explode(blocks, rows)
    key, digits = flat >> KEY_SHIFT, flat >> DIGITS_SHIFT & DIGITS_MASK
    numbered = digits > 0
    numbers, name_pages = _by_chance(key[numbered], flat[numbered] >> DIGITS_SHIFT, page[numbered], group)
    rest = np.isin(key, numbers, invert=True)
    words, tell_apart = _by_chance(key[rest], key[rest], page[rest], group)
    nothing = np.zeros(0, np.int64)
    return Passing(nothing, nothing) if name_pages or tell_apart else Passing(numbers, words)


def _explode(blocks: pa.Array, rows: Ints) -> tuple[Ints, Ints]:
    """Return the blocks of some pages, and for each the place of its page among them."""
    some = blocks.take(pa.array(rows))
    sizes = np.asarray(pc.fill_null(pc.list_value_length(some), 0), np.int64)
    return np.repeat(np.arange(len(rows)), sizes), np.asarray(some.flatten(), np.int64)


def _by_chance(key: Ints, what: Ints, page: Ints, group: Ints) -> tuple[Ints, bool]:
    """Return the keys of which pages of one group have the same only by chance.

    And whether there are others that they have the same of less often than by chance: four sizes of one shoe
    are four, and whatever leads to them names pages.

    Args:
        key: What is asked about.
        what: What must be equal: the key itself, or with its digits.
        page: Who has it.
        group: Of each page: its group.

    """
    pages = len(group)
    each = np.unique(np.stack((key, what, page)), axis=1)
    key, what, page = each
    owner = np.unique(key, return_inverse=True)[1].reshape(-1)
    code = np.unique(what, return_inverse=True)[1].reshape(-1)
    having = np.bincount(code)
    together = np.unique(code * (int(group.max(initial=0)) + 1) + group[page], return_inverse=True)[1].reshape(-1)
    has_partner = np.bincount(together)[together] > 1
    # Of those that have this key, where the key alone says nothing; of all pages otherwise.
    is_word = bool((key == what).all())
    showing = np.bincount(counted(owner, page)[0])
    of = np.full(len(key), pages) if is_word else showing[owner]
    size = np.bincount(group)[group[page]]
    share = (having[code] - 1) / np.maximum(of - 1, 1)
    chance = 1 - (1 - np.minimum(share, 1.0)) ** (size - 1)
    seen, expected = np.bincount(owner, has_partner), np.bincount(owner, chance)
    rows = np.bincount(owner)
    groups = np.bincount(np.unique(np.stack((owner, group[page])), axis=1)[0], minlength=len(rows))
    # Whoever has a partner is one itself.
    most = np.minimum(expected + SLACK * np.sqrt(2 * expected) + 2, (expected + rows) / 2)
    unrelated = (seen <= np.where(rows >= FEW, most, 0.0)) & (groups >= LEAST_TEXTS)
    if is_word:
        unrelated &= rows <= pages / 2
    least = expected - APART * np.sqrt(2 * expected) - 1
    return np.unique(key)[unrelated], bool((seen < least).any())
