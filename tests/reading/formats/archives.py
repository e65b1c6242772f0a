"""Web archives for tests, written by warcio, by hand, and with any damage one likes; and read again."""

from __future__ import annotations

import gc
import gzip
import io
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import uuid4

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

import undust

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from undust.reading.observations import Observations

TIME = "2026-11-15T00:23:57Z"
HTML = "text/html; charset=utf-8"


@dataclass(frozen=True)
class Answer:
    """What a server answered."""

    url: str
    body: bytes = b""
    status: str = "200 OK"
    headers: Sequence[tuple[str, str]] = field(default_factory=lambda: [("Content-Type", HTML)])


def page(text: str, head: str = "") -> bytes:
    """A small HTML page."""
    return (
        f"<!DOCTYPE html><html><head><title>t</title>{head}</head><body><p>{text}</p></body></html>".encode()
    )


def shop(count: int) -> list[Answer]:
    """Pages of a shop, all different."""
    return [
        Answer(f"http://shop.test/p/{n}", page(f"article number {n} " + f"word{n} " * 20))
        for n in range(count)
    ]


def by_hand(answer: Answer, kind: str = "response", more: str = "") -> bytes:
    """One WARC record, byte by byte."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in answer.headers)
    block = f"HTTP/1.1 {answer.status}\r\n{lines}\r\n".encode() + answer.body
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{uuid4()}>\r\n"
        f"WARC-Target-URI: {answer.url}\r\nWARC-Date: {TIME}\r\n{more}"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


def packed(records: Sequence[bytes]) -> bytes:
    """Records as members of one gzip file each."""
    return b"".join(map(gzip.compress, records))


@contextmanager
def closing_what_warcio_leaves_open() -> Iterator[None]:
    """Let its temporary files go here and now, without the warning that would hit a later test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        gc.collect()


@closing_what_warcio_leaves_open()
def by_warcio(answers: Sequence[Answer], *, is_packed: bool = True, with_requests: bool = False) -> bytes:
    """The answers as warcio writes them, with a warcinfo record in front."""
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=is_packed)
    writer.write_record(writer.create_warcinfo_record("made.warc.gz", {"software": "test"}))
    for answer in answers:
        if with_requests:
            ask = StatusAndHeaders("GET / HTTP/1.1", [("Host", "shop.test")], is_http_request=True)
            writer.write_record(writer.create_warc_record(answer.url, "request", http_headers=ask))
        headers = StatusAndHeaders(answer.status, list(answer.headers), protocol="HTTP/1.1")
        record = writer.create_warc_record(
            answer.url,
            "response",
            payload=io.BytesIO(answer.body),
            http_headers=headers,
            warc_headers_dict={"WARC-Date": TIME},
        )
        writer.write_record(record)
    return out.getvalue()


def as_arc(answers: Sequence[Answer], *, is_packed: bool = True) -> bytes:
    """The answers as an ARC file of version 1."""
    description = b"1 0 Alexa Internet\nURL IP-address Archive-date Content-type Archive-length\n"
    first = b"filedesc://made.arc 0.0.0.0 20261115002357 text/plain %d\n" % len(description)
    records = [first + description + b"\n"]
    for answer in answers:
        lines = "".join(f"{name}: {value}\r\n" for name, value in answer.headers)
        block = f"HTTP/1.1 {answer.status}\r\n{lines}\r\n".encode() + answer.body
        head = f"{answer.url} 10.0.0.1 20261115002357 text/html {len(block)}\n"
        records.append(head.encode() + block + b"\n")
    return packed(records) if is_packed else b"".join(records)


ANSWERS = shop(30)
RECORDS = [by_hand(answer) for answer in ANSWERS]
"""A small crawl, record by record."""


def read(path: Path, data: bytes) -> Observations:
    """The observations in a file of these bytes."""
    path.write_bytes(data)
    return undust.read(path)


def remarks(seen: Observations) -> dict[str, int]:
    """What was counted, by reason."""
    return {remark.reason: remark.count for file in seen.files for remark in file.remarks}


def urls(seen: Observations) -> list[str]:
    """The URLs in order."""
    return [str(url) for url in seen.table["url"].to_pylist()]
