"""`$removeparam` filters of content blockers, for whole sites."""

from __future__ import annotations

import re

from undust.errors import RuleError
from undust.exchange.imports.contract import ImportedRules, RuleFormat
from undust.exchange.imports.parameter_rules import dropping, is_site, listed
from undust.rules.language import ANY_SITE

_FILTER = re.compile(r"(?P<where>\*?|\|\|(?P<site>[a-z0-9.-]+)\^)\$removeparam=(?P<what>.+)")
_PREFIX = re.compile(r"/\^(?P<name>(?:[A-Za-z0-9_-]|\\[^A-Za-z0-9])+)/")
_NAME = re.compile(r"[A-Za-z0-9_.-]+")


def read(text: str, name: str, site: str) -> ImportedRules:  # noqa: ARG001 -- the filters name their sites
    """Return the rules of a list of filters; comments and other filters are not ours."""
    found = ImportedRules([], [])
    names: dict[str, list[str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if "removeparam" not in line or line.startswith("!"):
            continue
        shape = _FILTER.fullmatch(line.strip())
        what = _name(shape["what"]) if shape else None
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


def _name(what: str) -> str | None:
    prefix = _PREFIX.fullmatch(what)
    if prefix:
        return re.sub(r"\\(.)", r"\1", prefix["name"]) + "*"
    return what if _NAME.fullmatch(what) else None


REMOVEPARAM_RULES = RuleFormat(
    "removeparam", "$removeparam filters of uBlock Origin and AdGuard", needs_site=False, read=read
)
