"""The JSON of duplicate-url-discarder: processors with their arguments, and patterns of URLs.

There, the rules of a site switch the universal ones off, so universal rules except the sites that have rules.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from undust.errors import RuleError
from undust.exchange.imports.contract import ImportedRules, RuleFormat
from undust.exchange.imports.parameter_rules import dropping, keeping, listed
from undust.exchange.imports.url_patterns import EVERY_URL, Where, where_from, without_segments
from undust.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    """Yield sites whose own rules say nothing in our language; they still switch the universal ones off."""
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
