"""The JSON of duplicate-url-discarder: processors with their arguments, and patterns of URLs.

There, the rules of a site switch the universal ones off, so universal rules except the sites that have rules.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from undust.errors import RuleError
from undust.exchange.imports.contract import ImportedRules, RuleFormat
from undust.exchange.imports.parameter_rules import dropping, is_site, keeping, listed
from undust.rules import Rule
from undust.rules.language import ANY_SITE

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
        for pattern in _patterns(entry, place, found):
            if pattern:
                _read(entry, pattern, (), place, found)
            else:
                universal.append((place, entry))
    sites = tuple(dict.fromkeys(rule.site for rule in found.rules))
    blocked = tuple(dict.fromkeys(_sites_without_rules(entries, sites)))
    for place, entry in universal:
        _read(entry, ANY_SITE, sites + blocked, place, found)
    return found


def _patterns(entry: dict[str, Any], place: str, found: ImportedRules) -> list[str]:
    """Return the sites that an entry is for; what is less or more than a site is skipped."""
    pattern = entry.get("urlPattern")
    include = pattern.get("include") if isinstance(pattern, dict) else None
    if not isinstance(include, list) or not all(isinstance(text, str) for text in include):
        found.skip(place, "it has no urlPattern with a list to include")
        return []
    if pattern and pattern.get("exclude"):
        found.skip(place, "it excludes URLs by a pattern, which ignores case and where paths end")
        return []
    sites = []
    for text in include or [""]:
        if text and not is_site(text):
            found.skip(place, f"the pattern {text!r} is not a whole site")
        else:
            sites.append(text)
    return sites


def _sites_without_rules(entries: list[dict[str, Any]], sites: tuple[str, ...]) -> Iterable[str]:
    """Yield sites whose own rules say nothing in our language; they still switch the universal ones off."""
    for entry in entries:
        pattern = entry.get("urlPattern")
        for text in (pattern.get("include") or ()) if isinstance(pattern, dict) else ():
            if isinstance(text, str) and is_site(text) and text not in sites:
                yield text


def _read(
    entry: dict[str, Any], site: str, except_sites: tuple[str, ...], place: str, found: ImportedRules
) -> None:
    processor, args = entry.get("processor"), entry.get("args") or []
    is_names = isinstance(args, list) and all(isinstance(name, str) for name in args)
    try:
        if processor == "queryRemoval" and is_names:
            found.rules += [dropping(listed(args), site, except_sites)] if args else []
        elif processor == "queryRemovalExcept" and is_names:
            found.rules.append(keeping(listed(args), site, except_sites))
        elif processor == "normalizer":
            found.rules += [
                Rule(site, "rewrite", source, target, except_sites=except_sites)
                for source, target in _NORMALIZER
            ]
        elif processor == "subpathRemoval":
            found.skip(place, "it takes a segment away by its number, and a rule would do so again and again")
        else:
            found.skip(place, f"no rule says what the processor {processor!r} does with {args!r}")
    except RuleError as error:
        found.skip(place, str(error))


DUPLICATE_URL_DISCARDER_RULES = RuleFormat(
    "duplicate-url-discarder", "its JSON of processors", needs_site=False, read=read
)
