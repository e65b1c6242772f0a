"""Different pages that look alike, and which of them undust merges.

Two pages look alike if their texts are equal, equal but for digits, or have sketches that agree in 29 of 32
minima. The text is the one that a reader without forms sees: what stands in a `<textarea>` is left out, so
that all edit forms of a wiki look alike.
"""

from __future__ import annotations

import re
from collections import defaultdict
from difflib import SequenceMatcher
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import undust
from undust.reading.text import read_html, sketch
from undust.urls import normalize

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from bench.raw.sites import LabelledArchive

NEAR = 29
"""Minima of 32 that agree."""
MOST_MERGED = 0.005
"""Share of the pairs that may end in one cluster or under one key."""
_FIELD = re.compile(rb"(?is)<textarea\b.*?(</textarea\s*>|$)")
_EDITED = re.compile(rb"(?i)<textarea\b[^>]*>\s*[^\s<]")
_DIGITS = re.compile(rb"\d+")
_LONGEST = 160


class ArchivedPage(NamedTuple):
    """One page by its first URL."""

    url: str
    body: bytes
    shown: bytes
    """Its text without forms."""

    @property
    def is_edit_form(self) -> bool:
        """Whether it shows a text to edit; an empty field, as for a reply, does not make a page a form."""
        return _EDITED.search(self.body) is not None


def print_alike(found: Iterable[LabelledArchive]) -> int:
    """Print what is merged, and return 1 if that is too much or an edit form is among it."""
    pairs_in_all, merged_in_all, forms = 0, 0, 0
    for archive in found:
        pages = archived_pages(archive)
        pairs = sorted(pairs_alike(pages))
        merged = sorted(merged_pairs(archive) & set(pairs))
        pairs_in_all, merged_in_all = pairs_in_all + len(pairs), merged_in_all + len(merged)
        print(f"{archive.name}: {len(pairs):,} pairs look alike, {len(merged):,} are merged", flush=True)
        for left, right in merged:
            one, other = pages[left], pages[right]
            forms += one.is_edit_form or other.is_edit_form
            print(f"  {one.url}\n  {other.url}\n    {difference(one.body, other.body)}")
    share = merged_in_all / max(pairs_in_all, 1)
    print(
        f"all: {merged_in_all:,} of {pairs_in_all:,} pairs merged ({share:.2%}), {forms:,} with an edit form"
    )
    return int(share > MOST_MERGED or forms > 0)


def archived_pages(archive: LabelledArchive) -> dict[str, ArchivedPage]:
    """Return the pages of a site by their label."""
    from fastwarc.warc import ArchiveIterator, WarcRecordType  # noqa: PLC0415 -- for this alone

    found: dict[str, ArchivedPage] = {}
    with archive.path.open("rb") as file:
        for record in ArchiveIterator(file, record_types=WarcRecordType.response):
            url = record.headers["WARC-Target-URI"]
            page = archive.page_of.get(normalize(url))
            if page is not None and page not in found:
                body = record.reader.read()
                shown = read_html(_FIELD.sub(b"", body), record.http_content_type).text
                found[page] = ArchivedPage(url, body, shown)
    return found


def pairs_alike(pages: Mapping[str, ArchivedPage]) -> set[tuple[str, str]]:
    """Return pairs of labels whose pages look alike."""
    by_text: defaultdict[bytes, list[str]] = defaultdict(list)
    for label, page in pages.items():
        by_text[_DIGITS.sub(b"0", page.shown)].append(label)
    found = {tuple(sorted(pair)) for group in by_text.values() for pair in combinations(group, 2)}
    sketches = {label: sketch(pages[label].shown) for label in sorted(pages)}
    known = {label: minima for label, minima in sketches.items() if minima is not None}
    labels, minima = list(known), np.array(list(known.values()))
    for at in range(len(labels) - 1):
        near = np.flatnonzero((minima[at + 1 :] == minima[at]).sum(axis=1) >= NEAR)
        found |= {(labels[at], labels[at + 1 + other]) for other in near.tolist()}
    return found  # type: ignore[return-value]


def merged_pairs(archive: LabelledArchive) -> set[tuple[str, str]]:
    """Return pairs of labels with URLs in one cluster or under one learned key."""
    key = undust.learn(archive.seen).compile().key
    groups: defaultdict[str, set[str]] = defaultdict(set)
    for url, label in archive.pages.items():
        groups[f"key {key(url)}"].add(label)
    for site in undust.find_duplicates(archive.seen):
        for url, cluster in zip(site.urls.to_pylist(), site.cluster.tolist(), strict=True):
            page = archive.page_of.get(normalize(url))
            if page is not None:
                groups[f"cluster {site.site} {cluster}"].add(page)
    return {pair for group in groups.values() for pair in combinations(sorted(group), 2)}


def difference(left: bytes, right: bytes) -> str:
    """Return the words in which the texts of two pages differ, those of forms included.

    >>> difference(b"<p>A red cup", b"<p>A blue cup")
    '-red +blue'
    """
    return " ".join(_changes(*(read_html(body).text.decode().split() for body in (left, right))))[:_LONGEST]


def _changes(left: list[str], right: list[str]) -> Iterator[str]:
    for kind, *places in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if kind != "equal":
            yield from (f"-{word}" for word in left[places[0] : places[1]])
            yield from (f"+{word}" for word in right[places[2] : places[3]])
