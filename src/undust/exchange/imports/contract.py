"""What an import is: rules that remove parameters, and what of the file they cannot express."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from undust.errors import RuleError
from undust.rules import Rule
from undust.urls import site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from undust.rules import RuleSet

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


@dataclass(frozen=True)
class Place:
    """The URLs that a rule is for: hosts and paths, as patterns."""

    host: str = "{h}"
    path: str = ALL_PATHS

    @property
    def source(self) -> str:
        """The left side up to the query."""
        return f"{{s}}://{self.host}{self.path}"

    @property
    def target(self) -> str:
        """The right side up to the query, which says the same again."""
        return f"{{s}}://{_again(self.host)}{_again(self.path)}"


def _again(pattern: str) -> str:
    """Return a pattern as a right side writes it: captures by their names."""
    return re.sub(r"\{(\w+)(?:\*\*)?(?::[^}]*)?\}", r"{\1}", pattern)


EVERYWHERE = Place()


def dropping(names: str, site: str, except_sites: Iterable[str] = (), place: Place = EVERYWHERE) -> Rule:
    """Return the rule that removes parameters with the listed names."""
    source = f"{place.source}?{{**:{names}}}&{{rest**}}"
    return Rule(site, "rewrite", source, f"{place.target}?{{rest}}", except_sites=tuple(except_sites))


def keeping(names: str, site: str, except_sites: Iterable[str] = (), place: Place = EVERYWHERE) -> Rule:
    """Return the rule that removes all parameters but those with the listed names."""
    some = f"{{k**:{names}}}&" if names else ""
    target = place.target + ("?{k}" if names else "")
    return Rule(site, "rewrite", f"{place.source}?{some}{{**}}", target, except_sites=tuple(except_sites))


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
        message = f"{site!r} is not a site; {mend}"
        raise RuleError(message)
    return site


@dataclass(frozen=True)
class SkippedPart:
    """A part of a file that no rule expresses, where it is, and why."""

    place: str
    reason: str

    def __str__(self) -> str:
        """Return one line for people."""
        return f"{self.place}: {self.reason}"


@dataclass
class ImportedRules:
    """Rules and what was skipped, as they are read."""

    rules: list[Rule]
    skipped: list[SkippedPart]
    narrowed: list[SkippedPart] = field(default_factory=list)

    def skip(self, place: str, reason: str) -> None:
        """Note a part that no rule expresses."""
        self.skipped.append(SkippedPart(place, reason))

    def narrow(self, place: str, reason: str) -> None:
        """Note a part that our rules express for some of its URLs only."""
        self.narrowed.append(SkippedPart(place, reason))


@dataclass(frozen=True)
class Imported:
    """Rules of another system, in our language."""

    rules: RuleSet
    skipped: tuple[SkippedPart, ...]
    """What no rule expresses."""
    narrowed: tuple[SkippedPart, ...] = ()
    """What the rules express for fewer URLs than the file does."""


@dataclass(frozen=True)
class RuleFormat:
    """A format of another system: its name, what it is, and the function that reads it."""

    name: str
    about: str
    needs_site: bool
    """Whether the file is of one site and does not say of which."""
    read: Callable[[str, str, str], ImportedRules]
    """Takes the text of the file, its name for messages, and the site."""
