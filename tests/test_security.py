"""What SECURITY.md promises about the code itself: nothing in it runs what strangers wrote."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RUNS_TEXT = {"eval", "exec", "compile", "__import__"}
STARTS_PROGRAMS = {"subprocess", "pty", "popen2", "commands"}
MAKES_OBJECTS = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "jsonpickle", "yaml"}
SHELL = re.compile(r"os\.(?:system|popen|exec\w*|spawn\w*|posix_spawn\w*)$")
BETWEEN_OUR_PROCESSES = {
    "engines/local.py",
    "engines/workers.py",
    *(f"engines/spark/{name}.py" for name in ("engine", "tasks")),
}
"""Where one process of a job packs a function for another one of the same job; never what was read."""


def findings_in(tree: ast.AST) -> Iterator[str]:
    """Give what could run or make something out of text."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = (
                [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            )
            yield from (name for name in names if name.partition(".")[0] in STARTS_PROGRAMS | MAKES_OBJECTS)
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called in RUNS_TEXT or SHELL.search(called) or called.endswith("literal_eval"):
                yield called
            yield from ("shell=" for word in node.keywords if word.arg == "shell")


def test_nothing_runs_what_strangers_wrote(repository: Path) -> None:
    """No eval, no pickle of what comes from outside, no shell, no other program."""
    package = repository / "src" / "undust"
    found = {}
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).as_posix()
        seen = set(findings_in(ast.parse(path.read_text(encoding="utf-8"))))
        if name in BETWEEN_OUR_PROCESSES:
            assert "pickle" in seen, f"{name} needs no exception any more"
            seen -= {"pickle"}
        if seen:
            found[name] = seen
    assert found == {}


@pytest.mark.parametrize(
    "text",
    [
        "eval('1')", "exec(text)", "import pickle", "from marshal import loads", "import subprocess",
        "import os\nos.system('ls')", "run('ls', shell=True)",
        "compile(a, b, 'exec')",
    ],
)  # fmt: skip
def test_each_way_is_found(text: str) -> None:
    """The guard itself works."""
    assert list(findings_in(ast.parse(text)))


def test_the_core_starts_nothing(repository: Path) -> None:
    """Nor does the C++ core run programs, load libraries or ask the network."""
    forbidden = re.compile(r"\b(?:system|popen|execv\w*|fork|dlopen|socket|getaddrinfo)\s*\(")
    for path in sorted((repository / "cpp").iterdir()):
        assert not forbidden.search(path.read_text(encoding="utf-8")), path.name
