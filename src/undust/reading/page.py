"""One response to evidence: what its body contains, where it and its headers point, what was read before.

A body is read once, however large, in pieces: all of it is hashed, and as much of it is kept as a text can
need. What a body contains does not depend on its URL, so that a body seen before need not be read again.

`PagesSeen` is what the pages read so far, of all files of a job, teach about those to come: the templates of
sites; bodies that were read (a quarter of a crawl is copies); and the digests of payloads, for archives do
not store a page twice: they write that it is the same as one before, often in another file.

A canonical counts where search engines let it count: in the head or in a `Link` header, and once. What breaks
these rules is not used and is reported, so that the owner of the site can correct it.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin

from undust.reading.text import SAMPLE, SIZE, WORDS, Sketcher, Tag, blocks_of, read_html, read_plain
from undust.urls import Url, normalize

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Headers = Mapping[str, Sequence[str]]
    """The values of each header, by its name in lower case."""


HEADERS = (
    *("content-encoding", "content-type", "link", "location", "no-vary-search", "refresh"),
    "transfer-encoding",
)
"""The headers that are used."""
MOST_TEXT = 32 << 20
"""Bytes of a body from which a text is made."""
MOST_BODY_BYTES = 1 << 30
"""Bytes of a body that are hashed; a body that unpacks to more is an attack."""

CUT = "body larger than 32 MiB; its text is cut there, and has no digest"
ENDLESS = "body larger than 1 GiB; it is not read to its end, and has no digest"

_HTML_TYPES = {"text/html", "application/xhtml+xml"}
_HTML_START = re.compile(
    rb"(?is)\s*(?:\xef\xbb\xbf)?\s*(?:<!--.{0,2000}?-->\s*)*<(?:!doctype\s+html|html|head|body|title|meta|h1)[\s>]"
)
FIRST_REDIRECT, NOT_MODIFIED, _FIRST_ERROR = 300, 304, 400


class Body(NamedTuple):
    """A body that was read from front to end."""

    start: bytes
    """The first `MOST_TEXT` bytes of it."""
    size: int
    long_md5: str | None = None
    """Of a body that is longer than that."""
    is_whole: bool = True
    """It was read to its end."""

    @classmethod
    def of(cls, pieces: Iterable[bytes]) -> Body:
        """Read a body that comes in pieces."""
        kept: list[bytes] = []
        size = 0
        for piece in (rest := iter(pieces)):
            kept.append(piece)
            size += len(piece)
            if size > MOST_TEXT:
                return cls._of_long(b"".join(kept), rest)
        return cls(kept[0] if len(kept) == 1 else b"".join(kept), size)

    @classmethod
    def _of_long(cls, start: bytes, rest: Iterable[bytes]) -> Body:
        md5 = hashlib.md5(start, usedforsecurity=False)
        size = len(start)
        for piece in rest:
            size += len(piece)
            md5.update(piece)
            if size > MOST_BODY_BYTES:
                return cls(start[:MOST_TEXT], size, is_whole=False)
        return cls(start[:MOST_TEXT], size, md5.hexdigest())

    def md5(self) -> str:
        """Return the MD5 of the whole body."""
        return self.long_md5 or hashlib.md5(self.start, usedforsecurity=False).hexdigest()


class Content(NamedTuple):
    """What a body contains, independent of its URL."""

    size: int | None = None
    digest: str | None = None
    """MD5 of the visible text of HTML, of the bytes of all else; None of nothing."""
    text: bytes = b""
    """What a sketch is made of, in UTF-8."""
    tags: tuple[Tag, ...] = ()
    problem: str | None = None
    blocks: bytes = b""
    """The blocks of its text, 64 bits each (see `undust.reading.text`)."""
    title: str | None = None
    language: str | None = None


class Page(NamedTuple):
    """What one response shows about its URL."""

    content: Content
    canonical: Canonical
    redirect: str | None
    language: str | None = None
    """That in which it lists itself among its translations, or else that which its text is said to have."""


def page_of(url: str, status: int | None, headers: Headers, content: Content) -> Page:
    """Return what a response shows; a redirect by status has priority over one in the body."""
    if _is_redirect(status):
        target = next(iter(headers.get("location", ())), None)
        return Page(content, Canonical(), target.strip() or None if target else None)
    canonical = canonical_of(url, content.tags, headers.get("link", ()))
    refresh = refresh_of(url, content.tags, headers.get("refresh", ()))
    return Page(content, canonical, refresh, own_language(url, content.tags) or content.language)


def _is_redirect(status: int | None) -> bool:
    return status is not None and FIRST_REDIRECT <= status < _FIRST_ERROR and status != NOT_MODIFIED


def content_of(body: Body, content_type: str | None) -> Content:
    """Return what a body contains."""
    if not body.is_whole:
        return Content(problem=ENDLESS)
    if not body.size:
        return Content(size=0)
    if is_html(content_type, body.start):
        html = read_html(body.start, content_type)
        if body.size > MOST_TEXT:
            return Content(body.size, None, html.text, html.tags, CUT)
        digest = text_digest(html.text)
        return Content(body.size, digest, html.text, html.tags, None, html.blocks, html.title, html.language)
    if _media_type(content_type) != "text/plain":
        return Content(body.size, body.md5())
    text = read_plain(body.start, content_type)
    return Content(body.size, body.md5(), text, blocks=blocks_of(text))


def text_digest(text: bytes) -> str | None:
    """Return the URL signature of Soon and Lee: MD5 of the text; none of an empty one, which merges nothing.

    >>> text_digest(b"Hello World")
    'b10a8db164e0754105b7a99be72e3fe5'
    """
    return hashlib.md5(text, usedforsecurity=False).hexdigest() if text else None


def is_html(content_type: str | None, start: bytes) -> bool:
    """Return whether a body is HTML: by its Content-Type, or, without one, by its first bytes."""
    media_type = _media_type(content_type)
    if "/" in media_type and media_type != "application/octet-stream":
        return media_type in _HTML_TYPES
    return _HTML_START.match(start) is not None


def _media_type(content_type: str | None) -> str:
    return (content_type or "").partition(";")[0].strip().lower()


LARGEST_BODY = 1 << 20
"""Bytes of a body that is remembered."""
MOST_SEEN_BYTES = 64 << 20
"""Of all bodies that are remembered."""
MOST_PAYLOADS = 1 << 20


class SeenPayload(NamedTuple):
    """What is known of a payload that later records may refer to."""

    size: int | None
    digest: str | None


class PagesSeen:
    """The memory of one job; bounded; the oldest entry is removed first."""

    def __init__(self, words: int = WORDS, size: int = SIZE, sample: int = SAMPLE) -> None:
        self.sketcher = Sketcher(words, size, sample)
        self._contents: dict[tuple[bytes, str | None], Content] = {}
        self._bytes = 0
        self._payloads: dict[str, SeenPayload] = {}

    def content_of(self, body: Body, content_type: str | None) -> Content:
        """Return what a body contains; what was read before is not read again."""
        if body.size > LARGEST_BODY:
            return content_of(body, content_type)
        # The body itself is the key: looking it up costs less than a digest of it.
        key = (body.start, content_type)
        content = self._contents.get(key)
        if content is None:
            content = self._contents[key] = content_of(body, content_type)
            self._bytes += _weight(body.start, content)
            while self._bytes > MOST_SEEN_BYTES:
                oldest = next(iter(self._contents))
                self._bytes -= _weight(oldest[0], self._contents.pop(oldest))
        return content

    def remember(self, payload_digest: str, content: Content) -> None:
        """Note the content of a payload, for records that only refer to it."""
        self._payloads[payload_digest] = SeenPayload(content.size, content.digest)
        if len(self._payloads) > MOST_PAYLOADS:
            del self._payloads[next(iter(self._payloads))]

    def payload(self, payload_digest: str) -> SeenPayload | None:
        """Return what is known of a payload, by the digest that the archive gave it."""
        return self._payloads.get(payload_digest)


def _weight(body: bytes, content: Content) -> int:
    # A body without text is not for free.
    return len(body) + len(content.text) + len(content.blocks) + 1000


CONTRADICTING = "several rel=canonical that differ; none is used"
OUTSIDE_HEAD = "rel=canonical outside the head; not used"
NO_TARGET = "rel=canonical that points nowhere; not used"

_LINK = re.compile(r"""<([^>]*)>((?:\s*;\s*[^\s;,="]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^",;\s]*))?)*)""")
_RELATION = re.compile(r"""(?i);\s*rel\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^",;\s]+))""")
_REFRESH = re.compile(r"""(?i)^\s*(\d*)[\d.]*(?:[\s;,]+(?:url\s*=\s*)?(?:"([^"]*)|'([^']*)|(\S.*))?)?""")
_CLEAN_PARAM = re.compile(r"(?im)^[ \t\ufeff]*clean-param[ \t]*:[^\r\n]*")
_ODD_SPACE = str.maketrans("", "", "\t\n\r")
_HOST = r"https?://[A-Za-z0-9.-]+(?::[0-9]+)?"
_ORIGIN = re.compile(rf"{_HOST}(?=/)")
_PLAIN = re.compile(rf"({_HOST})?(?:/[A-Za-z0-9_~%-][A-Za-z0-9._~%-]*)+/?(?:\?[A-Za-z0-9._~%=&+-]+)?")
"""A target that stands for itself, or behind the host of its page: no part of its path begins with a dot."""


