"""Rules that take parameters away, in our language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undust.errors import RuleError
from undust.rules import Rule
from undust.urls import site_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ALL_PATHS = "/{p**}"
_TRIPLETS = str.maketrans({character: f"%{ord(character):02X}" for character in '|{}#"<>\\^` '})
"""Characters that mean something in a list of names, and that a URL cannot hold as they are."""


def listed(names: Sequence[str], *, prefixes: bool = False) -> str:
    """Return a list of names as a rule writes it; with `prefixes`, a trailing `*` stands for any end."""
    for name in names:
        if not name or not frozenset("&=;").isdisjoint(name) or (name.endswith("*") and not prefixes):
            message = f"no list of names can hold {name!r}"
            raise RuleError(message)
    return "|".join(dict.fromkeys(name.translate(_TRIPLETS) for name in names))


def dropping(names: str, site: str, except_sites: Iterable[str] = (), path: str = ALL_PATHS) -> Rule:
    """Return the rule that takes parameters with the listed names away."""
    start, target = f"{{s}}://{{h}}{path}", f"{{s}}://{{h}}{path.replace('**', '')}"
    source = f"{start}?{{**:{names}}}&{{rest**}}"
    return Rule(site, "rewrite", source, f"{target}?{{rest}}", except_sites=tuple(except_sites))


def keeping(names: str, site: str, except_sites: Iterable[str] = ()) -> Rule:
    """Return the rule that takes all parameters away but those with the listed names."""
    some = f"{{k**:{names}}}&" if names else ""
    target = "{s}://{h}/{p}" + ("?{k}" if names else "")
    return Rule(
        site, "rewrite", f"{{s}}://{{h}}/{{p**}}?{some}{{**}}", target, except_sites=tuple(except_sites)
    )


def is_site(name: str) -> bool:
    """Whether a name is a site by the public suffix list."""
    return site_of(f"http://{name}/") == name


def require_site(site: str | None, what: str) -> str:
    """Return the site that was asked for; without one, the file means nothing."""
    if site is None:
        message = f"{what} is of one site and does not say of which; name it: --site shop.test"
        raise RuleError(message)
    if not is_site(site):
        own = site_of(f"http://{site}/")
        mend = f"name the registered domain, {own}" if own else "write it like shop.test"
        message = f"{site!r} is no site; {mend}"
        raise RuleError(message)
    return site
