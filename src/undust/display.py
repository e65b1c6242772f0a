"""How results appear to people: counts, texts safe for a terminal, objects that a folder above them draws.

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


def printable(text: str, *, keep: str = "") -> str:
    r"""Return a text with line feeds, escape sequences and all else that a terminal would obey written out.

    >>> print(printable("caf\u00e9\n\x1b[31m"))
    café\n\x1b[31m
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


def harmless(text: str) -> str:
    """Return the same for a text of several lines, which stay lines."""
    return printable(text, keep="\n\t")
