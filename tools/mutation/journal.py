"""What became of each fault, kept so that a run goes on where it was ended; and the score it comes to."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from tools.mutation.covering import PARTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tools.mutation.trial import Outcome

REVIEWED = Path(__file__).resolve().parent / "equivalent.txt"


class Journal:
    """One line for each mutant, written as soon as its outcome is known; the last one holds."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[str, dict[str, object]] = {}
        self.read()

    def read(self) -> None:
        """Learn what this and other processes have noted so far."""
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        self.known = {entry["mutant"]: entry for entry in map(json.loads, lines)}

    def add(self, key: str, outcome: Outcome) -> None:
        """Note an outcome, in one piece, for other processes do the same."""
        entry = {"mutant": key, "killed": outcome.is_killed, "by": outcome.by, "cpu_s": outcome.cpu_s}
        with self.path.open("ab", buffering=0) as file:
            file.write(json.dumps(entry, ensure_ascii=False).encode() + b"\n")
        print(f"{'killed' if outcome.is_killed else 'LIVES '} {outcome.cpu_s:5.1f} s  {key}", flush=True)


def equivalent() -> dict[str, str]:
    """Return the reviewed mutants that change nothing, each with the reason."""
    found: dict[str, str] = {}
    reason: list[str] = []
    for line in REVIEWED.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            reason.append(line.removeprefix("#").strip())
        elif line.strip():
            found[line.strip()] = " ".join(reason)
        else:
            reason = []
    return found


def tell(keys: Sequence[str], journal: Journal, least: float) -> int:
    """Print who is excused, who survived, and the score part by part; return the exit code."""
    reviewed = equivalent()
    excused = [key for key in keys if key in reviewed]
    waiting = [key for key in keys if key not in journal.known and key not in reviewed]
    tried, killed, left_out = Counter[str](), Counter[str](), Counter[str](map(part_of, excused))
    for key in excused:
        print(f"excused  {key}\n         {reviewed[key]}")
    for key in keys:
        if key in reviewed or key not in journal.known:
            continue
        tried[part_of(key)] += 1
        killed[part_of(key)] += bool(journal.known[key]["killed"])
        if not journal.known[key]["killed"]:
            print(f"lives    {key}")
    print(f"\n{'part':12} {'tried':>6} {'noticed':>8} {'score':>7} {'excused':>8}")
    for name in sorted({*tried, *left_out}):
        print(_row(name, tried[name], killed[name], left_out[name]))
    print(_row("all", tried.total(), killed.total(), left_out.total()))
    if waiting:
        print(f"{len(waiting)} not tried yet")
    return int(killed.total() < least * tried.total())


def part_of(key: str) -> str:
    """Return the part of the code that a mutant is of."""
    return next((part for part in PARTS if key.startswith(f"src/undust/{part}/")), "core")


def _row(name: str, tried: int, killed: int, excused: int) -> str:
    return f"{name:12} {tried:6} {killed:8} {killed / tried if tried else 0:7.1%} {excused:8}"
