"""How alike two pages are, written down plainly: the features of docs/evidence.md from weighed blocks."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

Blocks = list[tuple[int, float, float]]
"""Blocks of a page, each with its weight and that of its digits."""


def features(
    left: Blocks, right: Blocks, last: int, left_title: Mapping[int, float], right_title: Mapping[int, float]
) -> list[float]:
    """Seven features of two pages; blocks with a key above `last` are not known of one of them."""
    ours, theirs = _groups(left, last), _groups(right, last)
    total = [sum(weight for group in side.values() for _, weight, _ in group) for side in (ours, theirs)]
    shared = exact = numbers = equal_numbers = placed = in_order = 0.0
    for key in sorted(ours.keys() & theirs.keys()):
        mine, others = [each[0] for each in ours[key]], [each[0] for each in theirs[key]]
        weight = ours[key][0][1]
        digits = [Counter(block >> 12 & 0xFFFFF for block in side) for side in (mine, others)]
        both, equal = min(len(mine), len(others)), (digits[0] & digits[1]).total()
        shared += weight * both
        exact += weight * equal
        equal_weight = _equal_weight(ours[key], digits[1])
        equal_numbers += equal_weight
        numbers += equal_weight + (both - equal) * max(each[2] for each in (*ours[key], *theirs[key]))
        if len(mine) == len(others) == 1:
            placed += weight
            in_order += weight * (mine[0] >> 4 & 0xFF == others[0] >> 4 & 0xFF)
    fewer, words = min(total), sum(total)
    return [
        shared / max(words - shared, 1e-9),
        shared / max(fewer, 1e-9),
        exact / max(words - exact, 1e-9),
        (equal_numbers + 1) / (numbers + 1),
        (in_order + 1) / (placed + 1),
        _title(left_title, right_title),
        fewer,
    ]


def _groups(blocks: Blocks, last: int) -> dict[int, Blocks]:
    found: defaultdict[int, Blocks] = defaultdict(list)
    for block in blocks:
        if block[0] >> 32 <= last:
            found[block[0] >> 32].append(block)
    return found


def _equal_weight(ours: Blocks, theirs: Counter[int]) -> float:
    left, total = Counter(theirs), 0.0
    for block, _, weight in sorted(ours):
        digits = block >> 12 & 0xFFFFF
        if left[digits]:
            left[digits] -= 1
            total += weight
    return total


def _title(left: Mapping[int, float], right: Mapping[int, float]) -> float:
    if not left or not right:
        return 1.0
    shared = 0.2 + sum(weight for word, weight in left.items() if word in right)
    return shared / (0.2 + sum((dict(right) | dict(left)).values()))
