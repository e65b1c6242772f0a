"""Which values of a key a tree keeps apart, and which it puts together under `*`.

Lei et al. sort values by frequency and cut where the curve declines most (section 5.1). The printed
equation 5 has its sign turned and a maximum where the place of the maximum is meant (A9): here it is the
place of the largest `ln f_i - ln f_(i+1)`, the first one where there are several. Two curves can be asked
for (`Salience`): that of one key in one node (A10), or that of figure 6, all tokens of the site whatever
their key, which is cut once. Tokens that every URL has are not on the second curve: they part nothing.

What the paper leaves open:

* Both curves end at the least number of URLs that a value needs. So values of about the same frequency
  (five language folders) are salient together when each has enough URLs, and trivial together when not.
* That least number is the square root of the number of URLs of the tree: then no key has more salient
  values than that, on small sites as on large ones. From a million URLs on it is a thousandth of them.
* A value with a quarter of the URLs of the node is salient wherever the decline is.
"""

from __future__ import annotations

import math
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
"""A value below this share of all URLs is not."""
SEEN_TWICE = 2


def least_count(total: int) -> float:
    """Return how many URLs a value must have at least, in a tree of this many."""
    return max(SEEN_TWICE, math.sqrt(total), NEVER * total)


def decline(frequencies: Ints, least: float) -> int:
    """Return the smallest frequency before the largest decline of a curve that ends at `least`.

    >>> decline(np.array([60, 40, 1, 1, 1]), 2), decline(np.array([61, 60, 60, 59]), 15)
    (40, 59)

    """
    falling = np.sort(frequencies)[::-1]
    following = np.append(falling[1:], min(least, falling[-1]))
    # Quotients of whole numbers are rounded exactly, so equal declines are found equal; logarithms are not.
    return int(falling[int(np.argmax(falling / following))])


def salient(counts: Ints, least: float, *, total: int, is_frequent: Bools | None = None) -> Bools:
    """Return which of the counted values are salient.

    Args:
        counts: How many URLs of the node have each value.
        least: How many a value must have.
        total: How many URLs the node has.
        is_frequent: Which values are before the decline, if that is not to be found among the counts.

    >>> salient(np.array([60, 40, 1, 1, 1]), 2, total=103).tolist()
    [True, True, False, False, False]

    """
    if is_frequent is None:
        is_frequent = counts >= decline(counts, least)
    return np.asarray((is_frequent | (counts >= ALWAYS * total)) & (counts >= least))
