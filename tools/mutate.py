"""Counts how many small faults in our own code the tests notice: `make mutation`.

Three steps, each kept in `build/mutation`, so that a run that was ended goes on where it was:

    collect   all tests once, to see which of them run each line, and how long each takes
    python    a sample of the faults in FOLDERS, each against the tests that run its line
    core      the faults of core_mutants.py, each against the tests of CORE_TESTS

A fault that changes nothing anyone could see is no gap in the tests. Such are listed, each with the reason,
in `mutation/equivalent.txt`; they are not counted, and a line there that fits no mutant is told.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tools.mutation.core_build import CoreCopy
from tools.mutation.core_mutants import CORE_MUTANTS
from tools.mutation.covering import Covering, collect
from tools.mutation.mutants import Mutant, mutants_of, sample
from tools.mutation.trial import Exchanged, Outcome, run_tests, warm_up

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = tuple(
    f"src/undust/{name}" for name in ("rules", "selection", "duplicates", "evaluation", "validation")
)
CORE_TESTS = ("tests/rules/", "tests/urls/", "tests/oracles/", "tests/laws/")
COUNT, SEED = 420, 15


class Journal:
    """What became of each mutant, one line each; written as soon as it is known."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self.known = {entry["mutant"]: entry for entry in map(json.loads, lines)}

    def add(self, key: str, outcome: Outcome) -> None:
        """Note an outcome."""
        entry = {"mutant": key, "killed": outcome.is_killed, "by": outcome.by, "cpu_s": outcome.cpu_s}
        self.known[key] = entry
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        print(f"{'killed' if outcome.is_killed else 'LIVES '} {outcome.cpu_s:5.1f} s  {key}", flush=True)


def main() -> None:
    """Run what is left to run, and say the score."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "mutation")
    parser.add_argument("--count", type=int, default=COUNT, help="mutants of the Python files")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument(
        "--part", type=int, nargs=2, default=(0, 1), metavar=("I", "N"), help="the I-th of N parts"
    )
    parser.add_argument("--again", action="store_true", help="try those that survived on the slow tests")
    parser.add_argument("--score", action="store_true", help="say the score of what has been run")
    parser.add_argument("--least", type=float, default=0.85, help="exit code 1 below this score")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    journal = Journal(options.folder / "journal.jsonl")
    chosen = sample(mutants_of(ROOT, FOLDERS), options.count, options.seed)
    if not options.score:
        if not (options.folder / "coverage").exists():
            collect(ROOT, options.folder)
        warm_up()
        covering = Covering(ROOT, options.folder)
        part, parts = options.part
        skip = {key for key, entry in journal.known.items() if entry["killed"] or not options.again}
        if options.again:
            skip |= {each.key for each in chosen if each.key not in journal.known}
        skip |= set(equivalent())
        try_python(
            [each for each in chosen[part::parts] if each.key not in skip],
            covering,
            journal,
            again=options.again,
        )
        if part == 0:
            try_core(
                [each.key for each in CORE_MUTANTS if each.key not in skip], covering, journal, options.folder
            )
    sys.exit(tell(chosen, journal, options.least))


def equivalent() -> dict[str, str]:
    """Return the reviewed mutants that change nothing, each with the reason."""
    found: dict[str, str] = {}
    reason: list[str] = []
    for line in (ROOT / "tools" / "mutation" / "equivalent.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            reason.append(line.removeprefix("#").strip())
        elif line.strip():
            found[line.strip()] = " ".join(reason)
        else:
            reason = []
    return found


def try_python(mutants: Iterable[Mutant], covering: Covering, journal: Journal, *, again: bool) -> None:
    """Run the tests of each mutant; those beside the code first, then all others that run its line."""
    for mutant in mutants:
        with tempfile.TemporaryDirectory(prefix="undust-mutant-") as folder:
            other = Path(folder) / Path(mutant.path).name
            other.write_text(
                mutant.text_of((ROOT / mutant.path).read_text(encoding="utf-8")), encoding="utf-8"
            )
            module = (
                mutant.path.removeprefix("src/")
                .removesuffix(".py")
                .replace("/", ".")
                .removesuffix(".__init__")
            )
            exchanged = Exchanged(module, ROOT / mutant.path, other)
            outcome = Outcome(is_killed=False, by="no test runs this line", cpu_s=0.0)
            for tests in covering.tests_of(mutant.path, mutant.line, again=again):
                outcome = trial(exchanged, tests, covering)
                if outcome.is_killed:
                    break
        journal.add(mutant.key, outcome)


def trial(exchanged: Exchanged, tests: Sequence[str], covering: Covering) -> Outcome:
    """Run tests on a mutant; a test that fails without it as well, here and now, says nothing."""
    outcome = run_tests(exchanged, tests, covering.seconds_of(tests))
    while outcome.is_killed and "::" in outcome.by and not passes_alone(outcome.by):
        tests = [test for test in tests if test != outcome.by]
        outcome = run_tests(exchanged, tests, covering.seconds_of(tests))
    return outcome


@cache
def passes_alone(test: str) -> bool:
    """Whether a test passes on the code as it is."""
    return not run_tests(None, [test], 60).is_killed


def try_core(keys: Sequence[str], covering: Covering, journal: Journal, folder: Path) -> None:
    """Build each fault of the core, and run the tests of rules and URLs."""
    if not keys:
        return
    copy = CoreCopy(ROOT, folder / "core")
    tests = covering.tests_under(CORE_TESTS)
    for mutant in CORE_MUTANTS:
        if mutant.key in keys:
            outcome = trial(copy.build(mutant), tests, covering)
            journal.add(mutant.key, outcome)


def tell(chosen: Sequence[Mutant], journal: Journal, least: float) -> int:
    """Print the score, part by part, and what survived; return the exit code."""
    reviewed = equivalent()
    keys = [*(mutant.key for mutant in chosen), *(mutant.key for mutant in CORE_MUTANTS)]
    tried, killed = Counter[str](), Counter[str]()
    lives = []
    for key in keys:
        name = "cpp" if key.startswith("cpp/") else key.split("/")[2]
        if key in reviewed or key not in journal.known:
            continue
        tried[name] += 1
        if journal.known[key]["killed"]:
            killed[name] += 1
        else:
            lives.append(key)
    print("\nlives  " + "\nlives  ".join(lives) if lives else "")
    print(f"\n{'part':12} {'tried':>6} {'killed':>7} {'score':>7}")
    for name in [*sorted(tried), "all"]:
        of, by = (tried.total(), killed.total()) if name == "all" else (tried[name], killed[name])
        print(f"{name:12} {of:6} {by:7} {by / of if of else 0:7.1%}")
    waiting = sum(key not in journal.known and key not in reviewed for key in keys)
    print(f"{sum(key in reviewed for key in keys)} change nothing, as reviewed; {waiting} not tried yet")
    return int(killed.total() < least * tried.total())


if __name__ == "__main__":
    main()
