"""Filters of content blockers: `$removeparam`, as uBlock Origin and AdGuard read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undust.errors import CannotExpress
from undust.exchange.exports.contract import ExportedText, Target
from undust.exchange.exports.literals import escaped
from undust.exchange.exports.removals import removals, require_names, require_plain_names, require_subdomains
from undust.rules.language import ANY_SITE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from undust.exchange.exports.contract import ExportedRule
    from undust.exchange.exports.removals import Removal

_EXACT = "http(s) URLs in standard form without empty parameters or `;` in the query, that a browser fetches"


def write(rules: Sequence[ExportedRule]) -> ExportedText:
    """Return the filters, one a line."""
    found, refused = removals(rules, _require)
    lines = ["! Title: rules of undust\n"]
    for each in found:
        lines.append(f"! {each.numbered}\n")
        lines += [f"{line}\n" for line in _filters(each)]
    return ExportedText("".join(lines), tuple(refused))


def _require(removal: Removal) -> None:
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
    "removeparam", "$removeparam filters of uBlock Origin and AdGuard", _EXACT, write, fetches=True
)
