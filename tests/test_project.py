"""What surrounds the code agrees with it: dependencies, pins, the two commands."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from typing import TYPE_CHECKING, Any

import pytest

from tools.requirements import requirements

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OUR_OWN = {"undust", "tests", "bench", "tools", "examples"}
NOT_ON_EVERY_PYTHON = {"compression"}
"""Standard library of a newer Python, imported where it exists."""


@pytest.fixture(scope="module")
def project(repository: Path) -> dict[str, Any]:
    """Give what pyproject.toml says."""
    return tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))


def name_of(requirement: str) -> str:
    """The normalized name of the package that a requirement or a pin is about."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement, maxsplit=1)[0]).lower()


def packages_imported_by(folder: Path) -> Iterator[tuple[str, str]]:
    """Each foreign package that a file imports, with the name of the file."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            else:
                continue
            for name in (name.partition(".")[0] for name in names):
                if name not in sys.stdlib_module_names | OUR_OWN | NOT_ON_EVERY_PYTHON:
                    yield name, path.name


@pytest.mark.parametrize(
    ("folder", "groups"), [("src", []), ("tests", ["test"]), ("examples", []), ("tools", ["test"])]
)
def test_every_import_is_declared(
    repository: Path, project: dict[str, Any], folder: str, groups: list[str]
) -> None:
    """A fresh environment has what the code imports."""
    requirements = [*project["project"]["dependencies"]]
    for extra in _extras(project):
        requirements += extra
    for group in groups:
        requirements += project["dependency-groups"][group]
    declared = {name_of(requirement) for requirement in requirements}
    providers = packages_distributions()
    for module, file in packages_imported_by(repository / folder):
        provided_by = {name_of(name) for name in providers.get(module, [module])}
        assert provided_by & declared, f"{file} imports {module}, which pyproject.toml does not ask for"


def test_every_requirement_has_a_pin(repository: Path, project: dict[str, Any]) -> None:
    """`make test` installs the same versions everywhere."""
    pins = {
        name_of(line)
        for line in (repository / "constraints.txt").read_text(encoding="utf-8").splitlines()
        if "==" in line
    }
    requirements = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    for several in (*project["dependency-groups"].values(), *_extras(project)):
        requirements += several
    # An extra that brings other extras asks for undust itself.
    assert not {name_of(requirement) for requirement in requirements} - pins - {"undust"}


def test_the_set_up_installs_every_extra(repository: Path, project: dict[str, Any]) -> None:
    """Tests of an integration run in its real host on a fresh machine."""
    makefile = (repository / "Makefile").read_text(encoding="utf-8")
    assert re.search(
        r"^\t@\$\(BIN\)/python tools/requirements\.py >(\S+)\n.* --requirement \1$", makefile, re.MULTILINE
    )
    expected = {one for several in _extras(project) for one in several if not one.startswith("undust[")}
    assert set(requirements()) == expected | set(project["project"]["dependencies"])


def _extras(project: dict[str, Any]) -> list[list[str]]:
    return list(project["project"].get("optional-dependencies", {}).values())


def test_pins_name_no_place(repository: Path) -> None:
    """Where packages come from is for the machine to say."""
    text = (repository / "constraints.txt").read_text(encoding="utf-8")
    assert not re.findall(r"://|^-|@|/", re.sub(r"^#.*$", "", text, flags=re.MULTILINE), re.MULTILINE)


def test_ci_runs_the_command_of_the_readme(repository: Path) -> None:
    """What CI calls green is what a newcomer runs."""
    assert re.search(r"^make test\b", (repository / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    ci = (repository / ".ci" / "run").read_text(encoding="utf-8")
    assert re.search(r"^stage tests make [a-z-]* ?test$", ci, re.MULTILINE)


def test_every_ignored_rule_has_a_reason(repository: Path) -> None:
    """A lint rule that is off says why, on its line."""
    text = (repository / "pyproject.toml").read_text(encoding="utf-8")
    ignored = re.findall(r'^    "[A-Z]+[0-9]+",(.*)$', text, re.MULTILINE)
    assert ignored
    assert all(re.match(r"  # \S", rest) for rest in ignored)


def test_the_changelog_tells_of_this_version(repository: Path, project: dict[str, Any]) -> None:
    """The newest section is that of the version in pyproject.toml, and has a day."""
    changelog = (repository / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+) \(\d{4}-\d\d-\d\d\)$", changelog, re.MULTILINE)
    assert newest
    assert newest[1] == project["project"]["version"]
    assert "Unreleased" not in changelog
