"""The frame of the command: help, completion, exit codes, and one sentence for whatever goes wrong."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pyarrow as pa
import pytest
from click.testing import CliRunner

from tests.cli.command import UNDUST, run, sentence
from undust.cli import ENTRIES, CommandEntry, Frame, ending_cleanly, main
from undust.errors import MENDS, DamagedSource, MissingExtra, UndustError
from undust.help import COMMAND_GROUPS, COMMANDS, grouped_commands, help_text

if TYPE_CHECKING:
    from collections.abc import Iterator

LOADED = """
import sys
from undust.cli import main
try:
    main({arguments!r})
finally:
    print(*sorted(sys.modules), file=sys.stderr)
"""


def modules_loaded_by(*arguments: str) -> set[str]:
    """Return the modules that a run of the command loads."""
    words = [sys.executable, "-c", LOADED.format(arguments=list(arguments))]
    done = subprocess.run(words, input=b"http://a.test\n", capture_output=True, check=True)
    return set(done.stderr.decode().split())


def failing_with(error: BaseException) -> tuple[int, str]:
    """Return the exit code and the message of a command that raises `error`."""

    @click.command()
    def command() -> None:
        raise error

    frame = Frame(entries={})
    frame.get_command = lambda ctx, cmd_name: command  # type: ignore[method-assign]  # noqa: ARG005
    frame.entries = {"broken": CommandEntry("", "")}
    result = CliRunner().invoke(frame, ["broken"])
    return result.exit_code, result.stderr


def test_help_is_for_newcomers() -> None:
    """It fits a terminal of 80 columns, lists each command, and only those that exist."""
    ended = run("--help")
    text = ended.out.decode()
    assert ended.code == 0
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "Try these first:" in text
    groups = text.partition("\nStart here:")[2].split("\n\n")[:-1]
    listed = [line.split()[0] for group in groups for line in group.split("\n  ")[1:]]
    assert listed == list(ENTRIES)


def test_help_groups_the_commands() -> None:
    """First what everybody uses, then proof, exchange and study; every command is in one group."""
    text = run("--help").out.decode()
    assert list(ENTRIES)[:3] == ["learn", "apply", "report"]
    places = [text.index(f"\n{title}:\n") for title in COMMAND_GROUPS]
    assert places == sorted(places)
    assert set(ENTRIES) == set(COMMANDS)
    assert sum(len(commands) for commands in grouped_commands().values()) == len(COMMANDS)


def test_a_command_that_no_group_names_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new command appears in the help, in the last group, even if nobody gave it a group."""
    monkeypatch.setitem(COMMANDS, "frobnicate", "Do what nobody expects.")
    assert list(grouped_commands()[list(COMMAND_GROUPS)[-1]])[-1] == "frobnicate"


READING = ("learn", "report", "evaluate", "validate", "review", "cluster", "tree", "compare", "signatures")


@pytest.mark.parametrize("name", READING)
def test_input_options_are_one_group(name: str) -> None:
    """The options that describe the input stand together, after the options of the command itself."""
    text = run(name, "--help").out.decode()
    own, _, about_input = text.partition("\nInput options:\n")
    names = {line.split()[0] for line in about_input.splitlines() if line.startswith("  --")}
    assert names == {"--format", "--base", "--column", "--log-format", "--strict"}
    listed = {line.split()[0] for line in own.splitlines() if line.startswith("  --")}
    assert not names & listed


@pytest.mark.parametrize("name", READING)
def test_expert_options_are_shown_when_asked_for(name: str) -> None:
    """`--help-all` is `--help` and one more group, which has no option of the others."""
    usual, everything = (run(name, option).out.decode() for option in ("--help", "--help-all"))
    start, _, expert = everything.partition("\nExpert options:\n")
    assert start == usual
    assert "--shingle-words" in expert
    assert "--shingle-words" not in usual
    command = main.get_command(click.Context(main), name)
    assert command is not None
    listed = {word.rstrip(",") for word in everything.split() if word.startswith("-")}
    assert {option for param in command.params for option in param.opts if option.startswith("-")} <= listed


def test_help_shows_commands_that_exist() -> None:
    """The three commands that the help says to try run as written."""
    tries = run("--help").out.decode().partition("Try these first:\n")[2].partition("\n\n")[0].splitlines()
    assert len(tries) == 3
    for line in tries:
        words = line.partition("undust ")[2].split()
        assert main.get_command(click.Context(main), words[0]) is not None


def test_help_shows_the_main_job_first() -> None:
    """What people come for is the first command to try, and no command is shown twice."""
    text = run("--help").out.decode()
    tries = text.partition("Try these first:\n")[2].partition("\n\n")[0].splitlines()
    names = [line.partition("undust ")[2].split()[0] for line in tries]
    assert names[0] == "learn"
    assert len(set(names)) == len(names)
    assert next(iter(ENTRIES)) == "learn"
    assert "'undust learn --help'" in text


