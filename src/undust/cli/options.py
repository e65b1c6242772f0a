"""What commands share: options that mean the same in each, and how results are printed.

Texts of strangers are printed as they wrote them, without anything that a terminal would obey. A URL, a rule
or a name may hold escape sequences that rewrite the screen, change the title or turn a line around. Results
in files and pipes are never touched; this module prints for people and programs. What goes to stdout is the
result, or the summary for programs, and never both.
"""

from __future__ import annotations

import io
import json
import math
import os
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from undust.display import harmless, plain_lines, printable
from undust.errors import UndustError, WrongUsage
from undust.jobs import STANDARD, open_output, peak_memory_bytes
from undust.jobs import require_folder as require_result_folder
from undust.jobs.input_files import memory_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rich.console import RenderableType
    from rich.segment import Segment


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
        require_result_folder(output)


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


def say(text: object, *, err: bool = False) -> None:
    """Print text of one or several lines."""
    click.echo(harmless(str(text)), err=err)


def say_json(value: Any) -> None:  # noqa: ANN401 -- any JSON value
    """Print a value for programs on one line; what does not print is escaped, which means the same."""
    text = json.dumps(value, ensure_ascii=False)
    if not text.isprintable():
        text = "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)
    click.echo(text)


def require_stdout_for_one(output: str | None, *, as_json: bool) -> None:
    """Refuse to write two things to stdout."""
    if as_json and output == STANDARD:
        message = "--json needs stdout for itself, so name a file with -o"
        raise click.UsageError(message)


@contextmanager
def destination(output: str | None, *, as_json: bool) -> Iterator[Callable[[bytes], object]]:
    """Give the function that writes the lines of a result; with `--json` and no file they go nowhere."""
    if as_json and output is None:
        yield len  # counted, not written
    else:
        with open_output(STANDARD if output is None else output) as opened:
            yield opened.write


PIPE_WIDTH = 100
MARKS = {"bold": "\x02", "dim": "\x03"}
_END = "\x04"
_STYLES = {"\x02": "\x1b[1m", "\x03": "\x1b[2m", _END: "\x1b[0m"}
"""Marks that lines carry for styles; who writes one into a URL makes a word bold, and that is all."""


def show(*pieces: RenderableType, wrap: bool = True) -> None:
    """Print to stdout; without `wrap`, a line is as long as its text."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    try:
        text = _coloured(pieces, is_terminal=is_terminal, wrap=wrap)
    except ModuleNotFoundError:  # rich is not part of the base
        text = _plain(pieces, shutil.get_terminal_size().columns if is_terminal else PIPE_WIDTH, wrap=wrap)
    # Through click, so that a closed pipe or a full disk ends like everywhere else.
    click.echo(text if is_terminal else "".join(f"{line.rstrip()}\n" for line in text.splitlines()), nl=False)


def _coloured(pieces: Iterable[RenderableType], *, is_terminal: bool, wrap: bool) -> str:
    from rich.console import Console  # noqa: PLC0415 -- slow to load, and not part of the base

    class HarmlessConsole(Console):
        """A console on which texts are shown and never obeyed; rich itself lets escape sequences through."""

        def _render_buffer(self, buffer: Iterable[Segment]) -> str:
            return super()._render_buffer(
                segment if segment.control else segment._replace(text=harmless(segment.text))
                for segment in buffer
            )

    out = io.StringIO()
    console = HarmlessConsole(
        file=out,
        width=None if is_terminal else PIPE_WIDTH,
        force_terminal=is_terminal,
        color_system="auto" if is_terminal else None,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=not wrap,
    )
    for piece in pieces:
        console.print(piece)
    return out.getvalue()


def _plain(pieces: Iterable[object], width: int, *, wrap: bool) -> str:
    lines = (line for piece in pieces for line in plain_lines(piece, width if wrap else None))
    return "".join(f"{printable(line)}\n" for line in lines)


def show_lines(lines: Callable[[int, Callable[[str, str], str]], Iterable[str]]) -> None:
    """Print the lines that `lines(width, styled)` gives, coloured on a terminal."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if is_terminal else PIPE_WIDTH

    def styled(text: str, style: str) -> str:
        return f"{MARKS[style]}{text}{_END}" if style in MARKS else text

    for line in lines(width, styled if is_terminal else lambda text, _style: text):
        # Marks of one byte are put in for styles, and styles for marks only after everything else.
        shown = printable(line) if not is_terminal else "".join(map(_shown, line))
        click.echo(shown)


def _shown(char: str) -> str:
    return _STYLES.get(char) or printable(char)
