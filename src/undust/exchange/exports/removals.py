"""Rules that only remove parameters, on all pages of a site: all that some targets can express.

    rewrite {s}://{h}/{p**}?{**:utm_*|sid}&{rest**} → {s}://{h}/{p}?{rest}     takes some away
    rewrite {s}://{h}/{p**}?{k**:id|page}&{**} → {s}://{h}/{p}?{k}             takes all others away
    rewrite {s}://{h}/{p**}?{**} → {s}://{h}/{p}                              takes all away

Such rules do the same in any order, so a target may have them together.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from undust.errors import CannotExpress
from undust.exchange.exports.contract import ExportedRule, ExportRefusal
from undust.exchange.exports.expressible import CHANGES_KEY_ONLY
from undust.exchange.exports.expressions import as_refs, query_literal
from undust.exchange.exports.hosts import has_subdomains, hosts_of
from undust.exchange.exports.rule_order import KeepList, LostKeeps
from undust.exchange.exports.statements import in_order
from undust.rules.language import ANY_SITE
from undust.rules.pattern import ANY_NUMBER, Pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from undust.rules import Rule

PLAIN_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_WHOLE = Pattern.parse("{s}://{h}/{p**}")
_ELSE = "it does more than remove parameters on all pages of a site"


class SaidKeep(NamedTuple):
    """A keep, and the URLs that it keeps in the language of the target."""

    numbered: ExportedRule
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Removal:
    """Parameters that a rule removes: those with these names, or all but those."""

    numbered: ExportedRule
    names: tuple[str, ...]
    """In standard form; a trailing `*` makes a prefix."""
    keeps: bool
    """Whether the names are those that stay."""
    exceptions: tuple[SaidKeep, ...] = ()
    """The keeps before it that keep URLs on which it might act."""

    @property
    def rule(self) -> Rule:
        """The rule itself."""
        return self.numbered.rule

    @property
    def prefixes(self) -> tuple[str, ...]:
        """The names that stand for any number of names."""
        return tuple(name for name in self.names if name.endswith("*"))


def no_word_for_keeps(_: ExportedRule) -> tuple[str, ...]:
    """Refuse a keep, for a target that cannot except URLs."""
    message = "it keeps URLs as they are, and there is no word for that here"
    raise CannotExpress(message)


def removals(
    rules: Sequence[ExportedRule],
    require: Callable[[Removal], None],
    kept: Callable[[ExportedRule], tuple[str, ...]] = no_word_for_keeps,
) -> tuple[list[Removal], list[ExportRefusal]]:
    """Return the rules that remove parameters and that the target can express, and the others with reasons.

    Args:
        rules: All of them.
        require: Refuses a removal that the target cannot express.
        kept: Returns the URLs that a keep keeps in the language of the target, or refuses it.

    """
    found: list[Removal] = []
    refused: list[ExportRefusal] = []
    keeps: list[SaidKeep] = []
    said_keeps, lost_keeps = KeepList(), LostKeeps()
    for each in in_order(rules):
        try:
            each.require_taken()
            if each.rule.kind == "keep":
                keeps.append(SaidKeep(each, kept(each)))
                said_keeps.add(each)
                continue
            lost_keeps.require_none_for(each)
            own = tuple(keeps[place] for place in said_keeps.before(each.rule))
            removal = replace(_removal(each), exceptions=own)
            require(removal)
            found.append(removal)
        except CannotExpress as error:
            refused.append(ExportRefusal(each.number, each.rule, str(error)))
            if each.rule.kind == "keep":
                lost_keeps.add(each)
    return found, [*refused, *_idle(keeps, found)]


def _idle(keeps: Sequence[SaidKeep], found: Sequence[Removal]) -> list[ExportRefusal]:
    """Return the keeps that hold no exported rule back; a file does not mention them."""
    used = {keep.numbered.number for each in found for keep in each.exceptions}
    reason = "no rule is exported that it would hold back"
    return [
        ExportRefusal(keep.numbered.number, keep.numbered.rule, reason)
        for keep in keeps
        if keep.numbered.number not in used
    ]


def _removal(each: ExportedRule) -> Removal:
    rule = each.rule
    if rule.kind == "replace":
        raise CannotExpress(_ELSE)
    if ":any}" in (rule.target or ""):
        raise CannotExpress(CHANGES_KEY_ONLY)
    if rule.when or rule.unless:
        message = "it has conditions, and there is no word for them here"
        raise CannotExpress(message)
    source, target = Pattern.parse(rule.source), Pattern.parse(rule.target or "")
    if not _is_whole(source, target):
        raise CannotExpress(_ELSE)
    return Removal(each, *_names(source, target))


def same_host(source: Pattern, target: Pattern) -> bool:
    """Whether scheme and host are any, and stay."""
    captures = [(side.scheme, side.host, side.port) for side in (source, target)]
    start = [_shape(pattern).partition("/{")[0] for pattern in (source, _WHOLE)]
    return captures[0] == captures[1] and start[0].split("/")[:3] == start[1].split("/")[:3]


def _is_whole(source: Pattern, target: Pattern) -> bool:
    """Whether scheme, host and path are any, and stay."""
    captures = [(side.scheme, side.host, side.port) for side in (source, target)]
    is_open = _shape(source) == _shape(_WHOLE) and captures[0] == captures[1]
    return is_open and as_refs(source.path or ()) == target.path


def _shape(pattern: Pattern) -> str:
    text = str(pattern).partition("?")[0]
    return re.sub(r"\{\w+", "{", text)


def _names(source: Pattern, target: Pattern) -> tuple[tuple[str, ...], bool]:
    named = [entry for entry in source.query or () if entry.several is None]
    lists = [
        entry.several for entry in source.query or () if entry.several is not None and entry.several.detail
    ]
    rest = [
        entry.several
        for entry in source.query or ()
        if entry.several is not None and not entry.several.detail
    ]
    written = [entry.several for entry in target.query or ()]
    is_plain = (
        len(written) <= 1
        and all(ref is not None and ref.detail is None for ref in written)
        and len(rest) == 1
    )
    name = written[0].name if written and written[0] is not None else None
    if is_plain and not named and not any(each.name is None for each in lists) and len(lists) <= 1:
        if name is None and not lists:
            return (), True
        if lists and lists[0].name == name and rest[0].name is None:
            return tuple(map(query_literal, (lists[0].detail or "").split("|"))), True
    is_dropping = (
        is_plain and name is not None and rest[0].name == name and not any(each.name for each in lists)
    )
    if not (
        is_dropping and all(entry.value == ANY_NUMBER for entry in named) and len(named) + len(lists) == 1
    ):
        raise CannotExpress(_ELSE)
    return tuple(
        query_literal(name)
        for names in ([entry.name for entry in named], *((each.detail or "").split("|") for each in lists))
        for name in names
    ), False


def require_plain_names(removal: Removal) -> None:
    """Refuse names with characters that have a meaning of their own in many formats."""
    for name in removal.names:
        if not PLAIN_NAME.fullmatch(name.removesuffix("*")):
            message = f"the name {name} has characters that cannot be written here"
            raise CannotExpress(message)


def require_no_prefix(removal: Removal) -> None:
    """Refuse names that stand for any number of names."""
    if removal.prefixes:
        message = f"{removal.prefixes[0]} stands for any number of names, and here each is written out"
        raise CannotExpress(message)


def require_names(removal: Removal) -> None:
    """Refuse rules that take all but some parameters away."""
    if removal.keeps:
        message = "it removes all other parameters, and here those to remove are written out"
        raise CannotExpress(message)


def require_subdomains(rule: Rule, what: str) -> None:
    """Refuse sites that are one host, for a target of which `what` takes in all hosts below."""
    for site in (rule.site, *rule.except_sites):
        if site != ANY_SITE:
            hosts_of(site)
            if not has_subdomains(site):
                message = f"{site} is one host, and {what} takes in all hosts below it"
                raise CannotExpress(message)


def concerns(removal: Removal, site: str) -> bool:
    """Whether a rule acts on the URLs of a site."""
    return removal.rule.site == site or (
        removal.rule.site == ANY_SITE and site not in removal.rule.except_sites
    )


def sites_of(found: Sequence[Removal]) -> list[str]:
    """Return the sites that rules and their keeps name, also those that they except, as they appear."""
    rules = [
        rule for each in found for rule in (each.rule, *(keep.numbered.rule for keep in each.exceptions))
    ]
    names = [site for rule in rules for site in (rule.site, *rule.except_sites)]
    return list(dict.fromkeys(site for site in names if site != ANY_SITE))


def only_site(found: Sequence[Removal], what: str) -> tuple[list[Removal], list[ExportRefusal]]:
    """Return the rules of one site; a file of one site cannot hold those of another."""
    sites = sites_of([each for each in found if each.rule.site != ANY_SITE])
    site = sites[0] if sites else ANY_SITE
    kept, refused = [], []
    for each in found:
        if each.rule.site not in {ANY_SITE, site}:
            reason = f"{what} is of one site, and rules of {site} come first; choose the site to export"
        elif each.rule.except_sites and (site == ANY_SITE or site in each.rule.except_sites):
            reason = f"{what} is of one site, and the rule excepts some"
        else:
            kept.append(each)
            continue
        refused.append(ExportRefusal(each.numbered.number, each.rule, reason))
    return kept, refused
