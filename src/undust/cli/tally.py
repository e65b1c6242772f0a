"""What commands count while they do one thing to every URL, and how they report it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from undust.statistics import STANDARD_ERROR, Distinct

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa

    from undust.rules.compiled import OrderedRules


class Happened(Protocol):
    """What happened to URLs; the core's `Counts` is one."""

    @property
    def changed(self) -> int:
        """How many are not what they were."""

    @property
    def not_urls(self) -> int:
        """How many are not URLs, and stayed."""

    @property
    def skipped(self) -> int:
        """How many have a user name, or are too long."""

    @property
    def unresolved(self) -> int:
        """How many came to no end."""

    @property
    def uses(self) -> list[int]:
        """By rule, how many URLs it changed; empty if not asked for."""


Lines = Callable[[bytes], tuple[bytes, int, Happened]]
"""Whole lines to the new lines, their number and what happened."""


class UrlMapping(Protocol):
    """One thing that is done to every URL."""

    def lines(self, data: bytes) -> tuple[bytes, int, Happened]:
        """Return whole lines of URLs as they become, their number, and what happened."""

    def column(self, urls: pa.Array) -> tuple[pa.Array, Happened]:
        """Return the same for a column."""


_MOST_SHOWN = 20
"""Rules that the summary for people names; JSON names all."""


class Fit(NamedTuple):
    """How well texts fit a format in which each should be a URL."""

    texts: int
    not_urls: int
    paths: int = 0
    """Of those that are not URLs, how many are paths that lack a host."""

    def since(self, before: Fit) -> Fit:
        """Return the same for the texts that came after `before`."""
        return Fit(*(after - first for after, first in zip(self, before, strict=True)))

    def is_bad(self, *, was_said: bool) -> bool:
        """Return whether this cannot be what the person meant.

        More than half of the texts are not URLs; if the person said what the input is, all of them.
        """
        least = self.texts if was_said else self.texts // 2 + 1
        return 0 < least <= self.not_urls


@dataclass
class Tally:
    """Counts of a run; `uses` and the distinct texts only if they were asked for."""

    urls: int = 0
    changed: int = 0
    not_urls: int = 0
    skipped: int = 0
    unresolved: int = 0
    too_long: int = 0
    blank: int = 0
    """Of those that are not URLs, how many hold nothing at all."""
    paths: int = 0
    """Of those that are not URLs, how many are paths."""
    absent: int = 0
    """Rows of a table without a value, which are counted as URLs and as nothing else."""
    records_skipped: int = 0
    records_passed_over: int = 0
    before: Distinct = field(default_factory=Distinct)
    after: Distinct = field(default_factory=Distinct)
    uses: list[int] = field(default_factory=list)

    def add(self, urls: int, counts: Happened, *, absent: int = 0) -> None:
        """Add what the core counted in a block; `absent` rows have no value, which it took for texts."""
        self.urls += urls
        self.changed += counts.changed
        self.not_urls += counts.not_urls - absent
        self.skipped += counts.skipped
        self.unresolved += counts.unresolved
        if counts.uses:
            known = self.uses or [0] * len(counts.uses)
            self.uses = [total + more for total, more in zip(known, counts.uses, strict=True)]

    def fit(self) -> Fit:
        """Return how many texts there were so far, and how many of them are not URLs; blank ones aside."""
        texts = self.urls - self.too_long - self.absent - self.blank
        return Fit(texts, self.not_urls - self.blank, self.paths)

    def look_at(self, texts: Sequence[bytes]) -> None:
        """Count the blank texts and the paths among texts of which some are not URLs."""
        self.blank += sum(not text.strip() for text in texts)
        self.paths += sum(text.startswith(b"/") for text in texts)

    def add_texts(self, before: Iterable[bytes], after: Iterable[bytes]) -> None:
        """Count different texts."""
        self.before.add(before)
        self.after.add(after)

    def add_lines(self, before: bytes, after: bytes) -> None:
        """Count different lines."""
        self.before.add_lines(before)
        self.after.add_lines(after)

    def add_columns(self, before: pa.Array, after: pa.Array) -> None:
        """Count different texts of columns."""
        self.before.add_column(before)
        self.after.add_column(after)

    def used(self, rules: OrderedRules) -> list[tuple[int, str, int]]:
        """Return number, id and uses of the rules that did something."""
        ids = rules.ids if any(self.uses) else ()
        return [(place + 1, ids[place], count) for place, count in enumerate(self.uses) if count]

    def as_json(self, rules: OrderedRules, seconds: float, *, is_full: bool) -> dict[str, Any]:
        """Return the counts for programs."""
        names = ("urls", "changed", "not_urls", "skipped", "unresolved", "too_long")
        told: dict[str, Any] = {name: getattr(self, name) for name in names}
        for name in ("records_skipped", "records_passed_over"):
            if getattr(self, name):
                told[name] = getattr(self, name)
        told["seconds"] = round(seconds, 6)
        if is_full:
            told["distinct_before"] = self.before.count
            told["distinct_after"] = self.after.count
            told["distinct_is_exact"] = self.before.is_exact and self.after.is_exact
            used = self.used(rules)
            told["rules"] = [{"number": number, "id": name, "urls": count} for number, name, count in used]
        return told

    def as_text(self, seconds: float) -> str:
        """Return the counts as one line for people."""
        parts = [f"{self.changed:,} changed"]
        named = {
            "not URLs": self.not_urls,
            "with a user name or longer than 64 KiB (only normalized)": self.skipped,
            "without an end (only normalized)": self.unresolved,
            "longer than 1 MiB (unchanged)": self.too_long,
        }
        parts += [f"{count:,} {name}" for name, count in named.items() if count]
        speed = self.urls / max(seconds, 1e-6)
        return f"{self.urls:,} URLs: {', '.join(parts)}; {seconds:.1f} s, {speed:,.0f} URLs/s"

    def statistics(self, rules: OrderedRules) -> str:
        """Return what `--stats` adds, as a few lines for people."""
        is_exact = self.before.is_exact and self.after.is_exact
        note = "" if is_exact else f" (estimated, give or take {2 * STANDARD_ERROR:.1%})"
        lines = [f"distinct: {self.before.count:,} before, {self.after.count:,} after{note}"]
        used = sorted(self.used(rules), key=lambda rule: (-rule[2], rule[0]))
        width = max((len(f"{count:,}") for _, _, count in used), default=0)
        lines += [
            f"{count:>{width},}  rule {number} ({name[:8]})  {rules[number - 1]}"
            for number, name, count in used[:_MOST_SHOWN]
        ]
        if len(used) > _MOST_SHOWN:
            rest = sum(count for _, _, count in used[_MOST_SHOWN:])
            lines.append(f"{rest:>{width},}  by {len(used) - _MOST_SHOWN:,} more rules; --json names all")
        return "\n".join(lines)