@pytest.mark.parametrize("name", ENTRIES)
def test_each_command_explains_itself(name: str) -> None:
    """Each has a help that fits a terminal, and its line in the list."""
    ended = run(name, "--help")
    assert ended.code == 0
    assert all(len(line) <= 80 for line in ended.out.decode().splitlines())
    command = main.get_command(click.Context(main), name)
    assert command is not None
    assert command.name == name
    assert len(ENTRIES[name].short_help) <= 60


def test_help_loads_little() -> None:
    """Nobody waits for Arrow, tables or the core to read a help text."""
    loaded = modules_loaded_by("--help")
    assert not loaded & {
        "pyarrow",
        "rich",
        "duckdb",
        "numpy",
        "undust._core",
        "undust.urls",
        "undust.files.streams",
    }


def test_help_is_one_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """The help that is told at once is the one that the command itself has."""
    monkeypatch.delenv("COLUMNS", raising=False)
    told_at_once = run("--help").out
    monkeypatch.setenv("COLUMNS", "80")
    assert told_at_once == run("--help").out == help_text().encode()


def test_help_folds_on_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where 80 columns do not fit, the lines are shorter."""
    monkeypatch.setenv("COLUMNS", "60")
    assert max(map(len, run("-h").out.decode().splitlines())) <= 60


def processor_time_s(*words: str) -> float:
    """Return the processor time of a run of Python."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_help_starts_within_five_times_a_bare_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Best of several, in turn; about 1.7 is usual, so a busy machine does not matter."""
    monkeypatch.delenv("COLUMNS", raising=False)
    rounds = [(processor_time_s("-c", "pass"), processor_time_s("-m", "undust", "--help")) for _ in range(5)]
    bare, helping = (min(times) for times in zip(*rounds, strict=True))
    assert helping < 5 * bare


def test_normalize_loads_little() -> None:
    """A list of lines needs no Arrow library."""
    loaded = modules_loaded_by("normalize")
    assert "undust._core" in loaded
    assert not loaded & {"pyarrow", "rich", "duckdb", "numpy", "backports.zstd"}


def test_apply_loads_little(repository: Path) -> None:
    """Nor does a list of URLs with rules; nor is the list of suffixes read by what unpacks archives."""
    rules = str(repository / "examples" / "rules.json")
    loaded = modules_loaded_by("apply", rules)
    assert "undust.rules" in loaded
    heavy = {"pyarrow", "rich", "duckdb", "numpy", "backports.zstd"}
    assert not loaded & {*heavy, "importlib.resources", "tempfile", "zipfile", "undust.engines"}
    jobs = {name.removeprefix("undust.jobs.") for name in loaded if name.startswith("undust.jobs.")}
    assert jobs == {"application", "input_files", "mapping", "rule_files", "urls_input"}


def test_without_arguments_help_is_shown() -> None:
    """Who only types the name learns what it does; it is wrong usage all the same."""
    ended = run()
    assert ended.code == 2
    assert ended.err.startswith("Usage: undust")


def test_version() -> None:
    """`--version` says the name and the version."""
    ended = run("--version")
    assert ended.code == 0
    assert ended.out == f"undust {version('undust')}\n".encode()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["normalise"], "there is no command 'normalise', did you mean 'normalize'?"),
        (["frobnicate"], "there is no command 'frobnicate'; see 'undust --help'"),
        (["--frobnicate"], "no such option '--frobnicate'; see 'undust --help'"),
        (["normalize", "--threds", "2"], "no such option '--threds', did you mean '--threads'?"),
        (
            ["normalize", "--threads", "0"],
            "invalid value for '--threads': 0 is not in the range x>=1; see 'undust normalize --help'",
        ),
        (
            ["normalize", "--json", "-o", "-"],
            "--json needs stdout for itself, so name a file with -o; see 'undust normalize --help'",
        ),
    ],
)
def test_wrong_usage(arguments: list[str], expected: str) -> None:
    """Wrong usage is one sentence too, with the way out, and exit code 2."""
    assert sentence(run(*arguments), 2) == expected


@pytest.mark.parametrize("word", ["nan", "inf", "-inf"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["learn", "crawl.jsonl", "--max-fpr"],
        ["compare", "crawl.jsonl", "--max-fpr"],
        ["compare", "crawl.jsonl", "--test"],
        ["tree", "crawl.jsonl", "--min-share"],
        ["validate", "rules.json", "--epsilon"],
        ["validate", "rules.json", "--delay"],
        ["validate", "rules.json", "--timeout"],
    ],
)
def test_what_is_no_number_is_refused(arguments: list[str], word: str) -> None:
    """It lies within no bounds, and neither outside of them."""
    done = CliRunner().invoke(main, [*arguments, word])
    assert done.exit_code == 2
    assert f"invalid value for '{arguments[-1]}'" in done.output


