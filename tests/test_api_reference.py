"""The API reference has every public name, with what the code says of it."""

from __future__ import annotations

import inspect

import undust
from tools.api_reference import PAGE, page, reference


def test_every_public_name_is_there() -> None:
    """A name that is offered is explained, methods of classes included."""
    text = reference()
    for name in undust.__all__:
        assert f"## `{name}`\n" in text
        assert (inspect.getdoc(getattr(undust, name)) or "?").splitlines()[0] in text
    assert "### `RuleSet.disable`" in text
    assert "\n    seed: int = 0,\n" in text


def test_the_page_is_what_the_code_says() -> None:
    """The page in the repository is the generated one; `python -m tools.api_reference` writes it again."""
    assert PAGE.read_text(encoding="utf-8") == page()
