"""All that is known of one site, from which each part of the page takes what it shows, and how much.

Texts of strangers come to the page with secrets hidden, nothing invisible and nothing endless. Each list has
a limit: a page that takes seconds to open is not read.

Duplicates that the rules leave are grouped by what the URLs themselves suggest as the cause. The cause is
likely, not proved: it shows a person where to look first. The keys that a page is left with are compared with
their neighbours in order, and the simplest difference counts.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from undust.measuring.counts import coded
from undust.privacy.masking import Masks, forgotten_names, removed_from
from undust.rules import RuleSet
from undust.showing.words import pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from undust.measuring import Labelled, Measures
    from undust.pages.clustering import SiteClusters
    from undust.rules import Rule
    from undust.showing.tree import SiteTree
    from undust.statistics import Totals


PAGE_BYTES = 2_400_000
"""The data of all sites together; with script and style, the page stays below 3 MB."""


@dataclass(frozen=True)
class Limits:
    """The most that is shown of one site; the page says how many there are."""

    rules: int = 300
    branches: int = 400
    urls: int = 4_000
    refused: int = 100
    groups: int = 40
    """Of duplicates that no rule explains, and of evidence that was switched off."""
    examples: int = 3
    steps: int = 10
    """Of the curve."""


ONE_SITE = Limits()
FEW_SITES = Limits(rules=120, branches=150, urls=600, refused=40, groups=15, steps=8)
MANY_SITES = Limits(rules=60, branches=60, urls=150, refused=20, groups=8, steps=6)
_FEW = 12
MOST_IN_FULL = 200
"""Sites of which the page has more than one line."""


def limits_for(sites: int) -> Limits:
    """Return the limits of a page about this many sites."""
    return ONE_SITE if sites == 1 else FEW_SITES if sites <= _FEW else MANY_SITES


def spread(count: int, most: int) -> list[int]:
    """Return at most `most` places among `count`, evenly spread, the first and the last among them.

    >>> spread(10, 4)
    [0, 3, 6, 9]
    """
    if count <= most:
        return list(range(count))
    return [place * (count - 1) // max(most - 1, 1) for place in range(most)]


_LONGEST = 300
"""Characters of a URL or a pattern that are shown."""
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def visible(text: str) -> str:
    r"""Return a text with every character that hides, or turns the others around, written out.

    >>> print(visible("http://a.test/\u202egnp.exe"))
    http://a.test/⟨U+202E⟩gnp.exe
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        f"⟨U+{ord(char):04X}⟩" if unicodedata.category(char) in _INVISIBLE else char for char in text
    )


def made_visible(value: Any) -> Any:  # noqa: ANN401 -- any JSON value
    """Return JSON in which every text is visible, keys included."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(str(key)): made_visible(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [made_visible(each) for each in value]
    return value


def cut(text: str, longest: int = _LONGEST) -> str:
    """Return a text of a length that a person reads."""
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text):,} characters)"


@dataclass(frozen=True)
class Texts:
    """How the URLs of one site are shown."""

    hidden: tuple[str, ...] = ()
    """What rules remove, which need be less random to look secret."""
    canonical: Callable[[str], str] | None = None
    """What the rules make of a URL; None where all values are shown."""
    masks: Masks = field(default_factory=Masks)
    """The numbers of secrets, the same on the whole page."""

    @classmethod
    def under(cls, rules: Sequence[Rule], masks: Masks | None) -> Texts:
        """Return how URLs are shown where these rules hold; without masks, as they are."""
        return cls() if masks is None else cls(forgotten_names(rules), RuleSet(rules).compile(), masks)

    @property
    def keeps_values(self) -> bool:
        """Whether secrets are shown too."""
        return self.canonical is None

    def url(self, url: str) -> str:
        """Return a URL as it is shown."""
        return cut(url if self.canonical is None else self._hidden(url, self.canonical(url)))

    def said(self, text: str) -> str:
        """Return the text of a rule, or words about it, as it is shown."""
        return text if self.canonical is None else self.masks.text(text)

    def besides(self, rule: Rule) -> Texts:
        """Return how URLs are shown beside one rule more, which need not hold."""
        if self.canonical is None:
            return self
        return replace(self, hidden=(*self.hidden, *forgotten_names([rule])))

    def change(self, before: str, after: str) -> list[list[str]]:
        """Return what turns a URL into another, as pieces `[mark, text]`."""
        if self.canonical is not None:
            before, after = self._hidden(before, after), self._hidden(after, after)
        return [[mark, cut(text)] for mark, text in pieces(before, after)]

    def _hidden(self, url: str, after: str) -> str:
        """Return a URL without its secrets; parameters that are not in `after` are removed."""
        gone = set(_names(url)) - set(_names(after))
        return self.masks.text(url, removed_from(url, [*self.hidden, *sorted(gone)]))


def _names(url: str) -> Iterator[str]:
    return (parameter.partition("=")[0] for parameter in url.partition("?")[2].split("&"))


@dataclass(frozen=True)
class ShownRefusal:
    """A candidate that learning did not take."""

    rule: Rule
    reason: str
    pages: int
    """Pages that showed it to be right."""
    lost: int
    """Pages that it would have lost."""


@dataclass(frozen=True)
class ShownRefusals:
    """What learning did not take of one site."""

    found: tuple[ShownRefusal, ...]
    """The weightiest."""
    counts: dict[str, int]
    """All of them, by reason."""
    candidates: int | None = None
    """All candidates, including those accepted; None if not counted."""


@dataclass(frozen=True, eq=False)
class Material:
    """One site: its URLs, what is known of their pages, and the rules that apply to it."""

    site: str
    clusters: SiteClusters
    labelled: Labelled | None
    """None without evidence of which page a URL shows."""
    has_labels: bool
    """Whether a person said which page a URL shows."""
    rules: Sequence[Rule]
    """Those of the site and those of all sites, in the order in which they are applied."""
    measures: Measures | None
    totals: Totals
    tree: SiteTree | None
    refusals: ShownRefusals | None
    """None if not known, because learning was not part of the run."""
    limits: Limits
    texts: Texts
    threads: int = 1

    @property
    def active(self) -> list[Rule]:
        """The rules that are switched on."""
        return [rule for rule in self.rules if rule.status == "active"]

    @cached_property
    def keys(self) -> pa.Array:
        """The keys of the labelled URLs."""
        if self.labelled is None:
            return pa.array([], pa.string())
        return RuleSet(self.rules).compile().batch(self.labelled.urls, keys=True, threads=self.threads)


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
