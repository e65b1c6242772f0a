"""One rule: what it says, what is known about it, and what is wrong with it.

The core parses the language: what is legal, what a rule matches and what it writes. `Rule` is the object that
people use: frozen, comparable, printed as one line of text or one JSON object. A `Problem` is the error of
a bad rule, with its place. The core reads only what a rule says; the types of its evidence, which comes from
learners, people and other programs, are checked here.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Self, TypeVar, cast, get_args
from urllib.parse import quote

from undust._core import RuleProblem, check_rule, parse_rule
from undust.display import drawn
from undust.errors import InvalidRule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


Kind = Literal["replace", "rewrite", "keep"]
Status = Literal["active", "disabled", "proposed"]
KINDS: tuple[Kind, ...] = get_args(Kind)
STATUSES: tuple[Status, ...] = get_args(Status)
ANY_SITE = "*"
RETIRED = "retired"
"""The key of a rule with the time and the reason if evidence, not a person, switched it off."""

JSON_NAMES = {"source": "from", "target": "to"}
"""Fields whose JSON key is a word that Python has taken."""

_LISTS = ("when", "unless", "except_sites", "needs")
_ID_BYTES = 8
_ENCODER = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))


@dataclass(frozen=True)
class Rule:
    """One rule of one site, with its evidence; making one checks it.

    >>> rule = Rule.parse('replace ".php3?" -> "?"', site="shop.test")
    >>> print(rule)
    replace ".php3?" → "?"
    >>> rule.source, rule.target, rule.id
    ('.php3?', '?', '141301a69d8ab534')
    """

    site: str
    kind: Kind
    source: str
    """The left side; `from` in JSON."""
    target: str | None = None
    """The right side, `to` in JSON; None for a rule that keeps."""
    when: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    except_sites: tuple[str, ...] = ()
    status: Status = "active"
    """`active`, `disabled`, or `proposed`: likely, unproven, and never applied."""
    fetch: bool = True
    """False for a rule that is for comparing only: `key` uses it, `canonical` does not."""
    needs: tuple[str, ...] = ()
    """The ids of the rules without which it is not safe; it is in effect only while they are."""
    learned_by: str | None = None
    """The learner that proposed it, or the person who wrote it."""
    support: int | None = None
    """Pairs of URLs it sent to one form on data that no learner saw."""
    false_positives: int | None = None
    """Pairs among them that are different pages."""
    fpr: float | None = None
    fpr_upper: float | None = None
    """Upper confidence bound of `fpr`."""
    saves: int | None = None
    """URLs it removed on held-out data."""
    examples: tuple[tuple[str, str], ...] = ()
    """Pairs of a URL and what the rule makes of it."""
    validated: Mapping[str, Any] | None = field(default=None, hash=False)
    """`when` (a time) and `how` (`held-out`, `live`, `archive`), and other notes of the proof."""
    targets: Mapping[str, int] | None = field(default=None, hash=False)
    """Where it leads: how many of its results were `seen` to work, `redirected`, `unseen`, or `wrong`."""
    review: Mapping[str, str] | None = field(default=None, hash=False)
    """What a person decided: `verdict` (`approved` or `rejected`), `by`, `when` and `note`."""
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Keys of the JSON object that undust does not know, kept as they are."""

    def __post_init__(self) -> None:
        asked(check_rule, self.said)
        # A site may have thousands of candidates, and most lists are empty tuples already.
        for name in _LISTS:
            if (given := getattr(self, name)) != ():
                object.__setattr__(self, name, tuple(given))
        if self.examples != ():
            object.__setattr__(self, "examples", tuple(map(tuple, self.examples)))

    @classmethod
    def parse(cls, text: str, *, site: str) -> Self:
        """Return the rule written in a line of text: `KIND FROM [→ TO] [when P, P] [unless P, P]`."""
        try:
            kind, source, target, when, unless = asked(parse_rule, text)
        except Problem as problem:
            # Here the column is one of the line, so the field would only mislead.
            raise Problem(problem.message, column=problem.column) from None
        return cls(site, cast("Kind", kind), source, target, tuple(when), tuple(unless))

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return the rule that a JSON object of a rule file holds.

        >>> print(Rule.from_json({"site": "shop.test", "kind": "replace", "from": ".php3?", "to": "?"}))
        replace ".php3?" → "?"
        """
        check_evidence(data)
        known = {name: data[key] for name, key in _KEYS.items() if data.get(key) is not None}
        extra = {key: value for key, value in data.items() if key not in _KNOWN}
        return cls(**known, extra=extra)

    def to_json(self) -> dict[str, Any]:
        """Return the rule as the JSON object of a rule file; unknown and empty fields are omitted.

        >>> list(Rule.parse('replace ".php3?" -> "?"', site="shop.test").to_json())
        ['id', 'site', 'kind', 'from', 'to', 'status']
        """
        data: dict[str, Any] = {"id": self.id}
        for name, key in _KEYS.items():
            value = getattr(self, name)
            if value is not None and value != () and not (name == "fetch" and value is True):
                data[key] = _plain(value)
        return data | dict(self.extra)

    @property
    def said(self) -> dict[str, object]:
        """What the rule says, and whether it is on, as the core reads it."""
        return {
            "site": self.site,
            "kind": self.kind,
            "from": self.source,
            "to": self.target,
            "when": self.when,
            "unless": self.unless,
            "except_sites": self.except_sites,
            "status": self.status,
            "fetch": self.fetch,
            "needs": self.needs,
        }

    @property
    def id(self) -> str:
        """A short hash of what the rule says; `status`, `fetch`, `needs` and evidence do not change it."""
        return identity((self.site, self.kind, self.source, self.target, self.when, self.unless))

    def with_status(self, status: Status) -> Self:
        """Return the same rule, switched on or off; what evidence decided before no longer counts.

        >>> Rule.parse('replace ".php3?" -> "?"', site="shop.test").with_status("disabled").status
        'disabled'
        """
        extra = {key: value for key, value in self.extra.items() if key != RETIRED}
        was_refuted = (self.validated or {}).get("outcome") == "refuted"
        return replace(self, status=status, extra=extra, validated=None if was_refuted else self.validated)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return drawn("Rule", "html", self)

    def __str__(self) -> str:
        """Return the rule as one line of text, without its site."""
        return self._text

    @cached_property
    def _text(self) -> str:
        is_quoted = self.kind == "replace"
        words = [self.kind, _side(self.source, is_quoted=is_quoted)]
        if self.target is not None:
            words += ["→", _side(self.target, is_quoted=is_quoted)]
        for word, patterns in (("when", self.when), ("unless", self.unless)):
            if patterns:
                words += [word, ", ".join(_side(pattern, is_quoted=False) for pattern in patterns)]
        return " ".join(words)


_KEYS = {each.name: JSON_NAMES.get(each.name, each.name) for each in fields(Rule) if each.name != "extra"}
_KNOWN = frozenset({"id", *_KEYS.values()})


def identity(said: tuple[Any, ...]) -> str:
    """Return the id of a rule by its site, kind, from, to, when and unless, in hexadecimal digits."""
    return blake2b(_ENCODER.encode(said).encode("ascii"), digest_size=_ID_BYTES).hexdigest()


def _side(text: str, *, is_quoted: bool) -> str:
    # White space ends a side in the text form; as a triplet it means the same.
    if is_quoted:
        return '"' + text.replace('"', "%22") + '"'
    return re.sub(r"\s", lambda space: quote(space[0]), text)


def _plain(value: Any) -> Any:  # noqa: ANN401 -- any JSON value
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


P = ParamSpec("P")
T = TypeVar("T")


class Problem(InvalidRule):
    """What is wrong with one rule: its number in the set, the field and the column, as far as known."""

    def __init__(
        self, message: str, field: str | None = None, column: int | None = None, number: int | None = None
    ) -> None:
        self.message = message
        self.field = field
        self.column = column
        self.number = number
        places = (
            "" if number is None else f"rule {number}",
            "" if field is None else f'"{field}"',
            "" if column is None else f"column {column}",
        )
        place = ", ".join(filter(None, places))
        super().__init__(f"{place}: {message}" if place else message)


def asked(question: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return the core's answer; its objection to a rule becomes a `Problem`."""
    try:
        return question(*args, **kwargs)
    except RuleProblem as error:
        # The core counts from 0; at column 0 is also what concerns the field as a whole.
        column = error.column + 1 if error.column else None
        number = error.rule + 1 if error.rule >= 0 else None
        raise Problem(str(error), error.field or None, column, number) from None


