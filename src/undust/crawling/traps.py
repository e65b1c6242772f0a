"""Places of a site where new URLs bring no new pages: endless calendars, growing paths, session ids.

A place is a host, the first segment of the path, and the names of the parameters, digits left out. It is a
trap if many URLs were fetched there and almost none of the latest ones showed a text that was new.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

LEAST_FETCHED = 60
"""URLs that were fetched in a place before it can be a trap."""
WINDOW = 40
"""This many of the latest fetches of a place count …"""
MOST_NEW = 1
"""… and at most this many of them showed a new page."""
MOST_TRAP_PLACES = 4_096
"""Places of one site that are counted; later ones are not."""
_DIGITS = re.compile(r"\d+")
_VALUES = re.compile(r"=[^&;]*")
_SCRIPT = re.compile(r"[A-Za-z_.]{1,16}")
"""The last segment of a path that is not the name of a page."""


class Trap(NamedTuple):
    """A place with many URLs and almost no pages."""

    site: str
    place: str
    fetched: int
    """URLs that were fetched there."""
    pages: int
    """Different texts among them."""


@dataclass(slots=True)
class PlaceCounts:
    """What was found in one place."""

    fetched: int = 0
    pages: int = 0
    latest: int = 0
    """One bit for each of the latest fetches: whether its page was new."""

    @property
    def is_trap(self) -> bool:
        """Whether almost nothing new was found lately."""
        return self.fetched >= LEAST_FETCHED and self.latest.bit_count() <= MOST_NEW


@dataclass
class Traps:
    """The places of one site."""

    site: str
    skips: bool = False
    """Whether URLs in a trap are skipped."""
    places: dict[str, PlaceCounts] = field(default_factory=dict)
    pages: int = 0
    """Texts that were seen on the site."""

    def note(self, url: str, *, is_new: bool) -> None:
        """Count a page that was fetched."""
        self.pages += is_new
        name = place_of(url)
        place = self.places.get(name)
        if place is None:
            if len(self.places) >= MOST_TRAP_PLACES:
                return
            place = self.places[name] = PlaceCounts()
        place.fetched += 1
        place.pages += is_new
        place.latest = (place.latest << 1 | is_new) & ((1 << WINDOW) - 1)

    def holds(self, url: str) -> bool:
        """Return whether a URL is to be skipped because of where it is."""
        place = self.places.get(place_of(url)) if self.skips else None
        return place is not None and place.is_trap

    def found(self) -> list[Trap]:
        """Return the traps, those with most URLs first."""
        traps = [
            Trap(self.site, name, place.fetched, place.pages)
            for name, place in self.places.items()
            if place.is_trap
        ]
        return sorted(traps, key=lambda trap: (-trap.fetched, trap.place))


@lru_cache(MOST_TRAP_PLACES)
def place_of(url: str) -> str:
    """Return the place of a URL.

    >>> place_of("http://shop.test/calendar2/2031/05?month=5&year=2031")
    'shop.test/calendar0?month&year'
    >>> place_of("http://shop.test/a-red-ball")
    'shop.test/'
    """
    address, _, query = url.partition("#")[0].partition("?")
    host, _, path = address.partition("://")[2].partition("/")
    first, slash, _ = path.lstrip("/").partition("/")
    if not slash and not _SCRIPT.fullmatch(first):
        first = ""
    return _named(host, first, _VALUES.sub("", query) if query else "")


@lru_cache(MOST_TRAP_PLACES)
def _named(host: str, first: str, query: str) -> str:
    """Return the name of a place; most URLs of a site are in few."""
    names = set(query.replace(";", "&").split("&")) - {""}
    ending = f"?{'&'.join(sorted(names))}" if names else ""
    return _DIGITS.sub("0", f"{host.lower()}/{first.partition(';')[0]}{ending}")
