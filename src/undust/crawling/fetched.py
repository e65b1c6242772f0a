"""What was fetched of one site: a short record for each URL, which URLs showed one text, how two compare."""

from __future__ import annotations

import struct
from base64 import b64decode, b64encode
from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from undust.crawling.messages import joined
from undust.errors import SourceError
from undust.pages.clustering.near_copies import ALIKE, needed
from undust.reading.observations import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from undust._core import Program


Comparison = Literal["same", "different", "unknown"]

FIRST_REDIRECT, FIRST_ERROR = 300, 400
MOST_MINIMA = 255
"""Of a sketch; undust makes 32."""
MOST_TEXT_BYTES = 4096
"""Of a digest, a canonical or a redirect that is kept; what is longer counts as unknown."""

_HEAD = struct.Struct("<hqBHHHH")
_NONE = -1
_BAND_BYTES = 16
"""Of a sketch: four minima."""
_NUMBER_BYTES = 7
"""One more, and each number takes half as much memory more."""
MOST_SHARING = 10
"""A text that this many URLs show though no rule makes them one says nothing: it is a page for whatever is
not there, or the form to log in."""
MOST_HOPS = 3
"""Of redirects that are followed among what was fetched."""


class PageRecord(NamedTuple):
    """What one response showed."""

    status: int | None = None
    size: int | None = None
    digest: str | None = None
    sketch: bytes = b""
    """The minima, four bytes each."""
    canonical: str | None = None
    redirect: str | None = None
    cluster: str | None = None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> PageRecord:
        """Take what a row says; raise for a value that cannot be one."""
        sketch = row.get("sketch")
        try:
            minima = b"" if sketch is None else np.asarray(sketch, np.uint32).tobytes()
            status, size = (None if row.get(name) is None else int(row[name]) for name in ("status", "size"))
        except (TypeError, ValueError, OverflowError):
            message = (
                f"the observation of {row.get('url')!r} has a status, size or sketch that is not a number; "
                "give numbers, or leave them out"
            )
            raise SourceError(message) from None
        if status is not None and not 0 <= status <= 999:  # noqa: PLR2004 -- three digits
            status = None
        if len(minima) > 4 * MOST_MINIMA:
            minima = b""
        texts = (_text(row, name) for name in ("canonical", "redirect", "cluster"))
        return cls(status, size, _text(row, "digest"), minima, *texts)

    @classmethod
    def from_bytes(cls, data: bytes) -> PageRecord:
        """Return what `to_bytes` packed."""
        status, size, minima, *lengths = _HEAD.unpack_from(data)
        place = _HEAD.size + 4 * minima
        texts = []
        for length in lengths:
            texts.append(data[place : place + length].decode() or None)
            place += length
        digest, canonical, redirect, cluster = texts
        sketch = data[_HEAD.size : _HEAD.size + 4 * minima]
        known = [None if value == _NONE else value for value in (status, size)]
        return cls(known[0], known[1], digest, sketch, canonical, redirect, cluster)

    def to_bytes(self) -> bytes:
        """Return the record in few bytes."""
        texts = [(text or "").encode() for text in (self.digest, self.canonical, self.redirect, self.cluster)]
        numbers = (_NONE if value is None else value for value in (self.status, self.size))
        head = _HEAD.pack(*numbers, len(self.sketch) // 4, *map(len, texts))
        return b"".join((head, self.sketch, *texts))

    @property
    def is_error(self) -> bool:
        """Whether there was no page to see."""
        return self.status is not None and self.status >= FIRST_ERROR

    @property
    def is_redirect(self) -> bool:
        """Whether the response only named another URL."""
        return self.redirect is not None and (self.status is None or self.status >= FIRST_REDIRECT)

    @property
    def bands(self) -> tuple[int, ...]:
        """Numbers that pages with nearly the same text most likely share, and other pages hardly ever."""
        if self.is_redirect:
            return ()
        surest = (_number(self.digest.encode()),) if self.digest else ()
        return (*surest, _number(self.sketch[:_BAND_BYTES])) if self.sketch else surest


def _number(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=_NUMBER_BYTES).digest())


def _text(row: Mapping[str, Any], name: str) -> str | None:
    value = row.get(name)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        message = f"the observation of {row.get('url')!r} has a {name} that is not a text; leave it out"
        raise SourceError(message)
    clean = value.encode("utf-8", "replace")
    return clean.decode() if len(clean) <= MOST_TEXT_BYTES else None


def compared(one: PageRecord, other: PageRecord, *, has_sketches: bool) -> Comparison:
    """Return whether two responses showed the same page.

    Args:
        one: A response.
        other: Another one.
        has_sketches: Whether responses of this site have sketches: then unequal digests alone decide
            nothing, for a clock on the page changes them.

    """
    if one.is_error or other.is_error:
        return "unknown"
    if one.cluster and other.cluster:
        return "same" if one.cluster == other.cluster else "different"
    if one.is_redirect or other.is_redirect:
        both = one.is_redirect and other.is_redirect
        return "same" if both and one.redirect == other.redirect else "unknown"
    if one.digest and one.digest == other.digest:
        return "same"
    if one.sketch and len(one.sketch) == len(other.sketch):
        return _by_sketch(minima_of(one.sketch), minima_of(other.sketch))
    return "different" if one.digest and other.digest and not has_sketches else "unknown"


