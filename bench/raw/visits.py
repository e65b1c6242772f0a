"""A site on loopback, crawled twice into one WARC, with labels that say which URLs show one page.

A page is what stays the same: the words that both fetches of a URL show, in their order, and the title.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import time
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from bench.sites.answers import Answer
from bench.sites.archive import record
from undust.reading.text import read_html

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LINK = re.compile(rb"""(?i)<a\b[^>]*?\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))""")
MOST_BYTES = 2_000_000
"""Of a page; what is longer is left out."""
TIMEOUT_S = 10.0
_REDIRECTS = range(300, 400)


@dataclass
class Visits:
    """A crawl by links, and a second fetch of everything that it found."""

    start: str
    most: int
    fetched: dict[str, list[tuple[str, Answer]]] = field(default_factory=dict)
    """For each URL the moments and answers of its fetches."""

    def crawl(self) -> None:
        """Follow links from the start, breadth first, then fetch each URL once more."""
        queue, known = [self.start], {self.start}
        while queue and len(self.fetched) < self.most:
            url = queue.pop(0)
            answer = self._fetch(url)
            if answer is None:
                continue
            for link in links(url, answer):
                if link not in known:
                    known.add(link)
                    queue.append(link)
        for url in list(self.fetched):
            self._fetch(url)

    def _fetch(self, url: str) -> Answer | None:
        answer = fetch(url)
        if answer is not None:
            moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            self.fetched.setdefault(url, []).append((moment, answer))
        return answer

    def write(self, path: Path) -> None:
        """Write the archive, and beside it the labels of the pages that were fetched twice."""
        with gzip.open(path, "wb") as output:
            for url, fetches in self.fetched.items():
                for moment, answer in fetches:
                    output.write(record(url, moment, answer))
        labels = path.with_name(f"{path.name.removesuffix('.warc.gz')}.labels.tsv.gz")
        with gzip.open(labels, "wt", encoding="utf-8") as lines:
            lines.write("url\tpage\n")
            lines.writelines(f"{url}\t{page}\n" for url, page in self.pages())

    def pages(self) -> Iterator[tuple[str, str]]:
        """Yield each URL that showed a page twice, and the name of the page."""
        for url, fetches in self.fetched.items():
            bodies = [answer.body for _, answer in fetches if answer.status == HTTPStatus.OK]
            if len(bodies) > 1:
                yield url, page_name(bodies[0], bodies[1])


def page_name(first: bytes, second: bytes) -> str:
    """Return a name for what two fetches of a page have in common.

    >>> page_name(b"<p>tea 1 cup", b"<p>tea 2 cup") == page_name(b"<p>tea 3 cup", b"<p>tea 4 cup")
    True
    >>> page_name(b"<p>tea 1 cup", b"<p>tea 1 cup") == page_name(b"<p>tea 2 cup", b"<p>tea 2 cup")
    False
    """
    one, other = read_html(first), read_html(second)
    words, others = one.text.split(), other.text.split()
    matches = SequenceMatcher(None, words, others, autojunk=False).get_matching_blocks()
    kept = [word for match in matches for word in words[match.a : match.a + match.size]]
    text = b" ".join([(one.title or "").encode(), b"\n", *kept])
    return hashlib.blake2b(text, digest_size=12).hexdigest()


def links(url: str, answer: Answer) -> Iterator[str]:
    """Yield where a page links to on its own host, and where a redirect leads."""
    found = [b"".join(match).decode("utf-8", "replace") for match in LINK.findall(answer.body)]
    if answer.status in _REDIRECTS:
        found.append(answer.headers.get("Location", ""))
    for link in found:
        target = urljoin(url, link.replace("&amp;", "&").strip()).partition("#")[0]
        if urlsplit(target)[:2] == urlsplit(url)[:2] and target.isascii() and " " not in target:
            yield target


def fetch(url: str) -> Answer | None:
    """Return what a server answers, if it is a page or a redirect."""
    parts = urlsplit(url)
    path = parts._replace(scheme="", netloc="").geturl() or "/"
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", path, headers={"Host": parts.netloc, "Connection": "close"})
        response = connection.getresponse()
        kind = response.getheader("Content-Type") or ""
        body = response.read(MOST_BYTES + 1)
        location = response.getheader("Location")
    except (OSError, HTTPException):
        return None
    finally:
        connection.close()
    if len(body) > MOST_BYTES or not (kind.startswith("text/html") or response.status in _REDIRECTS):
        return None
    headers = {"Content-Type": kind or "text/html"} | ({"Location": location} if location else {})
    return Answer(response.status, headers, body, None)
