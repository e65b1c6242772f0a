"""The keys of the URLs of a site under some edits: immutable, so that any number of trials start from it.

A site has far more URLs than a rule changes. Numbering all of them anew after every rule would cost as much
for a rule of ten URLs as for one of all; so texts are numbered again where a few have changed.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust._core import KeyIndex
from undust.edits import KEEP
from undust.pages.clustering.nodes import is_ascending
from undust.rules import program_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from undust._core import Program
    from undust.edits import Edit
    from undust.judging.site import Site
    from undust.rules import Rule

    Ints = NDArray[np.int64]


_FEW = 16
"""New texts are looked up one by one if at most one text of 16 changes; sorting all is quicker otherwise."""


@dataclass(frozen=True, eq=False)
class KeyState:
    """The site under edits: the image of each URL, and the key of each image.

    An image is a canonical URL, and a key is what masks leave of it. URLs with one key are one page to a
    crawler, whatever they show.
    """

    site: Site
    edits: tuple[Edit, ...] = ()

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that say the edits: masks last, for they see what the others leave."""
        return ordered(self.site.name, self.edits)

    @cached_property
    def masks(self) -> tuple[Rule, ...]:
        """Those of the rules that change keys only."""
        return rules_of(self.site.name, [edit for edit in self.edits if edit.is_mask])

    @cached_property
    def keeps(self) -> tuple[Rule, ...]:
        """Those of the rules that leave URLs as they are."""
        return rules_of(self.site.name, [edit for edit in self.edits if edit.operation == KEEP])

    @cached_property
    def defaults(self) -> frozenset[tuple[str, str]]:
        """Parameters of which some value is removed, and that value; an empty one says no more than none."""
        return frozenset(item for edit in self.edits for item in edit.defaults.items() if item[1])

    @cached_property
    def _images(self) -> tuple[pa.Array, Ints]:
        return numbered(self._under(self.rules) if self.rules else self.site.urls)

    @property
    def images(self) -> pa.Array:
        """The distinct canonical URLs, sorted."""
        return self._images[0]

    @property
    def image(self) -> Ints:
        """Of each URL the number of its image."""
        return self._images[1]

    @cached_property
    def _keys(self) -> tuple[pa.Array, Ints]:
        if not self.masks:
            return self.images, np.arange(len(self.images))
        return numbered(pa.array(self._masking.batch(self.images, keys=True)))

    @property
    def keys(self) -> pa.Array:
        """The distinct keys, sorted."""
        return self._keys[0]

    @property
    def key_of_image(self) -> Ints:
        """Of each image the number of its key."""
        return self._keys[1]

    @cached_property
    def key(self) -> Ints:
        """Of each URL the number of its key."""
        return self.key_of_image[self.image]

    @cached_property
    def index(self) -> KeyIndex:
        """The same in the core, which computes what edits would do."""
        order, starts = self.by_key
        gone = pa.array(sorted(self.site.gone), pa.large_string())
        columns = (self.key_of_image, order, starts, self.urls_of_key, self.page_of_key)
        return KeyIndex(self.images, self.keys, gone, *columns)

    @cached_property
    def image_texts(self) -> list[str]:
        """The images as Python strings."""
        return self.images.to_pylist()  # type: ignore[no-any-return]

    @cached_property
    def is_seen(self) -> NDArray[np.bool_]:
        """Of each image whether it is a URL that was seen, and not only where one was sent to."""
        return np.asarray(pc.is_in(self.images, value_set=self.site.urls.cast(self.images.type)), np.bool_)

    @cached_property
    def urls_of_key(self) -> Ints:
        """How many URLs have each key."""
        return np.bincount(self.key, minlength=len(self.keys))

    @cached_property
    def speaker(self) -> Ints:
        """Of each key a URL of the page that most of its URLs show."""
        return main_rows(self.key, self.site.page)

    @cached_property
    def page_of_key(self) -> Ints:
        """Of each key the page that most of its URLs show."""
        return self.site.page[self.speaker]

    @cached_property
    def is_preferred(self) -> NDArray[np.bool_]:
        """Of each image whether the site sends others to it."""
        return self.site.preferred[self.image_speaker]

    @cached_property
    def image_speaker(self) -> Ints:
        """Of each image a URL of the page that most of its URLs show."""
        return main_rows(self.image, self.site.page)

    @cached_property
    def image_of_key(self) -> Ints:
        """Of each key one of its images, the first."""
        first = np.full(len(self.keys), -1, np.int64)
        first[self.key_of_image[::-1]] = np.arange(len(self.images))[::-1]
        return first

    @cached_property
    def by_key(self) -> tuple[Ints, Ints]:
        """The images in the order of their keys, and where those of each key begin."""
        order = np.argsort(self.key_of_image, kind="stable")
        return order, np.searchsorted(self.key_of_image[order], np.arange(len(self.keys) + 1))

    def with_edit(self, edit: Edit) -> Self:
        """Return the state under one edit more."""
        after = type(self)(self.site, (*self.edits, edit))
        if edit.operation != KEEP:
            self._lead(after, edit)
        return after

    def _lead(self, after: Self, edit: Edit) -> None:
        """Fill in the images of a state with one edit more, from the images of this one.

        The edit comes behind all others, so it sees what they leave: images that it does not touch stay.
        """
        if edit.is_mask:
            after.__dict__["_images"] = self._images
            return
        rules = edit.rules(self.site.name) or ()
        touched = np.unique(np.asarray(pa.array(program_of(rules).touched(self.images)[0]), np.int64))
        made = pa.array(program_of(after.rules).batch(self.images.take(pa.array(touched))))
        images, became = renumbered(self.images, touched, made)
        after.__dict__["_images"] = images, became[self.image]
        if self.masks:
            texts = images.take(pa.array(became))
            keys = _with_keys(self.keys.take(pa.array(self.key_of_image)), touched, self._masking, texts)
            first = np.zeros(len(images), np.int64)
            first[became] = np.arange(len(became))
            after.__dict__["_keys"] = numbered(keys.take(pa.array(first)))

    @cached_property
    def _masking(self) -> Program:
        """What makes keys of images."""
        return program_of((*self.keeps, *self.masks))

    @cached_property
    def _uses(self) -> tuple[Ints, Ints]:
        """URLs and rules, by number, of all pairs in which the rule is on the way to the key."""
        rows, rules = (pa.array(column) for column in program_of(self.rules).used(self.site.urls))
        return np.asarray(rows, np.int64), np.asarray(rules, np.int64)

    def used_by(self, edit: Edit) -> Ints:
        """Return the URLs on whose way to the key an edit is."""
        own = {rule.id for rule in edit.rules(self.site.name) or ()}
        numbers = [number for number, rule in enumerate(self.rules) if rule.id in own]
        rows, rules = self._uses
        return np.unique(rows[np.isin(rules, numbers)])

    @property
    def kept_only(self) -> Self:
        """The URLs without any edit, but for what is kept as it is."""
        return type(self)(self.site, tuple(edit for edit in self.edits if edit.operation == KEEP))

    def without(self, *edits: Edit) -> Self:
        """Return the state under some edits fewer."""
        return type(self)(self.site, tuple(each for each in self.edits if each not in edits))

    def _under(self, rules: Sequence[Rule]) -> pa.Array:
        return pa.array(program_of(rules).batch(self.site.urls))


