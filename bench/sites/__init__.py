"""Sites with known truth: generated, seeded, streamed at any size, and served over HTTP.

>>> from bench.sites import site
>>> forum = site("forum", urls=2_000, seed=1)
>>> forum.observations().num_rows, forum.domain
(2000, 'forum1.test')
"""

from __future__ import annotations

from bench.sites.crowd import crowd
from bench.sites.kinds import ALL
from bench.sites.rows import Crawl
from bench.sites.site import Site

KINDS = {kind.name: kind for kind in ALL}
"""Every kind by its name."""


def site(kind: str, urls: int, seed: int = 0, *, giant: int = 0, name: str | None = None) -> Site:
    """Return the site of a kind with so many URLs; `giant` of them show one page."""
    if kind not in KINDS:
        message = f"there is no kind of site called '{kind}'; choose one of {', '.join(KINDS)}"
        raise ValueError(message)
    return Site(KINDS[kind], urls, seed, giant, name)


__all__ = ["KINDS", "Crawl", "Site", "crowd", "site"]
