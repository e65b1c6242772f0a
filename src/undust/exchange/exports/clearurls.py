"""ClearURLs: the shape of its provider file, which several other tools read too.

Names there are regular expressions that ignore case, so that `sid` also takes `SID` away.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from undust.exchange.exports.contract import ExportedText, Target
from undust.exchange.exports.hosts import on_site
from undust.exchange.exports.literals import escaped
from undust.exchange.exports.removals import removals, require_names
from undust.rules.language import ANY_SITE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.exchange.exports.contract import ExportedRule
    from undust.exchange.exports.removals import Removal

_EXACT = (
    "http(s) URLs in standard form without empty parameters or `;` in the query, in which no parameter has a"
    " name of the list in other letters, upper or lower"
)


def write(rules: Sequence[ExportedRule]) -> ExportedText:
    """Return the providers as JSON."""
    found, refused = removals(rules, _require)
    providers = {_name(each): _provider(each) for each in found}
    return ExportedText(json.dumps({"providers": providers}, indent=2) + "\n", tuple(refused))


def _require(removal: Removal) -> None:
    require_names(removal)
    for site in (removal.rule.site, *removal.rule.except_sites):
        if site != ANY_SITE:
            on_site(site)


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
        "exceptions": [f"^{on_site(site)}" for site in rule.except_sites],
        "redirections": [],
        "forceRedirection": False,
    }


CLEARURLS = Target("clearurls", "the JSON shape of ClearURLs' providers", _EXACT, write)
