"""The options that mean the same in every command that has them, and how much memory a run may hold."""

from __future__ import annotations

import math
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from undust.errors import UndustError, WrongUsage
from undust.files import replacing
from undust.files.streams import STANDARD
from undust.files.temporary import peak_memory_bytes
from undust.jobs.input_files import memory_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Command = TypeVar("Command", bound="Callable[..., object]")


class Numbers(click.FloatRange):
    """Finite numbers within bounds; click accepts nan between any two bounds."""

    def convert(
        self,
        value: Any,  # noqa: ANN401 -- as click has it
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """Return the number in a text, if it is one that can be counted with."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number", param, ctx)
        return number


files = click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path(allow_dash=True))
output = click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(allow_dash=True),
    help="Write the lines to FILE instead of stdout. It is written or replaced only when complete.",
)
threads = click.option(
    "--threads",
    metavar="N",
    type=click.IntRange(min=1),
    default=lambda: os.cpu_count() or 1,
    help="Work on N threads instead of all cores; the result is the same.",
)


def _memory(_: click.Context, __: click.Parameter, text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return memory_of(text)
    except WrongUsage as error:
        raise click.BadParameter(str(error)) from None


memory = click.option(
    "--memory",
    metavar="SIZE",
    callback=_memory,
    help="Use no more than SIZE, such as 4GB; what does not fit goes to disk.",
)
tmp = click.option(
    "--tmp",
    metavar="FOLDER",
    type=click.Path(exists=True, file_okay=False, writable=True),
    help="Put temporary files into FOLDER instead of the default folder of the system.",
)
json_of_lines = click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the counts as JSON to stdout, and nothing else: without -o, the lines are not written.",
)
quiet = click.option("-q", "--quiet", is_flag=True, help="Do not print a summary.")


def _said(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[str, object]:
    said: dict[str, object] = {}
    for value in values:
        name, equals, setting = value.partition("=")
        if not (equals and "." in name):
            message = f"'{value}' is not LEARNER.OPTION=VALUE, as in substring.max_bucket=6"
            raise click.BadParameter(message)
        said[name] = setting
    return said


methods = click.option(
    "--method",
    "methods",
    metavar="NAME",
    multiple=True,
    help="Use only these methods, such as undust or substring; may be repeated.",
)
learner_options = click.option(
    "--option",
    "said",
    metavar="LEARNER.X=Y",
    multiple=True,
    callback=_said,
    help="An option of a learner; may be repeated.",
)
one_site = click.option("--site", metavar="NAME", help="Only this site, as in shop.example.")
compared = click.option(
    "--compare",
    "compared",
    metavar="FILE",
    type=click.Path(),
    help="The output of 'undust compare --json', to show methods side by side.",
)
keep_values = click.option(
    "--keep-values", is_flag=True, help="Show values that look secret, such as tokens, instead of ***1."
)


def require_folder(output: str | None) -> None:
    """Raise now, not after an hour of work, if there is no place for the result."""
    if output is not None and output != STANDARD:
        replacing.require_folder(output)


def require_apart(output: str | None, *read: str | None) -> None:
    """Refuse to write over what is read: who says so has mixed up two names."""
    for path in read:
        if path is not None and is_one_file(output, path):
            raise would_be_lost(path)


def would_be_lost(path: str) -> click.UsageError:
    """Return the message about a file that would be read and then replaced."""
    return click.UsageError(f"the file {path} is read, and would be replaced; name another one to write")


def is_one_file(one: str | None, other: str | None) -> bool:
    """Return whether two names mean one file, of which the later writer would leave nothing."""
    if one is None or other is None or STANDARD in {one, other}:
        return False
    return os.path.realpath(one) == os.path.realpath(other) and not is_device(one)


def is_device(path: str) -> bool:
    """Return whether a path is written to and not replaced, as a device or a named pipe is."""
    return Path(path).exists() and not (Path(path).is_file() or Path(path).is_dir())


def require_held(memory: int | None, what: str) -> None:
    """Raise if what is held already is too much, for those who hold no more however long their input."""
    held = peak_memory_bytes()
    if memory is not None and held > memory:
        message = f"{what} takes {held / 1e9:.2f} GB; allow more --memory"
        raise UndustError(message)


def _column(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Take the form of `learn` too: --column url=NAME."""
    return value.removeprefix("url=") if value else value


def reading_options(command: Command) -> Command:
    """Give a command the options that describe what its input is."""
    from undust.jobs.urls_input import FORMATS  # noqa: PLC0415 -- only for commands that read URLs

    for option in (
        click.option(
            "--log-format", metavar="TEXT", help="The LogFormat (Apache) or log_format (nginx) of logs."
        ),
        click.option(
            "--base", metavar="URL", help="The site of a log that has only paths: https://your.site."
        ),
        click.option(
            "--column",
            metavar="NAME",
            callback=_column,
            help="The column of a table that holds the URLs.  [default: url, or as 'undust learn' finds it]",
        ),
        click.option(
            "--format",
            "input_format",
            type=click.Choice(FORMATS),
            metavar="NAME",
            help=f"The format of the input, if it is not recognised: {', '.join(FORMATS)}.",
        ),
    ):
        command = option(command)
    return command


def output_options(default_into: str) -> Callable[[Command], Command]:
    """Give a command the options that describe what it writes."""
    from undust.jobs.urls_input import OUTPUTS  # noqa: PLC0415 -- only for commands that read URLs

    def decorated(command: Command) -> Command:
        command = click.option(
            "--into",
            metavar="NAME",
            help=f"The column for the results, replaced if it is there.  [default: {default_into}]",
        )(command)
        return click.option(
            "--output-format",
            type=click.Choice(OUTPUTS),
            help="What to write; a table stays the table it is, unless you ask for lines.",
        )(command)

    return decorated


@contextmanager
def usage_errors() -> Iterator[None]:
    """Let what does not fit the input end the command as a wrong option does."""
    try:
        yield
    except WrongUsage as error:
        raise click.UsageError(str(error)) from None
