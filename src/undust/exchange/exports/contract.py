"""What an export is: a text for another system, the rules it has, those it cannot express, and its effect.

Rules that a target cannot express are left out, so fewer duplicates are removed there; and rules that are
safe together may lose pages without the others. The rule file knows what each rule removed when it was
learned. What the exported rules remove and lose together is only known for a sample of URLs with known pages.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import quote

from undust.display import how_many
from undust.errors import CannotExpress, UndustError
from undust.rules import RuleSet
from undust.rules.language import ANY_SITE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from undust.measuring import Labelled, Measures
    from undust.rules import Rule


@dataclass(frozen=True)
class SampleEffect:
    """What rules do to the URLs of a sample; shares of its duplicates, and of its pages."""

    urls: int
    pages: int
    duplicates: int
    """URLs that a perfect canonicalizer would remove."""
    removed: float
    """The share of the duplicates that the exported rules remove, with standard normalization."""
    removed_by_all: float
    """The same for all active rules."""
    removed_by_normalization: float
    """The same without any rule."""
    lost: float
    """The share of the pages that the exported rules merge into a different one."""
    lost_by_all: float
    """The same for all active rules."""


@dataclass(frozen=True)
class ExportEffect:
    """How many rules were exported, what the others removed when learned, and the effect on a sample."""

    exported: int
    active: int
    removed_by_left_out: int
    """URLs that the rules left out removed on held-out data when they were learned."""
    removed_by_all: int
    """The same for all active rules."""
    unknown: int
    """Rules for which the file has no count of removed URLs; a `keep` removes nothing."""
    sample: SampleEffect | None = None

    @property
    def left_out(self) -> int:
        """How many active rules were not exported."""
        return self.active - self.exported

    def __str__(self) -> str:
        """Return one sentence for people."""
        return self._on_sample(self.sample) if self.sample else self._when_learned()

    def _on_sample(self, sample: SampleEffect) -> str:
        rules = f"these {self.exported:,} of {how_many(self.active, 'rule')}"
        if not sample.duplicates:
            return f"{rules} lose {_percent(sample.lost)} of the pages; the sample has no duplicates"
        text = (
            f"{rules} remove {_percent(sample.removed)} of the duplicates instead of "
            f"{_percent(sample.removed_by_all)}, and lose {_percent(sample.lost)} of the pages"
        )
        if not sample.removed_by_normalization:
            return text
        return f"{text}; standard normalization alone removes {_percent(sample.removed_by_normalization)}"

    def _when_learned(self) -> str:
        if not self.active:
            return "no rule of the file is in effect, so nothing is exported; 'undust rules list' shows them"
        if not self.left_out:
            return "no rule is left out; give --sample for the effect"
        rules = "the rule" if self.left_out == 1 else f"the {self.left_out:,} rules"
        if not self.removed_by_all:
            return f"the rule file does not say what {rules} left out removed; give --sample for the effect"
        known = f" ({how_many(self.unknown, 'rule')} not counted)" if self.unknown else ""
        return (
            f"{rules} left out removed {self.removed_by_left_out:,} of {self.removed_by_all:,} URLs when "
            f"learned{known}; give --sample for the effect"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the figures for programs; what is not known is null."""
        known = bool(self.removed_by_all)
        return {
            "exported": self.exported,
            "active": self.active,
            "left_out": self.left_out,
            "removed_by_left_out_when_learned": self.removed_by_left_out if known else None,
            "removed_by_all_when_learned": self.removed_by_all if known else None,
            "rules_without_count": self.unknown,
            "sample": asdict(self.sample) if self.sample else None,
            "text": str(self),
        }


