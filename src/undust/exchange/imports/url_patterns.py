"""Patterns of the package url-matcher, as duplicate-url-discarder uses them, as places of our rules.

A pattern is a host, perhaps with a path. A host alone stands for its subdomains too; with a path it stands
for itself and `www.` in front. A path is a beginning of paths in which `*` stands for anything, and ignores
case. Our patterns follow case and the borders of segments, so a place may hold fewer URLs than the pattern
does, never more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from undust.errors import RuleError
from undust.exchange.imports.parameter_rules import ALL_PATHS, EVERYWHERE, Place, is_site
from undust.rules import Rule
from undust.rules.language import ANY_SITE
from undust.urls import site_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHAPE = re.compile(r"(?P<host>[a-z0-9_-]+(?:\.[a-z0-9_-]+)+)(?P<path>(?:/[A-Za-z0-9_.~%-]+|/\*)*)/?")
NARROWER = "`*` stands for one segment, and case counts"
SAME_CASE = "case counts"
AGAIN = "it removes a segment by its number, and a rule would do so again and again"


@dataclass(frozen=True)
class Where:
    """The URLs that a pattern is for, as far as our patterns say them."""

    text: str
    site: str
    places: tuple[Place, ...]
    segments: tuple[str, ...] = ()
    """Of the path; `*` stands for any one."""
    narrower: str | None = None
    """Why these are fewer URLs, if they are."""

    @property
    def is_whole_site(self) -> bool:
        """Whether it is for all URLs of its site."""
        return self.places == (EVERYWHERE,)


EVERY_URL = Where("", ANY_SITE, (EVERYWHERE,))


def where_from(text: str) -> Where | None:
    """Return the URLs that a pattern is for; None if it is not a host, perhaps with a path."""
    if is_site(text):
        return Where(text, text, (EVERYWHERE,))
    shape = _SHAPE.fullmatch(text)
    site = site_of(f"http://{shape['host']}/") if shape else None
    if shape is None or site is None:
        return None
    segments = tuple(shape["path"].split("/")[1:])
    if not segments:
        hosts = (shape["host"], f"{{h**}}.{shape['host']}")
        return Where(text, site, tuple(Place(host) for host in hosts))
    host = f"{{h:{shape['host']}|www.{shape['host']}}}"
    narrower = NARROWER if "*" in segments else SAME_CASE
    paths = [_path(segments) + ALL_PATHS]
    if segments[-1] != "*":
        paths.append(_path(segments) + "{x}" + ALL_PATHS)
    return Where(text, site, tuple(Place(host, path) for path in paths), segments, narrower)


def without_segments(where: Where, numbers: Sequence[object]) -> list[Rule]:
    """Return the rule that removes segments of the path by their numbers.

    A rule is applied until nothing changes, and the processor once. So the rule leaves alone what it would
    match a second time.
    """
    segments = where.segments
    removed = {number for number in numbers if isinstance(number, int)}
    if not removed or len(removed) != len(numbers) or not all(0 <= each < len(segments) for each in removed):
        raise RuleError(AGAIN)
    kept = [place for place in range(len(segments)) if place not in removed]
    target = _path(segments, kept)
    again = _matched_again(segments, kept)
    return [
        Rule(
            where.site,
            "rewrite",
            f"{{s}}://{where.places[0].host}{_path(segments)}{ALL_PATHS}?{{rest**}}",
            f"{{s}}://{{h}}{target}/{{p}}?{{rest}}",
            unless=() if again is None else (f"{again}/{{**}}",),
        )
    ]


def _matched_again(segments: tuple[str, ...], kept: Sequence[int]) -> str | None:
    """Return the paths that still match when only some segments are kept; None if no path matches."""
    pattern = list(segments)
    for old, new in zip(kept, segments, strict=False):
        if segments[old] == "*":
            pattern[old] = new
        elif new not in {"*", segments[old]}:
            return None
    pattern += segments[len(kept) :]
    return "".join("/{*}" if each == "*" else f"/{each}" for each in pattern)


def _path(segments: tuple[str, ...], kept: Sequence[int] | None = None) -> str:
    """Return segments as a pattern writes them, with a name for each that may be anything."""
    texts = [f"/{{a{place}}}" if each == "*" else f"/{each}" for place, each in enumerate(segments)]
    return "".join(texts if kept is None else [texts[place] for place in kept])
