"""Rules made from texts; None where the language cannot say it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from undust.edits import is_somebodys
from undust.errors import UndustError
from undust.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Mapping

OPEN = "{s}://{h}/{p**}?{rest**}"
"""Any URL, taken apart no further than needed."""
REST_OF_URL = "{s}://{h}/{p}?{rest}"
"""The same, written again."""

_NAME = re.compile(r"[A-Za-z0-9_.\-\[\]%~]+")


def rewriting(site: str, by: str, source: str, target: str, when: tuple[str, ...] = ()) -> Rule | None:
    """Return a `rewrite`, or None."""
    return _made(site, "rewrite", source, target, {"when": when, "learned_by": by})


def replacing(site: str, by: str, source: str, target: str) -> Rule | None:
    """Return a `replace`, or None."""
    return _made(site, "replace", source, target, {"learned_by": by})


def with_conditions(rule: Rule, when: tuple[str, ...] = (), unless: tuple[str, ...] = ()) -> Rule | None:
    """Return a rule with more conditions, or None."""
    said = {
        "when": (*rule.when, *when),
        "unless": (*rule.unless, *unless),
        "learned_by": rule.learned_by,
    }
    return _made(rule.site, rule.kind, rule.source, rule.target, said)


def with_sides(rule: Rule, source: str, target: str) -> Rule | None:
    """Return a rule that says something else under the same conditions, or None."""
    said = {"when": rule.when, "unless": rule.unless, "learned_by": rule.learned_by}
    return _made(rule.site, rule.kind, source, target, said)


def keeping(site: str, by: str, source: str) -> Rule | None:
    """Return a `keep`, or None."""
    return _made(site, "keep", source, None, {"learned_by": by})


def is_plain(name: str) -> bool:
    """Return whether a parameter's name can be written in a pattern unchanged."""
    return bool(_NAME.fullmatch(name))


def _made(site: str, kind: str, source: str, target: str | None, said: Mapping[str, object]) -> Rule | None:
    if is_somebodys(source) or is_somebodys(target or ""):
        return None  # the rule would contain a value of one visitor
    try:
        return Rule(site, kind, source, target, **said)  # type: ignore[arg-type]
    except (UndustError, ValueError):
        return None
