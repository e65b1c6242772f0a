"""What a learner proposes, and what was measured of it: on how much, how sure, and whether that is enough.

A learner has options, which people write as `substring.max_bucket=6`, and bounds of the machine. Each states
its options as a frozen dataclass whose defaults are the published values; a text from the command line
becomes the type of the field, or one sentence reports what is wrong with it.

A learner that can keep to bounds has a class method `within` in its options: what they are then, where the
user does not set them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from undust.display import how_many
from undust.errors import UndustError
from undust.statistics import upper_bound

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undust.rules import Rule


LEAST_RISK = 0.005
"""No smaller share can be proved with the pages of one site."""
Counted = Literal["instances", "pairs", "urls"]
"""What a learner counts as support: envelopes (DustBuster), pairs of URLs (rewrite rules, alignment), or
URLs it can change (pattern tree). Figures of different learners must never be compared unseen."""


@dataclass(frozen=True)
class Candidate:
    """Rules that only make sense together, mostly one, and what the learner saw of them.

    A mapping between two patterns needs the target's own normal form beside it, and an optional part
    needs a rule with it and a rule without: such rules are proved, and taken or left, as one.
    """

    rules: tuple[Rule, ...]
    support: int
    counted: Counted
    pages: int = 0
    """Distinct pages among the support, where the learner knows them."""
    fpr: float | None = None
    """On the data it was learned from, where the learner measures it."""

    @property
    def text(self) -> str:
        """The rules as lines; two candidates that say the same have the same text."""
        return "\n".join(f"{rule.site} {rule}" for rule in self.rules)


@dataclass(frozen=True)
class Proposal:
    """All that a learner has to say about one site, the best first."""

    candidates: tuple[Candidate, ...] = ()
    cut: Mapping[str, int] = field(default_factory=dict)
    """What was left out, and how much of it: a budget that was used up, a form that no rule can say."""
    notes: tuple[str, ...] = ()
    """What a person should know: a sample instead of the whole site, evidence that was missing."""


@dataclass(frozen=True)
class VerdictLimits:
    """What a candidate must show to be accepted."""

    max_fpr: float = 0.01
    """At most this share of false pairs, among the pairs that were decided."""
    min_support: int = 3
    """At least this many pages. Pages, because one login wall makes any number of pairs."""
    max_unknown: float = 0.5
    """At most this share of merged pages that are undecided: where evidence is missing from a
    whole class of pages, what the others show says little about them."""


def limits_from(min_support: int | None) -> VerdictLimits:
    """Return the demands where a person may have said how many pages it takes."""
    return VerdictLimits() if min_support is None else VerdictLimits(min_support=min_support)


@dataclass(frozen=True)
class Verdict:
    """A candidate and what it did to held-out URLs, compared by key and beyond standard normalization."""

    candidate: Candidate
    moved: int = 0
    """URLs it changed."""
    support: int = 0
    """Pairs of URLs of one page that it sent to one form."""
    false_pairs: int = 0
    """Pairs of URLs of different pages that it sent to one form."""
    unknown_pairs: int = 0
    """Undecided pairs: without evidence, or near copies of each other."""
    pages: int = 0
    """Pages with two URLs or more that it sent to one form."""
    lost: int = 0
    """Pages that lie under the form of a different one, near copies forgiven."""
    unknown: int = 0
    """Pages under the form of another one without any evidence of what they show."""
    saves: int = 0
    """Removed URLs, each merged with another of its own page."""
    examples: tuple[tuple[str, str], ...] = ()
    known_pages: int = 0
    """The same as `pages`, with those that it was learned from; 0 if not measured."""
    known_lost: int = 0
    """The same as `lost`, with those that it was learned from."""
    risk: float = 0.0
    """The share of pages that it is expected to lose in use, by its record and by those of its kind."""
    accepted: bool = False
    reason: str = "not judged yet"
    """Why it was accepted or not, for people."""

    @property
    def site(self) -> str:
        """The site that the candidate is for."""
        return self.candidate.rules[0].site

    @property
    def decided(self) -> int:
        """Pairs of URLs that it sent to one form, and of which it is known whether they show one page."""
        return self.support + self.false_pairs

    @property
    def fpr(self) -> float:
        """Share of false pairs among those decided (Lei et al. eq. 3); 0 without such pairs."""
        return self.false_pairs / self.decided if self.decided else 0.0

    @property
    def fpr_upper(self) -> float:
        """What the rate does not exceed, with 95 % confidence.

        Pairs are not independent, one wrong page makes many: so the bound counts pages.
        """
        return max(self.fpr, upper_bound(self.lost, self.pages + self.lost))

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of the candidate, each with this evidence."""
        measured = {
            "support": self.support,
            "false_positives": self.false_pairs,
            "fpr": round(self.fpr, 6),
            "fpr_upper": round(self.fpr_upper, 6),
            "saves": self.saves,
            "examples": self.examples,
        }
        return tuple(replace(rule, **measured) for rule in self.candidate.rules)  # type: ignore[arg-type]

    def under(self, demands: VerdictLimits) -> Verdict:
        """Return the same measurement judged by other demands."""
        refusal = self._refusal(demands)
        return replace(self, accepted=refusal is None, reason=refusal or self._praise())

    def _refusal(self, demands: VerdictLimits) -> str | None:
        if not self.moved:
            return "no held-out URL is changed by it"
        if not self.saves:
            return "it brings no two held-out URLs of one page together"
        if self.fpr > demands.max_fpr:
            return f"{self.fpr:.1%} of its pairs are different pages, more than {demands.max_fpr:.1%}"
        if self.pages < demands.min_support:
            return f"only {how_many(self.pages, 'page')} of at least {demands.min_support} show it"
        if self.unknown > demands.max_unknown * (self.unknown + self.pages + self.lost):
            return f"of {how_many(self.unknown, 'page')} that it merges, it is not known what they show"
        return self._doubt(demands)

    def _doubt(self, demands: VerdictLimits) -> str | None:
        """Return why it is not believed though the pages held out show nothing against it."""
        if self.known_lost > demands.max_fpr * (self.known_lost + self.known_pages):
            known = f"{self.known_lost:,} of {how_many(self.known_lost + self.known_pages, 'page')}"
            return f"with those it was learned from, {known} are lost"
        if self.risk > max(demands.max_fpr, LEAST_RISK):
            shown = f"{how_many(self.pages, 'page')} prove too little for a rule of its kind"
            return f"{shown}: it is expected to lose {self.risk:.1%} of the pages that it merges"
        return None

    def _praise(self) -> str:
        return f"{how_many(self.saves, 'URL')} of {how_many(self.pages, 'page')} saved, {self.lost:,} lost"


