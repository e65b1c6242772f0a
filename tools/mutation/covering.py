"""Which tests run a line of ours, and how long each test takes."""

from __future__ import annotations

import ast
import json
import os
import resource
import subprocess
import sys
from collections import defaultdict
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from coverage import CoverageData

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

PARTS = ("rules", "proposing/papers/selection", "pages", "measuring", "judging", "asking")
"""The folders of `src/undust` whose faults are tried; the tests of each lie in the folder of its name."""
BY_COMMAND = {
    "rules": ("test_rules", "test_explain"),
    "pages": ("test_cluster",),
    "asking": ("test_validate",),
}
"""Which tests of the command show what a part of the code prints."""
CORE_TESTS = ("tests/rules/", "tests/urls/", "tests/oracles/", "tests/laws/")
COLLECTED = (
    *(f"tests/{part}/" for part in PARTS),
    *("tests/urls/", "tests/oracles/", "tests/laws/", "tests/learning/"),
    *(f"tests/cli/{name}.py" for names in BY_COMMAND.values() for name in names),
    "tests/test_public_api.py",
)
"""The tests that faults are tried on: those of the parts, and those that lean on them most."""
PACKAGE = "src"
MOST_TESTS = 400
"""Beyond so many tests of one line, the slower ones are left out."""
SECONDS_EACH, SECONDS_AGAIN = 6.0, 60.0
"""Processor time for the tests beside the code of a mutant, and half as much for all others."""
CORE_SECONDS = 20.0
"""Processor time for the tests of a fault in the core, which any of them might notice."""


def collect(root: Path, folder: Path, jobs: int) -> None:
    """Run the tests once, and keep which lines each runs and its seconds; later those that are new."""
    stamp = folder / "collected.json"
    known = json.loads(stamp.read_text(encoding="utf-8")) if stamp.exists() else {}
    state = _state(root)
    if known.get(PACKAGE) != state[PACKAGE]:
        known = {}
        for old in (folder / "coverage", folder / "seconds.jsonl"):
            old.unlink(missing_ok=True)
    files = [name for name, digest in state.items() if name != PACKAGE and known.get(name) != digest]
    if files:
        _forget(files, folder / "seconds.jsonl")
        _run(files, root, folder, jobs)
    stamp.write_text(json.dumps(state), encoding="utf-8")


def _forget(files: Sequence[str], seconds: Path) -> None:
    """Leave out the tests of some files, of which some may be gone."""
    lines = seconds.read_text(encoding="utf-8").splitlines() if seconds.exists() else []
    kept = [line for line in lines if json.loads(line)[0].split("::")[0] not in files]
    seconds.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")


def _run(files: Sequence[str], root: Path, folder: Path, jobs: int) -> None:
    plugin = ("-p", "tools.mutation.covering")
    # What the tests start as processes of their own has no test to its name, and is not traced.
    settings = folder / "coveragerc"
    settings.write_text("[run]\nsource_pkgs = undust\n", encoding="utf-8")
    coverage = ("--cov", f"--cov-config={settings}", "--cov-append", "--cov-context=test", "--cov-report=")
    spread = ("-n", str(jobs), "--dist", "loadfile")
    environment = os.environ | {
        "COVERAGE_FILE": str(folder / "coverage"),
        "UNDUST_TEST_SECONDS": str(folder / "seconds.jsonl"),
    }
    command = [sys.executable, "-m", "pytest", "-q", *spread, *plugin, *coverage, *files]
    done = subprocess.run(command, cwd=root, env=environment, check=False)
    # a test that fails before there is a fault is left out later, by name
    if done.returncode not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}:
        sys.exit("the tests could not be run; what pytest said stands above")


def _state(root: Path) -> dict[str, str]:
    """Return what each file of tests comes to, and the package with all that tests share."""
    files = [
        file
        for name in COLLECTED
        for file in ((root / name).rglob("test_*.py") if name.endswith("/") else [root / name])
    ]
    shared = [
        file
        for folder in ("src", "tests")
        for file in (root / folder).rglob("*.py")
        if not file.name.startswith("test_")
    ]
    state = {file.relative_to(root).as_posix(): _digest([file]) for file in sorted(files)}
    return state | {PACKAGE: _digest(sorted(shared))}


