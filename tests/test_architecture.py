"""Who may import whom: the table that keeps every arrow of the house pointing one way."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAY_IMPORT = {
    "help": "",
    "display": "",
    "errors": "display",
    "privacy": "",
    "statistics": "display _core",
    "extras": "errors",
    "files": "errors display _core",
    "urls": "extras _core",
    "rules": "errors display _core files urls",
    "reading": "errors display privacy _core files urls",
    "pages": "display _core urls reading",
    "edits": "errors privacy rules",
    "judging": "errors display statistics _core rules pages edits",
    "proposing": "errors _core files urls rules pages edits judging",
    "searching": "errors statistics rules pages edits judging proposing",
    "learning": "errors privacy statistics _core rules pages edits judging proposing searching",
    "measuring": "errors display statistics files urls rules pages proposing learning",
    "asking": "errors statistics files urls rules reading pages judging",
    "showing": "errors display privacy statistics files urls rules pages judging learning measuring asking",
    "engines": "errors extras files reading",
    "crawling": "errors statistics _core files urls rules reading pages edits proposing learning measuring",
    "integrations": "errors extras files urls rules reading crawling",
    "exchange": "errors display files urls rules measuring",
    "jobs": (
        "errors display privacy statistics files urls rules reading pages judging proposing searching"
        " learning measuring showing engines asking crawling exchange"
    ),
    "cli": "errors extras help display showing jobs",
    "__main__": "cli help",
    "__init__": "errors extras display urls rules engines crawling exchange jobs",
}
"""Each folder or file at the top of the package, with those that it may import."""

SHELVES = (
    *("reading.formats", "engines", "proposing.papers", "integrations"),
    *("exchange.exports", "exchange.imports"),
)
"""Folders of interchangeable siblings, which a tuple in `__init__` lists and nothing else connects."""

MOST_FOLDERS, MOST_LOOSE_FILES = 20, 8

NOT_OF_THE_PACKAGE = {"bench", "crawls", "first_use", "fuzz", "golden", "js", "laws", "oracles"}
"""Folders of tests that are about no single folder of the package."""

SLOW_TO_LOAD = (
    *("datatrove", "duckdb", "fastwarc", "httpcore", "pandas", "polars", "protego", "pyarrow", "pyspark"),
    *("resiliparse", "rich"),
    *("scrapy", "warcio"),
)


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file, which many tests look at."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports_of(path: Path) -> tuple[str, ...]:
    """The modules of ours that a file imports, by their full names, type hints included."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(parsed(path)):
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


def test_every_permission_is_used(repository: Path) -> None:
    """A permission that no import needs any more is taken back."""
    used: dict[str, set[str]] = {concept: set() for concept in MAY_IMPORT}
    for module, path in modules(repository).items():
        used[module.split(".")[0]] |= {name.split(".")[1] for name in imports_of(path)}
    stale = {concept: set(known.split()) - used[concept] for concept, known in MAY_IMPORT.items()}
    assert {concept: names for concept, names in stale.items() if names} == {}


def test_no_file_imports_itself_through_others(repository: Path) -> None:
    """There is no circle of files, not even one of type hints or of imports inside functions."""
    files = {name.removesuffix(".__init__"): path for name, path in modules(repository).items()}
    known: dict[str, set[str]] = {}
    for module, path in files.items():
        names = (name.removeprefix("undust.") for name in imports_of(path))
        known[module] = {name if name in files else name.rpartition(".")[0] for name in names}
    while free := [module for module, others in known.items() if not others & known.keys()]:
        for module in free:
            del known[module]
    assert {module: sorted(others & known.keys()) for module, others in known.items()} == {}


def test_every_class_has_one_home(repository: Path) -> None:
    """One class name, one meaning: no name is defined in two files."""
    homes: dict[str, list[str]] = {}
    for module, path in modules(repository).items():
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(module)
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


