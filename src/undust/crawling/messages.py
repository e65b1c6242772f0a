"""What a crawler sends and receives: responses, which become rows, and the decision about one URL.

A row has digest, canonical and redirect at once, and the sketch when the template is known. What a site
repeats on all its pages is left out of sketches, so the first texts of a site wait until there are enough of
them. Until then a row has no sketch; it is given again with one.
"""

from __future__ import annotations

import io
from base64 import b85decode, b85encode
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import urljoin

import numpy as np

from undust.reading.formats.bodies import UNKNOWN_ENCODING, DecodedBody
from undust.reading.page import (
    FIRST_REDIRECT,
    HEADERS,
    NOT_MODIFIED,
    Body,
    Content,
    PagesSeen,
    page_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray


CRAWL_SAMPLE = 20
"""Texts from which the template of a site is learned in a crawl."""
_PARTIAL_CONTENT = 206
Action = Literal["fetch", "skip"]

NEW_KEY = "its key is new"
ASKED_AGAIN = "it was to be fetched, and no answer has been observed yet"
WAS_FETCHED = "it was fetched"
COVERED_KEY = "a URL with the same key is fetched"
NAMED_BY_PAGE = "a page that was fetched names it as its canonical URL"
TESTS_RULES = "a URL with the same key is fetched; this one tests the rules"
IS_UNSTABLE = "a URL with the same key is fetched, but pages like this are another one at every fetch"
IN_A_TRAP = "it is in a trap: many URLs were fetched there, and almost no new page was found"
IS_NO_URL = "it is not a URL of http or https"


class Responses:
    """Reads the responses of one crawl."""

    def __init__(self, on_template: Callable[[str, str], object]) -> None:
        self._seen = PagesSeen(sample=CRAWL_SAMPLE)
        self._on_template = on_template
        self._templates: set[str] = set()
        self._made: list[dict[str, Any]] = []
        """Rows whose sketch has become known."""

    def restore(self, site: str, text: str) -> None:
        """Use the template of a site that was found before."""
        self._seen.sketcher.know(site, np.frombuffer(b85decode(text), np.uint64))
        self._templates.add(site)

    def rows(
        self,
        site: str,
        url: str,
        status: int,
        headers: Mapping[str, str | Iterable[str]],
        body: bytes,
    ) -> list[dict[str, Any]]:
        """Return the rows that a response gives: its own, and older ones whose sketch is known now."""
        told = _told(headers)
        content = self._content(status, told, body)
        page = page_of(url, status, told, content)
        redirect = joined(url, page.redirect) if page.redirect else None
        row = {
            "url": url,
            "status": status,
            "size": content.size,
            "digest": content.digest,
            "canonical": page.canonical.target,
            "redirect": redirect,
        }
        if content.text and not redirect and status < FIRST_REDIRECT:
            self._seen.sketcher.add(site, content.text, partial(self._add, row))
            self._note_template(site)
        made, self._made = self._made, []
        own = [] if any(each["url"] == url for each in made) else [row]
        return [*made, *own]

    def _add(self, row: dict[str, Any], sketch: NDArray[np.uint32] | None) -> None:
        self._made.append(row | {"sketch": None if sketch is None else sketch.tolist()})

    def _note_template(self, site: str) -> None:
        common = self._seen.sketcher.common_of(site)
        if common is not None and site not in self._templates:
            self._templates.add(site)
            self._on_template(site, b85encode(common.tobytes()).decode("ascii"))

    def _content(self, status: int, headers: Mapping[str, Sequence[str]], body: bytes) -> Content:
        if status in {_PARTIAL_CONTENT, NOT_MODIFIED}:
            return Content()
        decoding = DecodedBody(io.BytesIO(body), headers)
        content = self._seen.content_of(Body.of(decoding), next(iter(headers.get("content-type", ())), None))
        if decoding.problem not in {None, UNKNOWN_ENCODING}:
            return content._replace(size=None, digest=None)
        return content


def joined(url: str, target: str) -> str:
    """Return where a redirect leads."""
    try:
        return urljoin(url, target)
    except ValueError:  # as for `http://[`
        return target


def _told(headers: Mapping[str, str | Iterable[str]]) -> dict[str, list[str]]:
    """Return the headers that are used; a body that was put together has no transfer encoding."""
    lower = {
        name.lower(): [value] if isinstance(value, str) else list(value) for name, value in headers.items()
    }
    return {name: lower[name] for name in HEADERS if name != "transfer-encoding" and lower.get(name)}


class Decision(NamedTuple):
    """Whether to fetch a URL, and why.

    >>> import undust
    >>> learner = undust.CrawlLearner()
    >>> learner.decide("http://shop.test/item?id=7").action
    'fetch'
    >>> learner.decide("HTTP://shop.test:80/item?id=7").reason
    'a URL with the same key is fetched'
    """

    url: str
    action: Action
    key: str
    """What URLs of one page have in common under the rules of this moment."""
    canonical: str
    """The form that the rules prefer; the crawler may fetch this one instead."""
    reason: str
    explore: bool = False
    """Whether this is a probable duplicate that is fetched to test the rules."""

    @property
    def is_fetch(self) -> bool:
        """Whether to fetch it."""
        return self.action == "fetch"
