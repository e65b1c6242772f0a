"""The options of every command that reads observations, and how reading them looks on a terminal."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from undust.cli import options
from undust.cli.options import require_room
from undust.files.streams import STANDARD

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from undust.engines import Engine
    from undust.reading.observations import Observations

Result = TypeVar("Result")


@dataclass(frozen=True)
class Inputs:
    """What the person gave to read, and said about it."""

    paths: tuple[str, ...]
    format: str | None
    base: str | None
    columns: dict[str, str]
    log_format: str | None
    strict: bool
    shingle_words: int = 5
    sketch_size: int = 32
    threads: int = 1
    memory: int | None = None
    tmp: str | None = None

    def facts(self) -> dict[str, Any]:
        """Return what was said that decides which rows are read, but for the paths."""
        where = {"paths", "threads", "memory", "tmp"}
        return {name: value for name, value in asdict(self).items() if name not in where}

    def require_apart(self, *outputs: str | None) -> None:
        """Refuse to write over what is read, before any work is done."""
        from undust.jobs.read import is_input  # noqa: PLC0415 -- slow to load, and not for --help

        for output in outputs:
            if output is None or output == STANDARD or options.is_device(output):
                continue
            if is_input(output, self.paths, format=self.format, log_format=self.log_format):
                raise options.would_be_lost(output)

    def read(self, *, quiet: bool = False, engine: Engine | None = None) -> Observations:
        """Return the observations; report on stderr how far reading is, and what could not be read.

        An engine keeps what does not fit on disk. Without one all rows are held; where the memory is
        bounded, more of them than fit are refused before they are loaded.
        """
        if engine is None and self.memory is not None:
            from undust.engines import SITE, LocalEngine  # noqa: PLC0415 -- slow to load, and not for --help

            with LocalEngine(self.memory, self.threads, self.tmp) as gathering:
                seen = self.read(quiet=quiet, engine=gathering)
                require_room(len(seen), self.memory, "this command")
                return replace(seen, table=gathering.collect(seen.table).drop_columns([SITE]))
        import pyarrow as pa  # noqa: PLC0415 -- slow to load, and not for --help

        from undust.jobs.read import read  # noqa: PLC0415

        pa.set_cpu_count(self.threads)
        said: dict[str, Any] = {
            "format": self.format,
            "base": self.base,
            "columns": self.columns,
            "log_format": self.log_format,
            "strict": self.strict,
            "shingle_words": self.shingle_words,
            "sketch_size": self.sketch_size,
            "engine": engine,
        }
        if quiet or not sys.stderr.isatty():
            observations = read(*self.paths, **said)
        else:
            observations = _read_with_progress(self.paths, said)
        if not quiet and any(observations.counts().values()):
            click.echo(observations.report(), err=True)
        return observations

    def traffic(self) -> pa.Table:
        """Return the requests of the logs among the files, added up by URL, day and who asked."""
        from undust.jobs.read import traffic_of  # noqa: PLC0415 -- slow to load, and not for --help
        from undust.reading.formats.reading import ReadOptions  # noqa: PLC0415

        paths = [path for path in self.paths if path != STANDARD]
        return traffic_of(paths, ReadOptions(self.base, self.columns, self.log_format), self.format)


def _read_with_progress(paths: Sequence[str], said: dict[str, Any]) -> Observations:
    """Read while a bar shows the bytes, the rate and the time that is left."""
    from rich.console import Console  # noqa: PLC0415 -- slow to load, and for terminals only
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    from undust.jobs.read import read  # noqa: PLC0415

    shown = (
        TextColumn("reading"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*shown, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("reading", total=None)
        found = read(
            *paths, **said, watch=lambda done, total: progress.update(task, completed=done, total=total)
        )
        progress.refresh()  # what is read at once is shown as well
        return found


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
