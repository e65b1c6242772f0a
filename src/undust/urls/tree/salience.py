"""Which values of a key a tree keeps apart, and which it puts together under `*`.

Lei et al. sort the values by frequency and cut where the curve declines most (section 5.1). The printed
equation 5 has its sign turned and a maximum where the place of the maximum is meant (A9): here it is the
place of the largest `ln f_i - ln f_(i+1)`, the first one where there are several. Frequencies are those
of one key in one node (A10); figure 6 counts the tokens of a whole site, whatever their key, and that can
be asked for as well (`Salience`): then the decline is the one among the site-wide counts of the values at
hand, and "no value", which is no token, keeps its count in the node. What the paper leaves open:

* one value alone is salient;
* all frequencies equal: there is no decline, so none is salient, but for a split into those that have
  the key and those that do not, which always says something about the scheme;
* a value with a quarter of the URLs of the node is always salient;
* one with less than a thousandth of all URLs of the tree, or seen once, never: a form that so few URLs
  have says nothing about the scheme. (A thousandth of the *node's* URLs would not keep small nodes from
  falling to pieces: sites of 70,000 URLs had trees of 8,000 nodes, where the paper has 8 to 634.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

Salience = Literal["node", "site"]
"""Whose frequencies decide: those of a key in a node, or those of a text in all URLs, at any key."""
SALIENCES: tuple[Salience, ...] = get_args(Salience)

ALWAYS = 0.25
"""A value of this share of the URLs of a node is salient wherever the decline is."""
NEVER = 0.001
"""A value below this share of all URLs is not, nor is one seen once."""
SEEN_TWICE = 2


def least_count(total: int) -> float:
    """Return how many URLs of a tree of so many a value must have at least."""
    return max(SEEN_TWICE, NEVER * total)


def salient(counts: Ints, least: float, *, has_absent: bool, frequencies: Ints | None = None) -> Bools:
    """Return which of the counted values are salient.

    Args:
        counts: How many URLs of the node have each value.
        least: How many a value must have.
        has_absent: Whether one of the values is that of no value.
        frequencies: Among which to look for the decline, if not among the counts.

    >>> salient(np.array([60, 40, 1, 1, 1]), 2, has_absent=False).tolist()
    [True, True, False, False, False]

    """
    if len(counts) == 1:
        return np.ones(1, np.bool_)
    curve = counts if frequencies is None else frequencies
    is_flat = curve.min() == curve.max()
    if is_flat and not (has_absent and len(counts) == SEEN_TWICE):
        return np.zeros(len(counts), np.bool_)
    falling = np.sort(curve)[::-1]
    # Quotients of whole numbers are rounded exactly, so equal declines are found equal; logarithms are not.
    place = int(np.argmax(falling[:-1] / falling[1:]))
    is_salient = curve >= falling[place]
    if is_flat:
        is_salient[:] = True
    is_salient |= counts >= ALWAYS * counts.sum()
    is_salient &= counts >= least
    return np.asarray(is_salient)
