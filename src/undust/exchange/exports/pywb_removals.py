"""Rules that only remove parameters, as fuzzy lookups of pywb.

    asked for   test,shop)/a?id=7&sid=9&utm_source=x      the key of a URL that was not captured
    answers     test,shop)/a?id=7                         the key without the parameters that are removed

A lookup compares one piece of the key that was asked for with whole keys, as a text and not as an expression.
So it can remove what is at the end of the key. pywb sorts parameters by name: a parameter that is
before another one in this order is not removed, and the lookup finds nothing.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from undust.errors import CannotExpress
from undust.exchange.exports.contract import refuse
from undust.exchange.exports.hosts import has_subdomains, hosts_of
from undust.exchange.exports.literals import escaped, quoted
from undust.exchange.exports.removals import Removal, removals
from undust.rules.language import ANY_SITE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from undust.exchange.exports.contract import ExportedRule
    from undust.rules.pattern import Pattern

ANY_HOST = r"[^)]*\)"
_FIRST_CHARACTERS = [*"0123456789abcdefghijklmnopqrstuvwxyz"]
"""With which the key of any host starts; an empty prefix would have pywb apply filters of its own."""


def removal_of(each: ExportedRule) -> Removal | None:
    """Return the removal that a rule is; None for a rule that does something else. Refuses some removals."""
    found, _ = removals([each], _accept)
    if not found:
        return None
    if any(name != name.lower() for name in found[0].names):
        refuse("pywb's keys are in lower case")
    for site in (each.rule.site, *each.rule.except_sites):
        if site != ANY_SITE:
            hosts_of(site)
            if not has_subdomains(site):
                refuse("it is not for the hosts of one registered domain")
    return found[0]


def _accept(_: Removal) -> None:
    """Take every removal."""


def require_other_names(removal: Removal, patterns: Iterable[Pattern]) -> None:
    """Refuse a removal of a parameter that a lookup of another rule reads."""
    is_removed = re.compile(_parameter(removal))
    for pattern in patterns:
        for entry in pattern.query or ():
            if not entry.several and is_removed.fullmatch(f"{entry.name}="):
                message = f"another rule reads the parameter {entry.name}, and a lookup goes one step"
                raise CannotExpress(message)


def as_lookups(found: Sequence[Removal]) -> Iterator[str]:
    """Yield one lookup for each site, with all parameters that its rules remove."""
    by_site = sorted(found, key=lambda each: (each.rule.site == ANY_SITE, each.rule.site))
    for site, group in groupby(by_site, key=lambda each: each.rule.site):
        own = list(group)
        # A site has one lookup: the first that fits. So it removes what rules of all sites remove too.
        shared = [each for each in found if each.rule.site == ANY_SITE and site not in each.rule.except_sites]
        yield _lookup(site, own if site == ANY_SITE else own + shared, own)


def _lookup(site: str, removing: Sequence[Removal], own: Sequence[Removal]) -> str:
    either = "|".join(dict.fromkeys(map(_parameter, removing)))
    start = ANY_HOST if site == ANY_SITE else host_expression(site)
    excepted = "".join(f"(?!{host_expression(each)})" for each in _excepted(own)) if site == ANY_SITE else ""
    match = rf"^({excepted}{start}[^?]*(?:\?[^&]*(?:&[^&]*)*?)??)[?&](?:{either})(?:&(?:{either}))*$"
    prefixes = _FIRST_CHARACTERS if site == ANY_SITE else [prefix_of(site)]
    comments = "".join(f"  # {each.numbered}\n" for each in own)
    return (
        f"{comments}  - url_prefix: [{', '.join(map(quoted, prefixes))}]\n    fuzzy_lookup:\n"
        f"      match: {quoted(match)}\n      type: host\n      filter:\n        - {quoted('=urlkey:{0}')}\n"
    )


def _excepted(own: Sequence[Removal]) -> list[str]:
    return sorted({site for each in own for site in each.rule.except_sites})


def _parameter(removal: Removal) -> str:
    """Return the expression of a parameter that is removed, with its value."""
    names = [
        escaped(name.removesuffix("*")) + ("[^=&]*" if name.endswith("*") else "") for name in removal.names
    ]
    if not removal.keeps:
        return f"(?:{'|'.join(names)})(?:=[^&]*)?"
    return f"(?!(?:{'|'.join(names)})(?:[=&]|$))[^&]*" if names else "[^&]*"


def prefix_of(site: str) -> str:
    """Return with which the keys of a site start."""
    return ",".join(reversed(site.split(".")))


def host_expression(site: str) -> str:
    """Return the expression of the start of a key, up to the path, for all hosts of a site."""
    return rf"{escaped(prefix_of(site))}(?:,[^):]*)?(?::[0-9]+)?\)"
