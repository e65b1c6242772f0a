"""The package, loaded once before the first trial, and forgotten again as far as a fault reaches.

Loading takes longer than most tests do. A process that is to see a fault forgets the module that holds it
and all that import it, directly or not, and loads those anew.
"""

from __future__ import annotations

import ast
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent / "src"
PACKAGE = "undust"
LEFT_OUT = ("undust.cli", "undust.integrations", "undust.__main__")
"""Started as processes of their own, or wanting what may not be installed."""


def load_all() -> dict[str, set[str]]:
    """Load the package; return for each of its modules those that import it by their first lines."""
    importers: dict[str, set[str]] = {}
    for file in sorted((ROOT / "undust").rglob("*.py")):
        name = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for imported in _imports(ast.parse(file.read_text(encoding="utf-8"))):
            importers.setdefault(imported, set()).add(name)
        if not name.startswith(LEFT_OUT):
            with suppress(ImportError):
                import_module(name)
    return importers


def _imports(tree: ast.Module) -> set[str]:
    """Return the modules that a file names, and the packages they lie in, for these are loaded first."""
    named: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names):
                named |= {each.name for each in names}
            case ast.ImportFrom(module=str(module), names=names):
                named |= {module, *(f"{module}.{each.name}" for each in names)}
    parts = (name.split(".") for name in named if name.startswith("undust"))
    return {".".join(each[:size]) for each in parts for size in range(1, len(each) + 1)}


def forget(module: str, importers: dict[str, set[str]]) -> None:
    """Forget a module and all that may have taken something from it, packages with all they hold."""
    reached, waiting = {PACKAGE, module}, [module]
    while waiting:
        name = waiting.pop()
        held = {each for each in sys.modules if each.startswith(f"{name}.")}
        new = (importers.get(name, set()) | held) - reached
        reached |= new
        waiting += new
    for name in reached:
        sys.modules.pop(name, None)
        package, _, last = name.rpartition(".")
        with suppress(KeyError, AttributeError):
            delattr(sys.modules[package], last)
    # What stayed is a part of the package that is loaded now.
    package_now = import_module(PACKAGE)
    for name in [name for name in sys.modules if name.startswith(f"{PACKAGE}.")]:
        if name.count(".") == 1:
            setattr(package_now, name.rpartition(".")[2], sys.modules[name])
