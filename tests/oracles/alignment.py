"""DUSTER's alignment in plain Python, one text at a time.

Rows of an alignment are lists of tokens with None for a gap, all of one length. What is read from them is
in `alignment_forms`, and what is learned from many in `alignment_rules`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations, product

Row = list[str | None]
Matrix = list[Row]


@dataclass(frozen=True)
class Settings:
    """What the learner calls by the same names."""

    aligner: str = "plain"
    band: int = 8
    scoring: str = "typed"
    order: str = "score"
    gaps_count: bool = False
    triplets: bool = True
    whole_parts: bool = True
    word_runs: bool = True
    across_hosts: bool = False
    max_members: int = 5
    max_forms: int = 8
    halves: bool = True
    min_clusters: int = 2
    constant_share: float = 0.5


def tokens(text: str, *, triplets: bool = True) -> list[str]:
    """Runs of letters, runs of digits, and single characters."""
    pattern = r"[A-Za-z]+|[0-9]+|."
    return re.findall(rf"%[0-9A-Fa-f]{{2}}|{pattern}" if triplets else pattern, text, re.DOTALL)


def kind(token: str) -> str:
    """Whether a token is letters (L), digits (D) or punctuation (P)."""
    return "L" if re.match("[A-Za-z]", token) else "D" if re.match("[0-9]", token) else "P"


def column(rows: Matrix, at: int) -> set[str | None]:
    """The members of a column, None for the gap."""
    return {row[at] for row in rows}


def fit(left: set[str | None], right: set[str | None], how: Settings) -> float | None:
    """How well two columns go together; None if they must not."""
    ours, theirs = left - {None}, right - {None}
    common = ours & theirs
    if how.scoring == "typed" and not common:
        kinds = [{kind(token) for token in side if token is not None} for side in (ours, theirs)]
        if "P" in kinds[0] | kinds[1]:
            return None
        if not kinds[0] & kinds[1]:
            return -1.0
    if how.gaps_count:
        return len(left & right) / len(left | right)
    return len(common) / len(ours | theirs)


def best_score(x: list[set[str | None]], y: list[set[str | None]], how: Settings) -> list[list[float]]:
    """The table of the dynamic program: M[i][j] for the first i and j columns."""
    reach = how.band + abs(len(x) - len(y)) if how.aligner == "banded" else len(x) + len(y)
    never = float("-inf")
    table = [[never] * (len(y) + 1) for _ in range(len(x) + 1)]
    for i, j in product(range(len(x) + 1), range(len(y) + 1)):
        if abs(i - j) > reach:
            continue
        if i == 0 or j == 0:
            table[i][j] = 0.0
            continue
        met = fit(x[i - 1], y[j - 1], how)
        diagonal = never if met is None else table[i - 1][j - 1] + met
        table[i][j] = max(diagonal, table[i - 1][j], table[i][j - 1])
    return table


def pair(left: Matrix, right: Matrix, how: Settings) -> tuple[float, Matrix]:
    """Align two matrices; return the score and all their rows side by side."""
    x = [column(left, at) for at in range(len(left[0]))]
    y = [column(right, at) for at in range(len(right[0]))]
    head = tail = 0
    if how.aligner == "anchored":
        while head < min(len(x), len(y)) and fit(x[head], y[head], how) == 1:
            head += 1
        while head + tail < min(len(x), len(y)) and fit(x[-tail - 1], y[-tail - 1], how) == 1:
            tail += 1
    inner_x, inner_y = x[head : len(x) - tail], y[head : len(y) - tail]
    table = best_score(inner_x, inner_y, how)
    path: list[tuple[int | None, int | None]] = []
    i, j = len(inner_x), len(inner_y)
    while i or j:
        met = fit(inner_x[i - 1], inner_y[j - 1], how) if i and j else None
        if met is not None and table[i][j] == table[i - 1][j - 1] + met:
            i, j = i - 1, j - 1
            path.insert(0, (head + i, head + j))
        elif i and table[i][j] == table[i - 1][j]:
            i -= 1
            path.insert(0, (head + i, None))
        else:
            j -= 1
            path.insert(0, (None, head + j))
    same = [(at, at) for at in range(head)]
    end = [(len(x) - tail + at, len(y) - tail + at) for at in range(tail)]
    path = [*same, *path, *end]
    rows = [[None if i is None else row[i] for i, _ in path] for row in left]
    rows += [[None if j is None else row[j] for _, j in path] for row in right]
    return table[-1][-1] + head + tail, rows


def align(urls: list[str], how: Settings) -> tuple[float, Matrix]:
    """Progressive alignment: the best pair of what is alive becomes one; rows come back in order of URLs."""
    ordered = sorted(urls)
    alive: dict[int, tuple[list[int], Matrix]] = {
        number: ([number], [list(tokens(url, triplets=how.triplets))]) for number, url in enumerate(ordered)
    }
    score, number = 0.0, len(ordered)
    found: dict[tuple[int, int], tuple[float, float, Matrix]] = {}

    def tried(x: int, y: int) -> None:
        value, rows = pair(alive[x][1], alive[y][1], how)
        longest = max(len(alive[x][1][0]), len(alive[y][1][0]), 1)
        found[x, y] = (value / longest if how.order == "share" else value, value, rows)

    for x, y in combinations(alive, 2):
        tried(x, y)
    while len(alive) > 1:
        x, y = min(combinations(sorted(alive), 2), key=lambda two: (-found[two][0], two))
        _, score, rows = found[x, y]
        members = alive.pop(x)[0] + alive.pop(y)[0]
        alive[number] = (members, rows)
        for other in sorted(alive)[:-1]:
            tried(other, number)
        number += 1
    ((members, rows),) = alive.values()
    return score, [row for _, row in sorted(zip(members, rows, strict=True), key=lambda each: each[0])]


def consensus(rows: Matrix) -> str:
    """The columns as people read them."""
    said = []
    for at in range(len(rows[0])):
        members = column(rows, at)
        texts = [
            *sorted(member for member in members if member is not None),
            *(["λ"] if None in members else []),
        ]
        said.append(texts[0] if len(texts) == 1 else "{" + ",".join(texts) + "}")
    return " ".join(said)
