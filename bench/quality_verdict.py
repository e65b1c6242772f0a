"""Whether all learners together remove as much as the best of them alone, site by site."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from undust.measuring.compare import MethodRow

TOGETHER = "undust"
NEAR = 0.01
"""As much to remove is: no less than this share of the duplicates."""
MOST_LOST = {"mirrors": 0.005}
MOST_LOST_ELSEWHERE = 0.011
"""The share of pages that may be lost on one site; a method that loses more removes nothing of worth."""


class Verdict(NamedTuple):
    """One site: all together, the learner that removes most, and the one that does so within the loss."""

    site: str
    together: MethodRow
    best: MethodRow
    safe: MethodRow | None
    most_lost: float

    @property
    def difference(self) -> float:
        """What all together remove beyond the best."""
        return self.together.total.removed - self.best.total.removed

    @property
    def safe_difference(self) -> float:
        """The same beyond the best that stays within the loss."""
        return self.together.total.removed - (self.safe.total.removed if self.safe else 0.0)

    @property
    def is_safe(self) -> bool:
        """Whether the best stays within the loss."""
        return self.best is self.safe


def verdicts(group: str, rows: Mapping[str, Sequence[MethodRow]], names: Sequence[str]) -> Iterator[Verdict]:
    """Yield a verdict for each site, if all together and some learner took part."""
    single = [some for name, some in rows.items() if name != TOGETHER and some[0].max_fpr is not None]
    if TOGETHER not in rows or not single:
        return
    most_lost = MOST_LOST.get(group, MOST_LOST_ELSEWHERE)
    for at, name in enumerate(names):
        here = sorted((some[at] for some in single), key=lambda row: (-row.total.removed, row.total.lost))
        safe = next((row for row in here if row.total.lost <= most_lost), None)
        yield Verdict(name, rows[TOGETHER][at], here[0], safe, most_lost)


def print_verdicts(found: Sequence[Verdict]) -> None:
    """Print a line a site, and what they come to."""
    if not found:
        return
    print(f"\n`{TOGETHER}` beside single learners; up to {found[0].most_lost:.1%} of the pages may be lost\n")
    print(f"| site | `{TOGETHER}` | best single | | is within | difference | best within | | difference |")
    print("| --- | ---: | --- | ---: | --- | ---: | --- | ---: | ---: |")
    for each in found:
        print(f"| {' | '.join(_cells(each))} |")
    means = [np.mean([getattr(each, name) for each in found]) for name in ("difference", "safe_difference")]
    print(f"| mean | | | | | {_points(means[0])} | | | {_points(means[1])} |")
    for what, name in (("the best", "difference"), ("the best within the loss", "safe_difference")):
        below = [each.site for each in found if getattr(each, name) < -NEAR]
        print(f"\nMore than a point less than {what}: {', '.join(below) or 'nowhere'}.")


def as_json(found: Verdict) -> dict[str, str | float | bool | None]:
    """Return a verdict as JSON shows it."""
    return {
        "site": found.site,
        "best_single": found.best.method,
        "difference": found.difference,
        "is_within_loss": found.is_safe,
        "best_within_loss": found.safe.method if found.safe else None,
        "difference_within_loss": found.safe_difference,
    }


def _cells(each: Verdict) -> Iterator[str]:
    yield each.site
    yield _both(each.together)
    yield f"`{each.best.method}`"
    yield _both(each.best)
    yield "yes" if each.is_safe else "no"
    yield _points(each.difference)
    yield f"`{each.safe.method}`" if each.safe else ""
    yield _both(each.safe) if each.safe else ""
    yield _points(each.safe_difference)


def _both(row: MethodRow) -> str:
    return f"{100 * row.total.removed:.1f} / {100 * row.total.lost:.2f}"


def _points(difference: float) -> str:
    return f"{100 * difference:+.1f}"
