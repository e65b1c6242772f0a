"""The response header `No-Vary-Search`: which parameters do not matter."""

from __future__ import annotations

import re

from undust.errors import RuleError
from undust.exchange.imports.contract import ImportedRules, RuleFormat
from undust.exchange.imports.parameter_rules import dropping, keeping, listed

_HEADER = re.compile(r"(?:no-vary-search\s*:)?\s*(?P<value>.*)", re.IGNORECASE)
_PARTS = re.compile(r'\s*(?P<key>[a-z-]+)(?:=(?P<value>\((?:"[^"]*"|\s)*\)|\?[01]))?\s*(?:,|$)')


def read(text: str, name: str, site: str) -> ImportedRules:
    """Return the rules of the header, a line each."""
    found = ImportedRules([], [])
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            _read(line.strip(), f"{name}:{number}", site, found)
    return found


def _read(line: str, place: str, site: str, found: ImportedRules) -> None:
    header = _HEADER.fullmatch(line)
    value = header["value"] if header else ""
    parts = {part["key"]: part["value"] for part in _PARTS.finditer(value)}
    if "".join(part[0] for part in _PARTS.finditer(value)) != value or not parts:
        found.skip(place, "this is no header that can be read")
        return
    if parts.get("key-order", "?0") != "?0":
        found.skip(place, "with key-order, values of one name stay in order, and no form says that")
    names = re.findall(r'"([^"]*)"', parts.get("params") or "")
    kept = re.findall(r'"([^"]*)"', parts.get("except") or "")
    is_all = "params" in parts and parts["params"] in {None, "?1"}
    try:
        if is_all:
            found.rules.append(keeping(listed(kept), site))
        elif names:
            found.rules.append(dropping(listed(names), site))
    except RuleError as error:
        found.skip(place, str(error))


NO_VARY_SEARCH_RULES = RuleFormat(
    "no-vary-search", "the header that tells caches which parameters to ignore", needs_site=True, read=read
)