class Canonical(NamedTuple):
    """The target of rel=canonical, or what is wrong with it; neither if the page has none."""

    target: str | None = None
    problem: str | None = None


def canonical_of(url: str, tags: Iterable[Tag], link_headers: Sequence[str] = ()) -> Canonical:
    """Return what a page names as its canonical URL, absolute and without a fragment."""
    tags = [tag for tag in tags if tag.name == "base" or _is_canonical(tag)]
    in_headers = [href for header in link_headers for href in canonical_hrefs(header)]
    if not in_headers and not any(tag.name == "link" for tag in tags):
        return Canonical()
    base = _base(url, tags)
    in_head = [tag.attributes["href"] for tag in tags if tag.name == "link" and tag.is_in_head]
    targets = [_target(base, href) for href in in_head] + [_target(url, href) for href in in_headers]
    found = list(dict.fromkeys(target for target in targets if target is not None))
    if len(found) > 1 and len(set(map(normalize, found))) > 1:
        return Canonical(problem=CONTRADICTING)
    if found:
        return Canonical(target=found[0])
    return Canonical(problem=NO_TARGET if targets else OUTSIDE_HEAD)


def _is_canonical(tag: Tag) -> bool:
    is_said = "canonical" in tag.attributes.get("rel", "").lower().split()
    return tag.name == "link" and "href" in tag.attributes and is_said


