"""The file of a crawl's observations: one JSON object a line, added to those that are there."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from undust.errors import RefusedStart, file_sentence
from undust.files.packing import packing_of_name
from undust.files.streams import Output

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

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
