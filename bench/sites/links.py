"""A site whose pages lead to each other, so that it can be crawled from its first page on.

Every page links to all URLs of two others, whatever URL it is itself found under, and so on down a tree;
pages that are gone lead nowhere, and are leaves. The links have no text, and so change no digest.
"""

from __future__ import annotations

from functools import cached_property
from html import escape
from typing import TYPE_CHECKING

from bench.sites.model import PAGE

if TYPE_CHECKING:
    from bench.sites.answers import Answer
    from bench.sites.site import Site

_END = b"</body>"
_OK = 200


class LinkedSite:
    """A site as the server wants it, with links in its pages."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.domain = site.domain

    @cached_property
    def urls_by_page(self) -> dict[str, list[str]]:
        """The URLs of each page, in the order in which the site has them."""
        truth = self.site.truth()
        pages: dict[str, list[str]] = {}
        for url, page in zip(truth["url"].to_pylist(), truth["page"].to_pylist(), strict=True):
            pages.setdefault(page, []).append(url)
        return pages

    @cached_property
    def _tree(self) -> dict[str, list[str]]:
        """Of each page that leads on, the two that it leads to and any leaves between them."""
        leading = [page for page, urls in self.urls_by_page.items() if self._leads_on(urls)]
        leaves = [page for page in self.urls_by_page if page not in set(leading)]
        tree: dict[str, list[str]] = {
            page: leading[2 * at + 1 : 2 * at + 3] for at, page in enumerate(leading)
        }
        for at, leaf in enumerate(leaves):
            tree[leading[at % len(leading)]].append(leaf)
        return tree

    def _leads_on(self, urls: list[str]) -> bool:
        answers = [self.site.answer(url) for url in urls]
        return all(answer.shows == PAGE for answer in answers) and any(a.status == _OK for a in answers)

    @property
    def start(self) -> str:
        """The URL to start from."""
        first = next(iter(self._tree))
        return next(url for url in self.urls_by_page[first] if self.site.answer(url).status == _OK)

    def answer(self, url: str, version: int = 0) -> Answer:
        """Return what the site answers, its links in the page."""
        answer = self.site.answer(url, version)
        if answer.status != _OK or answer.shows != PAGE:
            return answer
        targets = [
            target for page in self._tree.get(answer.page or "", ()) for target in self.urls_by_page[page]
        ]
        links = "".join(f'<a href="{escape(target)}"></a>' for target in targets)
        return answer._replace(body=answer.body.replace(_END, links.encode() + _END))
