"""What aligned rows say, in plain Python: literals, units and slots."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from tests.oracles.alignment import Matrix, Row, Settings, column, kind

MARKS = {"scheme": ":/", "host": ".:/", "path": "/;?", "name": "&=;", "value": "&;"}
"""What separates parts, in each part of a URL."""
AFTER = {
    ("host", "/"): "path",
    ("path", "?"): "name",
    ("name", "="): "value",
    ("value", "&"): "name",
}
Slot = list[tuple[tuple[str, ...], tuple[str, ...]]]
"""What each row has between two fixed elements: literals and "" for units; and the texts of those."""


def places(words: list[str]) -> list[tuple[str, bool]] | None:
    """In which part of the URL each token stands, and whether it separates parts; None for no URL."""
    state, slashes, found = "scheme", 0, []
    for word in words:
        if (state, word) == ("host", "@"):
            return None
        found.append((state, word in MARKS[state]))
        slashes += word == "/"
        state = AFTER.get((state, word), state)
        if state == "scheme" and slashes == 2:
            state = "host"
    return found if state in {"path", "name", "value"} else None


@dataclass
class Group:
    """What one aligned group says: its skeleton, and the texts of each unit by form."""

    key: tuple[Any, ...]
    """`=text` for literals, the kind of a unit, and slots: their factor and alternatives."""
    kinds: list[str]
    texts: list[set[tuple[int, str]]]
    forms: set[int]
    """Those that some row has."""


def group_of(rows: Matrix, how: Settings) -> Group | str:
    """Return the forms of a group, or why there are none."""
    read = [places([token for token in row if token is not None]) for row in rows]
    if None in read:
        return "no URLs"
    known = [each or [] for each in read]
    if how.word_runs:
        rows = slid(rows, _Reader(rows, known, replace(how, across_hosts=False)).marked)
    return _Reader(rows, known, how).group()


def slid(rows: Matrix, marked: list[bool]) -> Matrix:
    """Rows in which what follows a shared number is in the next column, if it is the same sign in all."""
    before = [column(rows, at) for at in range(len(rows[0]))]
    rows = [list(row) for row in rows]
    for at in range(len(before) - 1):
        number, sign = before[at], before[at + 1] - {None}
        is_number = len(number) == 1 and all(token and kind(token) == "D" for token in number)
        is_sign = None in before[at + 1] and len(sign) == 1 and all(kind(each or "") == "P" for each in sign)
        if not is_number or not is_sign or marked[at] or marked[at + 1]:
            continue
        follows = [next((n for n in range(at + 1, len(row)) if row[n] is not None), None) for row in rows]
        if all(n is not None and {row[n]} == sign for row, n in zip(rows, follows, strict=True)):
            for row, n in zip(rows, follows, strict=True):
                row[n or 0], row[at + 1] = None, row[n or 0]
    return rows


class _Reader:
    def __init__(self, rows: Matrix, read: list[list[tuple[str, bool]]], how: Settings) -> None:
        self.rows, self.how, self.width = rows, how, len(rows[0])
        self.literal, self.host = [False] * self.width, [False] * self.width
        for row, known in zip(rows, read, strict=True):
            filled = [number for number in range(self.width) if row[number] is not None]
            for number, (state, is_mark) in zip(filled, known, strict=True):
                self.literal[number] |= is_mark or state == "name"
                self.host[number] |= state in {"scheme", "host"}
        self.marked = list(self.literal)
        members = [column(rows, at) for at in range(self.width)]
        self.sort = [
            "optional" if None in each else "same" if len(each) == 1 else "varies" for each in members
        ]
        self.common_host = self._common_host() if how.across_hosts else range(0)
        for at in range(self.width):
            self.literal[at] |= self.host[at] and self.sort[at] == "same"
        self.whole = self._whole() if how.whole_parts else []

    def _common_host(self) -> range:
        """The columns between the second slash and the third, if all rows are the same up to there."""
        end = next((at for at in range(self.width) if not self.host[at]), self.width)
        slashes = [at for at in range(end) if self.rows[0][at] == "/"]
        is_same = all(sort == "same" for sort in self.sort[:end])
        if not is_same or len(slashes) != 3 or any(self.host[end:]):
            return range(0)
        return range(slashes[1] + 1, slashes[2])

    def _whole(self) -> list[range]:
        """Stretches between literals with all sorts of changes, if all rows have some of it."""
        found, start = [], 0
        for at in range(self.width + 1):
            if at < self.width and not self.literal[at]:
                continue
            kinds = set(self.sort[start:at])
            if "varies" in kinds and self.how.word_runs:
                found += self._runs(start, at)
                start = at + 1
                continue
            all_have = all(any(token is not None for token in row[start:at]) for row in self.rows)
            is_mixed = "varies" in kinds or ("same" not in kinds and all_have)
            if "optional" in kinds and is_mixed:
                found.append(range(start, at))
            start = at + 1
        return found

    def _runs(self, start: int, end: int) -> list[range]:
        """The runs of a stretch, each from its first change to its last.

        The stretch is spelled with a letter for each column (n: a shared number, w: a shared word, j: what
        joins words, p: other shared punctuation, v: varies, o: optional), and expressions find the rest.
        """
        spelled = "".join(map(self._letter, range(start, end)))
        found, at = [], 0
        for part in re.split(r"((?<![nwvo])n(?![nwvo])|p)", spelled):
            run = re.search("[vo](?:.*[vo])?", part)
            if run is not None and "v" in run[0]:
                first, last = run.span()
                first -= len(re.search("[nw]*$", part[:first])[0])  # type: ignore[index]  # always matches
                last += len(re.match("[nw]*", part[last:])[0])  # type: ignore[index]
                first -= len(re.search("(?:(?<=j)wj)*$", part[:first])[0])  # type: ignore[index]
                last += len(re.match("(?:jw(?=j))*", part[last:])[0])  # type: ignore[index]
                if last - first > 1:
                    found.append(range(start + at + first, start + at + last))
            at += len(part)
        return found

    def _letter(self, at: int) -> str:
        if self.sort[at] != "same":
            return self.sort[at][0]
        token = self.rows[0][at] or ""
        return {"L": "w", "D": "n", "P": "j" if token in {"-", "_", "+", "%20"} else "p"}[kind(token)]

    def _fixed(self) -> list[tuple[str, range]]:
        """What all rows have, in order: `=text` or the kind of a unit, with its columns."""
        found: list[tuple[str, range]] = []
        at = 0
        while at < self.width:
            inside = next((each for each in [*self.whole, self.common_host] if at in each), None)
            if inside is not None:
                found.append(("host" if inside is self.common_host else "varies", inside))
                at = inside.stop
            elif self.sort[at] == "same" and not self.literal[at]:
                end = at
                inner = {number for each in self.whole for number in each}
                while end < self.width and self.sort[end] == "same" and not self.literal[end]:
                    if end in inner:
                        break
                    end += 1
                found += self._run(at, end)
                at = end
            else:
                if self.sort[at] == "same":
                    found.append(self._text(at))
                elif self.sort[at] == "varies" and not self.literal[at]:
                    found.append(("varies", range(at, at + 1)))
                at += 1
        return found

    def _text(self, at: int) -> tuple[str, range]:
        return f"={self.rows[0][at]}", range(at, at + 1)

    def _run(self, start: int, end: int) -> list[tuple[str, range]]:
        """What is the same; punctuation beside a change stays literal."""
        first, last = start, end
        if start > 0 and not self.literal[start - 1]:
            while first < last and kind(self.rows[0][first] or "") == "P":
                first += 1
        if end < self.width and not self.literal[end]:
            while last > first and kind(self.rows[0][last - 1] or "") == "P":
                last -= 1
        unit = [("same", range(first, last))] if first < last else []
        return [*map(self._text, range(start, first)), *unit, *map(self._text, range(last, end))]

    def group(self) -> Group | str:
        """Return skeleton and texts."""
        fixed = self._fixed()
        ends = [0, *(columns.stop for _, columns in fixed)]
        starts = [*(columns.start for _, columns in fixed), self.width]
        slots = [
            [slot_of(row, begin, end, self.literal) for row in self.rows]
            for begin, end in zip(ends, starts, strict=True)
        ]
        factors = factors_of(slots)
        form_of, forms = [0] * len(self.rows), 1
        for numbers, alternatives in factors:
            forms *= len(alternatives)
            for row in range(len(self.rows)):
                said = tuple(slots[number][row][0] for number in numbers)
                form_of[row] = form_of[row] * len(alternatives) + alternatives.index(said)
        if forms > self.how.max_forms:
            return "too many forms"
        return assembled(self.rows, fixed, slots, factors, form_of)


def factors_of(slots: list[Slot]) -> list[tuple[list[int], list[Any]]]:
    """Slots that change together, each with its alternatives, the shortest first."""
    partitions: dict[tuple[int, ...], list[int]] = {}
    for number, slot in enumerate(slots):
        said = [elements for elements, _ in slot]
        if len(set(said)) > 1:
            partitions.setdefault(tuple(said.index(each) for each in said), []).append(number)
    found = []
    for numbers in partitions.values():
        wholes = {tuple(slots[number][row][0] for number in numbers) for row in range(len(slots[0]))}
        found.append((numbers, sorted(wholes, key=lambda each: (sum(map(len, each)), each))))
    return found


def slot_of(row: Row, begin: int, end: int, literal: list[bool]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The elements of a row between two fixed ones, and the texts of its units."""
    elements: list[str] = []
    texts: list[str] = []
    piece: list[str] = []

    def finish() -> None:
        core = list(piece)
        while core and kind(core[0]) == "P":
            elements.append(core.pop(0))
        behind: list[str] = []
        while core and kind(core[-1]) == "P":
            behind.insert(0, core.pop())
        if core:
            elements.append("")
            texts.append("".join(core))
        elements.extend(behind)
        piece.clear()

    for at in range(begin, end):
        token = row[at]
        if token is None:
            continue
        if literal[at]:
            finish()
            elements.append(token)
        else:
            piece.append(token)
    finish()
    return tuple(elements), tuple(texts)


