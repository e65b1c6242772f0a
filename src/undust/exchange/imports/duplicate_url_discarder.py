"""The JSON of duplicate-url-discarder: processors with their arguments, and patterns of URLs.

There, the rules of a site switch the universal ones off, so universal rules except the sites that have rules.

Its patterns are those of the package url-matcher: a host, perhaps with a path. A host alone stands for its
subdomains too; with a path it stands for itself and `www.` in front. A path is a beginning of paths in which
`*` stands for anything, and ignores case. Our patterns follow case and the borders of segments, so a place
may hold fewer URLs than the pattern does, never more.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from undust.errors import RuleError
from undust.exchange.imports.contract import (
    ALL_PATHS,
    EVERYWHERE,
    ImportedRules,
    Place,
    RuleFormat,
    dropping,
    is_site,
    keeping,
    listed,
)
from undust.rules import Rule
from undust.rules.language import ANY_SITE
from undust.urls import site_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SHAPE = re.compile(r"(?P<host>[a-z0-9_-]+(?:\.[a-z0-9_-]+)+)(?P<path>(?:/[A-Za-z0-9_.~%-]+|/\*)*)/?")
NARROWER = "`*` stands for one segment, and case counts"
SAME_CASE = "case counts"
AGAIN = "it removes a segment by its number, and a rule would do so again and again"


@dataclass(frozen=True)
class Where:
    """The URLs that a pattern is for, as far as our patterns express them."""

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


_NORMALIZER = (
    ("{s}://www.{h**}/{p**}?{rest**}", "{s}://{h}/{p}?{rest}"),
    ("{s}://www{*:int}.{h**}/{p**}?{rest**}", "{s}://{h}/{p}?{rest}"),
    ("{s}://{h}/{p**}/?{rest**}", "{s}://{h}/{p}?{rest}"),
)


def read(text: str, name: str, site: str) -> ImportedRules:  # noqa: ARG001 -- the file names its sites
    """Return the rules of a file."""
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError) as error:
        message = f"{name}: not JSON ({error}); give the file that duplicate-url-discarder reads"
        raise RuleError(message) from None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        message = f"{name}: not a list of rules; give the file that duplicate-url-discarder reads"
        raise RuleError(message)
    found = ImportedRules([], [])
    universal: list[tuple[str, dict[str, Any]]] = []
    for number, entry in enumerate(entries, 1):
        place = f"{name}: rule {number}"
        for where in _wheres(entry, place, found):
            if where is EVERY_URL:
                universal.append((place, entry))
            else:
                _read(entry, where, (), place, found)
    sites = tuple(dict.fromkeys(rule.site for rule in found.rules))
    blocked = tuple(dict.fromkeys(_sites_without_rules(entries, sites)))
    for place, entry in universal:
        _read(entry, EVERY_URL, sites + blocked, place, found)
    return found


def _wheres(entry: dict[str, Any], place: str, found: ImportedRules) -> list[Where]:
    """Return the URLs that an entry is for; the empty pattern is for all."""
    pattern = entry.get("urlPattern")
    include = pattern.get("include") if isinstance(pattern, dict) else None
    if not isinstance(include, list) or not all(isinstance(text, str) for text in include):
        found.skip(place, "it has no urlPattern with a list to include")
        return []
    if pattern and pattern.get("exclude"):
        found.skip(place, "it excludes URLs by a pattern, which ignores case and where paths end")
        return []
    wheres = []
    for text in include or [""]:
        where = EVERY_URL if not text else where_from(text)
        if where is None:
            found.skip(place, f"the pattern {text!r} is not a host name, perhaps with a path")
        else:
            wheres.append(where)
    return wheres


def _sites_without_rules(entries: list[dict[str, Any]], sites: tuple[str, ...]) -> Iterable[str]:
    """Yield sites with own rules of which none can be ours; they still switch the universal ones off."""
    for entry in entries:
        pattern = entry.get("urlPattern")
        for text in (pattern.get("include") or ()) if isinstance(pattern, dict) else ():
            where = where_from(text) if isinstance(text, str) else None
            if where and where.site not in sites:
                yield where.site


def _read(
    entry: dict[str, Any], where: Where, except_sites: tuple[str, ...], at: str, found: ImportedRules
) -> None:
    processor, args = entry.get("processor"), entry.get("args") or []
    is_names = isinstance(args, list) and all(isinstance(name, str) for name in args)
    before = len(found.rules)
    try:
        if processor == "queryRemoval" and is_names:
            names = listed(args) if args else ""
            found.rules += [dropping(names, where.site, except_sites, each) for each in where.places if names]
        elif processor == "queryRemovalExcept" and is_names:
            found.rules += [keeping(listed(args), where.site, except_sites, each) for each in where.places]
        elif processor == "normalizer" and where.is_whole_site:
            found.rules += [
                Rule(where.site, "rewrite", source, target, except_sites=except_sites)
                for source, target in _NORMALIZER
            ]
        elif processor == "subpathRemoval":
            found.rules += without_segments(where, args)
        else:
            found.skip(at, f"no rule says what the processor {processor!r} does with {args!r}")
    except RuleError as error:
        found.skip(at, str(error))
    if where.narrower and len(found.rules) > before:
        found.narrow(at, f"{where.text!r}: {where.narrower}")


DUPLICATE_URL_DISCARDER_RULES = RuleFormat(
    "duplicate-url-discarder", "its JSON of processors", needs_site=False, read=read
)
