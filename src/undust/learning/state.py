"""Where every URL of a site stands while its rules are being learned.

The state is the image of each URL under the rules accepted so far, and which pages sit on each image.
A candidate is judged by what it would do to this state: images it merges rightly, and pages it would
bury under another. So what is accepted later is proved together with what was accepted before.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.rules import RuleSet

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from undust.learning.pages import Pages
    from undust.rules import Rule

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

LOST_WEIGHT = 10.0
"""A page lost weighs as much as so many URLs saved."""
FEW = 8
MOVED_WEIGHT = 0.01
"""A URL moved without need costs a little: of two rules that merge the same, the quieter one wins."""
AGAINST_WEIGHT = 0.25
"""What the site prefers is moved only if there is no other way."""


@dataclass(frozen=True, eq=False)
class Effect:
    """What rules would do to the state."""

    moved: int
    """Images that change."""
    saved: int
    """Images fewer."""
    lost: int
    """Pages that would lie under another page that is no near copy."""
    lost_held: int
    """… among them those of held-out pages."""
    pages: int
    """Distinct pages that would need fewer images."""
    pages_held: int
    """… held-out ones."""
    sources: Ints
    """The images that change."""
    failing: Bools
    """Of each: whether it ends where pages are lost."""
    blamed: Bools
    """Of each: whether a page is lost because of it."""
    merging: Bools
    """Of each: whether it meets another image of its page."""
    moved_urls: int = 0
    """URLs whose image changes."""
    met: float = 0.0
    """Share of the images that merge which do so where a URL stood before: a form that the site knows."""
    against: int = 0
    """Images that change though the site sends others to them, to where it does not."""

    @property
    def value(self) -> float:
        """What the rules are worth beside others."""
        return self.gain - MOVED_WEIGHT * self.moved_urls - AGAINST_WEIGHT * self.against

    @property
    def gain(self) -> float:
        """What the rules are worth at all."""
        return self.saved - LOST_WEIGHT * self.lost


NOTHING = Effect(0, 0, 0, 0, 0, 0, np.zeros(0, np.int64), *np.zeros((3, 0), np.bool_))


class State:
    """The images of a site's URLs, and the pages on each image."""

    def __init__(self, pages: Pages, rules: Iterable[Rule] = ()) -> None:
        self.pages = pages
        self.rules: list[Rule] = list(rules)
        self._stand(self.images_under(self.rules) if self.rules else pages.urls)

    def _stand(self, images: pa.Array) -> None:
        encoded = images.dictionary_encode()
        order = pc.sort_indices(encoded.dictionary)
        rank = np.empty(len(order), np.int64)
        rank[np.asarray(order)] = np.arange(len(order))
        self.images: pa.Array = encoded.dictionary.take(order)
        self.image = rank[np.asarray(encoded.indices)]
        """Of each URL."""
        key = self.image * (self.pages.count + 1) + self.pages.of_url
        pairs, counts = np.unique(key, return_counts=True)
        self.at, self.on = np.divmod(pairs, self.pages.count + 1)
        """Pairs of an image and a page on it, in the order of images."""
        self.urls_of_pair = counts
        self.first_pair = np.searchsorted(self.at, np.arange(len(self.images) + 1))
        self.is_preferred = np.zeros(len(self.images), np.bool_)
        self.is_preferred[self.image[self.pages.is_preferred]] = True
        self.__dict__.pop("texts", None)
        self.__dict__.pop("row_of", None)
        self.__dict__.pop("page_of_image", None)

    @cached_property
    def texts(self) -> list[str]:
        """The images as Python strings."""
        return self.images.to_pylist()  # type: ignore[no-any-return]

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The row of each image; a candidate asks for a few, and there are thousands of candidates."""
        return {text: row for row, text in enumerate(self.texts)}

    @cached_property
    def page_of_image(self) -> Ints:
        """The page that most URLs of an image show; the smallest of several."""
        order = np.lexsort((self.on, -self.urls_of_pair, self.at))
        at = self.at[order]
        first: Bools = np.diff(at, prepend=-1) != 0
        return self.on[order[first]]

    def touched(self, rules: Sequence[Rule]) -> list[Ints]:
        """Return for each rule the images that it changes; most change a few only."""
        if not rules:
            return []
        rows, numbers = RuleSet(rules).compile().touched(self.images)
        order = np.argsort(numbers.to_numpy(), kind="stable")
        ends = np.searchsorted(numbers.to_numpy()[order], np.arange(len(rules) + 1))
        by_rule = rows.to_numpy()[order].astype(np.int64)
        return [np.sort(by_rule[ends[at] : ends[at + 1]]) for at in range(len(rules))]

    def effect(self, rules: Sequence[Rule], rows: Ints | None = None) -> Effect:
        """Return what rules would do to the images, or to those in `rows`, if only they can match."""
        sources = np.unique(np.concatenate(self.touched(rules))) if rows is None else rows
        if not len(sources):
            return NOTHING
        some = self.images.take(pa.array(sources))
        keeps = [rule for rule in self.rules if rule.kind == "keep"]
        program = RuleSet([*keeps, *rules]).program
        # A rule that grows without end takes all its steps with every URL, and is told by a few.
        if program.batch_counted(some.slice(0, FEW), False, 1, False)[1].unresolved:  # noqa: FBT003
            return NOTHING
        after = pa.array(program.batch(some, False, 1))  # noqa: FBT003
        changes = np.asarray(pc.not_equal(after, some.cast(after.type)))
        if not changes.any():
            return NOTHING
        moved = sources[changes]
        return self._judged(moved, after.filter(pa.array(changes)))

    def _judged(self, moved: Ints, after: pa.Array) -> Effect:
        encoded = after.dictionary_encode()
        row_of = self.row_of
        texts = encoded.dictionary.to_pylist()
        place = np.fromiter((row_of.get(text, -1) for text in texts), np.int64, len(texts))
        is_new = place < 0
        place[is_new] = len(self.images) + np.arange(is_new.sum())
        target = place[np.asarray(encoded.indices)]
        if is_new.all() and len(place) == len(target):
            nothing = np.zeros(len(moved), np.bool_)
            return replace(
                NOTHING, moved=len(moved), sources=moved, failing=nothing, blamed=nothing, merging=nothing
            )
        # The images that stay and are met by others take part as well.
        stays = np.setdiff1d(np.unique(target[target < len(self.images)]), moved)
        image = np.concatenate((moved, stays))
        group = np.concatenate((target, stays))
        size = np.unique(group, return_inverse=True, return_counts=True)
        inverse, counts = size[1], size[2]
        saved = int((counts - 1).sum())
        # Pairs (group, page) over all images that take part.
        starts, ends = self.first_pair[image], self.first_pair[image + 1]
        length = ends - starts
        row = np.repeat(starts - np.concatenate(([0], np.cumsum(length)[:-1])), length) + np.arange(
            length.sum()
        )
        of = np.repeat(np.arange(len(image)), length)
        page, urls = self.on[row], self.urls_of_pair[row]
        effect = self._counted(moved, inverse, of, page, urls, saved)
        is_known = target[effect.merging] < len(self.images)
        stands = np.append(self.is_preferred, np.zeros(int(is_new.sum()), np.bool_))
        against = int((self.is_preferred[moved] & ~stands[target]).sum())
        return replace(effect, met=float(is_known.mean()) if len(is_known) else 0.0, against=against)

    def _counted(self, moved: Ints, group: Ints, of: Ints, page: Ints, urls: Ints, saved: int) -> Effect:  # noqa: PLR0913, PLR0917 -- columns
        pages = self.pages
        total = pages.count + 1
        after, place, images = np.unique(group[of] * total + page, return_inverse=True, return_counts=True)
        after_group, after_page = np.divmod(after, total)
        weight = np.bincount(place, urls, len(after))
        lost_after = _lost(after_group, after_page, weight, pages)
        before_pairs = np.unique(of * total + page, return_inverse=True)
        before_image, before_page = np.divmod(before_pairs[0], total)
        lost_before = _lost(before_image, before_page, np.bincount(before_pairs[1], urls), pages)
        is_held = pages.is_held
        merging = (images > 1) & pages.speaks[after_page]
        merged_pages = np.unique(after_page[merging])
        lost = int(lost_after.sum()) - int(lost_before.sum())
        lost_held = int(is_held[after_page[lost_after]].sum()) - int(is_held[before_page[lost_before]].sum())
        # Per image that moved: does it fail, does it merge?
        # To blame are those whose page is lost; if that of one that stays is, then all who come to it.
        count = len(moved)
        is_lost = np.zeros(len(group), np.bool_)
        is_lost[of[lost_after[place]]] = True
        is_bad, is_told = np.zeros((2, int(group.max()) + 1), np.bool_)
        is_bad[after_group[lost_after]] = True
        is_told[group[:count][is_lost[:count]]] = True
        merges = np.zeros(len(group), np.bool_)
        merges[of[merging[place]]] = True
        return Effect(
            moved=count,
            saved=saved,
            lost=max(lost, 0),
            lost_held=max(lost_held, 0),
            pages=len(merged_pages),
            pages_held=int(is_held[merged_pages].sum()),
            sources=moved,
            failing=is_bad[group[:count]],
            blamed=is_lost[:count] | (is_bad & ~is_told)[group[:count]],
            merging=merges[:count],
            moved_urls=int(urls[of < count].sum()),
        )

    def accept(self, rule: Rule) -> None:
        """Let a rule be the last of the accepted ones, and move the state on."""
        self.rules.append(rule)
        self._stand(self.images_under(self.rules))

    def retract(self) -> None:
        """Take the last rule back."""
        self.rules.pop()
        self._stand(self.images_under(self.rules))

    def keep(self, rule: Rule) -> None:
        """Let a `keep` shield its URLs from all rules that are accepted later."""
        self.rules.append(rule)

    def some_texts(self, rows: Ints) -> list[str]:
        """Return some images as Python strings."""
        texts = self.texts
        return [texts[row] for row in rows.tolist()]

    def images_under(self, rules: Sequence[Rule]) -> pa.Array:
        """Return the image of each URL under some rules."""
        return pa.array(RuleSet(rules).program.batch(self.pages.urls, False, 1)).cast(pa.large_string())  # noqa: FBT003

    def lost(self) -> int:
        """Return how many pages lie under another now."""
        return int(_lost(self.at, self.on, self.urls_of_pair, self.pages).sum())


def _lost(group: Ints, page: Ints, weight: Ints, pages: Pages) -> Bools:
    """Return of each pair of a group and a page whether the page is lost there; pairs are in group order."""
    lost = np.zeros(len(group), np.bool_)
    several = np.concatenate(([False], group[1:] == group[:-1]))
    several |= np.concatenate((several[1:], [False]))
    rows = np.flatnonzero(several)
    if not len(rows):
        return lost
    order = rows[np.lexsort((page[rows], -weight[rows], group[rows]))]
    starts = np.concatenate(([True], group[order][1:] != group[order][:-1]))
    main = page[order[np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))]]
    others = page[order] != main
    left, right = page[order[others]], main[others]
    lost[order[others]] = ~pages.near(left, right) & ~pages.silent[left] & ~pages.silent[right]
    return lost
