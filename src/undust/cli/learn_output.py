"""The file that `undust learn` writes: proved rules are not replaced by none, unless a person says so."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from undust.cli import options
from undust.cli.learn_asking import exit_code
from undust.display import how_many
from undust.errors import UndustError
from undust.files.streams import STANDARD, open_output

if TYPE_CHECKING:
    from undust.rules import RuleSet

BACKUP = ".bak"


def save(rules: RuleSet, path: str, update: str | None) -> None:
    """Write the rules; the file that --update replaces is kept beside them, whole or not at all."""
    from undust.rules.parts import is_folder  # noqa: PLC0415 -- slow to load, and not for --help

    if options.is_one_file(path, update):
        before = type(rules).load(path).dumps() if is_folder(path) else Path(path).read_bytes()
        if before != rules.dumps():  # a backup of an older file says more than one of the same
            with open_output(f"{path.rstrip('/')}{BACKUP}") as output:
                output.write(before)
    rules.save(path)


def kept_as_it_is(rules: RuleSet, output: str | None) -> str | None:
    """Return why the output is not replaced: a run that proved nothing must not remove existing rules."""
    from undust.rules.parts import readable  # noqa: PLC0415 -- slow to load, and not for --help

    is_file = output is not None and output != STANDARD and Path(readable(output)).is_file()
    if output is None or not is_file or not exit_code(rules):
        return None
    held = _held(output, is_active=bool(len(rules)))
    if held is None:
        return None
    what = "only likely rules were found" if len(rules) else "nothing was learned"
    return (
        f"{what}, so {output} was left as it is, with {held}; name another file with -o, or "
        "add --yes to replace it"
    )


def _held(path: str, *, is_active: bool) -> str | None:
    """Return what a file holds that must not be lost; None for a rule file without such rules, or no file.

    Args:
        path: Of the file.
        is_active: Whether only rules in effect are missed.

    """
    from undust.rules import RuleSet  # noqa: PLC0415 -- slow to load, and not for --help

    if not Path(path).stat().st_size:
        return None
    try:
        rules = RuleSet.load(path)
    except UndustError:
        return "what is not a rule file"
    if is_active and exit_code(rules):
        return None
    return f"its {how_many(len(rules), 'rule')}" if len(rules) else None