REVIEW_VERDICTS = ("approved", "rejected")
"""What a person may decide about a rule; kept in its `review`."""


def check_evidence(data: Mapping[str, Any]) -> None:
    """Raise a `Problem` if a field of evidence is not what it should be."""
    for key, (fits, wanted) in _FIELDS.items():
        value = data.get(key)
        if value is not None and not fits(value):
            message = f"is no {wanted}; correct it or leave it out"
            raise Problem(message, key)


def _is_count(value: Any) -> bool:  # noqa: ANN401 -- any JSON value
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_rate(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1


def _is_text(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, str)


def _is_list_of_pairs(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, (list, tuple)) and all(
        isinstance(pair, (list, tuple)) and len(pair) == 2 and all(map(_is_text, pair))  # noqa: PLR2004
        for pair in value
    )


def _is_proof(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, dict) and _is_text(value.get("when")) and _is_text(value.get("how"))


def _is_table_of_counts(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, dict) and all(map(_is_count, value.values()))


def _is_review(value: Any) -> bool:  # noqa: ANN401
    if not isinstance(value, dict) or value.get("verdict") not in {None, *REVIEW_VERDICTS}:
        return False
    return all(_is_text(value[key]) for key in ("by", "when", "note") if key in value)


_COUNT = (_is_count, "whole number from 0 on")
_RATE = (_is_rate, "number from 0 to 1")
_FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "learned_by": (_is_text, "text"),
    "support": _COUNT,
    "false_positives": _COUNT,
    "fpr": _RATE,
    "fpr_upper": _RATE,
    "saves": _COUNT,
    "examples": (_is_list_of_pairs, "list of pairs of URLs"),
    "validated": (_is_proof, "object with the texts 'when' and 'how'"),
    "targets": (_is_table_of_counts, "object of whole numbers from 0 on"),
    "review": (_is_review, "object with the texts 'by', 'when', 'note' and the verdict approved or rejected"),
}


