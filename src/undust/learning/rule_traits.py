"""What the text of a rule shows before anything is tried: how much it leaves open, and what it makes up."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from undust.rules import Rule

_CAPTURE = re.compile(r"\{[^{}]*\}")
_NUMBER = re.compile(r"(?<![^\W_])\d+(?![^\W_])")


def adds_a_value(rule: Rule) -> bool:
    """Return whether a rule writes a parameter, with its value, of which it read nothing."""
    left, right = ((side or "").partition("?")[2].split("&") for side in (rule.source, rule.target))
    read = {parameter.partition("=")[0] for parameter in left}
    return any("=" in each and "{" not in each and each.partition("=")[0] not in read for each in right)


def makes_up(rule: Rule) -> bool:
    """Return whether a rule writes a parameter of which it read nothing, or a slash behind a path without.

    >>> from undust import Rule
    >>> makes_up(Rule.parse("rewrite {s}://{h}/{p**}/{x:word} → {s}://{h}/{p}/{x}/", site="a.test"))
    True
    >>> makes_up(Rule.parse("rewrite {s}://{h}/{p**}/index.html → {s}://{h}/{p}/", site="a.test"))
    False
    """
    read, written = ((side or "").partition("?")[0].rstrip("$") for side in (rule.source, rule.target))
    return adds_a_value(rule) or (written.endswith("/") and written.count("/") > read.count("/"))


def renumbers(rule: Rule) -> bool:
    """Return whether a rule writes a number of its own where it read another.

    >>> from undust import Rule
    >>> renumbers(Rule.parse('replace "/2003/" → "/2004/"', site="a.test"))
    True
    """
    sides = (_CAPTURE.sub("", side or "") for side in (rule.source, rule.target))
    read, written = (set(_NUMBER.findall(side)) for side in sides)
    return bool(read - written and written - read)


def renames(rule: Rule) -> bool:
    """Return whether a rule writes a folder's or a page's name where it read another, or drops a page's.

    >>> from undust import Rule
    >>> renames(Rule.parse("rewrite {s}://{h}/notes/{p**} → {s}://{h}/tools/{p}", site="a.test"))
    True
    >>> renames(Rule.parse("rewrite {s}://{h}/manual/en/{p**} → {s}://{h}/manual/{p}", site="a.test"))
    False
    """
    read, written = (_segments(rule.kind, side or "") for side in (rule.source, rule.target))
    names, others = ({name for name in path if name and "{" not in name} for path in (read, written))
    is_one_page = rule.kind == "rewrite" and len(names) == len(read)
    return bool(names - others and (others - names or is_one_page))


def _segments(kind: str, side: str) -> list[str]:
    """Return the segments of a side's path; of a `replace`, those that are written whole."""
    path = side.partition("?")[0].rpartition("://")[2].split("/")[1:]
    return path if kind == "rewrite" else path[:-1]


def openness(rule: Rule) -> int:
    """Return how much a rule leaves open; of rules with one effect the one that says most is taken.

    Of the two directions of a rule that are worth the same, the one that writes less is.
    """
    written = len(rule.target or "")
    return 4000 * rule.source.count("{*}") + 2 * (len(rule.source) + written) + (written > len(rule.source))
