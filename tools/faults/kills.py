"""Random kills: long jobs are ended at random moments, once or twice, and then have to come to the same end.

    python -m tools.faults.kills --kills 1000 --seed 7

Each job (`learn --resume`, `validate` against a server on this machine, `apply -o`, `cluster`, `export`) gets
SIGTERM, SIGINT or SIGKILL at a moment between its first millisecond and its end; every other one a second
time, when it goes on. Its output must be the old file or the new one; what a polite signal ends leaves no
temporary file and no traceback; and in the end the bytes are those of a run that nobody ended.

Most jobs are forked from a process that has loaded everything, and put all rows into temporary files and
each finished site into the journal at once, so that there is something to lose. `--fresh` is the share that
starts as a person starts it. Ctrl-C may meet such a process before `main` runs, where Python itself prints a
traceback; that is counted apart. Any other traceback, and any exit code but that of the signal, is a loss.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from fnmatch import fnmatch
from itertools import cycle
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from tools.faults.baseline import Lost, baseline_of
from tools.faults.jobs import COPIES, JOBS, JOURNAL, Job, make_inputs, prepare
from tools.faults.processes import LONGEST_S, PART, Ended, Running, load_everything
from tools.faults.shop import serving

if TYPE_CHECKING:
    from tools.faults.baseline import Baseline

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGKILL)
SITES = 4
"""Of the crawl, so that some may be finished when the job is ended."""
SITE_PAGES = 20
LEFT_BY_SIGKILL = (PART, "tmp/undust-*")
FRAME = re.compile(r'File "[^"]*/undust/([^"]+)", line \d+, in (\S+)')
BEFORE_MAIN = {("__init__.py", "<module>"), ("display.py", "<module>"), ("__main__.py", "<module>")}
"""Places in the package that Python passes through before the command can say what Ctrl-C shall do."""
TWICE = 0.5
SOONER, LATER = 0.9, 1.02
"""Signals that come too late make the next ones come sooner, those that end a job make them come later: the
time that a job takes changes with what else the machine does."""


def jobs_for(port: int) -> tuple[Job, ...]:
    """Return the jobs that are ended."""
    chosen = [job for job in JOBS if job.command in {"apply", "cluster", "export"}]
    learn = ("crawl.jsonl", "-o", "new.json", "-q", "--threads", "1")
    asked = ("--connect-to", f"shop.test=127.0.0.1:{port}", "--delay", "0", "--samples", "5", "-q")
    return (
        Job("learn", learn, ("new.json",), JOURNAL, again=("--resume",)),
        Job(
            "validate",
            ("rules.json", "--sample", "urls.txt", *asked),
            ("rules.json",),
            keeps=("rules.json.journal*",),
            again=("--resume",),
        ),
        *chosen,
    )


def make_crawl(folder: Path) -> None:
    """Write a crawl of several sites."""
    rows = [
        {
            "url": f"http://shop{site}.test/item?id={page}&sid={copy}",
            "status": 200,
            "digest": f"{site} {page}",
        }
        for site in range(SITES)
        for page in range(SITE_PAGES)
        for copy in range(COPIES)
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "crawl.jsonl").write_text(lines, encoding="utf-8")


def with_more_to_lose() -> None:
    """Let this process put every row into a file and every finished site into the journal."""
    from undust.engines.spool import Spool  # noqa: PLC0415 -- loaded by the parent
    from undust.jobs import combined  # noqa: PLC0415

    combined.JOURNAL_PATIENCE = 0.0
    begin = Spool.__init__

    def begun(self: Spool, limit_bytes: int | None, parent: str | None = None) -> None:
        begin(self, min(limit_bytes or 0, 0), parent)

    Spool.__init__ = begun  # type: ignore[method-assign]


class Fresh:
    """A job as a person starts it; ended like `Running`."""

    def __init__(self, job: Job, folder: Path, *more: str) -> None:
        (folder / "tmp").mkdir(exist_ok=True)
        self._process = subprocess.Popen(
            [*job.words, *more],
            cwd=folder,
            env=os.environ | {"TMPDIR": str(folder / "tmp"), "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # In the background of a script Ctrl-C is ignored, and so it would be by the job.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 -- it has no threads
        )

    def send(self, number: int) -> None:
        """Send a signal, if it is still there."""
        self._process.send_signal(number)

    def ended(self) -> Ended:
        """Wait for its end."""
        try:
            said, _ = self._process.communicate(timeout=5 * LONGEST_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            said = self._process.communicate()[0] + b"Traceback: it never ended"
        return Ended(self._process.returncode, said.decode("utf-8", "replace"))


class Kills:
    """Kills, one after the other, and what became of them."""

    def __init__(self, work: Path, seed: int, fresh: float) -> None:
        self.work = work
        self.chance = Random(seed)
        self.fresh = fresh
        self.counts: Counter[str] = Counter()
        self.by_job: Counter[str] = Counter()
        """Signals that ended a job."""
        self.losses: list[str] = []
        self._number = 0
        self._pace: dict[str, float] = {}
        """Of each job what its seconds are multiplied by."""
        self._killed_in: set[Path] = set()
        """Folders in which a run could not clean up; the next one does, if it needs the place."""

    def new_folder(self) -> Path:
        """Return the name of a folder that does not exist yet."""
        self._number += 1
        return self.work / f"{self._number}"

    def run(self, base: Baseline, inputs: Path, fresh_seconds: float) -> None:
        """End a job once or twice, look at what is left, and let it come to its end."""
        folder = self.new_folder()
        prepare(base.job, inputs, folder)
        is_fresh = self.chance.random() < self.fresh
        seconds = fresh_seconds if is_fresh else base.seconds
        try:
            self._killed(base, folder, seconds, (), is_fresh=is_fresh)
            if self.chance.random() < TWICE:
                self._killed(base, folder, seconds, base.job.again, is_fresh=is_fresh)
            ended = self._started(base.job, folder, base.job.again, is_fresh=is_fresh).ended()
            if ended.code or base.state(folder) != "new":
                raise Lost(f"the last run ends with {ended.code}: {ended.said}")  # noqa: TRY003, EM102, TRY301
        except Lost as loss:
            self.losses.append(f"{base.job.command}{' (fresh)' * is_fresh}: {loss} ({folder})")

    @staticmethod
    def _started(job: Job, folder: Path, more: tuple[str, ...], *, is_fresh: bool) -> Running | Fresh:
        return (
            Fresh(job, folder, *more) if is_fresh else Running(job, folder, *more, setting=with_more_to_lose)
        )

    def _killed(
        self, base: Baseline, folder: Path, seconds: float, more: tuple[str, ...], *, is_fresh: bool
    ) -> None:
        number = self.chance.choice(SIGNALS)
        running = self._started(base.job, folder, more, is_fresh=is_fresh)
        job = " ".join(base.job.words)
        pace = self._pace.get(job, 1.0)
        time.sleep(0.001 + self.chance.uniform(0, pace * seconds * 1.05))
        running.send(number)
        ended = running.ended()
        self._pace[job] = pace * (LATER if ended.code else SOONER)
        self.by_job[base.job.command] += bool(ended.code)
        self.counts["fresh" if is_fresh else "forked"] += 1
        self.counts[number.name] += 1
        is_early = is_fresh and number == signal.SIGINT and _is_before_main(ended.said)
        self.counts["traceback before the command"] += is_early
        if not is_early:
            _require_quiet(ended)
        if ended.code not in {0, 128 + number, -number, *([1] if is_early else [])}:
            raise Lost(f"the exit code after {number.name} is {ended.code}: {ended.said}")  # noqa: TRY003, EM102
        self.counts["came too late" if ended.code == 0 else "ended"] += 1
        state = base.state(folder)
        self.counts[state] += 1
        left = base.left(folder)
        if number == signal.SIGKILL:
            self._killed_in.add(folder)
        if folder in self._killed_in:
            left = [name for name in left if not any(fnmatch(name, each) for each in LEFT_BY_SIGKILL)]
        if left:
            raise Lost(f"left behind after {number.name}: {', '.join(left)}; {ended}")  # noqa: TRY003, EM102


def _require_quiet(ended: Ended) -> None:
    if "Traceback" in ended.said or "Exception ignored" in ended.said:
        raise Lost(f"a traceback: {ended.said}")  # noqa: TRY003, EM102


def _is_before_main(said: str) -> bool:
    """Return whether a traceback comes from the start of Python, in which undust has no say."""
    return "Traceback" in said and set(FRAME.findall(said)) <= BEFORE_MAIN


def killed(kills: int, seed: int, fresh: float) -> Kills:
    """Return what became of so many kills."""
    load_everything()
    with tempfile.TemporaryDirectory() as name, serving() as port:
        work = Path(name).resolve()
        inputs = work / "inputs"
        inputs.mkdir()
        make_inputs(inputs)
        make_crawl(inputs)
        tried = Kills(work, seed, fresh)
        bases = [baseline_of(job, inputs, tried.new_folder()) for job in jobs_for(port)]
        started = time.monotonic()
        Fresh(prepare(bases[-1].job, inputs, folder := tried.new_folder()), folder).ended()
        loading = time.monotonic() - started
        commands = cycle(sorted({base.job.command for base in bases}))
        while (done := sum(tried.by_job.values())) < kills:
            command = next(commands)
            base = tried.chance.choice([base for base in bases if base.job.command == command])
            print(f"\r{done:,} kills, {len(tried.losses)} losses", end="", file=sys.stderr, flush=True)
            tried.run(base, inputs, loading + base.seconds)
    return tried


def main() -> int:
    """Kill, print what was seen, and fail if anything was lost."""
    as_written = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=as_written)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fresh", type=float, default=0.1, help="the share of jobs that are not forked")
    given = parser.parse_args()
    tried = killed(given.kills, given.seed, given.fresh)
    told = {
        "kills": sum(tried.by_job.values()),
        "jobs": dict(sorted(tried.by_job.items())),
        "seen": dict(sorted(tried.counts.items())),
        "losses": tried.losses,
    }
    print(json.dumps(told, indent=1))
    return int(bool(tried.losses))


if __name__ == "__main__":
    sys.exit(main())