@pytest.mark.parametrize("number", MENDS)
def test_trouble_with_files(number: int) -> None:
    """A failing file is named, and what to do about it."""
    code, err = failing_with(OSError(number, os.strerror(number), "urls.txt"))
    assert (code, err) == (1, f"undust: urls.txt: {MENDS[number]}\n")
    assert "; " in err


def test_names_do_nothing_to_a_terminal() -> None:
    """A name with line feeds and escape sequences is printed, not obeyed."""
    error = FileNotFoundError(errno.ENOENT, "", "caf\udce9\n\x1b[31m")
    code, err = failing_with(error)
    assert (code, err) == (1, "undust: caf\\udce9\\n\\x1b[31m: there is no such file; check the name\n")


def test_trouble_with_files_nobody_thought_of() -> None:
    """Any other failure of the system is told in the words of the system."""
    error = OSError(errno.ELOOP, os.strerror(errno.ELOOP), "urls.txt")
    assert failing_with(error) == (
        1,
        "undust: urls.txt: too many levels of symbolic links; check it and start again\n",
    )


@pytest.mark.parametrize(
    ("error", "code", "err"),
    [
        (UndustError("a; b"), 1, "undust: a; b\n"),
        (DamagedSource("c; d"), 1, "undust: c; d\n"),
        (MissingExtra("e; f"), 1, "undust: e; f\n"),
        (
            MemoryError(),
            1,
            "undust: the memory is used up; close other programs, or use fewer --threads\n",
        ),
        (BrokenPipeError(errno.EPIPE, "broken"), 0, ""),
        (KeyboardInterrupt(), 130, "undust: stopped by Ctrl-C; what was not complete was not written\n"),
    ],
)
def test_endings(error: BaseException, code: int, err: str) -> None:
    """Each way to end has its exit code, and its sentence or its silence."""
    assert failing_with(error) == (code, err)


def test_bugs_are_not_hidden() -> None:
    """What is no problem of the person stays an exception, for a bug report."""

    @click.command()
    def command() -> None:
        raise ZeroDivisionError

    frame = Frame(entries={"broken": CommandEntry("", "")})
    frame.get_command = lambda ctx, cmd_name: command  # type: ignore[method-assign]  # noqa: ARG005
    assert isinstance(CliRunner().invoke(frame, ["broken"]).exception, ZeroDivisionError)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["completion", "bash"]])
def test_text_for_a_full_disk(arguments: list[str]) -> None:
    """Even help can meet a full disk: one sentence, and Python does not complain at exit."""
    with Path("/dev/full").open("wb") as full:
        assert sentence(run(*arguments, stdout=full)) == "the disk is full; free some space and start again"


def test_text_for_a_closed_pipe() -> None:
    """Who has seen enough of the help is not bothered."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed:
        ended = run("--help", stdout=closed)
    assert (ended.code, ended.err) == (0, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str) -> None:
    """There is a script for each shell, which asks the command itself."""
    ended = run("completion", shell)
    assert ended.code == 0
    assert b"_UNDUST_COMPLETE" in ended.out


@pytest.mark.parametrize(
    ("words", "expected"),
    [("undust norm", "plain,normalize"), ("undust normalize --thr", "plain,--threads")],
)
def test_completion_answers(words: str, expected: str) -> None:
    """The shell is told the commands and the options that begin so."""
    environment = {
        **os.environ,
        "_UNDUST_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
    }
    done = subprocess.run(UNDUST, env=environment, capture_output=True, check=True)
    assert done.stdout.decode().split() == [expected]


def test_a_kill_that_a_library_took_for_its_own_error() -> None:
    """Arrow turns whatever happens in a generator that it reads from into an error of its own."""
    with pytest.raises(SystemExit) as ended, ending_cleanly():  # noqa: PT012 -- the kill comes inside
        try:
            signal.raise_signal(signal.SIGTERM)
        except BaseException:  # noqa: BLE001 -- as Arrow does
            message = "Unknown error: 143"
            raise ValueError(message) from None
    assert ended.value.code == 128 + signal.SIGTERM
    with pytest.raises(ValueError, match="mine"), ending_cleanly():
        raise ValueError("mine")  # noqa: EM101


def test_ctrl_c_that_a_library_took_for_its_own_error() -> None:
    """Ctrl-C while Arrow reads from a generator is still Ctrl-C, and no error of Arrow."""

    def batches() -> Iterator[pa.RecordBatch]:
        signal.raise_signal(signal.SIGINT)
        yield pa.record_batch({"url": ["http://a.test/"]})

    reader = pa.RecordBatchReader.from_batches(pa.schema({"url": pa.string()}), batches())
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), ending_cleanly():
            list(pa.RecordBatchReader.from_stream(reader))  # through C, where exceptions become texts
    finally:
        signal.signal(signal.SIGINT, before)
