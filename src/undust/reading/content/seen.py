"""What the pages read so far, of all files of a job, teach about those to come.

The templates of sites; bodies that were read and need not be read again (a quarter of a crawl is copies);
and the digests of payloads, for archives do not store a page twice: they write that it is the same as one
before, often in another file.
"""

from __future__ import annotations

from typing import NamedTuple

from undust.reading.content.page import Body, Content, content_of
from undust.reading.content.sketch import SIZE, WORDS
from undust.reading.content.templates import SAMPLE, Sketcher

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
        """Return what a body says; what was read before is not read again."""
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
        """Note what a payload says, for records that only refer to it."""
        self._payloads[payload_digest] = SeenPayload(content.size, content.digest)
        if len(self._payloads) > MOST_PAYLOADS:
            del self._payloads[next(iter(self._payloads))]

    def payload(self, payload_digest: str) -> SeenPayload | None:
        """Return what is known of a payload, by the digest that the archive gave it."""
        return self._payloads.get(payload_digest)


def _weight(body: bytes, content: Content) -> int:
    # A body without text is not for free.
    return len(body) + len(content.text) + len(content.blocks) + 1000
