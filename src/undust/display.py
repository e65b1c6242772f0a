"""How results appear to people: counts with their nouns, and objects that a folder above them draws.

A rule set prints as a table, and a notebook shows it as HTML, yet `rules` does not import `showing`. The
front door (`undust/__init__.py`) says which function draws which object; it is loaded at first use, so
that a crawler never loads a table.
"""

from __future__ import annotations

from importlib import import_module

DRAWERS: dict[tuple[str, str], str] = {}
"""By class and form (`text`, `html`): the module and the function that draws it, as `module:function`."""


def drawn(kind: str, form: str, value: object) -> str:
    """Return an object of a kind as a text of a form."""
    module, _, function = DRAWERS[kind, form].partition(":")
    return str(getattr(import_module(module), function)(value))


def how_many(count: int, noun: str) -> str:
    """Return a number with its noun.

    >>> how_many(1200, "URL"), how_many(1, "more form"), how_many(0, "site")
    ('1,200 URLs', '1 more form', '0 sites')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"
