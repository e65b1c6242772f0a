"""What a rule is made of: the plain parts that the slow rule engine reads, matches and writes.

A left side is a `Pattern` of literals and captures, a right side is a `Target` of literals and references.
Literals are in normal form already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from tests.oracles.normalize import DIGITS, HEX, LETTERS

CLASS_CHARACTERS: dict[str, frozenset[str]] = {
    "int": DIGITS,
    "alpha": LETTERS,
    "hex": HEX,
    "word": LETTERS | DIGITS | frozenset("_-"),
}
CLASS_SHAPES: dict[str, str] = {
    "uuid": "[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
    "date": "[0-9]{4}-[0-9]{2}-[0-9]{2}",
}
TEXT_FORMS = ("lower", "capital", "plain", "any")
LIST_FORMS = ("lower", "sorted", "unique", "first", "last", "amp", "plain", "any")
KINDS = ("replace", "rewrite", "keep")


class RuleError(ValueError):
    """A rule that must be refused; the message says why."""


def refuse(reason: str) -> NoReturn:
    """Refuse the rule that is being read."""
    raise RuleError(reason)


@dataclass(frozen=True)
class Run:
    """`{name}`, `{*}`, `{name:class}`: one run of characters."""

    name: str | None
    klass: str | None = None
    items: tuple[str, ...] = ()


@dataclass(frozen=True)
class Many:
    """`{name**}`, `{**}`, `{name**:list}`: any number of segments, labels or parameters."""

    name: str | None
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ref:
    """`{name}` or `{name:form}` on the right side."""

    name: str
    form: str | None = None


Template = tuple[str | Run, ...]
Text = tuple[str | Ref, ...]


@dataclass(frozen=True)
class Param:
    """`x` (value None), `x=` (empty template), `x={v}` and alike, `x={**}` (value Many)."""

    name: str
    value: Template | Many | None


@dataclass(frozen=True)
class HostPattern:
    """Either one capture for the whole host, or labels; `port` None stands for any port."""

    whole: Run | None
    labels: tuple[Template | Many, ...]
    port: str | None


@dataclass(frozen=True)
class Pattern:
    """A left side or a condition; a part that is None matches anything, an open query allows more."""

    scheme: str | Run | None
    host: HostPattern | None
    path: tuple[Template | Many, ...] | None
    query: tuple[Param | Many, ...] | None
    open_query: bool


@dataclass(frozen=True)
class TargetParam:
    """A parameter that the right side writes; a value of None prints no `=`."""

    name: str
    value: Text | None


@dataclass(frozen=True)
class Target:
    """The right side of a rewrite."""

    scheme: str | Ref
    host: Text
    port: str
    path: tuple[Text, ...]
    query: tuple[TargetParam | Ref, ...]


@dataclass(frozen=True)
class Replacement:
    """The two texts of a `replace`, anchors taken off."""

    old: str
    new: str
    at_start: bool
    at_end: bool


@dataclass(frozen=True)
class Rule:
    """One rule, ready to run. `keep` has a pattern only, `replace` a replacement only."""

    site: str
    kind: str
    pattern: Pattern | None
    target: Target | None
    replacement: Replacement | None
    when: tuple[Pattern, ...]
    unless: tuple[Pattern, ...]
    except_sites: frozenset[str]
    active: bool
    is_mask: bool
    fetched: bool = True
    needs: tuple[str, ...] = ()
    id: str = ""
