"""`Clean-param` lines of a robots.txt: names of parameters, and the beginning of paths they are for."""

from __future__ import annotations

import re

from undust.errors import RuleError
from undust.exchange.imports.contract import ImportedRules, RuleFormat
from undust.exchange.imports.parameter_rules import ALL_PATHS, Place, dropping, listed

_LINE = re.compile(r"clean-param\s*:\s*([^\s#]+)(?:\s+([^\s#]+))?\s*(?:#.*)?", re.IGNORECASE)
_START = re.compile(r"clean-param\s*:", re.IGNORECASE)


def read(text: str, name: str, site: str) -> ImportedRules:
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


CLEAN_PARAM_RULES = RuleFormat("clean-param", "Clean-param lines of a robots.txt", needs_site=True, read=read)
