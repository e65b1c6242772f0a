"""The options of every command that reads observations, and what a terminal shows of reading and long jobs.

A job of hours has an engine, a journal to continue from, and a progress bar. Their options are here too, so
that every command that has them means the same by them.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from undust.cli import options
from undust.errors import UndustError
from undust.jobs import STANDARD
from undust.jobs.input_files import InputFiles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from undust.jobs.combined import SiteJournal, Watch
    from undust.jobs.input_files import WatchBytes

Result = TypeVar("Result")


@dataclass(frozen=True)
class Inputs(InputFiles):
    """What the person gave to read, with what a terminal shows of it."""

    def require_apart(self, *outputs: str | None) -> None:
        """Refuse to write over what is read, before any work is done."""
        for output in outputs:
            if output is None or output == STANDARD or options.is_device(output):
                continue
            if self.has(output):
                raise options.would_be_lost(output)

    @contextmanager
    def watching(self, *, quiet: bool) -> Iterator[WatchBytes | None]:
        """Show on a terminal the bytes, the rate and the time that is left."""
        if quiet or not sys.stderr.isatty():
            yield None
            return
        from rich.console import Console  # noqa: PLC0415 -- slow to load, and for terminals only
        from rich.progress import (  # noqa: PLC0415
            BarColumn,
            DownloadColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )

        shown = (
            TextColumn("reading"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*shown, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("reading", total=None)
            yield lambda done, total: progress.update(task, completed=done, total=total)
            progress.refresh()  # what is read at once is shown as well

    def tell(self, report: str) -> None:
        """Print what could not be read."""
        click.echo(report, err=True)


def _columns(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    columns = {}
    for value in values:
        ours, equals, theirs = value.partition("=")
        if not (ours and equals and theirs):
            message = f"'{value}' is not OURS=THEIRS, as in url=address"
            raise click.BadParameter(message)
        columns[ours] = theirs
    return columns


def inputs(command: Callable[..., Result]) -> Callable[..., Result]:
    """Give a command its INPUT arguments and their options, as one parameter `inputs`."""
    argument = click.argument(
        "paths", metavar="INPUT...", nargs=-1, required=True, type=click.Path(allow_dash=True)
    )
    return argument(reading(command))


def reading(command: Callable[..., Result]) -> Callable[..., Result]:
    """Give a command the options on how its `paths` are read, as one parameter `inputs` with them."""

    @click.option(
        "--format", "format_name", metavar="NAME", help="The format of the input, if it is not recognised."
    )
    @click.option("--base", metavar="URL", help="The site of a log that has only paths: https://your.site.")
    @click.option(
        "--column",
        "columns",
        metavar="OURS=THEIRS",
        multiple=True,
        callback=_columns,
        help="The name of a column in the input, as in url=address; may be repeated.",
    )
    @click.option(
        "--log-format", metavar="TEXT", help="The LogFormat (Apache) or log_format (nginx) of logs."
    )
    @click.option("--strict", is_flag=True, help="Stop at the first record that cannot be read.")
    @click.option(
        "--shingle-words",
        metavar="N",
        type=click.IntRange(1, 1000),
        default=5,
        show_default=True,
        help="Words in a shingle of the sketches of archived pages; 10 as published.",
    )
    @click.option(
        "--sketch-size",
        metavar="N",
        type=click.IntRange(1, 1024),
        default=32,
        show_default=True,
        help="Minima in such a sketch; 4 as published.",
    )
    @options.threads
    @options.memory
    @options.tmp
    @wraps(command)
    def with_inputs(  # noqa: PLR0913 -- one for each option
        *args: Any,  # noqa: ANN401 -- the command's own
        paths: tuple[str, ...],
        format_name: str | None,
        base: str | None,
        columns: dict[str, str],
        log_format: str | None,
        strict: bool,
        shingle_words: int,
        sketch_size: int,
        threads: int,
        memory: int | None,
        tmp: str | None,
        **kwargs: Any,  # noqa: ANN401 -- the command's own
    ) -> Result:
        about = (format_name, base, columns, log_format, strict, shingle_words, sketch_size)
        given = Inputs(paths, *about, threads, memory, tmp)
        return command(*args, inputs=given, **kwargs)

    return with_inputs


engine_option = click.option(
    "--engine",
    "engine_name",
    metavar="NAME",
    default="local",
    show_default=True,
    help="Where the work runs: on this machine, or on another engine such as spark.",
)
master_option = click.option(
    "--master", metavar="URL", help="The cluster of --engine spark, such as local[2]."
)
resume_option = click.option(
    "--resume", is_flag=True, help="Go on from the sites that a run before, which did not end, has finished."
)


@dataclass(frozen=True)
class EngineChoice:
    """Where the work runs."""

    engine_name: str
    master: str | None


@contextmanager
def journal_of_job(
    inputs: Inputs, output: str | None, said: dict[str, Any], *, resume: bool, is_silent: bool
) -> Iterator[SiteJournal | None]:
    """Give the journal of a job; none where there is no output to put it beside, or nothing to go back to."""
    from undust.jobs.combined import SiteJournal, job_of, journal_of  # noqa: PLC0415 -- slow to load

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
def watching_sites(*, is_silent: bool) -> Iterator[Watch | None]:
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
