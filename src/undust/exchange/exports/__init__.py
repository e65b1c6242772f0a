"""Our rules in the languages of other systems; each target refuses what it cannot express exactly.

    RuleSet ──▶ active rules in their order ──▶ a target ──▶ its text, and the rules it left out, with reasons

Most targets print what `steps.py` makes of a rule: an expression of the URLs it acts on, and what is written.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from undust.errors import CannotExpress, RuleError
from undust.exchange.exports.contract import (
    Exported,
    ExportedRule,
    ExportedText,
    ExportEffect,
    ExportRefusal,
    SampleEffect,
    Target,
    effect_of,
)
from undust.exchange.exports.duplicate_url_discarder import DUPLICATE_URL_DISCARDER
from undust.exchange.exports.expressions import host_literal
from undust.exchange.exports.java import HERITRIX, NUTCH
from undust.exchange.exports.parameter_lists import CLEAN_PARAM, CLEARURLS, NO_VARY_SEARCH, REMOVEPARAM
from undust.exchange.exports.pywb import PYWB
from undust.exchange.exports.web_servers import APACHE, NGINX, REGEX, SQL
from undust.files.streams import open_output, read_whole
from undust.rules import files
from undust.rules.compiled import dependents, rules_in_effect
from undust.rules.language import ANY_SITE, condition_of, is_mask

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    from undust.measuring import Labelled
    from undust.rules import Rule, RuleSet

__all__ = ["EXPORTERS", "ExportEffect", "ExportRefusal", "Exported", "SampleEffect", "export"]

EXPORTERS = (
    *(NGINX, APACHE, DUPLICATE_URL_DISCARDER, PYWB, NUTCH, HERITRIX, CLEARURLS, REMOVEPARAM, CLEAN_PARAM),
    *(NO_VARY_SEARCH, REGEX, SQL),
)
"""Every target, in the order of the help."""
_COMPARED = "it is for comparing only, and this target fetches what it writes"
_NEEDS = "it is only safe with rule {}, which is left out"


def export(  # noqa: PLR0913 -- options of one verb, all named
    rules: RuleSet,
    to: str,
    output: str | PathLike[str] | None = None,
    *,
    site: str | None = None,
    sample: Callable[[], Sequence[Labelled]] | None = None,
    base: str | PathLike[str] | None = None,
) -> Exported:
    """Return the active rules in the language of another system, as `undust.export` does.

    A `sample` is the URLs whose page is known, site by site; it is asked for when it is needed.
    """
    target = next((each for each in EXPORTERS if each.name == to), None)
    if target is None:
        message = f"no export is called {to!r}; there are {', '.join(each.name for each in EXPORTERS)}"
        raise CannotExpress(message)
    in_effect = {rule.id for rule in rules_in_effect(rules)}
    active = {
        number: rule
        for number, rule in enumerate(rules, 1)
        if rule.id in in_effect and (site is None or _concerns(rule, site))
    }
    if site is not None and not active:
        message = f"{rules.name}: no active rule concerns {site}; `undust rules list` shows the sites"
        raise RuleError(message)
    written = _written(target, active)
    text = written.text if base is None else _put_into(target, base, written.text)
    refused = tuple(
        ExportRefusal(number, active[number], reason)
        for number, reason in sorted((refusal.number, refusal.reason) for refusal in written.refused)
    )
    numbers = {refusal.number for refusal in refused}
    kept = tuple(rule for number, rule in active.items() if number not in numbers)
    effect = effect_of(kept, tuple(active.values()), sample, site)
    if output is not None:
        with open_output(str(output)) as stream:
            stream.write(text.encode())
    return Exported(to, text, kept, refused, target.exact_for, effect)


def _written(target: Target, active: Mapping[int, Rule]) -> ExportedText:
    """Return what a target makes of rules; one that needs a rule which is left out is left out with it."""
    bare = _without_said_twice(active)
    left_out = {number: _COMPARED for number, rule in active.items() if target.fetches and not rule.fetch}
    while True:
        written = target.write(
            [
                ExportedRule(number, _standard(bare[number]), rule.id, left_out.get(number))
                for number, rule in active.items()
            ]
        )
        refused = {refusal.number for refusal in written.refused}
        if whole := {number for number in refused - left_out.keys() if bare[number] is not active[number]}:
            # A condition says what a lost keep protects.
            bare |= {number: active[number] for number in whole}
            continue
        off = {active[number].id for number in refused}
        unmet = {rule.id for rule in dependents(list(active.values()), off)}
        numbers = {rule.id: number for number, rule in active.items()}
        more = {
            numbers[rule.id]: _NEEDS.format(next(numbers[need] for need in rule.needs if need in off | unmet))
            for rule in active.values()
            if rule.id in unmet
        }
        if not more:
            return written
        left_out |= more


def _without_said_twice(rules: Mapping[int, Rule]) -> dict[int, Rule]:
    """Return rules without conditions that say what a `keep` before them says: a target knows of that one."""
    kept: dict[str, set[str]] = {}
    found = {}
    for number, rule in rules.items():
        own = kept.setdefault(rule.site, set())
        if rule.kind == "keep":
            own.add(condition_of(rule) or "")
        unless = tuple(each for each in rule.unless if each not in own)
        found[number] = rule if unless == rule.unless or is_mask(rule) else replace(rule, unless=unless)
    return found


def _put_into(target: Target, base: str | PathLike[str], text: str) -> str:
    if target.into is None:
        able = ", ".join(each.name for each in EXPORTERS if each.into is not None)
        message = f"a file for {target.name} is written whole, without a base; only {able} takes one"
        raise CannotExpress(message)
    try:
        return target.into(read_whole(str(base), files.MOST_FILE_BYTES).decode("utf-8"), text)
    except (RuleError, UnicodeDecodeError) as error:
        reason = error if isinstance(error, RuleError) else "it is not UTF-8; give the rules.yaml of pywb"
        message = f"{base}: {reason}"
        raise RuleError(message) from None


def _standard(rule: Rule) -> Rule:
    """Return a rule with its sites in standard form; a rule file may say `bücher.example`."""
    sites = [each if each == ANY_SITE else host_literal(each) for each in (rule.site, *rule.except_sites)]
    return replace(rule, site=sites[0], except_sites=tuple(sites[1:]))


def _concerns(rule: Rule, site: str) -> bool:
    return rule.site == site or (rule.site == ANY_SITE and site not in rule.except_sites)
