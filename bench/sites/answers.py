"""The server's side of a site: any URL to what it answers, by reading the URL and nothing else."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import numpy as np

from bench.sites.chance import draw, share
from bench.sites.content import NOTICES, body, same_page
from bench.sites.forms import Reader
from bench.sites.layout import digits_of, number_of
from bench.sites.model import GONE, PAGE
from bench.sites.rows import moments_of, preferred
from bench.sites.text import BANK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench.sites.chance import Ints
    from bench.sites.content import Content
    from bench.sites.forms import Match
    from bench.sites.layout import Layout
    from bench.sites.model import Form

_OK, _MOVED, _NOT_FOUND = 200, 301, 404


class Answer(NamedTuple):
    """A response, and the page that it is about, which no client is told."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    page: str | None
    """As in the truth of a crawl; None where the URL is no address of any page."""
    shows: int = PAGE
    """The page itself, or one of the notices of the model."""


class _Place(NamedTuple):
    family: int
    number: int
    form: Form


class Answers:
    """Answers for one site."""

    def __init__(self, domain: str, layout: Layout, content: Content) -> None:
        self._domain, self._layout, self._content = domain, layout, content

    @cached_property
    def _readers(self) -> list[tuple[int, Reader]]:
        readers = [
            (family, Reader(form, described, self._layout.seed))
            for family, described in enumerate(self._layout.kind.families)
            for form in described.forms
            if form.is_read
        ]
        return sorted(readers, key=lambda each: each[1].exactness, reverse=True)

    def answer(self, url: str, version: int = 0) -> Answer:
        """Return what the site answers when a URL is fetched for the `version`-th time after the first."""
        place = self._place(url)
        if place is None:
            return Answer(_NOT_FOUND, _HTML, body(NOTICES[GONE], 0), None, GONE)
        described = self._layout.kind.families[place.family]
        page = same_page(described, np.array([place.number]))
        name = f"{described.name}/{page[0]}"
        shown = int(self._content.shown(place.family, page)[0])
        if shown != PAGE:
            status = _NOT_FOUND if shown == GONE else _OK
            return Answer(status, _HTML, body(NOTICES[shown], 0), name, shown)
        digits = digits_of(described, page)
        if place.form.redirects:
            home = preferred(self._layout, place.family, digits, self._domain)[0].as_py()
            return Answer(_MOVED, {"Location": home}, b"", name)
        moment = moments_of([url], np.array([version]))
        text = self._content.text(place.family, page, np.array([place.form.tail]), moment)
        padding = int(self._content.padding(place.family, page)[0])
        return Answer(_OK, self._headers(place.family, page, digits), body(BANK.text(text), padding), name)

    def _headers(self, family: int, page: Ints, digits: dict[str, Ints]) -> dict[str, str]:
        declares = share(draw(self._layout.seed, "declares", family, page)) < self._content.rates.canonical
        if not declares[0]:
            return _HTML
        forgotten = self._layout.kind.families[family].canonical_forgets
        digits |= {name: np.zeros_like(digits[name]) for name in forgotten}
        target = preferred(self._layout, family, digits, self._domain)[0].as_py()
        return {**_HTML, "Link": f'<{target}>; rel="canonical"'}

    def _place(self, url: str) -> _Place | None:
        try:
            parts = urlsplit(url)
            host = parts.hostname or ""
        except ValueError:
            return None
        label = self._label(host)
        if label is None:
            return None
        path = self._tidied(parts.path or "/")
        parameters: dict[str, str] = {}
        for pair in parts.query.split("&"):
            name, _, value = pair.partition("=")
            parameters.setdefault(name, value)
        for family, reader in self._readers:
            if (self._layout.kind.families[family].host or self._layout.kind.label) == label:
                match = reader.read(path, parameters)
                if match is not None and (number := self._number(family, match)) is not None:
                    return _Place(family, number, match.form)
        return None

    def _label(self, host: str) -> str | None:
        kind = self._layout.kind
        if host != self._domain and not host.endswith(f".{self._domain}"):
            return None
        label = host.removesuffix(self._domain).rstrip(".")
        return kind.label if label in kind.mirrors else label

    def _tidied(self, path: str) -> str:
        manners = self._layout.kind.manners
        if manners.ignores_path_parameters:
            path = path.partition(";")[0]
        if manners.ignores_case:
            path = path.lower()
        for alias, meant in manners.aliases.items():
            if path.startswith(alias):
                path = meant + path.removeprefix(alias)
        folder, _, last = path.rpartition("/")
        if last in manners.indexes:
            path = f"{folder}/"
        if manners.ignores_last_slash and len(path) > 1:
            path = path.removesuffix("/")
        for suffix in manners.suffixes:
            path = path.removesuffix(suffix)
        return path

    def _number(self, family: int, match: Match) -> int | None:
        described = self._layout.kind.families[family]
        digits = {name: match.digits.get(name, 0) for name in (described.main, *described.small)}
        sizes = {described.main: self._layout.count(family), **described.small}
        for name, digit in digits.items():
            if digit >= sizes[name] and name in described.clamped:
                digits[name] = sizes[name] - 1
            elif not 0 <= digit < sizes[name]:
                return None
        return int(number_of(described, {name: np.array([digit]) for name, digit in digits.items()})[0])


_HTML = {"Content-Type": "text/html; charset=utf-8"}
