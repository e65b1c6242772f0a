"""What changed between two rule sets, by id: the text of a rule is its identity, the rest may differ."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.rules.language import Rule


@dataclass(frozen=True)
class Change:
    """One rule with other evidence, another status or other exceptions than before."""

    before: Rule
    after: Rule

    @property
    def fields(self) -> dict[str, tuple[Any, Any]]:
        """The JSON keys that differ, each with its value before and after; None if it was not there."""
        old, new = self.before.to_json(), self.after.to_json()
        keys = dict.fromkeys((*old, *new))
        return {key: (old.get(key), new.get(key)) for key in keys if old.get(key) != new.get(key)}


@dataclass(frozen=True)
class Difference:
    """Rules that came, went, changed, or moved past another rule of their site."""

    added: tuple[Rule, ...]
    removed: tuple[Rule, ...]
    changed: tuple[Change, ...]
    moved: tuple[Rule, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed or self.moved)


def difference(before: Sequence[Rule], after: Sequence[Rule]) -> Difference:
    """Return what turns `before` into `after`."""
    old, new = ({rule.id: rule for rule in rules} for rules in (before, after))
    return Difference(
        added=tuple(rule for key, rule in new.items() if key not in old),
        removed=tuple(rule for key, rule in old.items() if key not in new),
        changed=tuple(Change(old[key], rule) for key, rule in new.items() if key in old and old[key] != rule),
        moved=_moved(old, new),
    )


def _moved(old: dict[str, Rule], new: dict[str, Rule]) -> tuple[Rule, ...]:
    # Order is preference among the rules of one site, so a change of place between sites means nothing.
    places = {key: place for place, key in enumerate(old)}
    by_site: dict[str, list[str]] = {}
    for key, rule in new.items():
        if key in old:
            by_site.setdefault(rule.site, []).append(key)
    stayed = {
        keys[place]
        for keys in by_site.values()
        for place in _longest_increasing([places[key] for key in keys])
    }
    return tuple(rule for key, rule in new.items() if key in old and key not in stayed)


def _longest_increasing(values: list[int]) -> list[int]:
    """Return the places of a longest increasing subsequence (patience sorting)."""
    tails: list[int] = []
    ends: list[int] = []
    previous: list[int] = []
    for place, value in enumerate(values):
        pile = bisect_left(tails, value)
        tails[pile : pile + 1] = [value]
        ends[pile : pile + 1] = [place]
        previous.append(ends[pile - 1] if pile else -1)
    chain: list[int] = []
    place = ends[-1] if ends else -1
    while place >= 0:
        chain.append(place)
        place = previous[place]
    return chain[::-1]
