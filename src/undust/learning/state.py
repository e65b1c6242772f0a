"""The images of the URLs of a site while its rules are being learned.

The state is the image of each URL under the rules accepted so far, and which pages sit on each image.
A candidate is judged by what it would do to this state: images it merges rightly, and pages it would
merge into another. So what is accepted later is proved together with what was accepted before.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust._core import Standing
from undust.judging.state import numbered, renumbered
from undust.learning.site_pages import unseen_target_share
from undust.pages.clustering.clusters import EVIDENCE_AGAINST
from undust.rules import program_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from undust.learning.site_pages import SitePages
    from undust.rules import Rule

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]
    Bytes = NDArray[np.uint8]
    Counts = tuple[int, int, int, int, int, int, int, int, int, float]
    Floats = NDArray[np.float64]
    _Answer = tuple[list[Counts], Ints, Ints, Bytes, Bytes, Bytes, Ints, Ints, Ints, Floats]

LOST_WEIGHT = 10.0
"""One lost page weighs as much as this many removed URLs."""
MOVED_WEIGHT = 0.01
"""A URL moved without need costs a little: of two rules that merge the same, the quieter one wins."""
AGAINST_WEIGHT = 0.25
"""What the site prefers is moved only if there is no other way …"""
ASTRAY_WEIGHT = 0.05
"""… and so is what it was seen to serve, to where it was not."""
SUPPORTS = 2.0
"""Ratio from which two pages that come together count as one page that needs fewer URLs."""
MOST_ASKED = 500
"""URLs of a rule that are held against what the site says of them."""
_FEW = 16
"""Where a rule touches at most one image of 16, which ones is remembered for the next time."""
MOST_KNOWN = 1 << 21
"""Images, over all rules, up to which is remembered what the rules would do to them (some 40 MB); of more
the last answer alone."""


@dataclass(frozen=True, eq=False)
class Effect:
    """What rules would do to the state."""

    moved: int
    """Images that change."""
    saved: int
    """Images fewer."""
    lost: int
    """Pages that would be merged into another page that is not a near copy."""
    lost_held: int
    """… among them those of held-out pages."""
    pages: int
    """Distinct pages that would need fewer images."""
    pages_held: int
    """… held-out ones."""
    moved_urls: int
    """URLs whose image changes; not counted where no image meets another."""
    leaves_preferred: int
    """Images that change though the site sends others to them, to where it does not."""
    leaves_served: int
    """Images that change though the site has a page there, to where none was seen."""
    target_seen_share: float
    """Share of the images that merge which do so where a URL stood before: a form that the site knows."""
    sources: Ints
    """The images that change."""
    failing: Bools
    """Of each: whether it ends where pages are lost."""
    blamed: Bools
    """Of each: whether a page is lost because of it."""
    merging: Bools
    """Of each: whether it meets another image of its page."""
    touched: Ints
    """The images that a rule would change if no `keep` applied."""
    votes: Floats
    """The likelihood ratio of each page that comes together with another page, where it is known."""

    @property
    def value(self) -> float:
        """What the rules are worth beside others."""
        unwelcome = AGAINST_WEIGHT * self.leaves_preferred + ASTRAY_WEIGHT * self.leaves_served
        return self.gain - MOVED_WEIGHT * self.moved_urls - unwelcome

    @property
    def gain(self) -> float:
        """What the rules are worth at all."""
        return self.saved - LOST_WEIGHT * self.lost


class State:
    """The images of a site's URLs, and the pages on each image."""

    def __init__(self, pages: SitePages, rules: Iterable[Rule] = ()) -> None:
        self.pages = pages
        self.rules: list[Rule] = list(rules)
        self._stand_anew()

    def _stand_anew(self) -> None:
        self.images, self.image = numbered(self.images_under(self.rules) if self.rules else self.pages.urls)
        """The images in order, and that of each URL."""
        self.is_served = np.ones(len(self.images), np.bool_)
        if self.rules:
            self.is_served = _are_among(self.images, self.pages.urls)
        self.is_preferred = _are_among(self.images, self.pages.preferred)
        key = self.image * (self.pages.count + 1) + self.pages.of_url
        self._stand(key, np.ones(len(key), np.int64))
        self._touched: dict[tuple[str, str], tuple[int, Ints]] = {}
        """Of rules by site and text: after how many moves each was asked about, and URLs that it touched."""
        self._touched_rows = 0
        self._moves: list[Ints] = []
        """A URL of each image that an accepted rule touched, rule by rule."""

    def _stand(self, key: Ints, urls: Ints) -> None:
        """Count the URLs of each pair of an image and a page; `key` may say a pair several times."""
        order = np.argsort(key, kind="stable")  # quick where nearly all are in order
        pairs = key[order]
        first = np.flatnonzero(np.diff(pairs, prepend=-1))
        self.at, self.on = np.divmod(pairs[first], self.pages.count + 1)
        """Pairs of an image and a page on it, in the order of images."""
        self.urls_of_pair = np.add.reduceat(urls[order], first) if len(first) else urls
        self.first_pair = np.concatenate(([0], np.cumsum(np.bincount(self.at, minlength=len(self.images)))))
        for name in ("texts", "standing", "page_of_image", "_url_of_image"):
            self.__dict__.pop(name, None)
        self._forget()

    def _forget(self) -> None:
        self._known: dict[tuple[str, str], Effect] = {}
        """What rules would do as it stands, by site and text: several stages ask for the same ones."""
        self._known_rows = 0

    @cached_property
    def texts(self) -> list[str]:
        """The images as Python strings."""
        return self.images.to_pylist()  # type: ignore[no-any-return]

    @cached_property
    def page_of_image(self) -> Ints:
        """The page that most URLs of an image show; the smallest of several."""
        order = np.lexsort((self.on, -self.urls_of_pair, self.at))
        at = self.at[order]
        first: Bools = np.diff(at, prepend=-1) != 0
        found: Ints = self.on[order[first]]
        return found

    @cached_property
    def standing(self) -> Standing:
        """The same columns as the core asks them."""
        pages, sketches = self.pages, self.pages.site.sketches
        return Standing(
            self.images,
            self.first_pair,
            self.on,
            self.urls_of_pair,
            self.is_served,
            self.is_preferred,
            pages.is_labelled,
            pages.is_held,
            pages.silent,
            pages.sketch,
            np.ascontiguousarray(sketches).reshape(-1),
            sketches.shape[1] if pages.has_sketches else 0,
            pages.needed,
            pages.site.evidence_of_pairs.core if pages.has_blocks else None,
            pages.row,
            EVIDENCE_AGAINST,
            SUPPORTS,
        )

    def effects(self, rules: Sequence[Rule], among: Ints | None = None) -> list[Effect]:
        """Return what each of some rules would do, alone, to the images, or to those it is known to touch."""
        names = [(rule.site, str(rule)) for rule in rules]
        new = {name: rule for name, rule in zip(names, rules, strict=True) if name not in self._known}
        if not new:
            return [self._known[name] for name in names]
        told = self._told(new, among)
        found = [told[name] if name in told else self._known[name] for name in names]
        rows = sum(len(effect.touched) for effect in told.values())
        if self._known_rows + rows > MOST_KNOWN:
            self._forget()
        self._known |= told
        self._known_rows += rows
        return found

    def _told(self, new: dict[tuple[str, str], Rule], among: Ints | None) -> dict[tuple[str, str], Effect]:
        """Return what rules would do; if asked about before, only what they touched and what has moved."""
        again = [name for name in new if among is None and name in self._touched]
        others = [name for name in new if among is not None or name not in self._touched]
        told: dict[tuple[str, str], Effect] = {}
        for names, rows in ((again, self._traced(again)), (others, among)):
            if names:
                found = self._asked([new[name] for name in names], rows, together=False)
                told |= dict(zip(names, found, strict=True))
        for name, effect in told.items():
            if _FEW * len(effect.touched) <= len(self.images):
                self._touched[name] = len(self._moves), self._url_of_image[effect.touched]
                self._touched_rows += len(effect.touched)
        if self._touched_rows > MOST_KNOWN:
            self._touched, self._touched_rows = {}, 0
        return told

    def _traced(self, names: Sequence[tuple[str, str]]) -> Ints:
        """Return all images that rules may touch, of which each was asked about before."""
        traces = [self._touched[name] for name in names]
        since = min((moves for moves, _ in traces), default=0)
        urls = [*(rows for _, rows in traces), *self._moves[since:]]
        return np.unique(self.image[np.concatenate(urls)]) if urls else np.zeros(0, np.int64)

    @cached_property
    def _url_of_image(self) -> Ints:
        """One of the URLs of each image; images move as a whole."""
        found = np.zeros(len(self.images), np.int64)
        found[self.image] = np.arange(len(self.image))
        return found

    def effect(self, rule: Rule, among: Ints | None = None) -> Effect:
        """Return what a rule would do to the images, or to those it is known to touch."""
        return self.effects([rule], among)[0]

    def effect_of_all(self, rules: Sequence[Rule]) -> Effect:
        """Return what rules would do together."""
        return self._asked(rules, None, together=True)[0]

    def _asked(self, rules: Sequence[Rule], among: Ints | None, *, together: bool) -> list[Effect]:
        keeps = [rule for rule in self.rules if rule.kind == "keep"]
        program = program_of([*keeps, *rules])
        answer = cast("_Answer", self.standing.effects(program, len(keeps), together, among))
        counts, offsets, sources, failing, blamed, merging, touched_offsets, touched, vote_offsets, votes = (
            answer
        )
        moved = [slice(*ends) for ends in pairwise(offsets.tolist())]
        asked = [slice(*ends) for ends in pairwise(touched_offsets.tolist())]
        voted = [slice(*ends) for ends in pairwise(vote_offsets.tolist())]
        flags = [column.view(np.bool_) for column in (failing, blamed, merging)]
        return [
            Effect(*count, sources[rows], *(flag[rows] for flag in flags), touched[all_rows], votes[some])  # type: ignore[call-arg, arg-type]
            for count, rows, all_rows, some in zip(counts, moved, asked, voted, strict=True)
        ]

    def leading_nowhere(self, effect: Effect, rule: Rule) -> Bools | None:
        """Return of the images that a rule changes which end where the site has no page; None if none can."""
        gone = self.pages.site.gone
        if not len(gone):
            return None
        keeps = [each for each in self.rules if each.kind == "keep"]
        ends = program_of([*keeps, rule]).batch(self.images.take(pa.array(effect.sources)))
        return np.asarray(pc.is_in(pa.array(ends).cast(gone.type), value_set=gone), np.bool_)

    def unseen_target_share(self, effect: Effect, rule: Rule) -> float:
        """Return the share of what a rule changes that ends where the site is not known to have a page."""
        some = effect.sources[:: 1 + len(effect.sources) // MOST_ASKED]
        if not len(some):
            return 0.0
        targets = pa.array(program_of([rule]).batch(self.images.take(pa.array(some))))
        is_served = pc.is_in(targets.cast(self.images.type), value_set=self.pages.urls)
        moves = zip(self.some_texts(some), targets.to_pylist(), is_served.to_pylist(), strict=True)
        return unseen_target_share(self.pages.statements, moves) / len(some)

    def welcome_share(self, effect: Effect, rule: Rule) -> float:
        """Return the share of what a rule changes that ends where the site sends others."""
        images = self.images.take(pa.array(effect.sources))
        ends = pa.array(program_of([rule]).batch(images)).cast(images.type)
        preferred = pc.is_in(ends, value_set=self.images.filter(pa.array(self.is_preferred)))
        return (pc.sum(preferred).as_py() or 0) / max(1, len(images))

    def undone(self, effect: Effect, rule: Rule) -> int:
        """Return how many of the images that a rule changes the accepted rules would change back."""
        images = self.images.take(pa.array(effect.sources))
        there = pa.array(program_of([rule]).batch(images))
        back = pa.array(program_of(self.rules).batch(there)).cast(images.type)
        return int(pc.sum(pc.equal(back, images)).as_py() or 0) if self.rules else 0

    def accept(self, rule: Rule, touched: Ints | None = None) -> None:
        """Let a rule be the last of the accepted ones, and move the state on; `touched` are its images."""
        before = {name: value for name, value in self.__dict__.items() if name != "_before"}
        self.rules = [*self.rules, rule]
        if rule.kind == "keep":
            self._stand_anew()
        else:
            self._follow(rule, touched)
        self._before = before

    def _follow(self, rule: Rule, touched: Ints | None) -> None:
        """Move on the images that the last rule touches.

        It comes behind all others, so it sees what they leave: images that it does not touch stay.
        """
        if touched is None:
            touched = np.asarray(pa.array(program_of([rule]).touched(self.images)[0]), np.int64)
        rows = np.unique(touched)
        self._moves = [*self._moves, self._url_of_image[rows]]
        self._touched = dict(self._touched)
        made = pa.array(program_of(self.rules).batch(self.images.take(pa.array(rows))))
        images, became = renumbered(self.images, rows, made)
        self.is_served = self._moved(self.is_served, images, became, rows, self.pages.urls)
        self.is_preferred = self._moved(self.is_preferred, images, became, rows, self.pages.preferred)
        key = became[self.at] * (self.pages.count + 1) + self.on
        self.images, self.image = images, became[self.image]
        self._stand(key, self.urls_of_pair)

    @staticmethod
    def _moved(known: Bools, images: pa.Array, became: Ints, rows: Ints, urls: pa.Array) -> Bools:
        """Return of each image whether it is among some URLs, where that is known of those that stay."""
        found, is_known = np.zeros((2, len(images)), np.bool_)
        stays = np.ones(len(known), np.bool_)
        stays[rows] = False
        found[became[stays]] = known[stays]
        is_known[became[stays]] = True
        new = np.flatnonzero(~is_known)
        if len(new):
            found[new] = _are_among(images.take(pa.array(new)), urls)
        return found

    def retract(self) -> None:
        """Take back the rule that was accepted last."""
        self.__dict__ = self._before

    def keep(self, rule: Rule) -> None:
        """Let a `keep` shield its URLs from all rules that are accepted later."""
        self.rules.append(rule)
        self._forget()

    def silence(self, pages: Ints) -> None:
        """Let pages count neither for a rule nor against it."""
        if len(pages):
            self.pages.silent[pages] = True
            self._forget()

    def some_texts(self, rows: Ints) -> list[str]:
        """Return some images as Python strings."""
        texts = self.texts
        return [texts[row] for row in rows.tolist()]

    def images_under(self, rules: Sequence[Rule]) -> pa.Array:
        """Return the image of each URL under some rules."""
        return pa.array(program_of(rules).batch(self.pages.urls)).cast(pa.large_string())

    def form_of_urls(self) -> pa.Array:
        """Return the image of each URL."""
        return self.images.take(pa.array(self.image))

    def uses(self) -> list[int]:
        """Return of how many URLs each of the accepted rules changes the form."""
        return program_of(self.rules).batch_counted(self.pages.urls, uses=True)[1].uses

    def lost(self) -> int:
        """Return how many pages lie under another now."""
        return self.standing.lost()


def _are_among(images: pa.Array, urls: pa.Array) -> Bools:
    """Return of each image whether it is one of some URLs, and not only where one of them was sent to."""
    return np.asarray(pc.is_in(images, value_set=urls.cast(images.type)), np.bool_)
