"""A rule read from right to left: which of two forms of a page is the better one is another question.

That `/a` and `/a.html` are one page does not decide which to fetch. A proposal has one
direction in mind; where the other can be said too, it is judged beside it, and the form that the site is
seen to serve and to prefer wins.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from undust.learning.make_rule import with_sides
from undust.rules import program_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undust.rules import Rule

_CAPTURE = re.compile(r"\{(\w*)(\*\*)?(:[^{}]*)?\}")
_SAMPLES = {"s": "http", "p": "a/b", "rest": "c=d"}
"""What may stand for the captures of whole components, as this package names them; a site for `h`."""
_CLASSES = {
    ":int": "1",
    ":date": "2001-02-03",
    ":uuid": "01234567-89ab-cdef-0123-456789abcdef",
    **dict.fromkeys((":alpha", ":hex", ":word"), "a"),
}
_WHOLE = frozenset({*_SAMPLES, "h"})


def turned(rule: Rule) -> Iterator[Rule]:
    """Yield a rule in the other direction; nothing if it removes text, or writes it in another form."""
    if rule.kind == "keep" or not rule.target or rule.when or rule.unless:
        return
    if rule.kind == "replace":
        if rule.target not in rule.source:  # else it would find itself in what it wrote
            yield from _made(rule, rule.target, rule.source)
        return
    read = {found[1]: found for found in _CAPTURE.finditer(rule.source)}
    written = list(_CAPTURE.finditer(rule.target))
    says_all = "" not in read and sorted(read) == sorted(found[1] for found in written)
    if not says_all or any(found[3] for found in written):
        return
    target = _CAPTURE.sub(lambda found: f"{{{found[1]}}}", rule.source)
    for kind in ("", ":word"):
        types = {name: _typed(capture, kind) for name, capture in read.items()}
        source = rule.target
        for name, said in types.items():
            source = source.replace(f"{{{name}}}", f"{{{name}{said}}}")
        for made in _made(rule, source, target):
            if not _feeds_itself(made, types):
                yield made


def _typed(capture: re.Match[str], kind: str) -> str:
    """Return a capture's class as it was read, or one: the text next to it no longer shows where it ends."""
    name, stars, said = capture.groups(default="")
    return f"{stars}{said or (kind if not stars and name not in _WHOLE else '')}"


def _feeds_itself(rule: Rule, types: dict[str, str]) -> bool:
    """Return whether a rule would change what it wrote, again and again."""
    kinds = {name: kind.lstrip("*") for name, kind in types.items()}
    samples = {name: _CLASSES.get(kind) or kind[1:].partition("|")[0] or "a" for name, kind in kinds.items()}
    samples |= _SAMPLES | {"h": f"www.{rule.site}"}
    url = _CAPTURE.sub(lambda found: samples[found[1]], rule.target or "")
    return program_of([rule]).step(url)[0] is not None


def _made(rule: Rule, source: str, target: str) -> Iterator[Rule]:
    made = with_sides(rule, source, target) if source != rule.source else None
    if made is not None:
        yield made
