"""What a candidate would do to a site, counted over dictionaries: one image, one page, one URL at a time.

Written from what the words mean; shares no line with the core. `becomes` is the candidate as a function.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass
class Site:
    """The images of a site with the URLs that each page has there, and what is known about its pages."""

    images: dict[str, dict[int, int]]
    served: set[str] = field(default_factory=set)
    preferred: set[str] = field(default_factory=set)
    speaking: set[int] = field(default_factory=set)
    held: set[int] = field(default_factory=set)
    silent: set[int] = field(default_factory=set)
    sketches: dict[int, Sequence[int]] = field(default_factory=dict)
    needed: int = 0
    labels: dict[int, int] | None = None
    """Evidence of pages in place of sketches: pages of one label are certainly one, of two certainly two."""

    def lost_on(self, pages: dict[int, int]) -> set[int]:
        """Return the pages that lie under the one with most URLs, or the first of those."""
        main = min(pages, key=lambda page: (-pages[page], page))
        return {page for page in pages if page != main and not self._is_forgiven(page, main)}

    def _is_forgiven(self, page: int, main: int) -> bool:
        if {page, main} & self.silent:
            return True
        if self.labels is not None:
            return self.ratio(page, main) >= 0
        if page not in self.sketches or main not in self.sketches:
            return False
        pairs = zip(self.sketches[page], self.sketches[main], strict=True)
        return sum(left == right for left, right in pairs) >= self.needed

    def ratio(self, page: int, main: int) -> float:
        """Return how much likelier two pages are one than two."""
        known = self.labels or {}
        if page in self.silent or main in self.silent or page not in known or main not in known:
            return 0.0
        return CERTAIN if known[page] == known[main] else -CERTAIN

    def lost(self) -> int:
        """Return how many pages lie under another one."""
        return sum(len(self.lost_on(pages)) for pages in self.images.values())


def effect(site: Site, becomes: Callable[[str], str]) -> dict[str, object]:
    """Return all that is told of a candidate, by the names of the core's answer."""
    target = {image: becomes(image) for image in site.images}
    moved = [image for image in site.images if target[image] != image]
    told: dict[str, object] = dict.fromkeys(COUNTS, 0)
    told |= {"moved": len(moved), "met": 0.0, "sources": moved, "votes": []}
    told |= {name: [False] * len(moved) for name in ("failing", "blamed", "merging")}
    groups: dict[str, list[str]] = defaultdict(list)
    ends = {target[image] for image in moved}
    for image in site.images:
        if target[image] in ends:
            groups[target[image]].append(image)
    if all(len(group) == 1 and target[group[0]] not in site.images for group in groups.values()):
        return told
    pages = {end: _together(site, group) for end, group in groups.items()}
    lost = {end: site.lost_on(found) for end, found in pages.items()}
    lost_before = [
        page for group in groups.values() for image in group for page in site.lost_on(site.images[image])
    ]
    lost_after = [page for some in lost.values() for page in some]
    merged = {
        (end, page)
        for end, group in groups.items()
        for page in pages[end]
        if page in site.speaking and sum(page in site.images[image] for image in group) > 1
    }
    votes = [vote for end, group in groups.items() for vote in _votes(site, pages[end], group, end)]
    merged |= {(end, page) for end, page, _, ratio in votes if ratio > 0 and page in site.speaking}
    supported = {
        (end, page)
        for end, page, main, ratio in votes
        if ratio > 0 and page in site.speaking
        for page in (page, main)
    }
    merging = [
        any((target[image], page) in merged | supported for page in site.images[image]) for image in moved
    ]
    met = [target[image] in site.images for image, merges in zip(moved, merging, strict=True) if merges]
    is_lost = {image: bool(lost[target[image]] & set(site.images[image])) for image in moved}
    is_told = {end for end, group in groups.items() if any(is_lost.get(image) for image in group)}
    merged_pages = {page for _, page in merged}
    return told | {
        "saved": sum(len(group) - 1 for group in groups.values()),
        "lost": max(0, len(lost_after) - len(lost_before)),
        "lost_held": max(0, _held(site, lost_after) - _held(site, lost_before)),
        "pages": len(merged_pages),
        "pages_held": len(merged_pages & site.held),
        "moved_urls": sum(sum(site.images[image].values()) for image in moved),
        "against": sum(image in site.preferred and target[image] not in site.preferred for image in moved),
        "astray": sum(image in site.served and target[image] not in site.served for image in moved),
        "met": sum(met) / len(met) if met else 0.0,
        "failing": [bool(lost[target[image]]) for image in moved],
        "blamed": [
            is_lost[image] or (bool(lost[target[image]]) and target[image] not in is_told) for image in moved
        ],
        "merging": merging,
        "votes": sorted(ratio for *_, ratio in votes),
    }


CERTAIN = 4.0
COUNTS = ("moved", "saved", "lost", "lost_held", "pages", "pages_held", "moved_urls", "against", "astray")


def _votes(
    site: Site, pages: dict[int, int], images: list[str], end: str
) -> list[tuple[str, int, int, float]]:
    """Return each page that comes together with the main one and did not stand on one image with it."""
    if site.labels is None:
        return []
    main = min(pages, key=lambda page: (-pages[page], page))
    return [
        (end, page, main, site.ratio(page, main))
        for page in pages
        if page != main
        and not any({page, main} <= site.images[image].keys() for image in images)
        and not {page, main} & site.silent
    ]


def _together(site: Site, images: list[str]) -> dict[int, int]:
    total: Counter[int] = Counter()
    for image in images:
        total.update(site.images[image])
    return total


def _held(site: Site, pages: list[int]) -> int:
    return sum(page in site.held for page in pages)
