"""The front door: what `undust` and its packages offer is what they say they offer."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re
import types
from typing import TYPE_CHECKING

import pytest

import undust

if TYPE_CHECKING:
    from pathlib import Path

PACKAGES = sorted(
    ["undust", *(module.name for module in pkgutil.walk_packages(undust.__path__, "undust.") if module.ispkg)]
)
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(undust.__path__, "undust.")
    if module.name not in {"undust.__main__", "undust._core"}
)


def natural_order(names: list[str]) -> list[str]:
    """Names as ruff sorts them: constants, then classes, then functions."""
    return sorted(names, key=lambda name: (0 if name.isupper() else 1 if name[0].isupper() else 2, name))


@pytest.mark.parametrize("package", PACKAGES)
def test_all_is_sorted_and_there(package: str) -> None:
    """Every name in `__all__` exists, once, in order; `dir` and `import *` would find it."""
    module = importlib.import_module(package)
    names = list(getattr(module, "__all__", []))
    assert names == natural_order(sorted(set(names)))
    for name in names:
        assert getattr(module, name) is not None


def test_all_is_complete() -> None:
    """Whatever can be reached as `undust.name` without an underscore is in `__all__`, or is a module."""
    for name in undust.__all__:
        getattr(undust, name)
    public = {
        name
        for name, value in vars(undust).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }
    imported_helpers = {"TYPE_CHECKING", "import_module"}
    assert public - imported_helpers == set(undust.__all__)


def test_every_public_name_says_what_it_is() -> None:
    """Each public function and class has a docstring of its own and type hints on every argument."""
    for name in undust.__all__:
        value = getattr(undust, name)
        assert inspect.getdoc(value), name
        if inspect.isfunction(value):
            hints = set(value.__annotations__)
            assert set(inspect.signature(value).parameters) <= hints, name
            assert "return" in hints, name


HELD = ("Canonicalizer", "Rule", "RuleSet")
"""Classes whose objects people hold and call; those of engines are called by undust alone."""
INTEGRATIONS = ("datatrove", "duckdb", "pandas", "polars", "spark")


def public_callables() -> dict[str, tuple[object, str]]:
    """Return every function, class and method that people call, each with how an example would show it."""
    found: dict[str, tuple[object, str]] = {}
    for package in ("undust", "undust.urls"):
        module = importlib.import_module(package)
        for name in module.__all__:
            if callable(getattr(module, name)):
                found[f"{package}.{name}"] = (
                    getattr(module, name),
                    rf"\bundust\.{name}\b|import .*\b{name}\b",
                )
    for owner in HELD:
        for name, method in inspect.getmembers(getattr(undust, owner), inspect.isroutine):
            if not name.startswith("_") and method.__module__.startswith("undust"):
                found[f"{owner}.{name}"] = (method, rf"\.{name}\(")
    for integration in INTEGRATIONS:
        module = importlib.import_module(f"undust.integrations.{integration}")
        for name, value in vars(module).items():
            is_own = getattr(value, "__module__", None) == module.__name__
            if is_own and inspect.isroutine(value) and not name.startswith("_"):
                found[f"{integration}.{name}"] = (value, rf"\b{name}\(")
    return found


def test_everything_public_has_an_example_that_is_run(repository: Path) -> None:
    """In its docstring, or on a page of the documentation; both are executed by tests."""
    pages = [repository / "README.md", *sorted((repository / "docs").rglob("*.md"))]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    shown = "\n".join(re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    callables = public_callables()
    assert {"undust.learn", "RuleSet.disable", "duckdb.register"} <= set(callables)
    without = [
        name
        for name, (value, use) in callables.items()
        if ">>>" not in (inspect.getdoc(value) or "") and not re.search(use, shown)
    ]
    assert without == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A name that is not there fails as it does for any module."""
    with pytest.raises(AttributeError, match="module 'undust' has no attribute 'no_such_name'"):
        _ = undust.no_such_name
    urls = importlib.import_module("undust.urls")
    with pytest.raises(AttributeError, match=r"module 'undust.urls' has no attribute 'no_such_name'"):
        _ = urls.no_such_name


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every example in a docstring gives what it shows."""
    monkeypatch.setenv("COLUMNS", "80")
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    results = doctest.testmod(importlib.import_module(name), optionflags=flags)
    assert results.failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_every_file_says_why_it_exists(name: str) -> None:
    """A module opens with its purpose."""
    assert importlib.import_module(name).__doc__
