"""Where the site itself says that its URLs belong: what it redirects to, and what it calls canonical.

A rule that writes a word makes up URLs. That some of them were seen does not vouch for the others: a page
`/a` may be `/a.html`, and a folder `/b` is `/b/`. Where the result of a rule was not observed, the site
may still have said so; and where it says something else, it is right.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from undust.pages.clustering import SiteClusters

_TOKEN = re.compile(r"[A-Za-z0-9]+|[^A-Za-z0-9]")


class Statements:
    """Redirects and rel=canonical of one site, from URL to URL.

    Args:
        site: Its clusters.
        nodes: Those of its URLs that are needed; of a giant site they are a sample.

    """

    def __init__(self, site: SiteClusters, nodes: NDArray[np.int64]) -> None:
        is_asked = np.zeros(len(site.node_urls), np.bool_)
        is_asked[nodes] = True
        self._home: dict[str, str] = {}
        for edges in site.edges:
            if edges.kind in {"canonical", "redirect"}:
                rows = np.flatnonzero(is_asked[edges.member] | is_asked[edges.hub])
                ends = (site.node_urls.take(pa.array(some[rows])) for some in (edges.member, edges.hub))
                for member, hub in zip(*(some.to_pylist() for some in ends), strict=True):
                    self._home.setdefault(hub, hub)
                    self._home[member] = hub

    def leads_nearer(self, url: str, target: str) -> bool | None:
        """Return whether a target is nearer than a URL to where the site sends that; None if it does not."""
        home = self._home.get(url)
        return None if home is None else _apart(target, home) < _apart(url, home)


def _apart(left: str, right: str) -> int:
    """Return how many words and signs one of two URLs has and the other has not."""
    ours, theirs = Counter(_TOKEN.findall(left)), Counter(_TOKEN.findall(right))
    return (ours - theirs).total() + (theirs - ours).total()


def unseen_target_share(statements: Statements, moves: Iterable[tuple[str, str, bool]]) -> int:
    """Return how many moves neither end where the site has a page, nor follow what it says of the URL.

    Args:
        statements: What the site says.
        moves: From which URL to which, and whether that was seen to be there.

    """
    found = 0
    for url, target, is_served in moves:
        nearer = statements.leads_nearer(url, target)
        found += not nearer if nearer is not None else not is_served
    return found
