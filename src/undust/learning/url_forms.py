"""The URL forms of a site taken apart, for those who propose from what separates them.

Anyone who can send requests to a site can fill its log with names and paths that no page has. Work that
grows faster than the number of URLs is therefore done on `usual` forms only, whose vocabulary is bounded.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cached_property
from typing import NamedTuple

USUAL_NAMES = 64
"""Parameter names of a site's usual forms, the most frequent ones. Of 24 real sites none has more than 54."""
USUAL_PARTS = 16
"""Segments, and parameters, of a usual form. Of 24 real sites none has more than 13."""


class UrlPieces(NamedTuple):
    """A normalized URL in pieces, as written."""

    scheme: str
    host: str
    segments: tuple[str, ...]
    query: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return tuple(parameter.partition("=")[0] for parameter in self.query)

    @property
    def has_usual_length(self) -> bool:
        """Whether it has no more segments and parameters than URLs of real sites."""
        return len(self.segments) <= USUAL_PARTS and len(self.query) <= USUAL_PARTS


def pieces_of(url: str) -> UrlPieces:
    """Return the pieces of a URL in normal form."""
    scheme, _, rest = url.partition("://")
    host, slash, rest = rest.partition("/")
    path, _, query = rest.partition("?")
    if not slash:
        host, _, query = host.partition("?")
    return UrlPieces(scheme, host, tuple(path.split("/")), tuple(query.split("&")) if query else ())


class UrlForms:
    """Distinct URLs of one site, each with the page it shows."""

    def __init__(self, site: str, urls: list[str], pages: list[int]) -> None:
        self.site = site
        self.urls = urls
        self.pages = pages

    @cached_property
    def pieces(self) -> list[UrlPieces]:
        """Each URL in pieces."""
        return [pieces_of(url) for url in self.urls]

    @cached_property
    def of_page(self) -> dict[int, list[int]]:
        """The rows of each page that has several, shortest URL first."""
        found: dict[int, list[int]] = defaultdict(list)
        for row, page in enumerate(self.pages):
            found[page].append(row)
        key = self.urls
        return {
            page: sorted(rows, key=lambda row: (len(key[row]), key[row]))
            for page, rows in found.items()
            if len(rows) > 1
        }

    @cached_property
    def usual(self) -> UrlForms:
        """The forms without those that are very long, or have a name that few others have.

        The same object where all forms are usual, as on nearly every site.
        """
        names = self.names
        if len(names) > USUAL_NAMES:
            ranked = sorted(names.items(), key=lambda item: (-item[1], item[0]))
            known = {name for name, _ in ranked[:USUAL_NAMES]}
        else:
            known = set(names)
        rows = [
            row
            for row, each in enumerate(self.pieces)
            if each.has_usual_length and known.issuperset(each.names)
        ]
        if len(rows) == len(self.urls):
            return self
        return UrlForms(self.site, [self.urls[row] for row in rows], [self.pages[row] for row in rows])

    @cached_property
    def names(self) -> Counter[str]:
        """How many URLs have each parameter."""
        return Counter(name for pieces in self.pieces for name in set(pieces.names))