Options = TypeVar("Options")

_WORDS = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}


def options_from(
    kind: type[Options], learner: str, said: Mapping[str, object], resources: Resources | None = None
) -> Options:
    """Return the options of a learner; those of others are left to them."""
    known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]  # a dataclass
    chosen: dict[str, Any] = {}
    within = getattr(kind, "within", None)
    if resources is not None and within is not None:
        chosen |= within(resources)
    for name, value in said.items():
        owner, _, option = name.partition(".")
        if owner != learner:
            continue
        if option not in known:
            message = f"{learner} has no option '{option}'; it has {', '.join(sorted(known))}"
            raise UndustError(message)
        chosen[option] = _converted(value, known[option].default, name)
    return kind(**chosen)


def _converted(value: object, default: object, name: str) -> object:
    if not isinstance(value, str) or isinstance(default, str):
        return value
    try:
        if isinstance(default, bool):
            return _WORDS[value.lower()]
        return type(default)(value)  # type: ignore[call-arg]  # int or float
    except (KeyError, ValueError):
        wanted = {bool: "yes or no", int: "a whole number", float: "a number"}[type(default)]
        message = f"the option {name}={value} should be {wanted}"
        raise UndustError(message) from None


@dataclass(frozen=True)
class Resources:
    """Bounds that a person set for the whole program, passed to the learners that can keep them."""

    memory: int | None = None
    """Bytes for all that the program holds; None without a limit."""
    threads: int = 1
    folder: str | None = None
    """For temporary files; None for that of the system."""
