"""The URL that a page declares for itself: rel=canonical, an immediate refresh; and what a site declares.

A canonical counts where search engines let it count: in the head or in a `Link` header, and once. What
breaks these rules is not used and is reported, for the person who runs the site will want to know.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin

from undust.urls import Url, normalize

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from undust.reading.content.text import Tag

CONTRADICTING = "several rel=canonical that differ; none is used"
OUTSIDE_HEAD = "rel=canonical outside the head; not used"
NO_TARGET = "rel=canonical that points nowhere; not used"

_LINK = re.compile(r"""<([^>]*)>((?:\s*;\s*[^\s;,="]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^",;\s]*))?)*)""")
_RELATION = re.compile(r"""(?i);\s*rel\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^",;\s]+))""")
_REFRESH = re.compile(r"""(?i)^\s*(\d*)[\d.]*(?:[\s;,]+(?:url\s*=\s*)?(?:"([^"]*)|'([^']*)|(\S.*))?)?""")
_CLEAN_PARAM = re.compile(r"(?im)^[ \t\ufeff]*clean-param[ \t]*:[^\r\n]*")
_ODD_SPACE = str.maketrans("", "", "\t\n\r")


class Canonical(NamedTuple):
    """The target of rel=canonical, or what is wrong with it; neither if the page has none."""

    target: str | None = None
    problem: str | None = None


def canonical_of(url: str, tags: Iterable[Tag], link_headers: Sequence[str] = ()) -> Canonical:
    """Return what a page names as its canonical URL, absolute and without a fragment."""
    tags = [tag for tag in tags if tag.name == "base" or _is_canonical(tag)]
    in_headers = [href for header in link_headers for href in canonical_hrefs(header)]
    if not in_headers and not any(tag.name == "link" for tag in tags):
        return Canonical()
    base = _base(url, tags)
    in_head = [tag.attributes["href"] for tag in tags if tag.name == "link" and tag.is_in_head]
    targets = [_target(base, href) for href in in_head] + [_target(url, href) for href in in_headers]
    found = list(dict.fromkeys(target for target in targets if target is not None))
    if len({normalize(target) for target in found}) > 1:
        return Canonical(problem=CONTRADICTING)
    if found:
        return Canonical(target=found[0])
    return Canonical(problem=NO_TARGET if targets else OUTSIDE_HEAD)


def _is_canonical(tag: Tag) -> bool:
    is_said = "canonical" in tag.attributes.get("rel", "").lower().split()
    return tag.name == "link" and "href" in tag.attributes and is_said


def canonical_hrefs(header: str) -> Iterator[str]:
    """Give the canonical targets in a `Link` header (RFC 8288).

    >>> list(canonical_hrefs('<https://a.test/x,y>; rel="alternate canonical", </z>; rel=next'))
    ['https://a.test/x,y']
    """
    for href, parameters in _LINK.findall(header):
        relation = _RELATION.search(parameters)
        if relation and "canonical" in (relation[1] or relation[2] or "").lower().split():
            yield href


def refresh_of(url: str, tags: Iterable[Tag], refresh_headers: Sequence[str] = ()) -> str | None:
    """Return where a page sends its reader at once, by `<meta http-equiv=refresh>` or header."""
    tags = list(tags)
    contents = [
        tag.attributes.get("content", "")
        for tag in tags
        if tag.name == "meta" and tag.attributes.get("http-equiv", "").strip().lower() == "refresh"
    ]
    for content in [*refresh_headers, *contents]:
        href = immediate_target(content)
        if href:
            return _target(_base(url, tags), href)
    return None


def immediate_target(content: str) -> str | None:
    """Return the target of a refresh that waits less than a second.

    >>> immediate_target("0; url='/new'"), immediate_target("5; url=/new"), immediate_target("0")
    ('/new', None, None)
    """
    found = _REFRESH.match(content)
    if not found or (found[1] or "0").strip("0"):
        return None
    return (found[2] or found[3] or found[4] or "").strip() or None


def own_language(url: str, tags: Iterable[Tag]) -> str | None:
    """Return the language in which a page lists itself among its translations (rel=alternate, hreflang)."""
    alternates = [tag for tag in tags if tag.name == "link" and "hreflang" in tag.attributes]
    if not alternates:
        return None
    own = normalize(url)
    named = {
        tag.attributes["hreflang"].strip().lower()
        for tag in alternates
        if (target := _target(url, tag.attributes.get("href", ""))) and normalize(target) == own
    } - {"x-default", ""}
    return named.pop() if len(named) == 1 else None


def clean_param_lines(robots: str) -> str:
    """Return the `Clean-param` lines of a robots.txt, which hold wherever in the file they are."""
    return "\n".join(line.strip("\ufeff \t") for line in _CLEAN_PARAM.findall(robots))


def _base(url: str, tags: Iterable[Tag]) -> str:
    for tag in tags:
        if tag.name == "base" and "href" in tag.attributes:
            return _joined(url, tag.attributes["href"]) or url
    return url


def _target(base: str, href: str) -> str | None:
    if not href.strip():
        return None
    target = _joined(base, href)
    if target is None or Url.parse(target) is None:
        return None
    return target.partition("#")[0]


def _joined(base: str, href: str) -> str | None:
    try:
        return urljoin(base, href.strip().translate(_ODD_SPACE))
    except ValueError:
        return None
