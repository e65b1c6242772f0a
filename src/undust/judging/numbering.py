"""Distinct texts in order and the number of each, also after a few of many texts have changed.

A site has far more URLs than a rule changes. Numbering all of them anew after every rule would cost as much
for a rule of ten URLs as for one of all.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

_FEW = 16
"""New texts are looked up one by one if at most one text of 16 changes; sorting all is quicker otherwise."""


def numbered(texts: pa.Array) -> tuple[pa.Array, Ints]:
    """Return the distinct texts in order, and the number of each text."""
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
