"""The API reference, written from the code each time the documentation is built (a hook of mkdocs)."""

from __future__ import annotations

import inspect
from typing import Any

import undust

PAGE = "api.md"


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:  # noqa: ANN401 -- what mkdocs gives
    """Return the page of the reference with all public names behind its first words."""
    return f"{markdown}\n{reference()}" if page.file.src_uri == PAGE else markdown


def reference() -> str:
    """Return all public names with their signatures and what they say of themselves."""
    return "\n".join(_section(name, getattr(undust, name)) for name in undust.__all__)


def _section(name: str, value: Any) -> str:  # noqa: ANN401 -- any public object
    parts = [f"## `{name}`\n", _block(name, value)]
    if inspect.isclass(value):
        for method, function in inspect.getmembers(value, inspect.isroutine):
            if not method.startswith("_") and inspect.getdoc(function):
                parts.append(f"### `{name}.{method}`\n\n{_block(method, function)}")
    return "\n".join(parts)


def _block(name: str, value: Any) -> str:  # noqa: ANN401 -- any public object
    """Return the signature and the docstring as one block, as the code has them."""
    try:
        signature = str(inspect.signature(value))
    except (TypeError, ValueError):
        signature = ""
    return f"```text\n{name}{signature}\n\n{inspect.getdoc(value)}\n```\n"
