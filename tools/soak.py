"""Hours of fuzzing in one process after another: every target of `tests/fuzz/`, in C++ and in Python.

    python -m tools.soak --seconds 3600
    python -m tools.soak --target read-arc --first 361 --count 1     # repeats a finding

Each target has an equal share of the time, in slices, each a process of its own: one that is killed by its
input is a finding like any other. Inputs have numbers, and a number is the same input on every machine. A
slice begins where the last one ended, so that a longer soak looks further instead of twice.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from time import monotonic, process_time
from typing import TYPE_CHECKING, Any

from tests.fuzz import building
from tests.fuzz.mutation import mutated
from tests.fuzz.targets import TARGETS, Target

if TYPE_CHECKING:
    from collections.abc import Sequence

ROUNDS = 2
LONGEST_S = 10.0
"""Processor time after which an input counts as one that hangs; none of them is larger than 64 KiB."""


class Hangs(BaseException):
    """An input took longer than any may; not an `Exception`, so that no target can swallow it."""


@dataclass
class Tally:
    """What became of the inputs of one target."""

    target: str
    inputs: int = 0
    taken: int = 0
    refused: int = 0
    slowest_s: float = 0.0
    peak_bytes: int = 0
    findings: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Count another slice of the same target."""
        self.inputs += other.inputs
        self.taken += other.taken
        self.refused += other.refused
        self.slowest_s = max(self.slowest_s, other.slowest_s)
        self.peak_bytes = max(self.peak_bytes, other.peak_bytes)
        self.findings += other.findings


def slice_of_python(target: Target, first: int, seconds: float, most: int | None) -> Tally:
    """Run a target of Python on one input after the other in this process."""

    def stop(*_: object) -> None:
        raise Hangs

    tally, seeds, end = Tally(target.name), target.seeds(), monotonic() + seconds
    signal.signal(signal.SIGVTALRM, stop)
    with tempfile.TemporaryDirectory() as folder:
        for number in count(first):
            if monotonic() > end or tally.inputs == most:
                break
            _try(target, mutated(seeds, random.Random(number)), number, Path(folder), tally)
    tally.peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return tally


def _try(target: Target, data: bytes, number: int, folder: Path, tally: Tally) -> None:
    started = process_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST_S)
    try:
        is_taken = target.takes(data, folder)
        tally.taken += is_taken
        tally.refused += not is_taken
    except (Exception, Hangs) as error:  # noqa: BLE001 -- that is what is looked for
        place = traceback.extract_tb(error.__traceback__)[-1]
        said = f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}: {str(error)[:200]}"
        tally.findings.append(f"input {number}: {said}")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    tally.inputs += 1
    tally.slowest_s = max(tally.slowest_s, process_time() - started)


def in_its_own_process(target: Target, first: int, seconds: float, most: int | None) -> Tally:
    """Run a slice of a Python target where nothing that it does can end the soak."""
    words = [sys.executable, "-m", "tools.soak", "--slice", "--target", target.name, "--first", str(first)]
    words += ["--seconds", str(seconds), *(["--count", str(most)] if most is not None else [])]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=building.REPOSITORY)
    if done.returncode != 0:
        why = f"inputs from {first} on: the process ended with {done.returncode}: {done.stderr[-500:]}"
        return Tally(target.name, findings=[why])
    return Tally(**json.loads(done.stdout))


def slice_of_core(program: Path, first: int, seconds: float, most: int | None) -> Tally:
    """Run a target of C++ under the sanitizers."""
    name = f"core-{program.name.removeprefix('fuzz_')}"
    seeds = building.seeds_of(building.HERE / f"{program.name}.cpp")
    words = [str(program), str(seeds), str(most or 10**12), str(seconds), str(first)]
    done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
    told = re.match(r"(\d+) mutations", done.stdout)
    tried = int(told[1]) if told else 0
    return Tally(name, tried, taken=tried, findings=[] if done.returncode == 0 else [done.stderr[-2000:]])


def soak(arguments: argparse.Namespace) -> list[Tally]:
    """Give every target its share of the time, and count."""
    with tempfile.TemporaryDirectory() as folder:
        jobs: dict[str, Any] = {
            target.name: lambda *rest, target=target: in_its_own_process(target, *rest) for target in TARGETS
        }
        for source in building.TARGETS:
            name = f"core-{source.stem.removeprefix('fuzz_')}"
            if arguments.target and name not in arguments.target:
                continue
            program = Path(folder) / source.stem
            building.build(_compiler(), source, program)
            jobs[name] = lambda *rest, program=program: slice_of_core(program, *rest)
        chosen = {name: jobs[name] for name in arguments.target} if arguments.target else jobs
        tallies = {name: Tally(name) for name in chosen}
        share = arguments.seconds / len(chosen) / ROUNDS
        for _ in range(ROUNDS):
            for name, job in chosen.items():
                done = job(arguments.first + tallies[name].inputs, share, arguments.count)
                tallies[name].add(done)
                # Told at once, or a soak that is ended early would lose what it found.
                for told in (f"{tallies[name].inputs:,} inputs", *done.findings):
                    print(f"{name}: {told}", file=sys.stderr, flush=True)
            if arguments.count is not None:
                break
    return list(tallies.values())


def _compiler() -> str:
    return shutil.which("g++") or "g++"


def print_table(tallies: Sequence[Tally], seconds: float) -> None:
    """Print what was tried, in the columns of docs/reliability.md."""
    print("| target | inputs | taken | refused in one sentence | slowest | findings |")
    print("|---|---:|---:|---:|---:|---:|")
    for tally in tallies:
        # The driver of the core knows no refusals and no times.
        slowest = f"{1000 * tally.slowest_s:,.0f} ms" if tally.slowest_s else "–"
        refused = "–" if tally.target.startswith("core-") else f"{tally.refused:,}"
        counts = f"{tally.inputs:,} | {tally.taken:,} | {refused} | {slowest} | {len(tally.findings)}"
        print(f"| `{tally.target}` | {counts} |")
    inputs, findings = sum(t.inputs for t in tallies), sum(len(t.findings) for t in tallies)
    peak = max(tally.peak_bytes for tally in tallies)
    print(f"\n{inputs:,} inputs in {seconds / 60:.0f} minutes, {findings} findings, peak {peak >> 20} MiB")
    for tally in tallies:
        for finding in tally.findings[:20]:
            print(f"\n{tally.target}: {finding}")


def main() -> int:
    """Fuzz for as long as asked, print a table, and fail if anything was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60, help="for all targets together")
    parser.add_argument("--target", action="append", help="only this one; may be repeated")
    parser.add_argument("--first", type=int, default=1, help="the number of the first input")
    parser.add_argument("--count", type=int, help="no more inputs of a target than this")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--slice", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.slice:
        target = next(target for target in TARGETS if target.name == arguments.target[0])
        done = slice_of_python(target, arguments.first, arguments.seconds, arguments.count)
        print(json.dumps(asdict(done)))
        return 0
    started = monotonic()
    tallies = soak(arguments)
    if arguments.json:
        print(json.dumps([asdict(tally) for tally in tallies]))
    else:
        print_table(tallies, monotonic() - started)
    return int(any(tally.findings for tally in tallies))


if __name__ == "__main__":
    sys.exit(main())
