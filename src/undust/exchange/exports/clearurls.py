"""ClearURLs: the shape of its provider file, which several other tools read too.

Names there are regular expressions that ignore case, so that `sid` also takes `SID` away. What a `keep` keeps
is written as exceptions of the rules behind it.
"""

from __future__ import annotations

import json
import re
from itertools import starmap
from typing import TYPE_CHECKING, Any

from undust.errors import CannotExpress
from undust.exchange.exports.contract import ExportedText, Target
from undust.exchange.exports.dialects import expression
from undust.exchange.exports.expressions import SEGMENT, VALUE, is_of_class, run_of_class
from undust.exchange.exports.hosts import on_site
from undust.exchange.exports.literals import escaped
from undust.exchange.exports.removals import removals, require_names
from undust.exchange.exports.steps import compiled
from undust.rules.language import ANY_SITE
from undust.rules.pattern import Capture, Pattern, is_stretch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.exchange.exports.contract import ExportedRule
    from undust.exchange.exports.expressions import UrlPart
    from undust.exchange.exports.removals import Removal
    from undust.rules import Rule
    from undust.rules.pattern import Text

_EXACT = (
    "http(s) URLs in standard form without empty parameters or `;` in the query, in which nothing has a name"
    " of the list, or what a keep names, in other letters, upper or lower"
)


def write(rules: Sequence[ExportedRule]) -> ExportedText:
    """Return the providers as JSON."""
    found, refused = removals(rules, _require, _kept)
    providers = {_name(each): _provider(each) for each in found}
    return ExportedText(json.dumps({"providers": providers}, indent=2) + "\n", tuple(refused))


def _require(removal: Removal) -> None:
    require_names(removal)
    for site in (removal.rule.site, *removal.rule.except_sites):
        if site != ANY_SITE:
            on_site(site)


def _kept(keep: ExportedRule) -> tuple[str, ...]:
    """Return the URLs that a keep keeps as expressions of JavaScript."""
    _require_linear(keep.rule)
    return tuple(expression(step) for step in compiled(keep.rule, lean=True).steps)


def _require_linear(keep: Rule) -> None:
    """Refuse a keep whose expression is slow in a browser, where quantifiers are not possessive.

    An expression never tries a text twice if it has one stretch of segments, and if each capture in a segment
    or a value ends where a character stands that it cannot take.
    """
    conditions = [Pattern.parse(text, is_condition=True) for text in (*keep.when, *keep.unless)]
    for pattern in (Pattern.parse(keep.source), *conditions):
        path = pattern.path or ()
        texts = [(segment, SEGMENT) for segment in path]
        texts += [(entry.value or (), VALUE) for entry in pattern.query or ()]
        if sum(map(is_stretch, path)) > 1 or not all(starmap(_is_delimited, texts)):
            message = "its captures have no certain end, and a browser would try too many"
            raise CannotExpress(message)


def _is_delimited(text: Text, place: UrlPart) -> bool:
    captures = [number for number, piece in enumerate(text) if isinstance(piece, Capture)]
    return all(_ends_certainly(text[number], text[number + 1], place) for number in captures[:-1])


def _ends_certainly(piece: str | Capture, following: str | Capture, place: UrlPart) -> bool:
    """Return whether a capture cannot take the first character of what follows it."""
    if isinstance(piece, str) or not isinstance(following, str) or piece.is_many:
        return False
    first = place.normalize(following)[:1]
    if piece.detail is None:
        return first in place.stops
    return not is_of_class(piece.detail) or re.match(run_of_class(piece.detail), first) is None


def _name(removal: Removal) -> str:
    site = "all sites" if removal.rule.site == ANY_SITE else removal.rule.site
    return f"{site} {removal.numbered.id}"


def _provider(removal: Removal) -> dict[str, Any]:
    rule = removal.rule
    return {
        "urlPattern": "^https?://" if rule.site == ANY_SITE else f"^{on_site(rule.site)}",
        "completeProvider": False,
        "rules": [
            escaped(name.removesuffix("*")) + (".*" if name.endswith("*") else "") for name in removal.names
        ],
        "rawRules": [],
        "referralMarketing": [],
        "exceptions": [
            *(f"^{on_site(site)}" for site in rule.except_sites),
            *(text for keep in removal.exceptions for text in keep.texts),
        ],
        "redirections": [],
        "forceRedirection": False,
    }


CLEARURLS = Target("clearurls", "the JSON shape of ClearURLs' providers", _EXACT, write, fetches=True)
