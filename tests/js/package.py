"""The npm package, built, and what it says about URLs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY

PACKAGE = REPOSITORY / "js"
ANSWERS = Path(__file__).with_name("answers.mjs")


def program(name: str) -> str:
    """Return where a program of Node is; without it the test is skipped."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"there is no {name}; install Node 20 or newer")
    return found


@cache
def built() -> Path:
    """Return the folder of the package, with a module that is built from the sources as they are."""
    pytest.importorskip("ziglang")
    subprocess.run([sys.executable, "-m", "tools.wasm"], cwd=REPOSITORY, check=True)
    return PACKAGE


def run(*words: str | Path, text: str = "", folder: Path = REPOSITORY) -> str:
    """Run a program; return what it prints."""
    done = subprocess.run(
        [program(str(words[0])), *map(str, words[1:])],
        input=text,
        capture_output=True,
        text=True,
        cwd=folder,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def answers(questions: list[dict[str, Any]], entry: str = "node.js") -> list[Any]:
    """Return what the package says to rules and URLs, question by question."""
    # Half of a surrogate pair travels as an escape.
    said = run("node", ANSWERS, built() / entry, text=json.dumps(questions))
    found: list[Any] = json.loads(said)
    return found
