"""What a URL is, beside ada, which reads URLs as browsers do.

Where both take a text for an http(s) URL, they must agree on host, port and the number of query
pairs. All that they disagree on is in one table, strict both ways: a difference that is not in it
fails, and so does a line that no difference needs any more.
"""

from __future__ import annotations

import gzip
import json
import unicodedata
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import pytest

from tests.urls.hostile import hostile_urls
from undust import normalize
from undust.urls import Url

can_ada = pytest.importorskip("can_ada")

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

ENOUGH = 100_000


class Reading(NamedTuple):
    """What a reader found in a URL."""

    host: str
    port: str
    pairs: int


def ours(text: str) -> Reading | None:
    """Return what undust reads, or None if it takes the text for no http(s) URL."""
    if Url.parse(text) is None:
        return None
    url = Url.parse(normalize(text))
    assert url is not None
    return Reading(url.host, url.port or "", sum(pair != ("", None) for pair in url.pairs()))


def adas(text: str) -> Reading | None:
    """Return what ada reads, or None if it takes the text for no http(s) URL."""
    try:
        url = can_ada.parse(text)
    except ValueError:
        return None
    if url.protocol not in {"http:", "https:"}:
        return None
    return Reading(url.hostname, url.port, sum(pair != "" for pair in url.search[1:].split("&")))


def decoded_labels(host: str) -> list[str]:
    """Return the labels of a host as people read them, those with punycode at least."""
    punycode = [label.removeprefix("xn--") for label in host.split(".") if label.startswith("xn--")]
    return [label.encode().decode("punycode") for label in punycode]


def is_written_from_the_right(host: str) -> bool:
    """Return whether a host has letters of a script that is written from right to left."""
    return any(
        unicodedata.bidirectional(letter) in {"R", "AL", "AN"} for letter in "".join(decoded_labels(host))
    )


@dataclass(frozen=True)
class Difference:
    """Texts on which undust and ada are known to disagree, and why that is right."""

    taken_by: Literal["ada alone", "undust alone", "both"]
    covers: Callable[[str, Reading], bool]
    """Whether a text is of this kind, from what the one that takes it has read."""
    reason: str


DIFFERENCES = (
    Difference(
        "ada alone",
        lambda _, reading: any(character in '"`{}' for character in reading.host),
        'the URL standard forgets to forbid " ` { } in hosts; RFC 3986 does not, and no name has them',
    ),
    Difference(
        "ada alone",
        lambda _, reading: is_written_from_the_right(reading.host),
        "a label written from right to left that breaks RFC 5893; ada does not look",
    ),
    Difference(
        "ada alone",
        lambda text, reading: not text.isascii() and any(map(str.isascii, decoded_labels(reading.host))),
        "punycode of a label that needs none, beside a label that does; UTS #46 refuses it",
    ),
    Difference(
        "undust alone",
        lambda _, reading: any(label.startswith("xn--") for label in reading.host.split(".")),
        "damaged punycode; a crawler finds such names and DNS may know them, so they are left as they are",
    ),
)


@dataclass
class Comparison:
    """What came of reading many texts twice."""

    taken_by_both: int
    lines: Counter[int]
    """How often each line of the table was needed."""
    unexplained: list[str]


def line_for(text: str, mine: Reading | None, theirs: Reading | None) -> int | None:
    """Return the line of the table that explains a difference, if one does."""
    taken_by = "ada alone" if mine is None else "undust alone" if theirs is None else "both"
    reading = theirs or mine
    assert reading is not None
    covering = (
        line
        for line, difference in enumerate(DIFFERENCES)
        if difference.taken_by == taken_by and difference.covers(text, reading)
    )
    return next(covering, None)


def compared(texts: Iterable[str]) -> Comparison:
    """Return how undust and ada read the texts."""
    result = Comparison(0, Counter(), [])
    for text in texts:
        mine, theirs = ours(text), adas(text)
        result.taken_by_both += mine is not None and theirs is not None
        if mine == theirs:
            continue
        line = line_for(text, mine, theirs)
        if line is None:
            result.unexplained.append(f"{text!r}: undust reads {mine}, ada reads {theirs}")
        else:
            result.lines[line] += 1
    return result


def test_hostile_urls() -> None:
    """On 100,000 hostile URLs and more, the differences of the table occur, all of them and no other."""
    result = compared(hostile_urls(185_000, seed=5))
    assert result.unexplained[:10] == []
    assert sorted(result.lines) == list(range(len(DIFFERENCES)))
    assert result.taken_by_both >= ENOUGH


def lines_of(path: Path) -> Iterator[str]:
    """Return the lines of a packed list, whatever bytes it holds."""
    with gzip.open(path, "rt", encoding="utf-8", errors="replace", newline="\n") as lines:
        yield from (line.removesuffix("\n") for line in lines)


def test_lists_people_published(needs_data: Callable[[str], Path]) -> None:
    """On URLs found on popular pages and shared by people, there is no difference beyond the table."""
    texts = list(lines_of(needs_data("lists/urls_top100.txt.gz")))
    shared = (line.partition("\t")[0] for line in lines_of(needs_data("lists/reddit_links_dev.tsv.gz")))
    texts += [url for place, url in enumerate(shared) if place % 4 == 0]
    assert len(texts) >= ENOUGH
    assert compared(texts).unexplained[:10] == []


def test_crawls(needs_data: Callable[[str], Path]) -> None:
    """On the URLs of real crawls, forms and noise included, there is no difference beyond the table."""
    crawls = sorted(needs_data("crawls").glob("*.jsonl.gz"))
    texts = {json.loads(line)["url"] for crawl in crawls for line in lines_of(crawl)}
    assert compared(texts).unexplained[:10] == []
