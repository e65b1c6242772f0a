"""Who may import whom: the table that keeps every arrow of the house pointing one way."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAY_IMPORT = {
    "errors": "",
    "front": "",
    "counting": "",
    "extras": "errors",
    "intervals": "",
    "notebook": "",
    "packing": "errors",
    "replacing": "errors",
    "resources": "",
    "secrets": "",
    "streams": "errors packing replacing",
    "observations": "errors counting secrets",
    "urls": "errors _core",
    "content": "errors _core urls",
    "sources": "errors _core packing streams observations urls content",
    "live": "errors urls content sources",
    "engines": "errors extras streams observations",
    "pages": "_core content",
    "duplicates": "errors counting _core observations urls pages",
    "rules": "errors counting notebook secrets _core streams urls",
    "tree": "errors _core urls",
    "candidates": "rules",
    "selection": "errors urls duplicates rules candidates",
    "learners": "errors resources _core urls duplicates rules tree candidates selection",
    "validation": "errors counting intervals urls content live duplicates rules candidates",
    "learning": "errors intervals secrets _core urls pages duplicates rules candidates learners"
    " validation selection",
    "single": "errors intervals resources duplicates rules candidates learners validation learning",
    "evaluation": "errors intervals notebook urls duplicates rules",
    "comparison": "errors urls duplicates rules candidates learners validation learning single evaluation",
    "signatures": "errors evaluation observations urls",
    "integrations": "errors extras packing streams urls content sources rules",
    "exports": "errors streams urls rules",
    "imports": "errors streams urls rules",
    "reporting": "errors counting intervals secrets streams urls duplicates rules tree evaluation",
    "review": "errors streams rules evaluation reporting",
    "pipeline": (
        "errors intervals streams observations urls content sources live engines duplicates rules tree"
        " candidates learners validation selection learning single evaluation comparison reporting"
    ),
    "cli": (
        "errors counting front replacing streams observations engines urls rules tree signatures live"
        " learning validation evaluation single comparison exports imports reporting review pipeline"
    ),
    "__main__": "cli front",
    "__init__": "pipeline rules urls errors engines exports imports",
}
"""Each concept (a file or a folder of the package) with the concepts it may know."""

SHELVES = ("sources", "engines", "learners", "integrations", "exports", "imports")
"""Folders of interchangeable siblings, which a tuple in `__init__` lists and nothing else connects."""

SLOW_TO_LOAD = (
    *("datatrove", "duckdb", "fastwarc", "httpcore", "pandas", "polars", "protego", "pyarrow", "pyspark"),
    *("resiliparse", "rich"),
    *("scrapy", "warcio"),
)


def imports_of(path: Path) -> Iterator[str]:
    """The modules of ours that a file imports, by their full names, type hints included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "undust")
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: write imports in full, not relative"
            if node.module == "undust":
                yield from (f"undust.{alias.name}" for alias in node.names)
            elif (node.module or "").startswith("undust."):
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


def modules(repository: Path) -> dict[str, Path]:
    """Every module of the package by its dotted name within it, and its file."""
    package = repository / "src" / "undust"
    files = sorted(package.rglob("*.py"))
    return {".".join(path.relative_to(package).with_suffix("").parts): path for path in files}


def test_imports_follow_the_table(repository: Path) -> None:
    """Every concept is in the table, and knows only those that the table lets it know."""
    wrong = []
    for module, path in modules(repository).items():
        concept = module.split(".")[0]
        assert concept in MAY_IMPORT, f"{path}: say in MAY_IMPORT what '{concept}' may import"
        known = {name.split(".")[1] for name in imports_of(path) if name != "undust"} - {concept}
        wrong += [f"{module} imports {other}" for other in sorted(known - set(MAY_IMPORT[concept].split()))]
    assert wrong == []


def test_the_table_has_no_circle() -> None:
    """Read from the top, the table never points forward: no concept knows one that knows it."""
    seen = {"_core"}
    for concept, known in MAY_IMPORT.items():
        assert set(known.split()) <= seen | {"cli"} if concept == "__main__" else set(known.split()) <= seen
        seen.add(concept)


def test_the_page_about_the_house_has_every_room(repository: Path) -> None:
    """A newcomer finds each folder and file of the package on the page, with what it is for."""
    page = (repository / "docs" / "architecture.md").read_text(encoding="utf-8")
    told = re.findall(r"^  (\w+)(?:/|\.py) ", page, re.MULTILINE)
    assert set(told) == set(MAY_IMPORT) - {"__init__", "__main__"}
    for place, concept in enumerate(told):
        assert set(MAY_IMPORT[concept].split()) <= {*told[:place], "_core"}, f"{concept} knows one below it"