def _with_keys(keys: pa.Array, rows: Ints, masking: Program, texts: pa.Array) -> pa.Array:
    """Return keys of which some rows are made anew, from other texts."""
    made = pa.array(masking.batch(texts.take(pa.array(rows)), keys=True)).cast(pa.large_string())
    mask = np.zeros(len(keys), np.bool_)
    mask[rows] = True
    return pc.replace_with_mask(keys.cast(pa.large_string()), pa.array(mask), made)


def rules_of(site: str, edits: Iterable[Edit]) -> tuple[Rule, ...]:
    """Return the rules that say edits; an edit that cannot be said has none."""
    return tuple(rule for edit in edits for rule in edit.rules(site) or ())


def ordered(site: str, edits: Iterable[Edit]) -> tuple[Rule, ...]:
    """Return the rules of edits as they are applied, each once: what is kept first, masks last."""
    some = sorted(edits, key=lambda edit: (edit.operation != KEEP, edit.is_mask))
    rules = rules_of(site, some)
    return tuple({rule.id: rule for rule in rules}.values())


def main_rows(group: Ints, page: Ints) -> Ints:
    """Return of each group a row of its most frequent page; the smallest of several."""
    pages = int(page.max(initial=0)) + 1
    pairs, first, counts = np.unique(group * pages + page, return_index=True, return_counts=True)
    at = pairs // pages
    order = np.lexsort((pairs, -counts, at))
    starts = np.flatnonzero(np.diff(at[order], prepend=-1))
    rows: Ints = first[order[starts]]
    return rows


def numbered(texts: pa.Array) -> tuple[pa.Array, Ints]:
    """Return the distinct texts in order, and the number of each text."""
    if is_ascending(texts):
        return texts.cast(pa.large_string()), np.arange(len(texts))
    encoded = texts.cast(pa.large_string()).dictionary_encode()
    order = pc.sort_indices(encoded.dictionary)
    rank = np.empty(len(order), np.int64)
    rank[np.asarray(order)] = np.arange(len(order))
    return encoded.dictionary.take(order), rank[np.asarray(encoded.indices)]


def renumbered(texts: pa.Array, rows: Ints, made: pa.Array) -> tuple[pa.Array, Ints]:
    """Return what `numbered` returns for distinct texts in order of which some rows are other texts now."""
    made = made.cast(pa.large_string())
    stays = np.ones(len(texts), np.bool_)
    stays[rows] = False
    if _FEW * len(rows) > len(texts):
        return numbered(pc.replace_with_mask(texts.cast(pa.large_string()), pa.array(~stays), made))
    rest = texts.cast(pa.large_string()).filter(pa.array(stays))
    new, number = numbered(made)
    places = np.fromiter((_place(rest, text) for text in new.to_pylist()), np.int64, len(new))
    is_there = np.zeros(len(new), np.bool_)
    inside = places < len(rest)
    is_there[inside] = np.asarray(
        pc.equal(rest.take(pa.array(places[inside])), new.filter(pa.array(inside))), np.bool_
    )
    fresh = np.flatnonzero(~is_there)
    order = np.insert(np.arange(len(rest)), places[fresh], len(rest) + np.arange(len(fresh)))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    places[fresh] = len(rest) + np.arange(len(fresh))
    became = np.empty(len(texts), np.int64)
    became[stays] = rank[: len(rest)]
    became[rows] = rank[places][number]
    return pa.concat_arrays([rest, new.take(pa.array(fresh))]).take(pa.array(order)), became


def _place(texts: pa.Array, text: str) -> int:
    """Return where a text belongs among texts in order; by bytes, as Arrow sorts."""
    return bisect_left(range(len(texts)), text.encode(), key=lambda row: texts[row].as_buffer().to_pybytes())