def _digest(files: Iterable[Path]) -> str:
    digest = blake2b(digest_size=16)
    for file in files:
        digest.update(f"{file.name}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()


def _cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _in_functions(source: str) -> set[int]:
    """Return the lines that only run when somebody calls."""
    return {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for line in range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)
    }


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Note the processor time of a test (this file is a plugin while the tests are collected)."""
    before = _cpu_s()
    result = yield
    with Path(os.environ["UNDUST_TEST_SECONDS"]).open("a", encoding="utf-8") as file:
        file.write(json.dumps([item.nodeid, round(_cpu_s() - before, 3)]) + "\n")
    return result


class Covering:
    """The tests of each line, fastest first."""

    def __init__(self, root: Path, folder: Path) -> None:
        # All at once: in a forked process, coverage would begin the file anew.
        data = CoverageData(str(folder / "coverage"))
        data.read()
        self.contexts = {
            Path(file).relative_to(root).as_posix(): data.contexts_by_lineno(file)
            for file in data.measured_files()
            if file.startswith(tuple(f"{root}/src/undust/{part}/" for part in PARTS))
        }
        self.in_functions = {
            path: _in_functions((root / path).read_text(encoding="utf-8")) for path in self.contexts
        }
        data.close()
        lines = (folder / "seconds.jsonl").read_text(encoding="utf-8").splitlines()
        self.seconds = {entry[0]: float(entry[1]) for entry in map(json.loads, lines)}
        self.in_file: dict[str, list[str]] = defaultdict(list)
        for test in self.seconds:
            self.in_file[test.split("::")[0]].append(test)

    def seconds_of(self, tests: Sequence[str]) -> float:
        """Return the processor time that tests take together."""
        return sum(self.seconds[test] for test in tests)

    def tests_under(self, folders: Sequence[str]) -> list[str]:
        """Return the tests of some folders, fastest first."""
        return sorted((test for test in self.seconds if test.startswith(tuple(folders))), key=self._order)

    def tests_of_core(self) -> list[str]:
        """Return the tests that a fault of the core has to pass, fastest first."""
        return self._up_to(CORE_SECONDS, self.tests_under(CORE_TESTS), most=len(self.seconds))

    def tests_of(self, path: str, line: int, *, again: bool = False) -> Iterator[list[str]]:
        """Return the tests that run a line: those of the folder of its name, then the others.

        A line outside all functions is run when its file is loaded: then all tests of the file count.
        The second time (`again`) come those that were left out for their time, and those of the command,
        which run in processes of their own and whose lines nobody has seen.
        """
        by_line = self.contexts.get(path, {})
        found = self._tests(by_line.get(line, []) if line in self.in_functions.get(path, ()) else [])
        if not found:
            found = set[str]().union(*(self._tests(contexts) for contexts in by_line.values()))
        part = next(part for part in PARTS if path.startswith(f"src/undust/{part}/"))
        own: list[str] = []
        others: list[str] = []
        for test in sorted(found, key=self._order):
            (own if test.startswith(f"tests/{part}/") else others).append(test)
        first = (self._up_to(SECONDS_EACH, own), self._up_to(SECONDS_EACH / 2, others))
        if again:
            command = self.tests_under([f"tests/cli/{name}.py" for name in BY_COMMAND.get(part, ())])
            first = (
                self._up_to(SECONDS_AGAIN, [test for test in own if test not in first[0]]),
                self._up_to(SECONDS_AGAIN / 2, command + [test for test in others if test not in first[1]]),
            )
        yield from (tests for tests in first if tests)

    def _tests(self, contexts: Sequence[str]) -> set[str]:
        """Return the tests of some contexts; what a fixture did counts for all tests of its file."""
        found: set[str] = set()
        for context in contexts:
            test, _, phase = context.rpartition("|")
            if phase == "setup":
                found.update(self.in_file[test.split("::")[0]])
            elif test in self.seconds:
                found.add(test)
        return found

    def _up_to(self, most_s: float, tests: Sequence[str], most: int = MOST_TESTS) -> list[str]:
        chosen: list[str] = []
        total = 0.0
        for test in tests:
            total += self.seconds[test]
            if chosen and (total > most_s or len(chosen) == most):
                break
            chosen.append(test)
        return chosen

    def _order(self, test: str) -> tuple[float, str]:
        return self.seconds[test], test
