"""What `undust apply` counts while it works, and how it tells it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from undust.cli.distinct import STANDARD_ERROR, Distinct

if TYPE_CHECKING:
    from collections.abc import Iterable

    from undust.rules import Counts
    from undust.rules.compiled import OrderedRules

_MOST_SHOWN = 20
"""Rules that the summary for people names; JSON names all."""


@dataclass
class Tally:
    """Counts of a run; `uses` and the distinct texts only if they were asked for."""

    urls: int = 0
    changed: int = 0
    not_urls: int = 0
    skipped: int = 0
    unresolved: int = 0
    too_long: int = 0
    before: Distinct = field(default_factory=Distinct)
    after: Distinct = field(default_factory=Distinct)
    uses: list[int] = field(default_factory=list)

    def add(self, urls: int, counts: Counts) -> None:
        """Add what the core counted in a block."""
        self.urls += urls
        self.changed += counts.changed
        self.not_urls += counts.not_urls
        self.skipped += counts.skipped
        self.unresolved += counts.unresolved
        if counts.uses:
            known = self.uses or [0] * len(counts.uses)
            self.uses = [total + more for total, more in zip(known, counts.uses, strict=True)]

    def add_texts(self, before: Iterable[bytes], after: Iterable[bytes]) -> None:
        """Count different texts."""
        self.before.add(before)
        self.after.add(after)

    def used(self, rules: OrderedRules) -> list[tuple[int, str, int]]:
        """Return number, id and uses of the rules that did something."""
        ids = rules.ids if any(self.uses) else ()
        return [(place + 1, ids[place], count) for place, count in enumerate(self.uses) if count]

    def as_json(self, rules: OrderedRules, seconds: float, *, is_full: bool) -> dict[str, Any]:
        """Return the counts for programs."""
        names = ("urls", "changed", "not_urls", "skipped", "unresolved", "too_long")
        told: dict[str, Any] = {name: getattr(self, name) for name in names}
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
