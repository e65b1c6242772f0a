"""`undust rules compile`: rules as a file that is mapped and ready at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from undust.cli import options
from undust.cli.stdout import require_stdout_for_one
from undust.cli.terminal import say, say_json
from undust.files.streams import STANDARD, read_whole, require_readable
from undust.rules import load
from undust.rules.files import MOST_FILE_BYTES
from undust.rules.parts import readable

if TYPE_CHECKING:
    from undust.rules import RuleSet

sites_option = click.option(
    "--sites",
    "sites_file",
    metavar="FILE",
    type=click.Path(allow_dash=True),
    help="Only the rules of the sites in FILE, one a line, and those for all sites.",
)


def rules_of(file: str, sites_file: str | None) -> RuleSet:
    """Return the rules of a file, or of some of its sites."""
    if sites_file is None:
        return load(file)
    lines = read_whole(sites_file, MOST_FILE_BYTES).decode("utf-8", "replace").splitlines()
    return load(file, filter(None, map(str.strip, lines)))


@click.command("compile", short_help="Write rules as a file that is ready at once.")
@click.argument("file", metavar="RULES", type=click.Path(allow_dash=True))
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    required=True,
    type=click.Path(allow_dash=True),
    help="The file to write, such as rules.undust.",
)
@sites_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON to stdout, and nothing else.")
def compile_(file: str, output: str, sites_file: str | None, *, as_json: bool) -> None:
    """Compile RULES into a file that every command takes instead of them.

    A compiled file is mapped into memory: a million rules are ready in milliseconds, and processes on one
    machine share their memory. It is checked for damage when it is opened. It fits the version of undust and
    the kind of machine that wrote it, and it is trusted like a program: compile the rules of others yourself.
    """
    require_stdout_for_one(output, as_json=as_json)
    options.require_apart(output, file)
    require_readable([readable(file), *([sites_file] if sites_file else [])])
    if (file, sites_file).count(STANDARD) > 1:
        message = "stdin can be read once, so name a file for the rules or for the sites"
        raise click.UsageError(message)
    rules = rules_of(file, sites_file)
    rules.compile_to(output)
    size = None if output == STANDARD else Path(output).stat().st_size
    if as_json:
        say_json({"file": output, "rules": len(rules), "bytes": size})
    else:
        counted = "" if size is None else f", {size:,} bytes"
        say(f"{output}: {len(rules):,} rules{counted}", err=True)
