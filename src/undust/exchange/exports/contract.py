"""What an export is: a text for another system, the rules it says, and the rules it cannot say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import quote

from undust.errors import CannotExpress

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from undust.exchange.exports.effect import ExportEffect
    from undust.rules import Rule


@dataclass(frozen=True)
class ExportedRule:
    """An active rule, its sites written in standard form, and its place in the rule file, from 1 on."""

    number: int
    rule: Rule
    id: str
    """The id that it has in the rule file."""
    left_out: str | None = None
    """Why it is left out whatever the target can say, if it is."""

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
    """A rule that the target cannot say exactly, and why."""

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
    """The rules that the text says, in the order of their file."""
    refused: tuple[ExportRefusal, ...]
    exact_for: str
    """The URLs for which the text does exactly what these rules do."""
    effect: ExportEffect
    """What these rules keep of the effect of all active rules."""


STANDARD_SCOPE = "http(s) URLs in standard form; any other spelling is left alone"


def refuse(reason: str) -> NoReturn:
    """Say that the target cannot say a rule."""
    raise CannotExpress(reason)


def _one_line(text: str) -> str:
    """Return a text that cannot end the comment it is in, or a rule could write a configuration."""
    return "".join(
        character if character.isprintable() and character != "\\" else quote(character, errors="replace")
        for character in text
    )
