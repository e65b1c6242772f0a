"""The command `undust`. Each verb is a module of its own, loaded only when it is run."""

from __future__ import annotations

import click

from undust.cli.frame import CommandEntry, Frame
from undust.help import MORE, PURPOSE, TRIES, grouped_commands

GROUPED = grouped_commands()
ENTRIES = {
    # a module cannot be called "import"
    name: CommandEntry(f"undust.cli.{'import_' if name == 'import' else name}", meaning)
    for commands in GROUPED.values()
    for name, meaning in commands.items()
}


@click.group(
    cls=Frame,
    entries=ENTRIES,
    groups={title: tuple(commands) for title, commands in GROUPED.items()},
    context_settings={"help_option_names": ["-h", "--help"]},
    help=f"{PURPOSE}\n\n\b\n{TRIES}",  # click keeps the lines after a \b
    epilog=MORE,
)
@click.version_option(package_name="undust", message="undust %(version)s")
def main() -> None:
    """Run `undust`."""
