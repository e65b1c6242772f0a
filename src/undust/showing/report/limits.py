"""How much of each list is on the page: a page that takes seconds to open is not read."""

from __future__ import annotations

from dataclasses import dataclass

PAGE_BYTES = 2_400_000
"""The data of all sites together; with script and style, the page stays below 3 MB."""


@dataclass(frozen=True)
class Limits:
    """The most that is shown of one site; the page says how many there are."""

    rules: int = 300
    branches: int = 400
    urls: int = 4_000
    refused: int = 100
    groups: int = 40
    """Of duplicates that no rule explains, and of evidence that was switched off."""
    examples: int = 3
    steps: int = 10
    """Of the curve."""


ONE_SITE = Limits()
FEW_SITES = Limits(rules=120, branches=150, urls=600, refused=40, groups=15, steps=8)
MANY_SITES = Limits(rules=60, branches=60, urls=150, refused=20, groups=8, steps=6)
_FEW = 12
MOST_IN_FULL = 200
"""Sites of which the page has more than one line."""


def limits_for(sites: int) -> Limits:
    """Return the limits of a page about this many sites."""
    return ONE_SITE if sites == 1 else FEW_SITES if sites <= _FEW else MANY_SITES


def spread(count: int, most: int) -> list[int]:
    """Return at most `most` places among `count`, evenly spread, the first and the last among them.

    >>> spread(10, 4)
    [0, 3, 6, 9]
    """
    if count <= most:
        return list(range(count))
    return [place * (count - 1) // max(most - 1, 1) for place in range(most)]
