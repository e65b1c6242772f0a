"""The main job through an engine: each site on its own, then one small pass over what they gave.

So a cluster of machines shuffles the observations once and nothing else.

The finished sites of a long job are kept in a journal beside its output, so that a job that was killed goes
on from there. It has one line a site, with a checksum in front: the line that was being written when the
program died is recognised, and is all that is lost. The first line says which job it is. A short job leaves
no trace: the file appears when a job has lasted a while, and goes when it has ended well.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

import pyarrow as pa

from undust.engines import NONE_SET_ASIDE, SITE
from undust.engines.local import LocalEngine
from undust.errors import UndustError, file_sentence
from undust.files.replacing import checked_line, content_of_line, lock, whole_lines
from undust.files.streams import STANDARD
from undust.jobs.find_duplicates import declared_in, table_with_site
from undust.jobs.first_look import COUNTED_TOGETHER, QUIET_TEST, SILENT_TEST
from undust.jobs.learn_result import (
    ACROSS,
    CLUSTERING,
    GIANTS,
    GROUPING,
    LEARNING,
    CountedSites,
    SitesTogether,
    Stages,
)
from undust.jobs.one_site import (
    LEARNED,
    LearningTask,
    failed_row,
    labelled_of,
    learn_clusters,
    learn_rows,
    outcome_of,
)
from undust.jobs.read import is_address
from undust.jobs.records import FAMILY, EngineShapes, StoredOutcomes, from_text, said_rows, to_text
from undust.jobs.sampled_sites import Giants
from undust.learning import Outcome, Requirements
from undust.measuring.judged import has_labels
from undust.pages.clustering import Duplicates
from undust.reading.formats.files import find_files
from undust.reading.observations import Observations

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from io import BufferedRandom

    from undust.engines import Engine, SetAside
    from undust.engines.contract import SiteFunction
    from undust.jobs.records import SiteOutcome
    from undust.rules import Rule, RuleSet
    from undust.searching.objective import KindPrior


JOURNAL_PATIENCE = 2.0
"""Seconds that a job lasts before it leaves a file."""
SYNCED = 1.0
"""Seconds of work that a power cut may cost."""


def journal_of(output: str) -> Path:
    """Return the path of the journal of an output; a name that starts with a dot is never read as input."""
    target = Path(os.path.realpath(output))
    return target.with_name(f".{target.name}.journal")


def job_of(paths: Iterable[str], said: Mapping[str, Any]) -> str:
    """Return what identifies a job: its files, what was said about them, and the version."""
    files = []
    for path, _ in find_files(paths):
        if path == STANDARD:
            message = "standard input cannot be read again from its start; give a file, or leave --resume out"
            raise UndustError(message)
        if is_address(path):
            # Its state is the cluster's to know; the name alone has to do.
            files.append((path, -1, -1))
            continue
        state = Path(path).stat()
        files.append((os.path.realpath(path), state.st_size, state.st_mtime_ns))
    facts = json.dumps([version("undust"), files, said], sort_keys=True, default=str)
    return hashlib.blake2b(facts.encode(errors="surrogateescape"), digest_size=16).hexdigest()


class SiteJournal:
    """What was done, and where it is written; used in a `with` block."""

    def __init__(self, path: Path, job: str, *, resume: bool = False) -> None:
        self.path = path
        self._head = checked_line({"undust": "journal", "job": job})
        self._waiting: list[bytes] = []
        self._file: BufferedRandom | None = None
        self._started = self._synced = time.monotonic()
        self.found: dict[str, str] = {}
        """Sites that were done before, with what they gave."""
        self.is_complete = False
        """Set when there is nothing left to go on with."""
        if resume and path.exists():
            self._resume()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            if self.is_complete:
                self.path.unlink(missing_ok=True)
            # What finds no room now is learned again; it must not hide why the job ended.
            with suppress(OSError):
                self._file.flush()
                os.fsync(self._file.fileno())
            with suppress(OSError):
                self._file.close()
        elif self.is_complete and self.path.exists():
            # Of a run before this one, which started anew and was quick.
            self.path.unlink()

    @property
    def is_written(self) -> bool:
        """Whether there is something on disk to go on from."""
        return self._file is not None

    def add(self, site: str, text: str) -> None:
        """Write down that a site is done."""
        self._waiting.append(checked_line([site, text]))
        now = time.monotonic()
        if now - self._started < JOURNAL_PATIENCE:
            return
        lines = self._waiting
        if self._file is None:
            self._file = self._opened("w+b")
            lines = [self._head, *lines]
        self._waiting = []
        try:
            self._file.writelines(lines)
            # From here on only the machine can lose it, not the program.
            self._file.flush()
            if now - self._synced > SYNCED:
                os.fsync(self._file.fileno())
                self._synced = now
        except OSError as error:
            error.filename = str(self.path)
            raise UndustError(file_sentence(error)) from None

    def _opened(self, mode: str) -> BufferedRandom:
        # Opened without harm first: another program may be at it.
        with suppress(FileExistsError):
            self.path.touch(0o600, exist_ok=False)
        file: BufferedRandom = self.path.open("r+b")
        try:
            lock(file)
        except BlockingIOError:
            file.close()
            message = f"{self.path}: another undust is at work on this output; wait for it, or name another"
            raise UndustError(message) from None
        if mode == "w+b":
            file.truncate(0)
        return file

    def _resume(self) -> None:
        file = self._opened("r+b")
        lines = whole_lines(file)
        head = next(lines, None)
        if head is None and self._is_begun(file):
            file.close()
            return
        if head != self._head:
            file.close()
            message = (
                f"{self.path}: it is of another job (other files or options, or another undust); "
                "start anew without --resume"
            )
            raise UndustError(message)
        end = len(self._head)
        for line in lines:
            site, text = content_of_line(line)
            self.found[site] = text
            end += len(line)
        file.seek(end)
        file.truncate()
        self._file = file

    def _is_begun(self, file: BufferedRandom) -> bool:
        """Return whether there is only the start of the first line, for the disk was full from then on."""
        file.seek(0)
        return self._head.startswith(file.read(len(self._head)))


class Watch(Protocol):
    """A receiver of progress."""

    def expect(self, sites: int, rows: int) -> None:
        """Hear how many sites and observations there are."""

    def tell(self, site: str, rows: int) -> None:
        """Receive that a site with this many observations is done."""


def learn_combined(  # noqa: PLR0913 -- one for each thing that a person may say
    seen: Any,  # noqa: ANN401 -- any Arrow object
    requirements: Requirements | None = None,
    *,
    keep_values: bool = False,
    across: bool = True,
    update: RuleSet | None = None,
    today: str | None = None,
    threads: int = 1,
    engine: Engine | None = None,
    journal: SiteJournal | None = None,
    stages: Stages | None = None,
    keep_refused: bool = True,
    watch: Watch | None = None,
    edits: bool = False,
    priors: Mapping[str, KindPrior] | None = None,
) -> Outcome:
    """Return what all evidence and all proposals together give.

    Args:
        seen: What `read` or `find_duplicates` returned, or any Arrow table with a column `url`.
        requirements: What a rule must show.
        keep_values: Show the values of dropped parameters in examples.
        across: Learn rules for all sites too, if there are several.
        update: Rules from before, which are proved again.
        today: The day that is written beside them.
        threads: How many sites to learn at a time; the result is the same.
        engine: Where the work runs, instead of this machine with this many threads.
        journal: Where finished sites are kept, and from where a job goes on.
        stages: Counts where the time goes.
        keep_refused: Return the refused candidates one by one, and not only their counts.
        watch: Called with what there is to do, and each site that is done.
        edits: Search among typed edits of each site instead.
        priors: What is known of kinds of edits, instead of what undust brings along.

    """
    before: dict[str, list[Rule]] = {}
    for rule in update or ():
        before.setdefault(rule.site, []).append(rule)
    by_site = {site: tuple(rules) for site, rules in before.items()}
    task = LearningTask(
        requirements or Requirements(),
        is_across=across,
        before=by_site,
        today=today,
        declared=declared_in(seen),
        keeps_refused=keep_refused,
        edits=edits,
        priors=priors,
    )
    run = EngineRun(task, journal, stages or Stages(), watch)
    if isinstance(seen, Duplicates):
        run.task = task.for_sites(len(seen.sites))
        run.found = [learn_clusters(site, run.task, labelled_of(site)) for site in seen]
        return run.outcome(update, keeps_values=keep_values)
    with LocalEngine(threads=threads) if engine is None else nullcontext(engine) as place:
        run.through(place, seen)
        return run.outcome(update, keeps_values=keep_values)


@dataclass
class EngineRun:
    """The sites of one job on their way through an engine."""

    task: LearningTask
    journal: SiteJournal | None
    stages: Stages
    watch: Watch | None
    failed: dict[str, str] = field(default_factory=dict)
    found: list[SiteOutcome] = field(default_factory=list)
    """What each site gave, unless there are very many."""
    together: SitesTogether | None = None
    """What is known of very many."""
    _counted: CountedSites | None = None
    _said: list[pa.Table] = field(default_factory=list)
    """What sites say of shapes that did not come through the engine just now."""

    def outcome(self, update: RuleSet | None, *, keeps_values: bool) -> Outcome:
        """Return the outcome over all sites; the engine must still be there."""
        with self.stages.timed(ACROSS):
            outcome = outcome_of(
                self.found, self.task, update, keeps_values=keeps_values, together=self.together
            )
        return replace(outcome, failed=self.failed)

    def through(self, engine: Engine, seen: Any) -> None:  # noqa: ANN401
        """Collect what each site gives, as an engine brings it; note the sites that failed."""
        is_sited = isinstance(seen, Observations) and SITE in seen.table.schema.names
        table = seen.table if is_sited else table_with_site(seen)
        done = self.journal.found if self.journal else {}
        with self.stages.timed(GROUPING):
            survey = engine.survey(table, engine.site_rows)
            self.task = replace(
                self.task.for_sites(survey.sites),
                has_labels=isinstance(table, pa.Table) and has_labels(table),
                sampled=frozenset(survey.large),
                requirements=self.task.requirements.within(engine.judged_urls),
            )
            quiet = silent = NONE_SET_ASIDE
            if self._may_be_quiet and survey.sites >= COUNTED_TOGETHER:
                table, quiet = engine.set_aside(table, QUIET_TEST)
                table, silent = engine.set_aside(table, SILENT_TEST)
                self._counted = CountedSites(StoredOutcomes(engine.folder))
            if self.watch:
                sites, rows = quiet.sites + silent.sites, quiet.rows + silent.rows
                self.watch.expect(survey.sites - sites, survey.rows - rows)
            for site, text in done.items():
                self._tell(site, 0)
                self._take(from_text(text))
            large = {site: rows for site, rows in survey.large.items() if site not in done}
            if large:
                self._giants(engine, table, large)
            self._others(engine, table, {*done, *survey.large}, quiet, silent)

    def _others(
        self,
        engine: Engine,
        table: Any,  # noqa: ANN401
        done: set[str],
        quiet: SetAside,
        silent: SetAside,
    ) -> None:
        """Learn from the sites that are neither done nor giants."""
        if self._counted is None:
            for some in engine.each_site(table, self._function, LEARNED, done, failed_row):
                self._hear(some)
            return
        function = partial(learn_rows, task=replace(self.task, tells_shapes=True))
        kept = engine.keep_sites(table, function, LEARNED, FAMILY, self._hear, done, failed_row)
        shapes = EngineShapes(engine, kept, self._said)
        self.together = SitesTogether(shapes, quiet, silent, self._counted)

    def _hear(self, rows: pa.Table) -> None:
        for row in self._unfailed(rows):
            self._note(row[SITE], row["learned"], row["rows"])
            self._take(from_text(row["learned"]), is_kept=True)

    def _take(self, learned: SiteOutcome, *, is_kept: bool = False) -> None:
        """Keep what a site gave, or count it; what it says of shapes is added unless the engine has it."""
        if self._counted is None:
            self.found.append(learned)
            return
        if learned.shown and not is_kept:
            self._said.append(said_rows(learned.shown, self.task.requirements))
        self._counted.add(learned)

    @property
    def _function(self) -> SiteFunction:
        return partial(learn_rows, task=self.task)

    @property
    def _may_be_quiet(self) -> bool:
        """Whether only the observations say something of sites: no rules from before, no labels."""
        return not (self.task.before or self.task.declared or self.task.has_labels)

    def _giants(self, engine: Engine, table: Any, large: Mapping[str, int]) -> None:  # noqa: ANN401
        with self.stages.timed(GIANTS):
            giants = Giants(engine, table, large)
            results = engine.each_site(giants.sample(), self._function, LEARNED, (), failed_row)
            rows = (row for some in results for row in self._unfailed(some))
            found = {row[SITE]: from_text(row["learned"]) for row in rows}
            for site, learned in giants.held_against_all(found, self.task).items():
                self._note(site, to_text(learned), large[site])
                self._take(learned)

    def _unfailed(self, rows: pa.Table) -> Iterator[dict[str, Any]]:
        """Yield the rows of the sites that did not fail."""
        for row in rows.to_pylist():
            self.stages.add(CLUSTERING, row["clustering"])
            self.stages.add(LEARNING, row["learning"])
            if row["failure"] is None:
                yield row
            else:
                self.failed[row[SITE]] = row["failure"]
                self._tell(row[SITE], row["rows"])

    def _note(self, site: str, text: str, rows: int) -> None:
        if self.journal:
            self.journal.add(site, text)
        self._tell(site, rows)

    def _tell(self, site: str, rows: int) -> None:
        if self.watch:
            self.watch.tell(site, rows)
