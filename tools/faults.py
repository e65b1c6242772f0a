"""Every command that writes, ended in every bad way: what is left is the old output or the new one, whole.

    python -m tools.faults --trials 20 --seed 7

Each trial is a process in a folder of its own, forked from one that has loaded everything, so that a signal
meets the work and not the loading of Python. After each trial the same command runs again and has to
succeed. Half of the signals come at a random moment, half as soon as an unfinished file shows.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from tools.fault_jobs import JOBS, UNDUST, Job, make_inputs, prepare
from tools.rights import give_up_rights

if TYPE_CHECKING:
    from collections.abc import Callable

    Setting = Callable[[], object]

SIGNALS = {"SIGKILL": signal.SIGKILL, "SIGTERM": signal.SIGTERM, "Ctrl-C": signal.SIGINT}
FAULTS = (*SIGNALS, "disk full", "file too large", "read-only folder", "two at once")
PART = ".undust-*.part"
LONGEST_S = 120.0
MOMENTS = re.compile(rb"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)")
"""When something was done, which no two runs have in common."""
LOADED = (
    *("undust.pipeline", "undust.review", "undust.cli.application", "undust.cli.parquet", "rich.text"),
    *("undust.reporting.page", "undust.exports", "undust.imports", "undust.engines.local", "duckdb"),
    *("undust.cli.printing", "undust.rules.listing", "warcio.archiveiterator", "fastwarc.warc"),
)


class Lost(AssertionError):  # noqa: N818 -- what happened
    """A promise that was not kept."""


@dataclass(frozen=True)
class Ended:
    """How a process ended: its exit code, or the number of its signal, negative; and what it said."""

    code: int
    said: str


class Running:
    """A job in a process of its own."""

    def __init__(self, job: Job, folder: Path, *more: str, setting: Setting | None = None) -> None:
        self.folder = folder
        reader, writer = os.pipe()
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(reader)
            _be(job, folder, more, writer, setting)
        os.close(writer)
        self._reader = reader

    def ended(self) -> Ended:
        """Wait for its end."""
        pieces, end = [], time.monotonic() + LONGEST_S
        while select.select([self._reader], [], [], max(0, end - time.monotonic()))[0]:
            piece = os.read(self._reader, 1 << 16)
            if not piece:
                break
            pieces.append(piece)
        else:
            os.kill(self.pid, signal.SIGKILL)
            pieces.append(b"Traceback: it never ended")
        os.close(self._reader)
        _, status = os.waitpid(self.pid, 0)
        return Ended(os.waitstatus_to_exitcode(status), b"".join(pieces).decode("utf-8", "replace"))

    def wait_for_part(self, seconds: float) -> None:
        """Wait until an unfinished file shows, or for some time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not any(self.folder.glob(PART)):
            time.sleep(0.0003)

    def send(self, number: int) -> None:
        """Send a signal, if it is still there."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)


def _be(job: Job, folder: Path, more: tuple[str, ...], writer: int, setting: Setting | None) -> None:
    """Become the job; never return."""
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(writer, 1)
        os.dup2(writer, 2)
        os.chdir(folder)
        (folder / "tmp").mkdir(exist_ok=True)
        tempfile.tempdir = str(folder / "tmp")
        if setting:
            setting()
        if job.program is UNDUST:
            sys.argv = ["undust", *job.words[len(UNDUST) :], *more]
            from undust.__main__ import main as run  # noqa: PLC0415 -- loaded by the parent

            run()
        else:
            exec(job.arguments[1], {})  # noqa: S102 -- our own text, as `python -c` would
        code = 0
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else 1
    except BaseException:  # noqa: BLE001 -- told as Python would
        import traceback  # noqa: PLC0415

        traceback.print_exc()
        code = 1
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


@dataclass
class Baseline:
    """What a job does when nothing is wrong."""

    job: Job
    seconds: float
    old: dict[str, bytes]
    new: dict[str, list[bytes]]
    """After one run, and after a second one, which may find its own work done."""
    files: frozenset[str]

    def state(self, folder: Path) -> str:
        """Return whether the outputs are old or new; raise if one is neither."""
        found = set()
        for name in self.job.writes:
            data = _without_moments(folder / name)
            if data is not None and data == self.old[name]:
                found.add("old")
            elif data in self.new[name]:
                found.add("new")
            else:
                size = "gone" if data is None else f"{len(data)} bytes that are neither old nor new"
                message = f"{name} is {size}"
                raise Lost(message)
        return "+".join(sorted(found))

    def left(self, folder: Path) -> list[str]:
        """Return the files that were not there before and are no output."""
        names = {path.name for path in folder.iterdir()} | {f"tmp/{p.name}" for p in folder.glob("tmp/*")}
        mine = {*self.files, *self.job.writes, "tmp"}
        kept = self.job.keeps
        return sorted(name for name in names - mine if not any(fnmatch(name, keep) for keep in kept))


def _without_moments(path: Path) -> bytes | None:
    return MOMENTS.sub(b"when", path.read_bytes()) if path.exists() else None


def baseline_of(job: Job, inputs: Path, folder: Path) -> Baseline:
    """Run a job twice where nothing is wrong."""
    ready = prepare(job, inputs, folder)
    old = {name: _without_moments(folder / name) or b"" for name in job.writes}
    files = frozenset(path.name for path in folder.iterdir())
    new: dict[str, list[bytes]] = {name: [] for name in job.writes}
    seconds = LONGEST_S
    for more in ((), job.again):
        started = time.monotonic()
        ended = Running(ready, folder, *more).ended()
        seconds = min(seconds, time.monotonic() - started)
        if ended.code != 0:
            raise Lost(f"{job.command} fails where nothing is wrong: {ended.said}")  # noqa: TRY003, EM102
        for name in job.writes:
            new[name].append(_without_moments(folder / name) or b"")
    return Baseline(ready, seconds, old, new, files)


@dataclass
class Count:
    """What became of the trials of one command under one fault."""

    trials: int = 0
    states: Counter[str] = field(default_factory=Counter)
    """Whether the old or the new output was there, whole, afterwards."""
    cleaned: int = 0
    """Unfinished files that a killed run had to leave, and the next run removed."""
    losses: list[str] = field(default_factory=list)


class Trials:
    """Faults, one after the other, each in a fresh folder."""

    def __init__(self, inputs: Path, work: Path, seed: int) -> None:
        self.inputs, self.work = inputs, work
        self.chance = random.Random(seed)
        self._number = 0

    def new_folder(self) -> Path:
        """Return the name of a folder that does not exist yet."""
        self._number += 1
        return self.work / f"{self._number}"

    def run(self, base: Baseline, fault: str, count: Count) -> None:
        """Try one fault, look at what is left, and run the command again."""
        folder = self.new_folder()
        prepare(base.job, self.inputs, folder)
        count.trials += 1
        try:
            if fault in SIGNALS:
                self._signal(base, fault, folder, count)
            elif fault == "disk full":
                self._full(base, folder)
            elif fault == "file too large":
                self._too_large(base, folder)
            elif fault == "read-only folder":
                self._read_only(base, folder)
            else:
                self._two(base, folder)
            count.states[base.state(folder)] += 1
            self._again(base, folder)
        except Lost as loss:
            count.losses.append(f"{base.job.command}, {fault}: {loss} ({folder})")

    def _signal(self, base: Baseline, fault: str, folder: Path, count: Count) -> None:
        running = Running(base.job, folder)
        if self.chance.random() < 0.5:  # noqa: PLR2004 -- one half
            time.sleep(self.chance.uniform(0, base.seconds * 1.05))
        else:
            running.wait_for_part(base.seconds * 20)
            time.sleep(self.chance.uniform(0, 0.003))
        running.send(SIGNALS[fault])
        ended, number = running.ended(), SIGNALS[fault]
        _require_quiet(ended)
        if ended.code not in {0, 128 + number, -number}:
            raise Lost(f"the exit code is {ended.code}: {ended.said}")  # noqa: TRY003, EM102
        if ended.code == 128 + number and ended.said.count("\n") != 1:
            raise Lost(f"not one line: {ended.said!r}")  # noqa: TRY003, EM102
        left = base.left(folder)
        if number == signal.SIGKILL:
            count.cleaned += len(left)
            left = [name for name in left if not fnmatch(name, PART)]
        _require_nothing(left)

    def _full(self, base: Baseline, folder: Path) -> None:
        """A file system of its own without one free byte; the old output is on it."""
        _mount(folder, self.inputs, base)
        try:
            filler = folder / "filler"
            with suppress(OSError), filler.open("wb", buffering=0) as file:
                while True:
                    file.write(bytes(4096))
            _require_sentence(Running(base.job, folder).ended(), "room|full|not whole")
            filler.unlink()
            if base.state(folder) != "old":
                raise Lost("something was written to a full disk")  # noqa: TRY003, EM101
            _require_nothing(base.left(folder))
            self._again(base, folder)
        finally:
            _unmount(folder)

    def _too_large(self, base: Baseline, folder: Path) -> None:
        most = self.chance.randrange(max(1, min(len(new[0]) for new in base.new.values()) // 2))
        ended = Running(
            base.job, folder, setting=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        ).ended()
        _require_sentence(ended, "grew beyond the size|no room")
        _require_nothing(base.left(folder))

    def _read_only(self, base: Baseline, folder: Path) -> None:
        (folder / "tmp").mkdir()
        folder.chmod(0o555)
        ended = Running(base.job, folder, setting=give_up_rights).ended()
        folder.chmod(0o755)
        _require_sentence(ended, "you may not|read-only")
        _require_nothing(base.left(folder))

    def _two(self, base: Baseline, folder: Path) -> None:
        first = Running(base.job, folder)
        time.sleep(self.chance.uniform(0, base.seconds / 2))
        second = Running(base.job, folder)
        endings = [second.ended(), first.ended()]
        for ended in endings:
            _require_quiet(ended)
            if ended.code not in {0, 1}:
                raise Lost(f"one of two ended with {ended.code}: {ended.said}")  # noqa: TRY003, EM102
        if all(ended.code for ended in endings):
            raise Lost(f"neither of two succeeded: {endings}")  # noqa: TRY003, EM102
        _require_nothing(base.left(folder))

    def _again(self, base: Baseline, folder: Path) -> None:
        ended = Running(base.job, folder, *base.job.again).ended()
        _require_quiet(ended)
        if ended.code != 0:
            raise Lost(f"the next run fails: {ended.said}")  # noqa: TRY003, EM102
        if base.state(folder) != "new":
            raise Lost("the next run writes nothing new")  # noqa: TRY003, EM101
        _require_nothing(base.left(folder))


def _mount(folder: Path, inputs: Path, base: Baseline) -> None:
    held = sum(path.stat().st_size + 4096 for path in [*folder.iterdir(), *inputs.iterdir()])
    command = ["mount", "-t", "tmpfs", "-o", f"size={held + (1 << 18)}", "tmpfs", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    (folder / "below").mkdir()
    prepare(base.job, inputs, folder / "below" / "files")
    for path in (folder / "below" / "files").iterdir():
        path.rename(folder / path.name)
    (folder / "below" / "files").rmdir()
    (folder / "below").rmdir()
    (folder / "tmp").mkdir()


def _unmount(folder: Path) -> None:
    subprocess.run(["umount", str(folder)], check=True)  # noqa: S607


def can_mount(work: Path) -> bool:
    """Return whether this user may make a small file system of its own."""
    place = work / "mount"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "tmpfs", str(place)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        return False
    _unmount(place)
    return True


def _require_quiet(ended: Ended) -> None:
    if "Traceback" in ended.said or "Exception ignored" in ended.said:
        raise Lost(f"a traceback: {ended.said}")  # noqa: TRY003, EM102


def _require_sentence(ended: Ended, said: str) -> None:
    _require_quiet(ended)
    if ended.code != 1 or not re.search(said, ended.said) or ended.said.count("\n") != 1:
        raise Lost(f"exit code {ended.code} and no such sentence: {ended.said!r}")  # noqa: TRY003, EM102


def _require_nothing(left: list[str]) -> None:
    if left:
        raise Lost(f"left behind: {', '.join(left)}")  # noqa: TRY003, EM102


def tried(
    trials: int,
    seed: int,
    faults: tuple[str, ...] = FAULTS,
    jobs: tuple[Job, ...] = JOBS,
    most: int | None = None,
) -> dict[str, dict[str, Count]]:
    """Return what became of each command under each fault; of `most` pairs only, if that is given."""
    for name in LOADED:
        import_module(name)
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
            count = counts.setdefault(job.command, {}).setdefault(fault, Count())
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
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    counts = tried(given.trials, given.seed, tuple(given.fault or FAULTS), most=given.most)
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
