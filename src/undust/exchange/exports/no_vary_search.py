"""The response header `No-Vary-Search`: parameters that a cache may ignore."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undust.exchange.exports.contract import ExportedText, ExportRefusal, Target
from undust.exchange.exports.removals import only_site, removals, require_no_prefix, require_plain_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.exchange.exports.contract import ExportedRule
    from undust.exchange.exports.removals import Removal

_EXACT = (
    "URLs in standard form of the site that sends the header, whose parameters all have a name, a `=`, and no"
    " `;`, `+` or triplet; it says which URLs are the same, not which of them to prefer"
)


def write(rules: Sequence[ExportedRule]) -> ExportedText:
    """Return the header."""
    found, refused = removals(rules, _require)
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


def _require(removal: Removal) -> None:
    require_no_prefix(removal)
    require_plain_names(removal)


NO_VARY_SEARCH = Target("no-vary-search", "the header with the parameters that caches ignore", _EXACT, write)
