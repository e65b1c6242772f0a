"""What an edit would do to a state, counted by key: which keys meet, and what is known of the pages there.

A vote is a key that comes under another one. It says what the evidence says of the two pages.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.rules.applying import program_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from undust._core import Program
    from undust.edits import Edit
    from undust.judging.state import KeyState
    from undust.rules import Rule

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]

WORST = 0.1
"""The share of the votes, the worst ones, that an edit is judged by."""
ASKED_AT_ONCE = 256
"""Edits that are matched with the images in one go."""
SAMPLES = 40
"""Images of an effect that are told with it."""
PROBED = 8
"""URLs that tell whether an edit ever comes to an end."""


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
    samples: tuple[str, ...] = ()
    """Some of the images that move."""

    @cached_property
    def share_right(self) -> Floats:
        """How likely each vote is of one page."""
        return 1.0 / (1.0 + np.exp(-self.ratios))

    @cached_property
    def pages(self) -> int:
        """Keys under which votes say that one page comes together: what supports the edit."""
        return len(np.unique(self.group[self.ratios > 0]))

    @cached_property
    def lost(self) -> int:
        """Pages that come under another one, as far as votes know."""
        return self._distinct(self.ratios < 0)

    @cached_property
    def wrong(self) -> float:
        """The same, each as much as its vote says."""
        bad = np.flatnonzero(self.ratios < 0)
        if not len(bad):
            return 0.0
        order = bad[np.lexsort((self.ratios[bad], self.page[bad], self.group[bad]))]
        key = np.stack((self.group[order], self.page[order]))
        first = np.any(np.diff(key, axis=1, prepend=-1), axis=0)
        return float((1.0 - 2.0 * self.share_right[order[first]]).sum())

    @cached_property
    def silent(self) -> int:
        """Pages that come under another one though nobody can tell."""
        return self._distinct(self.ratios == 0)

    def _distinct(self, votes: Bools) -> int:
        return len(np.unique(np.stack((self.group[votes], self.page[votes])), axis=1).T)

    @cached_property
    def worst(self) -> float:
        """The mean of the worst tenth of the votes that speak."""
        speaking = np.sort(self.ratios[self.ratios != 0])
        return float(speaking[: max(1, round(WORST * len(speaking)))].mean()) if len(speaking) else 0.0


class _Moves(NamedTuple):
    """Images that an edit moves, and where to."""

    image: Ints
    target: Ints
    """Numbers of keys; those behind the last are new."""
    gone: Bools


def effects(state: KeyState, edits: Sequence[Edit], among: Ints | None = None) -> list[EditEffect]:
    """Return what each edit would do, alone, to the images, or to those that it is known to touch."""
    found: list[_Moves] = []
    for start in range(0, len(edits), ASKED_AT_ONCE):
        found += _moves(state, edits[start : start + ASKED_AT_ONCE], among)
    votes = [_votes(state, moves) for moves in found]
    left = np.concatenate([vote[0] for vote in votes]) if votes else np.zeros(0, np.int64)
    right = np.concatenate([vote[1] for vote in votes]) if votes else np.zeros(0, np.int64)
    ratios = state.site.evidence.ratios(state.speaker[left], state.speaker[right])
    ends = np.cumsum([0, *(len(vote[0]) for vote in votes)])
    return [
        _effect(state, edit, moves, vote, ratios[ends[place] : ends[place + 1]])
        for place, (edit, moves, vote) in enumerate(zip(edits, found, votes, strict=True))
    ]


def _effect(
    state: KeyState, edit: Edit, moves: _Moves, votes: tuple[Ints, Ints, Ints, int], ratios: Floats
) -> EditEffect:
    left, right, group, saved = votes
    preferred = state.site.preferred[state.image_speaker]
    met = moves.target < len(state.keys)
    there = np.zeros(len(moves.image), np.bool_)
    there[met] = preferred[state.image_of_key[moves.target[met]]]
    return EditEffect(
        edit,
        moves.image,
        met,
        moves.gone,
        preferred[moves.image] & ~there,
        saved,
        state.image_of_key[left],
        state.image_of_key[right],
        group,
        ratios,
        state.site.page[state.speaker[left]],
        _samples(state, moves.image),
    )


def _samples(state: KeyState, images: Ints) -> tuple[str, ...]:
    texts = state.image_texts
    return tuple(texts[image] for image in images[:: 1 + len(images) // SAMPLES].tolist())


def _moves(state: KeyState, edits: Sequence[Edit], among: Ints | None) -> list[_Moves]:
    """Return what each edit moves; images that an edit does not match are not asked about."""
    rules = [edit.rules(state.site.name) or () for edit in edits]
    flat = [rule for some in rules for rule in some]
    owner = np.repeat(np.arange(len(edits)), [len(some) for some in rules])
    if not flat:
        return [_nothing() for _ in edits]
    asked = state.images if among is None else state.images.take(pa.array(among))
    rows, which = (np.asarray(column) for column in map(pa.array, program_of(flat).touched(asked)))
    rows = rows if among is None else among[rows]
    places = owner[which]
    order = np.lexsort((rows, places))
    rows, places = rows[order], places[order]
    starts = np.searchsorted(places, np.arange(len(edits) + 1))
    return [
        _moved(state, some, np.unique(rows[starts[place] : starts[place + 1]]))
        for place, some in enumerate(rules)
    ]


def _moved(state: KeyState, rules: Sequence[Rule], rows: Ints) -> _Moves:
    if not len(rows):
        return _nothing()
    program = program_of(_in_company(state, rules))
    if _is_endless(program, state.images.take(pa.array(rows[:: 1 + len(rows) // PROBED]))):
        return _nothing()
    texts = pa.array(program.batch(state.images.take(pa.array(rows)), keys=True)).to_pylist()
    known, first = state.number_of_key, len(state.keys)
    new: dict[str, int] = {}
    target = np.fromiter(
        (known[text] if text in known else new.setdefault(text, first + len(new)) for text in texts),
        np.int64,
        len(texts),
    )
    is_gone = np.zeros(len(texts), np.bool_)
    if state.site.gone:
        is_gone = np.fromiter((text in state.site.gone for text in texts), np.bool_, len(texts))
    moves = target != state.key_of_image[rows]
    return _Moves(rows[moves], target[moves], is_gone[moves])


def _is_endless(program: Program, urls: pa.Array) -> bool:
    """Return whether rules change some of a few URLs again and again; such rules take all their steps."""
    return program.batch_counted(urls)[1].unresolved > 0


def _in_company(state: KeyState, rules: Iterable[Rule]) -> list[Rule]:
    """Return rules with what is kept from them, and with the masks that see what they leave."""
    return list({rule.id: rule for rule in (*state.keeps, *rules, *state.masks)}.values())


def _nothing() -> _Moves:
    empty = np.zeros(0, np.int64)
    return _Moves(empty, empty, empty.astype(np.bool_))


def transition(before: KeyState, after: KeyState, edit: Edit) -> EditEffect:
    """Return what an edit did between two states, in the company of the others."""
    width = len(after.images)
    pairs = np.unique(before.image * width + after.image)
    image, became = np.divmod(pairs, width)
    old, new = before.key_of_image[image], after.key_of_image[became]
    left, right, group, saved = _meetings(before, old, new, np.zeros(len(old), np.bool_))
    ratios = before.site.evidence.ratios(before.speaker[left], before.speaker[right])
    texts, targets = before.images.take(pa.array(image)), after.images.take(pa.array(became))
    moved = ~np.asarray(pc.equal(texts, targets), np.bool_)
    seen = after.is_seen[became[moved]]
    gone = np.zeros(len(seen), np.bool_)
    if before.site.gone:
        asked = targets.filter(pa.array(moved)).to_pylist()
        gone = np.fromiter((text in before.site.gone for text in asked), np.bool_, len(asked))
    return EditEffect(
        edit,
        image[moved],
        seen,
        gone,
        np.zeros(len(seen), np.bool_),
        saved,
        before.image_of_key[left],
        before.image_of_key[right],
        group,
        ratios,
        before.site.page[before.speaker[left]],
        _samples(before, image[moved]),
    )


def lost_in(state: KeyState) -> int:
    """Return how many pages lie under the key of another one, as far as the evidence tells."""
    pages = state.site.count
    pairs, first = np.unique(state.key * pages + state.site.page, return_index=True)
    main = state.speaker[pairs // pages]
    other = state.site.page[main] != state.site.page[first]
    return int((state.site.evidence.ratios(first[other], main[other]) < 0).sum())


def _votes(state: KeyState, moves: _Moves) -> tuple[Ints, Ints, Ints, int]:
    """Return the keys that come under another, that other, the key of both then, and how many are saved."""
    old = state.key_of_image[moves.image]
    asked = np.unique(np.concatenate((old, moves.target[moves.target < len(state.keys)])))
    stay = _staying(state, moves.image, asked)
    before = np.concatenate((old, state.key_of_image[stay]))
    after = np.concatenate((moves.target, state.key_of_image[stay]))
    stays = np.concatenate((np.zeros(len(old), np.bool_), np.ones(len(stay), np.bool_)))
    return _meetings(state, before, after, stays)


def _meetings(state: KeyState, before: Ints, after: Ints, stays: Bools) -> tuple[Ints, Ints, Ints, int]:
    """Return the same from the key that something has before and after."""
    width = int(after.max(initial=0)) + 1
    _, first = np.unique(before * width + after, return_index=True)
    before, after, stays = before[first], after[first], stays[first]
    urls = state.urls_of_key[before]
    page = state.site.page[state.speaker[before]]
    _, at = np.unique(after * state.site.count + page, return_inverse=True)
    weight = np.bincount(at.reshape(-1), weights=urls)[at.reshape(-1)]
    # The page with most URLs is the one that stays; of its keys, the one with most.
    order = np.lexsort((before, ~stays, -urls, -weight, after))
    before, after = before[order], after[order]
    is_first = np.diff(after, prepend=-1) != 0
    main = before[np.maximum.accumulate(np.where(is_first, np.arange(len(after)), 0))]
    saved = len(np.unique(before)) - int(is_first.sum())
    comes = ~is_first
    return before[comes], main[comes], after[comes], saved


def _staying(state: KeyState, moved: Ints, keys: Ints) -> Ints:
    """Return the images on some keys that do not move."""
    order, starts = state.by_key
    if not len(keys):
        return keys
    if not state.masks:
        images = keys
    else:
        counts = starts[keys + 1] - starts[keys]
        offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        images = order[np.repeat(starts[keys], counts) + offsets]
    return np.setdiff1d(images, moved)
