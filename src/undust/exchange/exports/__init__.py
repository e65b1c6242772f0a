"""Our rules in other people's languages: one target a file, each refusing what it cannot say exactly.

    RuleSet ──▶ active rules in their order ──▶ a target ──▶ its text, and the rules it left out, with reasons

Most targets print what `steps.py` makes of a rule: an expression of the URLs it acts on, and what is written.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from undust.errors import CannotExpress, RuleError
from undust.exchange.exports.apache import APACHE
from undust.exchange.exports.clean_param import CLEAN_PARAM
from undust.exchange.exports.clearurls import CLEARURLS
from undust.exchange.exports.contract import Exported, ExportedRule, ExportRefusal
from undust.exchange.exports.duplicate_url_discarder import DUPLICATE_URL_DISCARDER
from undust.exchange.exports.effect import ExportEffect, SampleEffect, effect_of
from undust.exchange.exports.heritrix import HERITRIX
from undust.exchange.exports.literals import host_literal
from undust.exchange.exports.nginx import NGINX
from undust.exchange.exports.no_vary_search import NO_VARY_SEARCH
from undust.exchange.exports.nutch import NUTCH
from undust.exchange.exports.pywb import PYWB
from undust.exchange.exports.regex import REGEX
from undust.exchange.exports.removeparam import REMOVEPARAM
from undust.exchange.exports.sql import SQL
from undust.files.streams import open_output
from undust.rules.language import ANY_SITE

if TYPE_CHECKING:
    from os import PathLike

    from undust.rules import Rule, RuleSet

__all__ = ["EXPORTERS", "ExportEffect", "ExportRefusal", "Exported", "SampleEffect", "export"]

EXPORTERS = (
    *(NGINX, APACHE, DUPLICATE_URL_DISCARDER, PYWB, NUTCH, HERITRIX, CLEARURLS, REMOVEPARAM, CLEAN_PARAM),
    *(NO_VARY_SEARCH, REGEX, SQL),
)
"""Every target, in the order in which people are told of them."""


def export(
    rules: RuleSet,
    to: str,
    output: str | PathLike[str] | None = None,
    *,
    site: str | None = None,
    sample: Any = None,  # noqa: ANN401 -- any Arrow object
) -> Exported:
    """Return the active rules in the language of another system, and write them to `output` if it is given.

    With `site`, only the rules that concern this site. What the system cannot say exactly is in `refused`.
    What the exported rules keep of the effect of all is in `effect`; with a `sample` of observations (what
    `read` returned) also what they remove and lose there.

    >>> from undust import Rule, RuleSet
    >>> text = "rewrite {s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p}?{rest}"
    >>> rule = Rule.parse(text, site="shop.test")
    >>> print(export(RuleSet([rule]), "no-vary-search").text, end="")
    No-Vary-Search: params=("sid")
    """
    target = next((each for each in EXPORTERS if each.name == to), None)
    if target is None:
        message = f"no export is called {to!r}; there are {', '.join(each.name for each in EXPORTERS)}"
        raise CannotExpress(message)
    active = {
        number: rule
        for number, rule in enumerate(rules, 1)
        if rule.status == "active" and (site is None or _concerns(rule, site))
    }
    if site is not None and not active:
        message = f"{rules.name}: no active rule concerns {site}; `undust rules list` shows the sites"
        raise RuleError(message)
    written = target.write(
        [ExportedRule(number, _standard(rule), rule.id) for number, rule in active.items()]
    )
    refused = tuple(
        ExportRefusal(number, active[number], reason)
        for number, reason in sorted((refusal.number, refusal.reason) for refusal in written.refused)
    )
    numbers = {refusal.number for refusal in refused}
    kept = tuple(rule for number, rule in active.items() if number not in numbers)
    effect = effect_of(kept, tuple(active.values()), sample, site)
    if output is not None:
        with open_output(str(output)) as stream:
            stream.write(written.text.encode())
    return Exported(to, written.text, kept, refused, target.exact_for, effect)


def _standard(rule: Rule) -> Rule:
    """Return a rule with its sites in standard form; a rule file may say `bücher.example`."""
    sites = [each if each == ANY_SITE else host_literal(each) for each in (rule.site, *rule.except_sites)]
    return replace(rule, site=sites[0], except_sites=tuple(sites[1:]))


def _concerns(rule: Rule, site: str) -> bool:
    return rule.site == site or (rule.site == ANY_SITE and site not in rule.except_sites)
