"""The options that mean the same in every command that has them."""

from __future__ import annotations

import os

import click

files = click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path(allow_dash=True))
output = click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(allow_dash=True),
    help="Write the lines to FILE instead of stdout. It appears, or is replaced, only when complete.",
)
threads = click.option(
    "--threads",
    metavar="N",
    type=click.IntRange(min=1),
    default=lambda: os.cpu_count() or 1,
    help="Work on N threads instead of all cores; the result is the same.",
)
json_of_lines = click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the counts as JSON to stdout, and nothing else: without -o, the lines are not written.",
)
quiet = click.option("-q", "--quiet", is_flag=True, help="Print no summary.")
