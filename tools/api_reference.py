"""The API reference, written from the code: `python -m tools.api_reference` writes docs/api.md.

A test fails when the page is not what the code says.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import undust

PAGE = Path(__file__).resolve().parents[1] / "docs" / "api.md"
HEAD = """\
# API reference

Everything that `import undust` offers, with its signature and its docstring.
Commands explain themselves: `undust --help`, `undust learn --help`.
This page is generated: `python -m tools.api_reference` writes it again.
"""


def page() -> str:
    """Return the whole page."""
    return f"{HEAD}\n{reference()}"


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
    return f"```text\n{_signature(name, value)}\n\n{inspect.getdoc(value)}\n```\n"


def _signature(name: str, value: Any) -> str:  # noqa: ANN401 -- any public object
    """Return the signature; a long one with an argument on each line."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return name
    kinds = [
        _plain(str(parameter)) for parameter in signature.parameters.values() if parameter.name != "self"
    ]
    places = [parameter for parameter in signature.parameters.values() if parameter.name != "self"]
    first = next((place for place, each in enumerate(places) if each.kind is each.KEYWORD_ONLY), None)
    if first is not None and not any(each.kind is each.VAR_POSITIONAL for each in places):
        kinds.insert(first, "*")
    back = "" if signature.return_annotation is signature.empty else f" -> {_plain(_text(signature))}"
    line = f"{name}({', '.join(kinds)}){back}"
    if len(line) <= 100:  # noqa: PLR2004 -- as wide as a page of documentation
        return line
    return "\n".join((f"{name}(", *(f"    {kind}," for kind in kinds), f"){back}"))


def _text(signature: inspect.Signature) -> str:
    found = signature.return_annotation
    return found if isinstance(found, str) else getattr(found, "__name__", str(found))


def _plain(text: str) -> str:
    """Return an argument without the quotes that annotations have here, and without addresses.

    >>> _plain("seed: 'int' = 0"), _plain("name: 'str' = 'rules'")
    ('seed: int = 0', "name: str = 'rules'")
    """
    return re.sub(r" at 0x[0-9a-f]+", "", re.sub(r"^([*\w]+: )'([^']*)'", r"\1\2", text))


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