def test_a_constant_has_one_meaning(repository: Path) -> None:
    """A constant that other files can import has one value, wherever a constant of its name stands."""
    values: dict[str, dict[str, str]] = {}
    for module, path in modules(repository).items():
        for name, value in constants_of(path):
            values.setdefault(name, {})[module] = value
    several = {name: found for name, found in values.items() if len(set(found.values())) > 1}
    assert several == {}


def constants_of(path: Path) -> Iterator[tuple[str, str]]:
    """The public constants that a file defines, each with the text of its value."""
    for node in parsed(path).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets = [node.target] if isinstance(node, ast.AnnAssign) and node.value else targets
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        for target in targets:
            pairs: list[tuple[ast.expr, ast.AST | None]] = [(target, value)]
            if isinstance(target, ast.Tuple):
                values = value.elts if isinstance(value, ast.Tuple) else [value] * len(target.elts)
                pairs = list(zip(target.elts, values, strict=False))
            for name, own in pairs:
                if isinstance(name, ast.Name) and name.id.isupper() and not name.id.startswith("_"):
                    yield name.id, ast.dump(own) if own else ""


def test_the_house_stays_small(repository: Path) -> None:
    """Few folders and few loose files at the top, so that one page can describe them."""
    package = repository / "src" / "undust"
    assert len({path.parent for path in package.glob("*/__init__.py")}) <= MOST_FOLDERS
    assert len(list(package.glob("*.py"))) <= MOST_LOOSE_FILES


def test_tests_mirror_the_package(repository: Path) -> None:
    """The tests of a folder lie in the folder of the same path, and those of a file bear its name there."""
    tests, package = repository / "tests", repository / "src" / "undust"
    homes: dict[str, set[Path]] = {}
    for path in package.rglob("*.py"):
        is_folder = path.stem == "__init__"
        homes.setdefault(path.parent.name if is_folder else path.stem, set()).add(path.parent)
    wrong = []
    for path in sorted(tests.rglob("test_*.py")):
        inner, name = path.parent.relative_to(tests), path.stem.removeprefix("test_")
        if not inner.parts or inner.parts[0] in NOT_OF_THE_PACKAGE:
            continue
        if not (package / inner).is_dir():
            wrong.append(f"{path.relative_to(repository)}: there is no src/undust/{inner}")
        elif not {package / inner, package / inner / name} & homes.get(name, {package / inner}):
            there = ", ".join(sorted(str(home.relative_to(repository)) for home in homes[name]))
            wrong.append(f"{path.relative_to(repository)}: the file of this name is in {there}")
    assert wrong == []


def test_rules_draw_nothing(repository: Path) -> None:
    """Objects do not import what presents them: the folders below `showing` know no table and no HTML."""
    drawing = {"rich", "jinja2"}
    for module, path in modules(repository).items():
        if module.split(".")[0] in {"rules", "measuring", "pages", "judging", "learning"}:
            nodes = ast.walk(parsed(path))
            names = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
            assert not {name.split(".")[0] for name in names} & drawing, module


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
    assert len(told) == len(set(told))
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
            own = module.removeprefix(f"{shelf}.").split(".")[0]
            if module.startswith(f"{shelf}.") and own in siblings:
                front = f"undust.{shelf}."
                others = {
                    name.removeprefix(front).split(".")[0]
                    for name in imports_of(path)
                    if name.startswith(front)
                }
                wrong += [f"{module} imports {other}" for other in sorted(others & siblings - {own})]
    assert wrong == []


def siblings_of(repository: Path, shelf: str) -> set[str]:
    """The modules that the tuple in a shelf's `__init__` lists; without a tuple, all modules there are."""
    folder = repository / "src" / "undust" / shelf.replace(".", "/")
    everything = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    front = folder / "__init__.py"
    body = ast.parse(front.read_text(encoding="utf-8")).body if front.exists() else []
    homes = {
        alias.asname or alias.name: f"{node.module}.{alias.name}".split(".")[len(shelf.split(".")) + 1]
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
    "#include <malloc.h>": "aligned memory on Windows",
    "#include <wasm_simd128.h>": "the same in WebAssembly",
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