def assembled(
    rows: Matrix, fixed: list[Any], slots: list[Any], factors: list[Any], form_of: list[int]
) -> Group:
    """Skeleton and texts from the pieces; units outside of alternatives come first."""
    key: list[Any] = []
    kinds: list[str] = []
    texts: list[set[tuple[int, str]]] = []
    optional: list[set[tuple[int, str]]] = []
    factor_of = {number: at for at, (numbers, _) in enumerate(factors) for number in numbers}
    for number, slot in enumerate(slots):
        if number in factor_of:
            numbers, alternatives = factors[factor_of[number]]
            said = tuple(each[numbers.index(number)] for each in alternatives)
            key.append(("slot", factor_of[number], said))
            optional += [
                {(0, row[1][unit]) for row in slot if row[0] == elements}
                for elements in said
                for unit in range(elements.count(""))
            ]
        else:
            key += [f"={element}" if element else "varies" for element in slot[0][0]]
            for unit in range(len(slot[0][1])):
                kinds.append("varies")
                texts.append({(form, row[1][unit]) for form, row in zip(form_of, slot, strict=True)})
        if number == len(fixed):
            continue
        mark, columns = fixed[number]
        key.append(mark)
        if not mark.startswith("="):
            said_by = ["".join(row[at] or "" for at in columns) for row in rows]
            kinds.append(mark)
            forms = form_of if mark == "varies" else [0] * len(rows)
            texts.append(set(zip(forms, said_by, strict=True)))
    return Group(tuple(key), kinds + ["optional"] * len(optional), texts + optional, set(form_of))
