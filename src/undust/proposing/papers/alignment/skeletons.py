"""A skeleton: what the URLs of a group share, with units for text and slots for what some of them lack."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

SAME_UNIT, VARIES, OPTIONAL, SLOT, OR, END_SLOT, HOST = -1, -2, -3, -4, -5, -6, -7
"""As the core writes them."""

WORD_JOINTS = ("-", "_", "+", "%20")
"""What the words of a title are joined by; the core has the same."""

Item = str | int
"""A literal, or the number of a unit."""


@dataclass(frozen=True)
class Slot:
    """A place where URLs differ in what they have; slots of one factor change together."""

    factor: int
    alternatives: tuple[tuple[Item, ...], ...]


@dataclass(frozen=True)
class Skeleton:
    """Literals, numbers of units, and slots, in the order of the URL."""

    items: tuple[Item | Slot, ...]
    units: tuple[int, ...]
    """What each unit is: SAME, VARIES, OPTIONAL or HOST."""

    @classmethod
    def read(cls, elements: Sequence[int], vocabulary: pa.Array) -> Skeleton:
        """Return the skeleton that the core wrote as numbers."""
        items: list[Item | Slot] = []
        fixed = [element for element in _outside_slots(elements) if element in (SAME_UNIT, VARIES, HOST)]
        units, unit, place = list(fixed), 0, 0
        while place < len(elements):
            element = elements[place]
            place += 1
            if element == SLOT:
                alternatives: list[list[Item]] = [[]]
                factor, place = elements[place], place + 1
                while elements[place] != END_SLOT:
                    if elements[place] == OR:
                        alternatives.append([])
                    elif elements[place] == OPTIONAL:
                        alternatives[-1].append(len(units))
                        units.append(OPTIONAL)
                    else:
                        alternatives[-1].append(vocabulary[elements[place]].as_py())
                    place += 1
                place += 1
                items.append(Slot(factor, tuple(map(tuple, alternatives))))
            elif element >= 0:
                items.append(vocabulary[element].as_py())
            else:
                items.append(unit)
                unit += 1
        return cls(tuple(items), tuple(units))

    @property
    def beside_changes(self) -> tuple[int, ...]:
        """The units with one text in a cluster that only a sign between words parts from one that varies."""
        found = []
        for place, item in enumerate(self.items):
            if isinstance(item, int) and self.units[item] == SAME_UNIT:
                sides = (self.items[place + 1 :], self.items[:place][::-1])
                nearest = (next((each for each in side if each not in WORD_JOINTS), None) for side in sides)
                if any(isinstance(each, int) and self.units[each] == VARIES for each in nearest):
                    found.append(item)
        return tuple(found)

    @property
    def factors(self) -> tuple[int, ...]:
        """How many alternatives each factor has."""
        sizes = {item.factor: len(item.alternatives) for item in self.items if isinstance(item, Slot)}
        return tuple(sizes[factor] for factor in sorted(sizes))

    @property
    def forms(self) -> int:
        """How many forms there are; the first is the shortest."""
        return prod(self.factors)

    def text(self, form: int, written: Callable[[int], str]) -> str:
        """Return one form as text, given the text for each unit."""
        items = self._items(self._chosen(form))
        return "".join(item if isinstance(item, str) else written(item) for item in items)

    def length(self, form: int) -> int:
        """Return how many literals and units a form has."""
        return sum(1 for _ in self._items(self._chosen(form)))

    def _chosen(self, form: int) -> tuple[int, ...]:
        return list(product(*map(range, self.factors)))[form]

    def _items(self, chosen: tuple[int, ...]) -> Iterator[Item]:
        for item in self.items:
            if isinstance(item, Slot):
                yield from item.alternatives[chosen[item.factor]]
            else:
                yield item


def _outside_slots(elements: Sequence[int]) -> Iterator[int]:
    is_inside = False
    for element in elements:
        is_inside = (is_inside or element == SLOT) and element != END_SLOT
        if not is_inside:
            yield element
