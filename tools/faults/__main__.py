"""Every command that writes, ended in every bad way: what is left is the old output or the new one, whole.

    python -m tools.faults --trials 20 --seed 7

Each trial is a process in a folder of its own, forked from one that has loaded everything, so that a signal
meets the work and not the loading of Python. After each trial the same command runs again and has to
succeed. Half of the signals come at a random moment, half as soon as an unfinished file shows.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from tools.faults.baseline import baseline_of
from tools.faults.disks import can_mount
from tools.faults.jobs import JOBS, Job, make_inputs
from tools.faults.processes import load_everything
from tools.faults.trials import FAULTS, Count, Trials

if TYPE_CHECKING:
    from tools.faults.baseline import Baseline


def tried(
    trials: int,
    seed: int,
    faults: tuple[str, ...] = FAULTS,
    jobs: tuple[Job, ...] = JOBS,
    most: int | None = None,
) -> dict[str, dict[str, Count]]:
    """Return what became of each command under each fault; of `most` pairs only, if that is given."""
    load_everything()
    counts: dict[str, dict[str, Count]] = {}
    with tempfile.TemporaryDirectory() as name:
        work = Path(name).resolve()
        inputs = work / "inputs"
        inputs.mkdir()
        make_inputs(inputs)
        all_trials = Trials(inputs, work, seed)
        possible = [fault for fault in faults if fault != "disk full" or can_mount(work)]
        pairs = [(job, fault) for job in jobs for fault in possible]
        if most is not None:
            pairs = all_trials.chance.sample(pairs, min(most, len(pairs)))
        bases: dict[Job, Baseline] = {}
        for job, fault in pairs:
            if job not in bases:
                bases[job] = baseline_of(job, inputs, all_trials.new_folder())
            count = counts.setdefault(job.name, {}).setdefault(fault, Count())
            for _ in range(trials):
                all_trials.run(bases[job], fault, count)
    return counts


def print_table(counts: dict[str, dict[str, Count]]) -> None:
    """Print the trials of each command under each fault, in the columns of docs/reliability.md."""
    shown = [fault for fault in FAULTS if any(fault in row for row in counts.values())]
    print(f"| command | {' | '.join(shown)} | old kept | new there | parts cleaned | losses |")
    print(f"|---|{'---:|' * (len(shown) + 4)}")
    total: Counter[str] = Counter()
    for command, row in counts.items():
        trials = [str(row[fault].trials) if fault in row else "–" for fault in shown]
        states = sum((count.states for count in row.values()), Counter[str]())
        told = {
            "old": states["old"],
            "new": states["new"] + states["new+old"],
            "cleaned": sum(count.cleaned for count in row.values()),
            "losses": sum(len(count.losses) for count in row.values()),
        }
        total.update(told | {"trials": sum(count.trials for count in row.values())})
        print(f"| `{command}` | {' | '.join(trials)} | {' | '.join(map(str, told.values()))} |")
    print(f"\n{total['trials']:,} trials, {total['losses']} losses")
    for row in counts.values():
        for count in row.values():
            for loss in count.losses:
                print(loss)


def main() -> int:
    """Try all faults on all commands, print a table, and fail if anything was lost."""
    as_written = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=as_written)
    parser.add_argument("--trials", type=int, default=2, help="of each command under each fault")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=int, help="so many pairs of a command and a fault, drawn by the seed")
    parser.add_argument("--fault", choices=FAULTS, action="append")
    parser.add_argument("--command", choices=sorted({job.command for job in JOBS}), action="append")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    jobs = tuple(job for job in JOBS if given.command is None or job.command in given.command)
    counts = tried(given.trials, given.seed, tuple(given.fault or FAULTS), jobs, given.most)
    losses = [loss for row in counts.values() for count in row.values() for loss in count.losses]
    if given.json:
        rows = [
            {"command": command, "fault": fault, "trials": count.trials, "states": count.states,
             "cleaned": count.cleaned, "losses": count.losses}
            for command, row in counts.items() for fault, count in row.items()
        ]  # fmt: skip
        print(json.dumps(rows))
    else:
        print_table(counts)
    return int(bool(losses))


if __name__ == "__main__":
    sys.exit(main())
