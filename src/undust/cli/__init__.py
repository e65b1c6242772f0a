"""The command `undust`. Each verb is a module of its own, loaded only when it is run.

All commands fail in one sentence: every problem that a person can have ends here, in `one_sentence`. The exit
codes are 0 done (also when the reader of a pipe has seen enough), 1 a named problem with the data, 2 wrong
usage, and 128 plus the number of the signal that ended it; `learn` has two more, if no rule is active. What
is still a traceback is a bug of undust.

Nine commands read crawls and have the same twelve options for it. The help of each command shows its own
options first, then "Input options". Options that few people ever need are listed by `--help-all` only; they
work all the same.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import click

from undust.display import printable
from undust.errors import UndustError, file_sentence
from undust.extras import missing_extra
from undust.help import MORE, PURPOSE, TRIES, grouped_commands

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


INPUT = "Input options"
EXPERT = "Expert options"
_INPUT_OPTIONS = {"--format", "--base", "--column", "--log-format", "--strict"}
_EXPERT_OPTIONS = {
    *("--shingle-words", "--sketch-size", "--glue-values", "--tmp", "--master"),
    *("--option", "--seed", "--today", "--epsilon", "--connect-to", "--allow-private"),
    *("--max-fetches-per-host", "--journal"),
}
_MORE = f"Show {EXPERT.lower()} too, and exit."
_IS_ALL = "undust.help_all"


def group_options(command: click.Command) -> None:
    """Let the help of a command show its options in groups; add `--help-all` where there are more."""
    if isinstance(command, click.Group) or any(param.name == "help_all" for param in command.params):
        return
    if any(_group_of(param) == EXPERT for param in command.params):
        command.params.append(
            click.Option(
                ["--help-all"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_show_all,
                help=_MORE,
            )
        )
    command.format_options = partial(_format_options, command)  # type: ignore[method-assign]


def _show_all(context: click.Context, _: click.Parameter, is_asked: bool) -> None:  # noqa: FBT001 -- as click calls it
    if is_asked and not context.resilient_parsing:
        context.meta[_IS_ALL] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()


def _format_options(command: click.Command, context: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the options, each in its group."""
    groups: dict[str, list[tuple[str, str]]] = {"Options": [], INPUT: [], EXPERT: []}
    for param in command.get_params(context):
        record = param.get_help_record(context)
        if record is not None and isinstance(param, click.Option):
            groups[_group_of(param)].append(record)
    if not context.meta.get(_IS_ALL):
        del groups[EXPERT]
    for title, records in groups.items():
        if records:
            with formatter.section(title):
                formatter.write_dl(records)


def _group_of(param: click.Parameter) -> str:
    names = set(param.opts)
    if names & _EXPERT_OPTIONS:
        return EXPERT
    return INPUT if names & _INPUT_OPTIONS else "Options"


PROBLEM, WRONG_USAGE, INTERRUPTED = 1, 2, 128 + signal.SIGINT
SWALLOWED_FOR_S = 0.01
"""Until an exception is raised again that Python could only print."""
INCOMPLETE = "what was not complete was not written"


class Ended(SystemExit):
    """A polite kill, by its name."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.name = signal.Signals(number).name
        self.exit_code = 128 + number


class CommandEntry(NamedTuple):
    """Where a command is, and its line in the help; its module has it under the name `command`."""

    module: str
    short_help: str


class Frame(click.Group):
    """A group of commands whose modules are loaded one by one, when they are run."""

    def __init__(
        self,
        *args: Any,  # noqa: ANN401 -- those of click
        entries: Mapping[str, CommandEntry],
        groups: Mapping[str, Sequence[str]] | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(*args, **kwargs)
        self.entries = entries
        self.groups = groups or {"Commands": tuple(entries)}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names in the order in which they were given, which is that of their use."""
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Return a command, loaded; None if there is no such command."""
        if cmd_name not in self.entries:
            return None
        command: click.Command = import_module(self.entries[cmd_name].module).command
        command.short_help = self.entries[cmd_name].short_help
        group_options(command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the commands group by group, without loading any."""
        width = max(map(len, self.entries), default=0)
        for title, names in self.groups.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), self.entries[name].short_help) for name in names])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name; suggest one if none has that name."""
        name = args[0]
        if name not in self.entries and not name.startswith("-") and not ctx.resilient_parsing:
            from difflib import get_close_matches  # noqa: PLC0415 -- slow to load

            near = get_close_matches(name, self.entries, n=1)
            ctx.fail(f"there is no command '{name}'" + (f". Did you mean '{near[0]}'?" if near else ""))
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options of the group, and load the command that is named."""
        # Before `invoke`, where Ctrl-C starts to raise: an import may swallow that.
        name = next((arg for arg in args if not arg.startswith("-")), "")
        self.get_command(ctx, name)
        return super().parse_args(ctx, args)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:  # noqa: ANN401
        """Parse the options of the group, `--help` among them."""
        with one_sentence(), naming_extras():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401
        """Run the command."""
        with one_sentence(), ending_cleanly(), naming_extras():
            return super().invoke(ctx)


