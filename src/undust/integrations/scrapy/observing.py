"""What a crawl sees, written down while it runs, so that it teaches the next one.

One JSON object a line, in the columns of an observation, which every command of undust reads, added to those
that are there. Bodies are not kept: of each only its size, digest, sketch, blocks, title and language. A
crawl goes on when its observations cannot be written any more; it loses no page for the sake of a lesson.
"""

from __future__ import annotations

import io
import json
import logging
import time
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scrapy import signals

from undust.errors import RefusedStart, file_sentence
from undust.files.streams import Output, packing_of_name
from undust.reading.formats.bodies import UNKNOWN_ENCODING, DecodedBody
from undust.reading.formats.values import text_from_bytes
from undust.reading.page import FIRST_REDIRECT, HEADERS, NOT_MODIFIED, Body, Content, PagesSeen, page_of
from undust.urls import site_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from undust.reading.page import Headers

SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.zst")
PACKED_ROWS = 10_000
"""Rows in a member of a packed file; a crawl that ends badly loses at most this many."""


class ObservationFile:
    """A file that is open as long as a crawl; a row of a plain one is there as soon as it was written."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._packing = packing_of_name(path)
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            self._file = Path(path).open("a+b")  # noqa: SIM115 -- as long as the crawl
            if not self._packing:
                self._end_last_line()
        except OSError as error:
            raise RefusedStart(file_sentence(error)) from error
        self._start()

    def _end_last_line(self) -> None:
        """Leave what a crawl that was killed had begun to write on a line of its own."""
        if self._file.seekable() and self._file.tell():
            self._file.seek(-1, 2)
            if self._file.read(1) != b"\n":
                self._file.write(b"\n")

    def _start(self) -> None:
        self._output = Output(self._file, self._packing.new_packer() if self._packing else None)
        self._count = 0

    def write(self, row: dict[str, Any]) -> None:
        """Add a row."""
        try:
            self._output.write(json.dumps(row).encode() + b"\n")
            self._count += 1
            if self._packing and self._count == PACKED_ROWS:
                self._output.finish()
                self._start()
        except OSError as error:
            error.filename = self._path
            raise

    def close(self) -> None:
        """Complete the file."""
        with self._file:
            if self._count:
                self._output.finish()


def path_of(crawler: Crawler) -> str:
    """Return the name of the file, its `%(name)s` and `%(time)s` replaced as in the names of feeds."""
    setting = crawler.settings.get("UNDUST_OBSERVATIONS")
    pattern = str(setting)
    if not pattern.endswith(SUFFIXES):
        endings = " or ".join(SUFFIXES)
        message = f"UNDUST_OBSERVATIONS is {setting!r}; give the file a name that ends in {endings}"
        raise RefusedStart(message)
    stamp = time.strftime("%Y-%m-%dT%H-%M-%S", time.gmtime())
    name = (crawler.spider or crawler.spidercls).name
    return pattern.replace("%(name)s", name).replace("%(time)s", stamp)


_PARTIAL_CONTENT = 206
CUT_SHORT = {"dataloss", "partial"}
"""What Scrapy flags a body with that did not come whole."""

logger = logging.getLogger(__name__)


class ObservationsMiddleware:
    """A downloader middleware, next to the downloader; `UNDUST_OBSERVATIONS` names its file."""

    def __init__(self, crawler: Crawler) -> None:
        self._stats = crawler.stats
        self._seen = PagesSeen()
        self._rows: ObservationFile | None = ObservationFile(path_of(crawler))
        crawler.signals.connect(self._close, signal=signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware of a crawl."""
        return cls(crawler)

    def process_response(self, request: Request, response: Response) -> Response:
        """Note what was seen, and hand it on as it is."""
        if self._rows is not None and request.method == "GET" and request.url.startswith("http"):
            self._guarded(partial(self._observe, request, response))
        return response

    def _observe(self, request: Request, response: Response) -> None:
        headers = _headers_of(response)
        content = self._content_of(response, headers)
        page = page_of(request.url, response.status, headers, content)
        row = {
            "url": request.url,
            "status": response.status,
            "size": content.size,
            "digest": content.digest,
            "sketch": None,
            "canonical": page.canonical.target,
            "redirect": page.redirect,
            "time": datetime.now(UTC).isoformat(),
        }
        site = site_of(request.url)
        is_shown = bool(content.text) and not page.redirect and response.status < FIRST_REDIRECT
        if is_shown:
            blocks = np.frombuffer(content.blocks, np.int64).tolist()
            row |= {"blocks": blocks, "page_title": content.title, "page_language": page.language}
        if site and is_shown:
            self._seen.sketcher.add(site, content.text, partial(self._write, row))
        else:
            self._write(row, None)

    def _content_of(self, response: Response, headers: Headers) -> Content:
        if response.status in {_PARTIAL_CONTENT, NOT_MODIFIED}:
            return Content()
        decoding = DecodedBody(io.BytesIO(response.body), headers)
        body = Body.of(decoding)
        content = self._seen.content_of(body, next(iter(headers.get("content-type", ())), None))
        is_damaged = decoding.problem not in {None, UNKNOWN_ENCODING}
        if is_damaged or not CUT_SHORT.isdisjoint(response.flags):
            return content._replace(size=None, digest=None)
        return content

    def _write(self, row: dict[str, Any], sketch: NDArray[np.uint32] | None) -> None:
        if self._rows is not None:
            self._rows.write(row | {"sketch": None if sketch is None else sketch.tolist()})
            self._stats.inc_value("undust/observed")

    def _close(self) -> None:
        self._guarded(self._seen.sketcher.settle)
        if self._rows is not None:
            self._guarded(self._rows.close)

    def _abandon(self) -> None:
        rows, self._rows = self._rows, None
        with suppress(OSError):  # already reported
            if rows is not None:
                rows.close()

    def _guarded(self, work: Callable[[], object]) -> None:
        try:
            work()
        except OSError as error:
            self._abandon()
            self._stats.inc_value("undust/observations_failed")
            # The sentence says it all; a traceback would drown it.
            logger.error(  # noqa: TRY400
                "no more observations are written, the crawl goes on: %s", file_sentence(error)
            )


def _headers_of(response: Response) -> Headers:
    """Return the headers that are used; Scrapy has put chunks together, and left their header."""
    names = {name: response.headers.getlist(name) for name in HEADERS if name != "transfer-encoding"}
    return {name: [text_from_bytes(value) for value in values] for name, values in names.items() if values}
