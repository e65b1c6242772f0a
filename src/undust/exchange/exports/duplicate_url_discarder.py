"""duplicate-url-discarder: its JSON of processors.

There, the rules of a site switch the universal ones off, so those are written again for each site that has
rules of its own; and a site that a universal rule excepts gets a rule that takes nothing away. So does a site
with a `keep`, which is written as patterns of URLs that the rules after it exclude: a URL that all rules of
its site exclude would be left to the universal ones.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus, unquote_plus

from undust.errors import CannotExpress
from undust.exchange.exports.contract import ExportedText, Target
from undust.exchange.exports.expressions import path_literal, query_literal
from undust.exchange.exports.overlap import is_listed
from undust.exchange.exports.removals import (
    concerns,
    removals,
    require_no_prefix,
    require_subdomains,
    sites_of,
)
from undust.rules.language import ANY_SITE
from undust.rules.pattern import ANY_NUMBER, Pattern, is_stretch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.exchange.exports.contract import ExportedRule
    from undust.exchange.exports.removals import Removal
    from undust.rules.pattern import Parameter, Text

_EXACT = (
    "http(s) URLs in standard form without port, dot behind the host, empty parameters, or `;` in the query,"
    " in which nothing has what a keep names in other letters, upper or lower"
)
_UNIVERSAL = ""
_PLAIN = re.compile(r"[A-Za-z0-9._~/-]*")
_NO_WORD = "its pattern keeps URLs that no pattern there describes exactly"


def write(rules: Sequence[ExportedRule]) -> ExportedText:
    """Return the rules as JSON."""
    taken: list[Removal] = []

    def require(removal: Removal) -> None:
        require_no_prefix(removal)
        require_subdomains(removal.rule, "a pattern there")
        taken.append(removal)

    def kept(keep: ExportedRule) -> tuple[str, ...]:
        _require_untouched(keep, taken)
        return _patterns(keep)

    found, refused = removals(rules, require, kept)
    entries = [
        entry for site in sites_of(found) for entry in _entries(site, [r for r in found if concerns(r, site)])
    ]
    universal = [each for each in found if each.rule.site == ANY_SITE]
    entries += _entries(_UNIVERSAL, universal) if universal else []
    return ExportedText(json.dumps(entries, indent=2, sort_keys=True) + "\n", tuple(refused))


def _require_untouched(keep: ExportedRule, before: Sequence[Removal]) -> None:
    """Refuse a keep that looks for what earlier rules remove: patterns see the URL as it was."""
    names = [entry.name for entry in Pattern.parse(keep.rule.source).query or () if entry.several is None]
    for each in before:
        if names and (each.keeps or any(is_listed(name, "|".join(each.names)) for name in names)):
            message = f"it looks for a parameter that rule {each.numbered.number} removes before it"
            raise CannotExpress(message)


def _patterns(keep: ExportedRule) -> tuple[str, ...]:
    """Return the URLs that a keep keeps, in patterns that ignore case, for all hosts of its site."""
    rule, source = keep.rule, Pattern.parse(keep.rule.source)
    is_any_host = re.fullmatch(r"\{\w+\}://\{\w+\}/.*", str(source)) is not None
    if rule.site == ANY_SITE:
        message = "it is for all sites, and universal rules there exclude nothing"
        raise CannotExpress(message)
    require_subdomains(rule, "a pattern there")
    if rule.when or rule.unless or not is_any_host or source.query is None or not source.is_open:
        raise CannotExpress(_NO_WORD)
    named = [entry for entry in source.query or () if entry.several is None]
    if any(entry.several and entry.several.detail for entry in source.query or ()):
        raise CannotExpress(_NO_WORD)
    if len({query_literal(entry.name).lower() for entry in named}) < len(named):
        raise CannotExpress(_NO_WORD)
    query = "&".join(map(_parameter, named))
    return tuple(f"{path}?{query}" if query else path for path in _paths(source.path or ((),)))


def _paths(path: tuple[Text, ...]) -> tuple[str, ...]:
    """Return a path without captures, or with one that takes all the rest of it."""
    rest = bool(path) and is_stretch(path[-1])
    start = "".join(f"/{_literal(segment)}" for segment in (path[:-1] if rest else path))
    if not rest:
        return (f"{start}|",)
    return (f"{start}|", f"{start}/") if start else ("/",)


def _literal(segment: Text) -> str:
    text = path_literal("".join(piece if isinstance(piece, str) else "*" for piece in segment))
    if not _PLAIN.fullmatch(text):
        raise CannotExpress(_NO_WORD)
    return text


def _parameter(entry: Parameter) -> str:
    name = unquote_plus(query_literal(entry.name))
    if entry.value == ANY_NUMBER:
        value = "*"
    elif entry.value and all(isinstance(piece, str) for piece in entry.value):
        value = quote_plus(unquote_plus(query_literal("".join(map(str, entry.value)))), safe="")
    else:
        raise CannotExpress(_NO_WORD)
    if not (_PLAIN.fullmatch(name) and (value == "*" or _PLAIN.fullmatch(value))):
        raise CannotExpress(_NO_WORD)
    return f"{name}={value}"


def _entries(site: str, found: Sequence[Removal]) -> list[dict[str, Any]]:
    groups: dict[tuple[str, ...], list[Removal]] = {}
    for each in found:
        groups.setdefault(_excluded(site, each), []).append(each)
    processors = [
        (name, args, excluded) for excluded, some in groups.items() for name, args in _processors(some)
    ]
    if not processors or (site != _UNIVERSAL and all(excluded for _, _, excluded in processors)):
        processors.append(("queryRemoval", [], ()))
    return [
        {
            "args": args,
            "order": order,
            "processor": processor,
            "urlPattern": {"include": [site]} | ({"exclude": list(excluded)} if excluded else {}),
        }
        for order, (processor, args, excluded) in enumerate(processors)
    ]


def _excluded(site: str, removal: Removal) -> tuple[str, ...]:
    """Return the patterns of the keeps that hold a rule back on a site."""
    keeps = [keep for keep in removal.exceptions if keep.numbered.rule.site == site]
    return tuple(dict.fromkeys(text for keep in keeps for text in keep.texts))


def _processors(found: Sequence[Removal]) -> list[tuple[str, list[str]]]:
    dropped = sorted({name for each in found if not each.keeps for name in each.names})
    keeping = [set(each.names) for each in found if each.keeps]
    processors: list[tuple[str, list[str]]] = []
    if dropped:
        processors.append(("queryRemoval", dropped))
    if keeping:
        processors.append(("queryRemovalExcept", sorted(set.intersection(*keeping))))
    return processors


DUPLICATE_URL_DISCARDER = Target("duplicate-url-discarder", "its JSON of query processors", _EXACT, write)