def effect_of(
    exported: Sequence[Rule],
    active: Sequence[Rule],
    sample: Callable[[], Sequence[Labelled]] | None = None,
    site: str | None = None,
) -> ExportEffect:
    """Return what some of the active rules keep of the effect of all, also on URLs whose page is known."""
    kept = {rule.id for rule in exported}
    return ExportEffect(
        len(exported),
        len(active),
        sum(rule.saves or 0 for rule in active if rule.id not in kept),
        sum(rule.saves or 0 for rule in active),
        sum(rule.saves is None and rule.kind != "keep" for rule in active),
        None if sample is None or not active else _on_sample(exported, active, sample, site),
    )


def _on_sample(
    exported: Sequence[Rule],
    active: Sequence[Rule],
    sample: Callable[[], Sequence[Labelled]],
    site: str | None,
) -> SampleEffect:
    sites = [one for one in sample() if site in {None, one.site}]
    named = {rule.site for rule in active}
    if not sites or (ANY_SITE not in named and named.isdisjoint(one.site for one in sites)):
        message = "the sample has no URL with a known page on a site of the rules; give another --sample"
        raise UndustError(message)

    def measured(rules: Sequence[Rule]) -> Measures:
        found = [one.measured(RuleSet(rules)) for one in sites]
        return sum(found[1:], found[0])

    ours, all_rules, none = measured(exported), measured(active), measured(())
    return SampleEffect(
        ours.urls,
        ours.clusters,
        ours.removable,
        *(ours.removed, all_rules.removed, none.removed),
        *(ours.lost, all_rules.lost),
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


@dataclass(frozen=True)
class ExportedRule:
    """An active rule, its sites written in standard form, and its place in the rule file, from 1 on."""

    number: int
    rule: Rule
    id: str
    """The id that it has in the rule file."""
    left_out: str | None = None
    """Why it is left out whatever the target can express, if it is."""

    def __str__(self) -> str:
        """Return how a comment in an exported file names the rule."""
        site = "" if self.rule.site == "*" else f" of {self.rule.site}"
        use = "" if self.rule.fetch else ", for comparing only"
        return _one_line(f"rule {self.number}{site}, {self.id}{use}: {self.rule}")

    def require_taken(self) -> None:
        """Refuse a rule that is left out for a reason of its own."""
        if self.left_out is not None:
            refuse(self.left_out)


@dataclass(frozen=True)
class ExportRefusal:
    """A rule that the target cannot express exactly, and why."""

    number: int
    rule: Rule
    reason: str

    def __str__(self) -> str:
        """Return one line for people."""
        return f"rule {self.number} ({self.rule.id[:8]}) is left out: {self.reason}"


@dataclass(frozen=True)
class ExportedText:
    """What a target made of the rules: its text, and what it left out."""

    text: str
    refused: tuple[ExportRefusal, ...]


@dataclass(frozen=True)
class Target:
    """Another system: its name, what the file is, for which URLs it is exact, and who writes it."""

    name: str
    about: str
    exact_for: str
    write: Callable[[Sequence[ExportedRule]], ExportedText]
    into: Callable[[str, str], str] | None = None
    """Puts what was written into a file that the system has already, if that can be done."""
    fetches: bool = False
    """Whether the system fetches what it writes: then it takes no rule that is for comparing only."""


@dataclass(frozen=True)
class Exported:
    """Rules in another system's language."""

    target: str
    text: str
    rules: tuple[Rule, ...]
    """The rules that the text has, in the order of their file."""
    refused: tuple[ExportRefusal, ...]
    exact_for: str
    """The URLs for which the text does exactly what these rules do."""
    effect: ExportEffect
    """What these rules keep of the effect of all active rules."""


STANDARD_SCOPE = "http(s) URLs in standard form; any other spelling is left alone"


def refuse(reason: str) -> NoReturn:
    """Raise the error that a target cannot express a rule."""
    raise CannotExpress(reason)


def _one_line(text: str) -> str:
    """Return a text that cannot end the comment it is in, or a rule could write a configuration."""
    return "".join(
        character if character.isprintable() and character != "\\" else quote(character, errors="replace")
        for character in text
    )