def canonical_hrefs(header: str) -> Iterator[str]:
    """Give the canonical targets in a `Link` header (RFC 8288).

    >>> list(canonical_hrefs('<https://a.test/x,y>; rel="alternate canonical", </z>; rel=next'))
    ['https://a.test/x,y']
    """
    for href, parameters in _LINK.findall(header):
        relation = _RELATION.search(parameters)
        if relation and "canonical" in (relation[1] or relation[2] or "").lower().split():
            yield href


def refresh_of(url: str, tags: Iterable[Tag], refresh_headers: Sequence[str] = ()) -> str | None:
    """Return where a page sends its reader at once, by `<meta http-equiv=refresh>` or header."""
    tags = list(tags)
    contents = [
        tag.attributes.get("content", "")
        for tag in tags
        if tag.name == "meta" and tag.attributes.get("http-equiv", "").strip().lower() == "refresh"
    ]
    for content in [*refresh_headers, *contents]:
        href = immediate_target(content)
        if href:
            return _target(_base(url, tags), href)
    return None


def immediate_target(content: str) -> str | None:
    """Return the target of a refresh that waits less than a second.

    >>> immediate_target("0; url='/new'"), immediate_target("5; url=/new"), immediate_target("0")
    ('/new', None, None)
    """
    found = _REFRESH.match(content)
    if not found or (found[1] or "0").strip("0"):
        return None
    return (found[2] or found[3] or found[4] or "").strip() or None


def own_language(url: str, tags: Iterable[Tag]) -> str | None:
    """Return the language in which a page lists itself among its translations (rel=alternate, hreflang)."""
    alternates = [tag for tag in tags if tag.name == "link" and "hreflang" in tag.attributes]
    if not alternates:
        return None
    own = normalize(url)
    named = {
        tag.attributes["hreflang"].strip().lower()
        for tag in alternates
        if (target := _target(url, tag.attributes.get("href", ""))) and normalize(target) == own
    } - {"x-default", ""}
    return named.pop() if len(named) == 1 else None


def clean_param_lines(robots: str) -> str:
    """Return the `Clean-param` lines of a robots.txt, which apply wherever they are in the file."""
    return "\n".join(line.strip("\ufeff \t") for line in _CLEAN_PARAM.findall(robots))


def _base(url: str, tags: Iterable[Tag]) -> str:
    for tag in tags:
        if tag.name == "base" and "href" in tag.attributes:
            return _joined(url, tag.attributes["href"]) or url
    return url


def _target(base: str, href: str) -> str | None:
    if not href.strip():
        return None
    target = _joined(base, href)
    if target is None or Url.parse(target) is None:
        return None
    return target.partition("#")[0]


def _joined(base: str, href: str) -> str | None:
    # Nearly all are as plain as these, and the general way takes ten times as long.
    if plain := _PLAIN.fullmatch(href):
        if plain[1]:
            return href
        if origin := _ORIGIN.match(base):
            return origin[0] + href
    try:
        return urljoin(base, href.strip().translate(_ODD_SPACE))
    except ValueError:
        return None
