"""A rule the other way round: what DustBuster tries when the direction that shrinks a URL fails."""

from __future__ import annotations

import re

from undust.rules.language import Rule
from undust.rules.problems import Problem

_CAPTURE = re.compile(r"\{([A-Za-z_]\w*)(\*\*)?(?::([^{}]*))?\}")
_FORGOTTEN = re.compile(r"\{\*")


def reversed_rule(rule: Rule) -> Rule | None:
    """Return the rule that undoes another; None if it removes something that cannot be restored.

    >>> there = Rule.parse("rewrite {s}://{h}/story_{n:int} -> {s}://{h}/story?id={n}", site="forum.test")
    >>> print(reversed_rule(there))
    rewrite {s}://{h}/story?id={n:int} → {s}://{h}/story_{n}
    """
    if rule.target is None:
        return None
    if rule.kind == "rewrite":
        sides = _swapped(rule.source, rule.target)
    else:
        sides = (rule.target, rule.source) if rule.target.strip("^$") else None
    if sides is None or rule.when or rule.unless:
        return None
    try:
        return Rule(rule.site, rule.kind, *sides, except_sites=rule.except_sites, learned_by=rule.learned_by)
    except Problem:
        return None


def _swapped(source: str, target: str) -> tuple[str, str] | None:
    captures = {found[1]: found[0] for found in _CAPTURE.finditer(source)}
    written = [found[1] for found in _CAPTURE.finditer(target)]
    has_forms = any(found[2] or found[3] for found in _CAPTURE.finditer(target))
    if _FORGOTTEN.search(source) or has_forms or sorted(captures) != sorted(written):
        return None
    left = _CAPTURE.sub(lambda found: captures[found[1]], target)
    return left, _CAPTURE.sub(lambda found: f"{{{found[1]}}}", source)
