"""A crawl of generated sites as a WARC: the bodies themselves, for whoever wants to begin there."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING
from uuid import NAMESPACE_URL, uuid5

from bench.sites.rows import Crawl
from undust.files.streams import open_output

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bench.sites.answers import Answer
    from bench.sites.site import Site


def write_archive(sites: Iterable[Site], crawl: Crawl, path: str) -> int:
    """Write what the sites answer to each URL that a crawl sees, once each; return how many there were."""
    seen = Crawl(coverage=crawl.coverage, evidence=("time",))
    count = 0
    with open_output(path) as output:
        for each in sites:
            for rows in each.batches(seen):
                columns = (rows.observations[name].to_pylist() for name in ("url", "time"))
                for url, moment in zip(*columns, strict=True):
                    output.write(record(url, f"{moment:%Y-%m-%dT%H:%M:%SZ}", each.answer(url)))
                    count += 1
    return count


def record(url: str, moment: str, answer: Answer) -> bytes:
    """Return the record of one response (ISO 28500); its name comes from the URL and the moment."""
    headers = {**answer.headers, "Content-Length": len(answer.body)}
    status = f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}"
    block = _lines(status, headers) + answer.body
    return b"".join(
        [
            _lines(
                "WARC/1.0",
                {
                    "WARC-Type": "response",
                    "WARC-Target-URI": url,
                    "WARC-Date": moment,
                    "WARC-Record-ID": f"<{uuid5(NAMESPACE_URL, f'{url} {moment}').urn}>",
                    "Content-Type": "application/http; msgtype=response",
                    "Content-Length": len(block),
                },
            ),
            block,
            b"\r\n\r\n",
        ]
    )


def _lines(first: str, headers: dict[str, object] | dict[str, str | int]) -> bytes:
    return "\r\n".join([first, *(f"{name}: {value}" for name, value in headers.items()), "", ""]).encode()
