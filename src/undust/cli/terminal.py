"""What a command says about strangers' texts: as they wrote it, and nothing that a terminal would obey.

A URL, a rule or a name may hold escape sequences that rewrite the screen, change the title or turn a line
around. Results in files and pipes are never touched; this module prints for people and programs.
"""

from __future__ import annotations

import json
from typing import Any

import click

from undust.errors import harmless


def say(text: object, *, err: bool = False) -> None:
    """Print text of one or several lines."""
    click.echo(harmless(str(text)), err=err)


def say_json(value: Any) -> None:  # noqa: ANN401 -- any JSON value
    """Print a value for programs on one line; what does not print is escaped, which means the same."""
    text = json.dumps(value, ensure_ascii=False)
    if not text.isprintable():
        text = "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)
    click.echo(text)