@contextmanager
def one_sentence() -> Iterator[None]:
    """Turn whatever goes wrong into one sentence on stderr and an exit code."""
    try:
        yield
    except UndustError as error:
        fail(str(error), PROBLEM)
    except click.exceptions.NoArgsIsHelpError:
        raise
    except click.UsageError as error:
        fail(usage_sentence(error), WRONG_USAGE)
    except (KeyboardInterrupt, click.Abort, Ended) as ending:
        name, code = (ending.name, ending.exit_code) if isinstance(ending, Ended) else ("Ctrl-C", INTERRUPTED)
        is_answer = isinstance(ending, click.Abort)
        fail("nothing was written" if is_answer else f"stopped by {name}; {INCOMPLETE}", code)
    except MemoryError:
        fail("the memory is used up; close other programs, or use fewer --threads", PROBLEM)
    except OSError as error:
        if error.filename in {None, "standard output"}:
            drop_stdout()
        if error.errno == errno.EPIPE:
            raise click.exceptions.Exit(0) from None
        fail(file_sentence(error), PROBLEM)


@contextmanager
def naming_extras() -> Iterator[None]:
    """Turn the lack of a package into the sentence that names the extra with it."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise missing_extra(error) or error from None


def fail(sentence: str, exit_code: int) -> NoReturn:
    """Print what is wrong, and end."""
    # Without a stderr to print it on, the exit code alone has to do.
    with suppress(OSError):
        click.echo(f"undust: {printable(sentence)}", err=True)
    raise click.exceptions.Exit(exit_code)


def usage_sentence(error: click.UsageError) -> str:
    """Return what was wrong with the arguments, and where to read how it is done."""
    message = " ".join(error.format_message().split()).rstrip(".").replace(". Did you", ", did you")
    command = error.ctx.command_path if error.ctx else "undust"
    mend = "" if message.endswith("?") else f"; see '{command} --help'"
    return f"{message[:1].lower()}{message[1:]}{mend}"


def drop_stdout() -> None:
    """Let what is still waiting for a stdout that failed go nowhere, or Python fails once more at exit."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@contextmanager
def ending_cleanly() -> Iterator[None]:
    """Let Ctrl-C and polite kills raise an exception, so that half-written files are removed."""
    ended: list[Ended] = []
    interrupts: list[KeyboardInterrupt] = []

    def interrupt(_: int, __: object) -> None:
        interrupts.append(KeyboardInterrupt())
        raise interrupts[-1]

    def end(number: int, _: object) -> None:
        if not ended:  # a second one would end the cleaning up
            ended.append(Ended(number))
            raise ended[0]

    # Windows has no SIGHUP.
    others = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    handlers = dict.fromkeys(others, end) | {signal.SIGINT: interrupt}
    before: dict[signal.Signals, Any] = {}
    with _raised_again():
        try:
            for number, handler in handlers.items():
                # A signal that the parent process ignores stays ignored: nohup does that with SIGHUP.
                if signal.getsignal(number) is not signal.SIG_IGN:
                    before[number] = signal.getsignal(number)
                    signal.signal(number, handler)
            yield
        except Exception:
            # Arrow makes an error of its own of whatever happens while it reads
            for ending in (*ended, *interrupts):
                raise ending from None
            raise
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


@contextmanager
def _raised_again() -> Iterator[None]:
    """Raise what ended the program once more where it was swallowed.

    Python prints an exception that is raised inside a destructor or the callback of a weak reference, and
    goes on. Imports run many of those.
    """
    swallowed: list[BaseException] = []
    show = sys.unraisablehook

    def hook(what: sys.UnraisableHookArgs) -> None:
        if isinstance(what.exc_value, KeyboardInterrupt | Ended):
            swallowed.append(what.exc_value)
            signal.setitimer(signal.ITIMER_REAL, SWALLOWED_FOR_S)
        else:
            show(what)

    def raise_again(_: int, __: object) -> NoReturn:
        raise swallowed[-1]

    if not hasattr(signal, "setitimer"):
        yield
        return
    try:
        before = signal.signal(signal.SIGALRM, raise_again)
    except ValueError:
        yield
        return
    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = show
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


GROUPED = grouped_commands()
ENTRIES = {
    # a module cannot be called "import"
    name: CommandEntry(f"undust.cli.{'import_' if name == 'import' else name}", meaning)
    for commands in GROUPED.values()
    for name, meaning in commands.items()
}


@click.group(
    cls=Frame,
    entries=ENTRIES,
    groups={title: tuple(commands) for title, commands in GROUPED.items()},
    context_settings={"help_option_names": ["-h", "--help"]},
    help=f"{PURPOSE}\n\n\b\n{TRIES}",  # click keeps the lines after a \b
    epilog=MORE,
)
@click.version_option(package_name="undust", message="undust %(version)s")
def main() -> None:
    """Run `undust`."""
