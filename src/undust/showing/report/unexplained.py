"""Duplicates that the rules leave, grouped by what the URLs themselves suggest as the cause.

The cause is likely, not proved: it shows a person where to look first. The keys that a page
is left with are compared with their neighbours in order, and the simplest difference counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from undust.measuring.counts import coded
from undust.rules import RuleSet
from undust.showing.report.material import spread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undust.showing.report.material import Material

_MANY = 20
"""This many URLs of one content, with nothing in common, look like an error page."""
MOST_COMPARED = 40
_URL = re.compile(r"(https?)://([^/?#]*)([^?#]*)(?:\?(.*))?", re.DOTALL)
_NUMBER = re.compile(r"\d+")

CAUSES = {
    "soft-404": (
        "Soft-404, empty result or placeholder",
        "many URLs of different kinds show one content, as an error page or an empty list does",
    ),
    "kept": (
        "Pages that change",
        "a rule keeps these URLs as they are, since what they show changes between fetches",
    ),
    "parameter": (
        "One parameter",
        "the URLs differ in it alone; too few pages show that it never matters, or elsewhere it does",
    ),
    "parameters": ("Several parameters", "the URLs have the same path and differ in several parameters"),
    "host": ("Another host or scheme", "path and query are the same, and the host or the scheme is not"),
    "case": ("Spelling", "the URLs differ in upper and lower case, slashes or encoding alone"),
    "file": ("Copied files", "the same file name in different folders"),
    "number": ("Number and name", "a number here is a name there: that takes a table, not a rule"),
    "segment": ("One part of the path", "the URLs differ in one segment of the path"),
    "other": (
        "Nothing in common",
        "the URLs differ in so much that no short rule can lead from one to the other",
    ),
}
"""Of each cause, its name and what is meant."""


@dataclass
class _Group:
    cause: str
    detail: str
    pages: int = 0
    urls: int = 0
    clusters: list[list[str]] = field(default_factory=list)


def unexplained(material: Material) -> dict[str, Any] | None:
    """Return the pages that keep several keys, by likely cause; None if the pages are not known."""
    if material.labelled is None:
        return None
    keeps = RuleSet([rule for rule in material.active if rule.kind == "keep"])
    canonicalize = keeps.compile() if len(keeps) else None
    groups: dict[tuple[str, str], _Group] = {}
    pages = left = 0
    for keys in _left(material):
        pages, left = pages + 1, left + len(keys) - 1
        is_kept = canonicalize is not None and any(canonicalize.explain(key).steps for key in keys[:3])
        cause, detail = ("kept", "") if is_kept else likely_cause(keys)
        group = groups.setdefault((cause, detail), _Group(cause, detail))
        group.pages += 1
        group.urls += len(keys) - 1
        group.clusters.append(keys)
    ranked = sorted(groups.values(), key=lambda group: (-group.urls, group.cause, group.detail))
    return {
        "pages": pages,
        "urls": left,
        "groups": [_told(group, material) for group in ranked[: material.limits.groups]],
        "more_groups": max(0, len(ranked) - material.limits.groups),
    }


def _told(group: _Group, material: Material) -> dict[str, Any]:
    name, meaning = CAUSES[group.cause]
    detail = material.texts.said(group.detail)
    few = spread(len(group.clusters), material.limits.examples)
    return {
        "cause": group.cause,
        "name": f"{name}: {detail}" if detail else name,
        "meaning": meaning,
        "pages": group.pages,
        "urls": group.urls,
        "examples": [
            {
                "urls": [material.texts.url(key) for key in group.clusters[at][: material.limits.examples]],
                "more": max(0, len(group.clusters[at]) - material.limits.examples),
            }
            for at in few
        ],
    }


def _left(material: Material) -> Iterator[list[str]]:
    """Yield the keys of each page that has several, in the order of their first."""
    labelled = material.labelled
    if labelled is None:
        return
    names, keys = coded(material.keys)
    page = labelled.known.codes
    pairs = np.unique(page * len(names) + keys)
    page, key = np.divmod(pairs, max(len(names), 1))
    starts = np.flatnonzero(np.diff(page, prepend=-1))
    ends = np.append(starts[1:], len(page))
    for start, end in zip(starts, ends, strict=True):
        if end - start > 1:
            yield names.take(pa.array(key[start:end])).to_pylist()


def likely_cause(keys: list[str]) -> tuple[str, str]:
    """Return what seems to be behind several URLs of one page, and the part it is about.

    >>> likely_cause(["http://a.test/x?id=1", "http://a.test/x?id=1&ref=top"])
    ('parameter', 'ref')
    >>> likely_cause(["http://a.test/2019/logo.png", "http://a.test/img/old/logo.png"])
    ('file', '')
    """
    causes = [_cause_of_pair(one, other) for one, other in pairwise(keys[:MOST_COMPARED])]
    order = list(CAUSES)
    best = min(causes, key=lambda cause: (order.index(cause[0]), cause[1]))
    if (
        len(keys) >= _MANY
        and sum(cause[0] in {"other", "segment", "number"} for cause in causes) > len(causes) / 2
    ):
        return "soft-404", ""
    return best


def _cause_of_pair(one: str, other: str) -> tuple[str, str]:
    left, right = _URL.fullmatch(one), _URL.fullmatch(other)
    if not (left and right):
        return "other", ""
    (scheme, host, path, query), (scheme_2, host_2, path_2, query_2) = (
        tuple(each or "" for each in match.groups()) for match in (left, right)
    )
    same_place = (scheme, host) == (scheme_2, host_2)
    if (path, query) == (path_2, query_2):
        return "host", ""
    if _plain(path + query) == _plain(path_2 + query_2):
        return "case", ""
    if path == path_2 and same_place:
        return _cause_in_query(query, query_2)
    return _cause_in_path(path.split("/")[1:], path_2.split("/")[1:], is_same_query=query == query_2)


def _plain(text: str) -> str:
    return re.sub(r"%[0-9a-f]{2}|[^0-9a-z]", "", text.lower())


def _cause_in_query(one: str, other: str) -> tuple[str, str]:
    different = set(one.split("&")) ^ set(other.split("&"))
    names = {entry.partition("=")[0] for entry in different if entry}
    return ("parameter", min(names)) if len(names) == 1 else ("parameters", "")


def _cause_in_path(one: list[str], other: list[str], *, is_same_query: bool) -> tuple[str, str]:
    if len(one) == len(other) and is_same_query:
        different = [(a, b) for a, b in zip(one, other, strict=True) if a != b]
        if len(different) == 1:
            a, b = different[0]
            is_number = bool(_NUMBER.fullmatch(a)) != bool(_NUMBER.fullmatch(b))
            return ("number", "") if is_number else ("segment", "")
    if one[-1] == other[-1] and one[-1]:
        return "file", ""
    return "other", ""
