"""The URL forms of a site taken apart, for those who propose from what separates them."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cached_property
from typing import NamedTuple


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
    def names(self) -> Counter[str]:
        """How many URLs have each parameter."""
        return Counter(name for pieces in self.pieces for name in set(pieces.names))
