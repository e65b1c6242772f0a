"""One fault after the other, each in a fresh folder: tried, looked at, and the command run again."""

from __future__ import annotations

import random
import re
import resource
import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from fnmatch import fnmatch
from typing import TYPE_CHECKING

from tools.faults.baseline import Lost
from tools.faults.disks import full_disk
from tools.faults.jobs import prepare
from tools.faults.processes import PART, Running
from tools.faults.rights import give_up_rights

if TYPE_CHECKING:
    from pathlib import Path

    from tools.faults.baseline import Baseline
    from tools.faults.processes import Ended

SIGNALS = {"SIGKILL": signal.SIGKILL, "SIGTERM": signal.SIGTERM, "Ctrl-C": signal.SIGINT}
FAULTS = (*SIGNALS, "disk full", "file too large", "read-only folder", "two at once")


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
        with full_disk(base.job, self.inputs, folder) as filler:
            _require_sentence(Running(base.job, folder).ended(), "room|full|not whole")
            filler.unlink()
            if base.state(folder) != "old":
                raise Lost("something was written to a full disk")  # noqa: TRY003, EM101
            _require_nothing(base.left(folder))
            self._again(base, folder)

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