def _by_sketch(left: NDArray[np.uint32], right: NDArray[np.uint32]) -> Comparison:
    alike = int((left == right).sum())
    if alike >= needed(len(left)):
        return "same"
    return "unknown" if alike >= needed(len(left), ALIKE) else "different"


def minima_of(sketch: bytes) -> NDArray[np.uint32]:
    """Return the minima of a sketch."""
    return np.frombuffer(sketch, np.uint32)


def table_from(rows: Iterable[tuple[str, bytes]]) -> pa.Table:
    """Return observations as every learner takes them."""
    columns: dict[str, list[Any]] = {name: [] for name in SCHEMA.names}
    for url, data in rows:
        record = PageRecord.from_bytes(data)
        columns["url"].append(url)
        columns["status"].append(record.status)
        columns["size"].append(record.size)
        columns["digest"].append(record.digest)
        columns["sketch"].append(minima_of(record.sketch) if record.sketch else None)
        columns["canonical"].append(record.canonical)
        columns["redirect"].append(record.redirect)
        columns["cluster"].append(record.cluster)
    count = len(columns["url"])
    made = {
        field.name: pa.array(columns[field.name] or [None] * count, field.type, from_pandas=True)
        for field in SCHEMA
    }
    return pa.table(made, SCHEMA)


def as_text(data: bytes) -> str:
    """Return a packed record as characters that JSON can hold."""
    return b64encode(data).decode("ascii")


def from_text(text: str) -> bytes:
    """Return the packed record again."""
    return b64decode(text)


@dataclass
class Fetched:
    """The responses of one site."""

    records: dict[str, bytes] = field(default_factory=dict)
    """Observed URLs, each with its latest record, in the order in which they came."""
    failed: set[str] = field(default_factory=set)
    """Those that gave an error."""
    redirects: dict[str, str] = field(default_factory=dict)
    """Those that led elsewhere, each with its target."""
    texts: dict[int, str] = field(default_factory=dict)
    """Texts by their numbers, each with the first URL that showed it."""
    sharing: Counter[str] = field(default_factory=Counter)
    """These first URLs, with how many others showed the same though no rule says so."""
    has_sketches: bool = False

    def __len__(self) -> int:
        return len(self.records)

    def __contains__(self, url: str) -> bool:
        return url in self.records

    def add(self, url: str, record: PageRecord) -> None:
        """Keep a record."""
        self.has_sketches |= bool(record.sketch)
        self.records[url] = record.to_bytes()
        (self.failed.add if record.is_error else self.failed.discard)(url)
        if record.is_redirect and record.redirect is not None:
            self.redirects[url] = joined(url, record.redirect)
        else:
            self.redirects.pop(url, None)

    def record(self, url: str) -> PageRecord:
        """Return the record of a URL that was observed."""
        return PageRecord.from_bytes(self.records[url])

    def latest(self, most: int) -> list[tuple[str, bytes]]:
        """Return the records that came last, at most this many, in their order."""
        return list(islice(reversed(self.records.items()), most))[::-1]

    def pages(self) -> list[str]:
        """Return the URLs that gave no error."""
        failed = self.failed
        return [url for url in self.records if url not in failed] if failed else [*self.records]

    def is_new_text(self, record: PageRecord) -> bool | None:
        """Return whether no URL has shown a text before; None if the text is not known."""
        numbers = record.bands
        return numbers[-1] not in self.texts if numbers else None

    def other_with(self, url: str, record: PageRecord) -> str | None:
        """Return the first other URL that showed the same text, if any, and remember the text."""
        found = None
        for number in record.bands:
            other = self.texts.setdefault(number, url)
            is_other = found is None and other != url and other not in self.failed
            if is_other and self.compare(url, other) == "same":
                found = other
        return found

    def distinguishes(self, record: PageRecord) -> bool:
        """Return whether few enough URLs share a text for it to distinguish pages."""
        firsts = (self.texts.get(number) for number in record.bands)
        return all(first is None or self.sharing[first] < MOST_SHARING for first in firsts)

    def compare(self, one: str, other: str) -> Comparison:
        """Return whether two observed URLs showed the same page, redirects followed."""
        left, mine = self._led_to(one)
        right, its = self._led_to(other)
        if left == right:
            return "same"
        return compared(mine, its, has_sketches=self.has_sketches)

    def _led_to(self, url: str) -> tuple[str, PageRecord]:
        """Return the last URL that redirects lead to, and the last record on the way."""
        last = url
        for _ in range(MOST_HOPS):
            target = self.redirects.get(url)
            if target is None:
                break
            url = target
            if url not in self.records:
                break
            last = url
        return url, self.record(last)


def keys_by(program: Program, urls: list[str]) -> list[str]:
    """Return the keys of URLs under some rules."""
    if not urls:
        return []
    keys: list[str] = pa.array(program.batch(pa.array(urls, pa.large_string()), keys=True)).to_pylist()
    return keys


def shown(fetched: Fetched, program: Program) -> tuple[dict[str, str], list[str]]:
    """Return the keys whose page was fetched, each with its first URL, and the keys of URLs that led away.

    A URL that redirects to another key has shown the page of that key, and nothing of its own.
    """
    pages = fetched.pages()
    targets = dict(zip(fetched.redirects, keys_by(program, [*fetched.redirects.values()]), strict=True))
    covers: dict[str, str] = {}
    away = []
    for url, key in zip(pages, keys_by(program, pages), strict=True):
        if targets.get(url, key) == key:
            covers.setdefault(key, url)
        else:
            away.append(key)
    return covers, away
