"""Files that list parameters to remove: `Clean-param`, `No-Vary-Search`, `$removeparam`, ClearURLs.

`Clean-param` lines of a robots.txt have names of parameters, and the beginning of paths they are for. The
response header `No-Vary-Search` says which parameters do not matter. `$removeparam` filters of content
blockers are read where they are for whole sites. Files in the shape of ClearURLs' providers have a pattern of
URLs, and names of parameters as expressions: only what is clearly a site, and a name or the beginning of
names, becomes a rule; the rest is reported. Names are taken as they are written, though ClearURLs ignores
case.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from undust.errors import RuleError
from undust.exchange.imports.contract import (
    ALL_PATHS,
    ImportedRules,
    Place,
    RuleFormat,
    dropping,
    is_site,
    keeping,
    listed,
)
from undust.rules.language import ANY_SITE

if TYPE_CHECKING:
    from collections.abc import Sequence

_LINE = re.compile(r"clean-param\s*:\s*([^\s#]+)(?:\s+([^\s#]+))?\s*(?:#.*)?", re.IGNORECASE)
_START = re.compile(r"clean-param\s*:", re.IGNORECASE)


def read_clean_param(text: str, name: str, site: str) -> ImportedRules:
    """Return the rules of the lines of a robots.txt; its other lines are not ours."""
    found = ImportedRules([], [])
    for number, line in enumerate(text.splitlines(), 1):
        place = f"{name}:{number}"
        shape = _LINE.fullmatch(line.strip())
        if shape is None:
            if _START.match(line.strip()):
                found.skip(place, "the line has no names, or more than names and a path")
            continue
        names = [each for each in shape[1].split("&") if each]
        paths = _paths(shape[2] or "/")
        if not paths:
            found.skip(place, f"the path {shape[2]!r} has a `*`, and no pattern says so")
        try:
            found.rules += [dropping(listed(names), site, place=Place(path=path)) for path in paths]
        except RuleError as error:
            found.skip(place, str(error))
    return found


def _paths(start: str) -> list[str]:
    """Return patterns of the paths that begin so: a segment may go on, and more segments may follow."""
    if start == "/":
        return [ALL_PATHS]
    if "*" in start or "?" in start or not start.startswith("/"):
        return []
    if start.endswith("/"):
        return [f"{start}{{x}}{ALL_PATHS}", f"{start}{ALL_PATHS}"]
    return [f"{start}{ALL_PATHS}", f"{start}{{x}}{ALL_PATHS}"]


CLEAN_PARAM_RULES = RuleFormat(
    "clean-param", "Clean-param lines of a robots.txt", needs_site=True, read=read_clean_param
)


_HEADER = re.compile(r"(?:no-vary-search\s*:)?\s*(?P<value>.*)", re.IGNORECASE)
_QUOTED_NAME = r'"((?:[^"\\]|\\["\\])*)"'
_PARTS = re.compile(rf"\s*(?P<key>[a-z-]+)(?:=(?P<value>\((?:{_QUOTED_NAME}|\s)*\)|\?[01]))?\s*(?:,|$)")


def read_no_vary_search(text: str, name: str, site: str) -> ImportedRules:
    """Return the rules of the header, a line each."""
    found = ImportedRules([], [])
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            _read_no_vary_search(line.strip(), f"{name}:{number}", site, found)
    return found


def _read_no_vary_search(line: str, place: str, site: str, found: ImportedRules) -> None:
    header = _HEADER.fullmatch(line)
    value = header["value"] if header else ""
    parts = {part["key"]: part["value"] for part in _PARTS.finditer(value)}
    if "".join(part[0] for part in _PARTS.finditer(value)) != value or not parts:
        found.skip(place, "this header cannot be read")
        return
    if parts.get("key-order", "?0") != "?0":
        found.skip(place, "with key-order, values of one name stay in order, and no form says that")
    params, kept = parts.get("params", "?0"), parts.get("except")
    # "except" alone means all parameters but these; beside a list of parameters it means nothing.
    is_all = params in {None, "?1"} or ("params" not in parts and kept is not None)
    if kept is not None and (not is_all or not kept.startswith("(")):
        found.skip(place, "except is a list of names, alone or beside a params without names")
        return
    names = _names(params)
    try:
        if is_all:
            found.rules.append(keeping(listed(_names(kept)), site))
        elif names:
            found.rules.append(dropping(listed(names), site))
        elif "key-order" not in parts:
            found.skip(place, "it says that all parameters matter")
    except RuleError as error:
        found.skip(place, str(error))


def _names(value: str | None) -> list[str]:
    return [re.sub(r"\\(.)", r"\1", name) for name in re.findall(_QUOTED_NAME, value or "")]


NO_VARY_SEARCH_RULES = RuleFormat(
    "no-vary-search",
    "the header with the parameters that caches ignore",
    needs_site=True,
    read=read_no_vary_search,
)


_FILTER = re.compile(r"(?P<where>\*?|\|\|(?P<site>[a-z0-9.-]+)\^)\$removeparam=(?P<what>.+)")
_PREFIX = re.compile(r"/\^(?P<name>(?:[A-Za-z0-9_-]|\\[^A-Za-z0-9])+)/")
_REMOVEPARAM_NAME = re.compile(r"[A-Za-z0-9_.-]+")


def read_removeparam(text: str, name: str, site: str) -> ImportedRules:  # noqa: ARG001 -- the filters name their sites
    """Return the rules of a list of filters; comments and other filters are not ours."""
    found = ImportedRules([], [])
    names: dict[str, list[str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if "removeparam" not in line or line.startswith("!"):
            continue
        shape = _FILTER.fullmatch(line.strip())
        what = _name_removeparam(shape["what"]) if shape else None
        if shape is None or what is None:
            found.skip(f"{name}:{number}", "the filter is for more or less than a site and a name")
        elif shape["site"] and not is_site(shape["site"]):
            found.skip(f"{name}:{number}", f"{shape['site']} is not a whole site")
        else:
            names.setdefault(shape["site"] or ANY_SITE, []).append(what)
    for where, some in names.items():
        try:
            found.rules.append(dropping(listed(some, prefixes=True), where))
        except RuleError as error:
            found.skip(name, str(error))
    return found


def _name_removeparam(what: str) -> str | None:
    prefix = _PREFIX.fullmatch(what)
    if prefix:
        return re.sub(r"\\(.)", r"\1", prefix["name"]) + "*"
    return what if _REMOVEPARAM_NAME.fullmatch(what) else None


REMOVEPARAM_RULES = RuleFormat(
    "removeparam",
    "$removeparam filters of uBlock Origin and AdGuard",
    needs_site=False,
    read=read_removeparam,
)


_EVERY_URL = {".*", "^https?://", r"^https?:\/\/", "https?://", ""}
_SITE = re.compile(
    r"\^?https\?:(?://|\\/\\/)"
    r"(?:\(\?:\[[^\]]+\]\+\\\.\)\*\??)"
    r"(?P<site>(?:[a-z0-9-]|\\\.)+?)"
    r"(?:\\\.\?)?(?:\(\?::\[0-9\]\+\)\?)?(?:/|\\/|\(\?:\\?/\|\$\))?"
)
_CLEARURLS_NAME = re.compile(r"(?P<name>(?:[A-Za-z0-9_~-]|\\[^A-Za-z0-9])+)(?P<more>\.\*)?")
_TOLD = {
    "rawRules": "texts to take out of a URL by an expression",
    "redirections": "addresses that stand inside others, which lead to other sites",
}


def read_clearurls(text: str, name: str, site: str) -> ImportedRules:  # noqa: ARG001 -- the file names its sites
    """Return the rules of a file."""
    try:
        providers = json.loads(text)["providers"]
        items = list(providers.items())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        message = f"{name}: no JSON with providers ({error}); give a file in the shape that ClearURLs reads"
        raise RuleError(message) from None
    found = ImportedRules([], [])
    for title, provider in items:
        place = f"{name}: provider {title!r}"
        if isinstance(provider, dict):
            _read_clearurls(provider, place, found)
        else:
            found.skip(place, "it is not an object")
    return found


def _read_clearurls(provider: dict[str, Any], place: str, found: ImportedRules) -> None:
    site = _site(str(provider.get("urlPattern", "")))
    excepted = [_site(str(text)) for text in _texts(provider, "exceptions")]
    for key, what in _TOLD.items():
        if _texts(provider, key):
            found.skip(place, f"{key} are {what}, and no rule says that")
    if site is None:
        found.skip(place, f"the pattern {provider.get('urlPattern')!r} is not plainly a site")
    elif any(each in {None, ANY_SITE} for each in excepted) or (excepted and site != ANY_SITE):
        found.skip(
            place, "it has exceptions that are not plainly sites, and without them it would say too much"
        )
    else:
        names = [name for text in _texts(provider, "rules") if (name := _name_clearurls(text, place, found))]
        try:
            text = listed(names, prefixes=True)
            found.rules += [dropping(text, site, [each for each in excepted if each])] if names else []
        except RuleError as error:
            found.skip(place, str(error))


def _texts(provider: dict[str, Any], key: str) -> Sequence[str]:
    texts = provider.get(key) or ()
    return [text for text in texts if isinstance(text, str)] if isinstance(texts, list) else ()


def _site(pattern: str) -> str | None:
    if pattern in _EVERY_URL:
        return ANY_SITE
    shape = _SITE.fullmatch(pattern)
    site = shape["site"].replace("\\", "") if shape else ""
    return site if site and is_site(site) else None


def _name_clearurls(text: str, place: str, found: ImportedRules) -> str | None:
    shape = _CLEARURLS_NAME.fullmatch(text)
    if shape is None:
        found.skip(place, f"{text!r} is an expression that no list of names says")
        return None
    return re.sub(r"\\(.)", r"\1", shape["name"]) + ("*" if shape["more"] else "")


CLEARURLS_RULES = RuleFormat(
    "clearurls", "the JSON shape of ClearURLs' providers", needs_site=False, read=read_clearurls
)