def test_nothing_imports_the_command(repository: Path) -> None:
    """The command is a user of the package like any other; only `python -m undust` starts it."""
    users = [
        module
        for module, path in modules(repository).items()
        if module.split(".")[0] not in {"cli", "__main__"}
        and any(name.startswith("undust.cli") for name in imports_of(path))
    ]
    assert users == []


def test_siblings_do_not_know_each_other(repository: Path) -> None:
    """On a shelf, only `__init__` knows the siblings; what they share is in files beside them."""
    wrong = []
    for shelf in SHELVES:
        siblings = siblings_of(repository, shelf)
        for module, path in modules(repository).items():
            if module.startswith(f"{shelf}.") and module.split(".")[1] in siblings:
                others = {
                    name.split(".")[2] for name in imports_of(path) if name.startswith(f"undust.{shelf}.")
                }
                wrong += [
                    f"{module} imports {other}"
                    for other in sorted(others & siblings - {module.split(".")[1]})
                ]
    assert wrong == []


def siblings_of(repository: Path, shelf: str) -> set[str]:
    """The modules that the tuple in a shelf's `__init__` lists; without a tuple, all modules there are."""
    folder = repository / "src" / "undust" / shelf
    everything = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    front = folder / "__init__.py"
    body = ast.parse(front.read_text(encoding="utf-8")).body if front.exists() else []
    homes = {
        alias.asname or alias.name: f"{node.module}.{alias.name}".split(".")[2]
        for node in body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"undust.{shelf}")
        for alias in node.names
    }
    tuples = [
        node.value for node in body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple)
    ]
    used = {name.id for value in tuples for name in ast.walk(value) if isinstance(name, ast.Name)}
    return {homes[name] for name in used if name in homes} or everything


@pytest.mark.parametrize("module", ["undust", "undust.rules", "undust.urls", "undust.cli"])
def test_a_bare_import_loads_little(module: str, repository: Path) -> None:
    """What takes long to load, or may not be installed, is loaded by those who use it."""
    if not (repository / "src" / module.replace(".", "/")).exists():
        pytest.fail(f"{module} is gone; take it off this list")
    program = f"import sys, {module}; print(*(name for name in {SLOW_TO_LOAD} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_only_the_border_knows_python(repository: Path) -> None:
    """Only the bindings include nanobind, so the rest of the core can be tested and used without Python."""
    files = sorted((repository / "cpp").glob("*.[ch]pp"))
    assert files
    knowing = {file.name for file in files if "nanobind" in file.read_text(encoding="utf-8")}
    assert {name for name in knowing if not name.endswith("bindings.cpp")} <= {"python.hpp"}


PLATFORM_HEADERS = {
    "#include <arm_neon.h>": "sixteen bytes compared at once, where the processor can",
    "#include <emmintrin.h>": "the same on the other processor",
    "#include <sys/mman.h>": "large pages for large rule sets, where the system has them",
}
"""What the compiler and the system bring along, used behind an #if only; with the reason."""


def test_the_core_has_no_dependency(repository: Path) -> None:
    """The core includes the standard library and itself, and behind an #if what the platform has."""
    own = {file.name for file in (repository / "cpp").glob("*.hpp")}
    for file in sorted((repository / "cpp").glob("*.[ch]pp")):
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.startswith('#include "'):
                assert line.split('"')[1] in own, f"{file.name}: {line}"
            elif line.startswith("#include <") and not line.startswith(
                ("#include <nanobind/", "#include <Python.h")
            ):
                is_of_machine = line in PLATFORM_HEADERS
                is_standard = "/" not in line and ".h>" not in line
                assert is_of_machine or is_standard, f"{file.name}: {line}"


def test_types_of_the_core_have_names_of_their_own(repository: Path) -> None:
    """Two types of one name in one namespace are one to the linker, whatever their size."""
    defined = re.compile(r"^(?:struct|class|enum class|enum) (\w+)", re.MULTILINE)
    where: dict[tuple[str, str], set[str]] = {}
    for header in sorted((repository / "cpp").glob("*.hpp")):
        text = header.read_text(encoding="utf-8")
        namespace = ",".join(sorted(set(re.findall(r"^namespace ([\w:]+)", text, re.MULTILINE))))
        for name in defined.findall(re.sub(r"^(?:struct|class) \w+;$", "", text, flags=re.MULTILINE)):
            where.setdefault((namespace, name), set()).add(header.name)
    assert {name: files for name, files in where.items() if len(files) > 1} == {}
