"""The API reference has every public name, with what the code says of it."""

from __future__ import annotations

import inspect
from types import SimpleNamespace

import undust
from tools.api_reference import on_page_markdown, reference


def test_every_public_name_is_there() -> None:
    """A name that is offered is explained, methods of classes included."""
    text = reference()
    for name in undust.__all__:
        assert f"## `{name}`\n" in text
        assert (inspect.getdoc(getattr(undust, name)) or "?").splitlines()[0] in text
    assert "### `RuleSet.disable`" in text
    assert "seed: 'int' = 0" in text


def test_other_pages_are_left_alone() -> None:
    """The hook writes into one page."""
    other, own = (SimpleNamespace(file=SimpleNamespace(src_uri=name)) for name in ("index.md", "api.md"))
    assert on_page_markdown("x", other) == "x"
    assert on_page_markdown("x", own).startswith("x\n## `")
