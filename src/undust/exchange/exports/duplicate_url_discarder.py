"""duplicate-url-discarder: its JSON of processors.

There, the rules of a site switch the universal ones off, so those are written again for each site that has
rules of its own; and a site that a universal rule excepts gets a rule that takes nothing away.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from undust.exchange.exports.contract import ExportedText, Target
from undust.exchange.exports.removals import (
    concerns,
    removals,
    require_no_prefix,
    require_subdomains,
    sites_of,
)
from undust.rules.language import ANY_SITE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.exchange.exports.contract import ExportedRule
    from undust.exchange.exports.removals import Removal

_EXACT = (
    "http(s) URLs in standard form without port, dot behind the host, empty parameters, or `;` in the query"
)
_UNIVERSAL = ""


def write(rules: Sequence[ExportedRule]) -> ExportedText:
    """Return the rules as JSON."""
    found, refused = removals(rules, _require)
    entries = [
        entry for site in sites_of(found) for entry in _entries(site, [r for r in found if concerns(r, site)])
    ]
    universal = [each for each in found if each.rule.site == ANY_SITE]
    entries += _entries(_UNIVERSAL, universal) if universal else []
    return ExportedText(json.dumps(entries, indent=2, sort_keys=True) + "\n", tuple(refused))


def _require(removal: Removal) -> None:
    require_no_prefix(removal)
    require_subdomains(removal, "a pattern there")


def _entries(site: str, found: Sequence[Removal]) -> list[dict[str, Any]]:
    dropped = sorted({name for each in found if not each.keeps for name in each.names})
    keeping = [set(each.names) for each in found if each.keeps]
    processors: list[tuple[str, list[str]]] = []
    if dropped or not keeping:
        processors.append(("queryRemoval", dropped))
    if keeping:
        processors.append(("queryRemovalExcept", sorted(set.intersection(*keeping))))
    return [
        {"args": args, "order": order, "processor": processor, "urlPattern": {"include": [site]}}
        for order, (processor, args) in enumerate(processors)
    ]


DUPLICATE_URL_DISCARDER = Target("duplicate-url-discarder", "its JSON of query processors", _EXACT, write)
