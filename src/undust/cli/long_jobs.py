"""What a job of hours needs: an engine, a journal to continue from, and a progress bar.

The options are here too, so that every command that has them means the same by them.
"""

from __future__ import annotations

import logging
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from undust.errors import UndustError
from undust.files.streams import STANDARD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undust.cli.inputs import Inputs
    from undust.engines import Engine
    from undust.jobs.combined import Watch
    from undust.jobs.site_journal import SiteJournal

engine = click.option(
    "--engine",
    "engine_name",
    metavar="NAME",
    default="local",
    show_default=True,
    help="Where the work runs: on this machine, or on another engine such as spark.",
)
master = click.option("--master", metavar="URL", help="The cluster of --engine spark, such as local[2].")
resume = click.option(
    "--resume", is_flag=True, help="Go on from the sites that a run before, which did not end, has finished."
)


@dataclass(frozen=True)
class EngineChoice:
    """Where the work runs."""

    engine_name: str
    master: str | None

    def engine(self, inputs: Inputs) -> Engine:
        """Return the engine, to be used in a `with` block."""
        from undust.engines import engine_named  # noqa: PLC0415 -- slow to load, and not for --help

        if not logging.getLogger().handlers:
            # What talks to Java logs the traceback of a Ctrl-C; a command ends in one sentence.
            logging.getLogger().addHandler(logging.NullHandler())
        return engine_named(
            self.engine_name,
            memory=inputs.memory,
            threads=inputs.threads,
            folder=inputs.tmp,
            master=self.master,
        )


@contextmanager
def journal(
    inputs: Inputs, output: str | None, said: dict[str, Any], *, resume: bool, is_silent: bool
) -> Iterator[SiteJournal | None]:
    """Give the journal of a job; none where there is no output to put it beside, or nothing to go back to."""
    from undust.jobs.site_journal import SiteJournal, job_of, journal_of  # noqa: PLC0415 -- slow to load

    if resume and output is None:
        message = "--resume goes on from what is kept beside the output, so name that with -o"
        raise click.UsageError(message)
    is_kept = output is not None and (not Path(output).exists() or Path(output).is_file())
    if not resume and (not is_kept or STANDARD in inputs.paths):
        yield None
        return
    facts = inputs.facts() | said
    path = journal_of(str(output))
    if path.exists() and not resume and not is_silent:
        click.echo(f"{path}: a run before did not end; --resume would go on from there", err=True)
    with SiteJournal(path, job_of(inputs.paths, facts), resume=resume) as kept:
        try:
            yield kept
        except UndustError as error:
            if not kept.is_written:
                raise
            message = f"{error}; the sites that are done are kept, and --resume goes on from there"
            raise UndustError(message) from None
        except (KeyboardInterrupt, SystemExit):
            if kept.is_written and not is_silent:
                click.echo("the sites that are done are kept; --resume goes on from there", err=True)
            raise


@contextmanager
def watching(*, is_silent: bool) -> Iterator[Watch | None]:
    """Show on a terminal which site was learned last, how far the work is, and how long it will take."""
    if is_silent or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415 -- slow to load, and for terminals only
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    shown = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[done]:,} of {task.fields[sites]:,} sites"),
        TimeRemainingColumn(),
    )
    with Progress(*shown, console=Console(stderr=True), transient=True) as progress:
        yield _Bar(progress)


class _Bar:
    """A bar over observations, for a site may be one of ten thousand and half of the work."""

    def __init__(self, progress: Any) -> None:  # noqa: ANN401 -- of rich, which is slow to load
        self._progress = progress
        self._done = 0
        self._task = progress.add_task("grouping by site", total=None, done=0, sites=0)

    def expect(self, sites: int, rows: int) -> None:
        self._progress.update(self._task, total=rows, sites=sites)

    def tell(self, site: str, rows: int) -> None:
        self._done += 1
        self._progress.update(self._task, description=f"learned {site}", advance=rows, done=self._done)
