"""What an edit would do to a state, counted by key: which keys meet, and what is known of the pages there.

A vote is a key that comes under another one. It says what the evidence says of the two pages.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.judging.state import main_rows
from undust.rules import program_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from undust.edits import Edit
    from undust.judging.site import Site
    from undust.judging.state import KeyState
    from undust.rules import Rule

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]

WORST = 0.1
"""The share of the votes, the worst ones, that an edit is judged by."""
ASKED_AT_ONCE = 256
"""Edits that are matched with the images in one go."""
SUPPORTS = 2.0
"""The ratio from which a vote says that one page comes together."""
SAMPLES = 40
"""Images of an effect that are kept as examples."""


@dataclass(frozen=True, eq=False)
class EditEffect:
    """What an edit would do."""

    edit: Edit
    moved: Ints
    """The images whose key changes."""
    met: Bools
    """Of each: whether it moves to a key that was there."""
    gone: Bools
    """Of each: whether it moves to where the site was seen to have no page."""
    against: Bools
    """Of each: whether the site sends others to it, and it moves to where the site does not."""
    saved: int
    """Keys fewer."""
    left: Ints
    """Votes: an image of the key that comes under another …"""
    right: Ints
    """… and one of that."""
    group: Ints
    """Of each vote: the number of the key that both have then."""
    ratios: Floats
    page: Ints
    """Of each vote: the page of the key that comes under another."""
    texts: Sequence[str] = ()
    """All images."""
    defaults: frozenset[tuple[str, str]] = frozenset()
    """Parameters of which other edits remove some value, and that value."""
    welcome: int = 0
    """Images that move to where the site sends others."""
    unknown: Bools | None = None
    """Of each vote: whether nothing is known of what one of the two shows."""

    def among(self, votes: Bools) -> EditEffect:
        """Return the same with some of the votes."""
        names = ("left", "right", "group", "ratios", "page", "unknown")
        some = {name: column[votes] for name in names if (column := getattr(self, name)) is not None}
        return replace(self, **some)

    @cached_property
    def samples(self) -> tuple[str, ...]:
        """Some of the images that move."""
        some = self.moved[:: 1 + len(self.moved) // SAMPLES]
        return tuple(self.texts[image] for image in some.tolist())

    @cached_property
    def share_right(self) -> Floats:
        """How likely each vote is of one page."""
        return 1.0 / (1.0 + np.exp(-self.ratios))

    @cached_property
    def pages(self) -> int:
        """Keys under which votes say that one page comes together: what supports the edit."""
        # Votes come in the order of their groups.
        return int(np.count_nonzero(np.diff(self.group[self.ratios >= SUPPORTS], prepend=-1)))

    @cached_property
    def distinct_pages(self) -> int:
        """Pages that votes say come together, each once though it may do so under many keys."""
        return len(np.unique(self.page[self.ratios >= SUPPORTS]))

    @cached_property
    def merges(self) -> int:
        """Votes that say so: a page may come together from many keys."""
        return int(np.count_nonzero(self.ratios >= SUPPORTS))

    @cached_property
    def lost(self) -> int:
        """Pages that come under another one, as far as votes know."""
        return self._distinct(self.ratios < 0)

    @cached_property
    def wrong(self) -> float:
        """The same, each as likely as its vote says."""
        return self._likely_wrong(self.ratios < 0)

    @cached_property
    def unsure(self) -> float:
        """Pages that may come under another one though votes rather say otherwise, as likely as that is."""
        return self._likely_wrong((self.ratios > 0) & (self.ratios < SUPPORTS))

    def _likely_wrong(self, votes: Bools) -> float:
        bad = np.flatnonzero(votes)
        if not len(bad):
            return 0.0
        order = bad[np.lexsort((self.ratios[bad], self.page[bad], self.group[bad]))]
        key = np.stack((self.group[order], self.page[order]))
        first = np.any(np.diff(key, axis=1, prepend=-1), axis=0)
        return float((1.0 - self.share_right[order[first]]).sum())

    @cached_property
    def silent(self) -> int:
        """Pages that come under another one without evidence of what they show."""
        return self._distinct(self.ratios == 0)

    @cached_property
    def unseen(self) -> int:
        """Those of them of which nothing is known at all; others say nothing because they change."""
        return 0 if self.unknown is None else self._distinct((self.ratios == 0) & self.unknown)

    def _distinct(self, votes: Bools) -> int:
        if not votes.any():
            return 0
        page = self.page[votes]
        return len(np.unique(self.group[votes] * (page.max() + 1) + page))

    @cached_property
    def expected_right(self) -> float:
        """The share of the votes that speak which are expected to be of one page; 1 where none speaks."""
        speaking = self.ratios != 0
        return float(self.share_right[speaking].mean()) if speaking.any() else 1.0

    @cached_property
    def worst(self) -> float:
        """The mean of the worst tenth of the votes that speak."""
        speaking = np.sort(self.ratios[self.ratios != 0])
        return float(speaking[: max(1, round(WORST * len(speaking)))].mean()) if len(speaking) else 0.0


def effects(state: KeyState, edits: Sequence[Edit], among: Ints | None = None) -> list[EditEffect]:
    """Return what each edit would do, alone, to the images, or to those that it is known to touch."""
    found = [
        each
        for start in range(0, len(edits), ASKED_AT_ONCE)
        for each in _asked(state, edits[start : start + ASKED_AT_ONCE], among)
    ]
    left = np.concatenate([each.left for each in found]) if found else np.zeros(0, np.int64)
    right = np.concatenate([each.right for each in found]) if found else np.zeros(0, np.int64)
    ratios = state.site.evidence.ratios(state.speaker[left], state.speaker[right])
    unknown = _unknown(state, left, right)
    ends = np.cumsum([0, *(len(each.left) for each in found)])
    return [
        _effect(state, edit, moves, ratios[start:end], unknown[start:end])
        for edit, moves, (start, end) in zip(edits, found, pairwise(ends.tolist()), strict=True)
    ]


class _Moves(NamedTuple):
    """Images that an edit moves, and where to; keys that come under others then."""

    image: Ints
    target: Ints
    """Numbers of keys; those behind the last are new."""
    gone: Bools
    left: Ints
    right: Ints
    group: Ints
    saved: int


def _asked(state: KeyState, edits: Sequence[Edit], among: Ints | None) -> Iterator[_Moves]:
    """Yield what each edit moves; images that an edit does not match are not asked about."""
    rules = [edit.rules(state.site.name) or () for edit in edits]
    owner = np.repeat(np.arange(len(edits)), [len(some) for some in rules])
    touching = program_of([rule for some in rules for rule in some])
    programs = [program_of(_in_company(state, some)) for some in rules]
    columns = state.index.moves(touching, owner, programs, among)
    starts, image, target, gone, votes, left, right, group, saved = map(np.asarray, columns)
    gone = gone.astype(np.bool_)
    for place, fewer in enumerate(saved.tolist()):
        moved = slice(starts[place], starts[place + 1])
        met = slice(votes[place], votes[place + 1])
        yield _Moves(image[moved], target[moved], gone[moved], left[met], right[met], group[met], fewer)


def _unknown(state: KeyState, left: Ints, right: Ints) -> Bools:
    """Return of pairs of keys whether nothing is known of what one of them shows."""
    is_silent = state.site.evidence.silent
    return is_silent(state.speaker[left]) | is_silent(state.speaker[right])


def _effect(state: KeyState, edit: Edit, moves: _Moves, ratios: Floats, unknown: Bools) -> EditEffect:
    met = moves.target < len(state.keys)
    there = np.zeros(len(moves.image), np.bool_)
    there[met] = state.is_preferred[state.image_of_key[moves.target[met]]]
    return EditEffect(
        edit,
        moves.image,
        met,
        moves.gone,
        state.is_preferred[moves.image] & ~there,
        moves.saved,
        state.image_of_key[moves.left],
        state.image_of_key[moves.right],
        moves.group,
        ratios,
        state.page_of_key[moves.left],
        state.image_texts,
        state.defaults,
        int(there.sum()),
        unknown,
    )


def _in_company(state: KeyState, rules: Iterable[Rule]) -> list[Rule]:
    """Return rules with what is kept from them, and with the masks that see what they leave."""
    return list({rule.id: rule for rule in (*state.keeps, *rules, *state.masks)}.values())


def transition(before: KeyState, after: KeyState, edit: Edit) -> EditEffect:
    """Return what an edit did between two states, together with the others."""
    became = np.zeros(len(before.images), np.int64)
    became[before.image] = after.image
    old, new = before.key_of_image, after.key_of_image[became]
    left, right, group, saved = _meetings(before, old, new)
    ratios = before.site.evidence.ratios(before.speaker[left], before.speaker[right])
    targets = after.images.take(pa.array(became))
    moved = np.flatnonzero(~np.asarray(pc.equal(before.images, targets), np.bool_))
    seen = after.is_seen[became[moved]]
    gone = np.zeros(len(seen), np.bool_)
    if before.site.gone:
        asked = targets.take(pa.array(moved)).to_pylist()
        gone = np.fromiter((text in before.site.gone for text in asked), np.bool_, len(asked))
    return EditEffect(
        edit,
        moved,
        seen,
        gone,
        np.zeros(len(seen), np.bool_),
        saved,
        before.image_of_key[left],
        before.image_of_key[right],
        group,
        ratios,
        before.page_of_key[left],
        before.image_texts,
        before.defaults,
        int(after.is_preferred[became[moved]].sum()),
        _unknown(before, left, right),
    )


def keys_without(state: KeyState, edit: Edit) -> int:
    """Return how many keys the site would have under the other edits of a state."""
    rows = state.used_by(edit)
    rest = pa.array(
        program_of(state.without(edit).rules).batch(state.site.urls.take(pa.array(rows)), keys=True)
    )
    stay = np.delete(state.key, rows)
    others = state.keys.take(pa.array(np.unique(stay))).cast(pa.large_string())
    return len(pa.concat_arrays([others, rest.cast(pa.large_string())]).unique())


def lost_in(state: KeyState) -> int:
    """Return how many pages lie under the key of another one, as far as the evidence shows."""
    return len(keys_of_lost(state))


def keys_of_lost(state: KeyState) -> Ints:
    """Return of each page that lies under the key of another one that key, as far as the evidence shows."""
    return lost_under(state)[0]


def lost_under(state: KeyState) -> tuple[Ints, Ints]:
    """Return the keys of another page that pages lie under, as far as the evidence shows, and those pages."""
    rows = np.arange(len(state.site.page))
    lost, _, under = lost_among(state.site, rows, state.key, state.speaker)
    return under, state.site.page[lost]


def lost_among(site: Site, rows: Ints, key: Ints, main: Ints | None = None) -> tuple[Ints, Ints, Ints]:
    """Return URLs of pages that lie under the key of another page, URLs of that, and the keys.

    Args:
        site: The site.
        rows: Some of its URLs.
        key: Of each of them the number of its key; all numbers from 0 on occur.
        main: Of each key a URL of the page that most of its URLs show, if it is known.

    """
    page = site.page[rows]
    pairs, first = np.unique(key * site.count + page, return_index=True)
    number = pairs // site.count
    speaker = (rows[main_rows(key, page)] if main is None else main)[number]
    own = rows[first]
    other = np.flatnonzero(site.page[speaker] != site.page[own])
    lost = other[site.evidence.ratios(own[other], speaker[other]) < 0]
    return own[lost], speaker[lost], number[lost]


def _meetings(state: KeyState, before: Ints, after: Ints) -> tuple[Ints, Ints, Ints, int]:
    """Return the keys that come under another, that other, the key of both then, and how many are saved."""
    width = int(after.max(initial=0)) + 1
    _, first = np.unique(before * width + after, return_index=True)
    before, after = before[first], after[first]
    urls = state.urls_of_key[before]
    _, at = np.unique(after * state.site.count + state.page_of_key[before], return_inverse=True)
    weight = np.bincount(at.reshape(-1), weights=urls)[at.reshape(-1)]
    # The page with most URLs is the one that stays; of its keys, the one with most.
    order = np.lexsort((before, -urls, -weight, after))
    before, after = before[order], after[order]
    is_first = np.diff(after, prepend=-1) != 0
    main = before[np.maximum.accumulate(np.where(is_first, np.arange(len(after)), 0))]
    saved = len(np.unique(before)) - int(is_first.sum())
    comes = ~is_first
    return before[comes], main[comes], after[comes], saved