LIKELY = "likely"
"""The key of a rule with the evidence for it: `urls` that it would remove, how many of them are `alike`
and `unlike` what they become, how likely it is (`true`), and the `edit` that it is a part of."""


def is_proposed(rule: Rule) -> bool:
    """Return whether a rule is only likely so far."""
    return rule.status == "proposed"


SHORTEST_ID = 8


def short_ids(rules: Iterable[Rule]) -> dict[str, str]:
    """Return for each id the shortest start, of at least eight digits, that no other id has."""
    ids = sorted({rule.id for rule in rules})
    short: dict[str, str] = {}
    for place, whole in enumerate(ids):
        beside = (*ids[max(place - 1, 0) : place], *ids[place + 1 : place + 2])
        size = max((_common_start(whole, other) + 1 for other in beside), default=SHORTEST_ID)
        short[whole] = whole[: max(size, SHORTEST_ID)]
    return short


def _common_start(one: str, other: str) -> int:
    return next((place for place, (a, b) in enumerate(zip(one, other, strict=True)) if a != b), len(one))


def decided(rule: dict[str, Any], status: Status) -> dict[str, Any]:
    """Return a rule as a person switched it: what evidence decided before no longer counts."""
    return {key: value for key, value in rule.items() if key != RETIRED} | {"status": status}


def merged(rule: dict[str, Any], newer: dict[str, Any] | None) -> dict[str, Any]:
    """Return a rule as two files have it, if the newer one has it."""
    if newer is None:
        return rule
    both = rule | newer | _most_careful(rule, newer)
    off = [each for each in (rule, newer) if each.get("status") == "disabled"]
    if any(RETIRED not in each for each in off):
        return decided(both, "disabled")
    if off:
        return both | {"status": "disabled"}
    if any(each.get("status") != "proposed" for each in (rule, newer)) and both.get("status") == "proposed":
        return both | {"status": "active"}
    return both


def _most_careful(*rules: dict[str, Any]) -> dict[str, Any]:
    """Return how a rule may be used if several files have it: as in the most careful of them."""
    needs = dict.fromkeys(need for rule in rules for need in rule.get("needs") or ())
    is_compared = any(rule.get("fetch") is False for rule in rules)
    return ({"fetch": False} if is_compared else {}) | ({"needs": list(needs)} if needs else {})


_ANY_PLACE = re.compile(r"\{\w+\}://\{\w+\}/\{\w*\*\*\}$")
_ANY_HOST = re.compile(r"\{\w+\}://\{\w+\}(?=/)")
_ANY_OTHER = re.compile(r"\{\w*\*\*\}$")


def condition_of(keep: Rule) -> str | None:
    """Return the condition that matches what a rule keeps, if there is one.

    >>> print(condition_of(Rule.parse("keep {s}://{h}/{p**}?do=edit&{rest**}", site="a.test")))
    ?do=edit
    >>> print(condition_of(Rule.parse("keep {s}://{h}/a/{p**}?{rest**}", site="a.test")))
    /a/{p**}
    >>> print(condition_of(Rule.parse("keep {s}://{h}/a", site="a.test")))
    None
    """
    place, _, query = keep.source.partition("?")
    *names, last = query.split("&")
    if not _ANY_OTHER.match(last) or any(name.startswith("{") for name in names) or keep.unless:
        return None
    place = "" if _ANY_PLACE.match(place) else _ANY_HOST.sub("", place)
    condition = f"{place}?{'&'.join(names)}" if names else place
    if not keep.when:
        return condition or None
    return keep.when[0] if len(keep.when) == 1 and not condition else None


def is_mask(rule: Rule) -> bool:
    """Return whether a rule changes keys only."""
    return ":any}" in (rule.target or "")
