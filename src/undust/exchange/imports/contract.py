"""What an import is: rules in our language, and what the file says that they cannot."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from undust.rules import Rule, RuleSet


@dataclass(frozen=True)
class SkippedPart:
    """A part of a file that no rule says, where it stands, and why."""

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
        """Note a part that no rule says."""
        self.skipped.append(SkippedPart(place, reason))

    def narrow(self, place: str, reason: str) -> None:
        """Note a part that our rules say for some of its URLs only."""
        self.narrowed.append(SkippedPart(place, reason))


@dataclass(frozen=True)
class Imported:
    """Rules of another system, in our language."""

    rules: RuleSet
    skipped: tuple[SkippedPart, ...]
    """What no rule says."""
    narrowed: tuple[SkippedPart, ...] = ()
    """What the rules say for fewer URLs than the file does."""


@dataclass(frozen=True)
class RuleFormat:
    """A format of another system: its name, what it is, and the function that reads it."""

    name: str
    about: str
    needs_site: bool
    """Whether the file is of one site and does not say of which."""
    read: Callable[[str, str, str], ImportedRules]
    """Takes the text of the file, its name for messages, and the site."""
