"""Counts how many small faults in our own code the tests notice: `make mutation`.

Three steps, each kept in `build/mutation`, so that a run that was ended goes on where it was:

    collect   the tests once, to see which of them run each line, and how long each takes
    python    a sample of the faults of the Python parts, each against the tests that run its line
    core      the faults of core_mutants.py, each built and tried on the tests of rules and URLs

A fault that changes nothing anyone could see is no gap in the tests. Such are listed, each with the reason,
in `mutation/equivalent.txt`; they are named with the score and not counted in it.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tools.mutation.core_build import CoreCopy
from tools.mutation.core_mutants import CORE_MUTANTS, CoreMutant
from tools.mutation.covering import PARTS, Covering, collect
from tools.mutation.journal import Journal, equivalent, part_of, tell
from tools.mutation.mutants import Mutant, mutants_of, sample
from tools.mutation.trial import Exchanged, Outcome, run_tests, warm_up

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = tuple(f"src/undust/{part}" for part in PARTS)
COUNT, SEED = 420, 15


def main() -> None:
    """Run what is left to run, and say the score."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "mutation")
    parser.add_argument("--count", type=int, default=COUNT, help="mutants of the Python files")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--part", choices=(*PARTS, "core"), action="append", help="only this part")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many at a time")
    parser.add_argument("--again", action="store_true", help="what survived once more, on slow tests too")
    parser.add_argument("--fresh", action="store_true", help="forget what was tried before")
    parser.add_argument("--score", action="store_true", help="say the score of what has been tried")
    parser.add_argument("--least", type=float, default=0.85, help="exit code 1 below this score")
    options = parser.parse_args()
    if options.fresh:
        shutil.rmtree(options.folder, ignore_errors=True)
    options.folder.mkdir(parents=True, exist_ok=True)
    journal = Journal(options.folder / "journal.jsonl")
    everything: list[Mutant | CoreMutant] = [*CORE_MUTANTS]
    everything += sample(mutants_of(ROOT, FOLDERS), options.count, options.seed)
    chosen = [each for each in everything if not options.part or part_of(each.key) in options.part]
    if not options.score:
        waiting = [each for each in chosen if is_waiting(each.key, journal, again=options.again)]
        if waiting:
            collect(ROOT, options.folder, options.jobs)
            try_all(waiting, Workshop(options.folder, journal, options.jobs, again=options.again))
        journal.read()
    sys.exit(tell([each.key for each in chosen], journal, options.least))


def is_waiting(key: str, journal: Journal, *, again: bool) -> bool:
    """Whether a mutant is still to be tried."""
    if key in equivalent():
        return False
    if again:
        return key in journal.known and not journal.known[key]["killed"]
    return key not in journal.known


class Workshop:
    """What the processes that try mutants share."""

    def __init__(self, folder: Path, journal: Journal, jobs: int, *, again: bool) -> None:
        self.folder, self.journal, self.jobs, self.again = folder, journal, jobs, again
        self.covering = Covering(ROOT, folder)
        self.building = multiprocessing.Lock()
        self.next = multiprocessing.Value("q", 0)

    def take(self) -> int:
        """Return the number of the next mutant that nobody has taken."""
        with self.next.get_lock():
            place: int = self.next.value
            self.next.value += 1
        return place


def try_all(mutants: Sequence[Mutant | CoreMutant], workshop: Workshop) -> None:
    """Try mutants, several at a time."""
    warm_up()
    # forked, so that none has to load anything again
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_work, args=(mutants, workshop)) for _ in range(workshop.jobs)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if any(worker.exitcode for worker in workers):
        sys.exit("not all could be tried; what went wrong stands above")


def _work(mutants: Sequence[Mutant | CoreMutant], workshop: Workshop) -> None:
    while (place := workshop.take()) < len(mutants):
        mutant = mutants[place]
        outcome = try_python(mutant, workshop) if isinstance(mutant, Mutant) else try_core(mutant, workshop)
        workshop.journal.add(mutant.key, outcome)


def try_python(mutant: Mutant, workshop: Workshop) -> Outcome:
    """Run the tests of a mutant; those beside the code first, then all others that run its line."""
    with tempfile.TemporaryDirectory(prefix="undust-mutant-") as folder:
        other = Path(folder) / Path(mutant.path).name
        other.write_text(mutant.text_of((ROOT / mutant.path).read_text(encoding="utf-8")), encoding="utf-8")
        module = mutant.path.removeprefix("src/").removesuffix(".py").replace("/", ".")
        exchanged = Exchanged(module.removesuffix(".__init__"), ROOT / mutant.path, other)
        outcome = Outcome(is_killed=False, by="no test runs this line", cpu_s=0.0)
        for tests in workshop.covering.tests_of(mutant.path, mutant.line, again=workshop.again):
            outcome = trial(exchanged, tests, workshop.covering)
            if outcome.is_killed:
                break
    return outcome


def try_core(mutant: CoreMutant, workshop: Workshop) -> Outcome:
    """Build a fault of the core, and run the tests of rules and URLs."""
    with workshop.building:
        exchanged = CoreCopy(ROOT, workshop.folder / "core").build(mutant, workshop.jobs)
    try:
        return trial(exchanged, workshop.covering.tests_of_core(), workshop.covering)
    finally:
        exchanged.other.unlink()


def trial(exchanged: Exchanged, tests: Sequence[str], covering: Covering) -> Outcome:
    """Run tests on a mutant; a test that fails without the fault as well, here and now, says nothing."""
    outcome = run_tests(exchanged, tests, covering.seconds_of(tests))
    while outcome.is_killed and "::" in outcome.by and not passes(exchanged.faultless(), outcome.by):
        tests = [test for test in tests if test != outcome.by]
        outcome = run_tests(exchanged, tests, covering.seconds_of(tests))
    return outcome


@cache
def passes(exchanged: Exchanged | None, test: str) -> bool:
    """Whether a test passes on the code as it is, the same module exchanged for itself."""
    return not run_tests(exchanged, [test], 60).is_killed


if __name__ == "__main__":
    main()
