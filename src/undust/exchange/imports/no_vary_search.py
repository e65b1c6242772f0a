"""The response header `No-Vary-Search`: which parameters do not matter."""

from __future__ import annotations

import re

from undust.errors import RuleError
from undust.exchange.imports.contract import ImportedRules, RuleFormat
from undust.exchange.imports.parameter_rules import dropping, keeping, listed

_HEADER = re.compile(r"(?:no-vary-search\s*:)?\s*(?P<value>.*)", re.IGNORECASE)
_NAME = r'"((?:[^"\\]|\\["\\])*)"'
_PARTS = re.compile(rf"\s*(?P<key>[a-z-]+)(?:=(?P<value>\((?:{_NAME}|\s)*\)|\?[01]))?\s*(?:,|$)")


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
    return [re.sub(r"\\(.)", r"\1", name) for name in re.findall(_NAME, value or "")]


NO_VARY_SEARCH_RULES = RuleFormat(
    "no-vary-search", "the header with the parameters that caches ignore", needs_site=True, read=read
)
