"""Targets that list the parameters to remove: `Clean-param`, `No-Vary-Search`, `$removeparam`, ClearURLs.

`Clean-param` lines are part of a robots.txt, and Yandex reads them. `No-Vary-Search` is a response header: a
cache may ignore the parameters that it names. `$removeparam` filters are for content blockers, as uBlock
Origin and AdGuard read them. The provider file of ClearURLs is read by several other tools too; names there
are regular expressions that ignore case, so that `sid` also removes `SID`, and what a `keep` keeps is written
as exceptions of the rules after it.
"""

from __future__ import annotations

import json
import re
from itertools import starmap
from typing import TYPE_CHECKING, Any

from undust.errors import CannotExpress
from undust.exchange.exports.contract import ExportedText, ExportRefusal, Target
from undust.exchange.exports.expressions import SEGMENT, VALUE, escaped, is_of_class, run_of_class
from undust.exchange.exports.hosts import on_site
from undust.exchange.exports.removals import (
    only_site,
    removals,
    require_names,
    require_no_prefix,
    require_plain_names,
    require_subdomains,
)
from undust.exchange.exports.statements import expression
from undust.exchange.exports.steps import compiled
from undust.rules.language import ANY_SITE
from undust.rules.pattern import Capture, Pattern, is_stretch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from undust.exchange.exports.contract import ExportedRule
    from undust.exchange.exports.expressions import UrlPart
    from undust.exchange.exports.removals import Removal
    from undust.rules import Rule
    from undust.rules.pattern import Text

_CLEAN_PARAM_EXACT = (
    "URLs in standard form of hosts with this robots.txt, without empty parameters or `;` in the query"
)
_LONGEST = 500
"""Characters of one line that are read."""


def write_clean_param(rules: Sequence[ExportedRule]) -> ExportedText:
    """Return the lines."""
    found, refused = removals(rules, _require_clean_param)
    found, more = only_site(found, "a robots.txt")
    lines = [line for each in found for line in (f"# {each.numbered}\n", *_lines(each))]
    return ExportedText("".join(["User-agent: Yandex\n", *lines]), (*refused, *more))


def _require_clean_param(removal: Removal) -> None:
    require_names(removal)
    require_no_prefix(removal)
    require_plain_names(removal)


def _lines(removal: Removal) -> list[str]:
    lines: list[str] = []
    for name in removal.names:
        if lines and len(lines[-1]) + len(name) < _LONGEST:
            lines[-1] += f"&{name}"
        else:
            lines.append(f"Clean-param: {name}")
    return [f"{line}\n" for line in lines]


CLEAN_PARAM = Target(
    "clean-param", "Clean-param lines for the robots.txt of one site", _CLEAN_PARAM_EXACT, write_clean_param
)


_NO_VARY_SEARCH_EXACT = (
    "URLs in standard form of the site that sends the header, whose parameters all have a name, a `=`, and no"
    " `;`, `+` or triplet; it says which URLs are the same, not which of them to prefer"
)


def write_no_vary_search(rules: Sequence[ExportedRule]) -> ExportedText:
    """Return the header."""
    found, refused = removals(rules, _require_no_vary_search)
    found, more = only_site(found, "a header")
    keeping = [each for each in found if each.keeps]
    dropping = [each for each in found if not each.keeps]
    if keeping:
        first = keeping[0].numbered.number
        reason = f"the header can say what stays or what goes, and rule {first} says what stays"
        more += [ExportRefusal(each.numbered.number, each.rule, reason) for each in dropping]
        stays = sorted(set.intersection(*(set(each.names) for each in keeping)))
        value = f"params, except=({_list(stays)})" if stays else "params"
    else:
        value = f"params=({_list(sorted({name for each in dropping for name in each.names}))})"
    text = f"No-Vary-Search: {value}\n" if found else ""
    return ExportedText(text, (*refused, *more))


def _list(names: list[str]) -> str:
    return " ".join(f'"{name}"' for name in names)


def _require_no_vary_search(removal: Removal) -> None:
    require_no_prefix(removal)
    require_plain_names(removal)


NO_VARY_SEARCH = Target(
    "no-vary-search",
    "the header with the parameters that caches ignore",
    _NO_VARY_SEARCH_EXACT,
    write_no_vary_search,
)


_REMOVEPARAM_EXACT = (
    "http(s) URLs in standard form without empty parameters or `;` in the query, that a browser fetches"
)


def write_removeparam(rules: Sequence[ExportedRule]) -> ExportedText:
    """Return the filters, one a line."""
    found, refused = removals(rules, _require_removeparam)
    lines = ["! Title: rules of undust\n"]
    for each in found:
        lines.append(f"! {each.numbered}\n")
        lines += [f"{line}\n" for line in _filters(each)]
    return ExportedText("".join(lines), tuple(refused))


def _require_removeparam(removal: Removal) -> None:
    require_names(removal)
    require_plain_names(removal)
    require_subdomains(removal.rule, "a filter")
    if removal.rule.except_sites:
        message = "an exception would hold for the rules of other sites, too"
        raise CannotExpress(message)


def _filters(removal: Removal) -> Iterator[str]:
    where = "*" if removal.rule.site == ANY_SITE else f"||{removal.rule.site}^"
    for name in removal.names:
        what = f"/^{escaped(name[:-1])}/" if name.endswith("*") else name
        yield f"{where}$removeparam={what}"


REMOVEPARAM = Target(
    "removeparam",
    "$removeparam filters of uBlock Origin and AdGuard",
    _REMOVEPARAM_EXACT,
    write_removeparam,
    fetches=True,
)


_CLEARURLS_EXACT = (
    "http(s) URLs in standard form without empty parameters or `;` in the query, in which nothing has a name"
    " of the list, or what a keep names, in other letters, upper or lower"
)


def write_clearurls(rules: Sequence[ExportedRule]) -> ExportedText:
    """Return the providers as JSON."""
    found, refused = removals(rules, _require_clearurls, _kept)
    providers = {_name(each): _provider(each) for each in found}
    return ExportedText(json.dumps({"providers": providers}, indent=2) + "\n", tuple(refused))


def _require_clearurls(removal: Removal) -> None:
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


CLEARURLS = Target(
    "clearurls", "the JSON shape of ClearURLs' providers", _CLEARURLS_EXACT, write_clearurls, fetches=True
)
