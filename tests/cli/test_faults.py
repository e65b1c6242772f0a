"""Commands that write, ended in bad ways: none is forgotten, and a few trials of each run are made here.

`python -m tools.faults --trials 20` makes all of them; docs/reliability.md tells what came of it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tools.faults.jobs import APPENDING, JOBS, OTHER_OUTPUTS, READ_ONLY, leaf_commands

if TYPE_CHECKING:
    from pathlib import Path

    import click

PAIRS = 6
"""Pairs of a command and a fault; the seed of the run draws them, so that each run tries others."""


def options_with_values(command: click.Command) -> set[str]:
    """The options that may name a file; `--csv` alone asks for a table on stdout."""
    return {
        option
        for parameter in command.params
        if not getattr(parameter, "is_flag", False)
        for option in parameter.opts
    }


def test_no_command_is_forgotten(repository: Path) -> None:
    """A new command has to say whether it writes; one with a file to write to cannot say no."""
    tried = {job.command for job in JOBS}
    assert not tried & READ_ONLY
    assert not (tried | READ_ONLY) & set(APPENDING)
    commands = dict(leaf_commands())
    assert tried | READ_ONLY | set(APPENDING) == set(commands)
    for path, tests in APPENDING.values():
        text = (repository / path).read_text(encoding="utf-8")
        assert all(f"def {test}(" in text for test in tests)
    for name, command in commands.items():
        options = options_with_values(command)
        assert name in tried or not options & {"-o", "--output", "--journal", *OTHER_OUTPUTS}


def test_every_option_that_names_an_output_is_tried() -> None:
    """Not only the command: each way in which it writes a file has a job of its own."""
    for name, command in leaf_commands():
        said = {word for job in JOBS if job.command == name for word in job.arguments}
        options = options_with_values(command)
        assert options & set(OTHER_OUTPUTS) <= said
        assert "-o" not in options or "-o" in said or name in {"rules disable", "validate"}


@pytest.mark.slow
@pytest.mark.timeout(600)  # a slow machine makes each trial slow
def test_old_or_new_and_never_half(repository: Path, pytestconfig: pytest.Config) -> None:
    """Killed, stopped, without room, without rights, twice at once: nothing is lost, and a rerun succeeds."""
    seed = str(pytestconfig.getoption("randomly_seed", 0))
    words = [sys.executable, "-m", "tools.faults", "--trials", "1", "--most", str(PAIRS), "--seed", seed]
    done = subprocess.run([*words, "--json"], cwd=repository, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(words[1:])}\n{done.stdout}\n{done.stderr}"
    told = json.loads(done.stdout)
    assert sum(row["trials"] for row in told) == PAIRS
    assert [row["losses"] for row in told if row["losses"]] == []
