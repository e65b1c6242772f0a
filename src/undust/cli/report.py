"""`undust report`: one page about rules and the URLs they are for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from undust.cli import options
from undust.cli.inputs import inputs as with_inputs
from undust.cli.options import require_stdout_for_one, say, say_json
from undust.errors import UndustError
from undust.jobs import STANDARD, read_whole, require_readable

if TYPE_CHECKING:
    from undust.cli.inputs import Inputs

DEFAULT = "report.html"
_MOST_BYTES = 16 << 20
"""What a comparison may hold; it has a row for each method."""


@click.command("report")
@click.argument("rules", metavar="RULES", type=click.Path())
@with_inputs
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(allow_dash=True),
    default=DEFAULT,
    show_default=True,
    help="Write the page to FILE. It is written or replaced only when complete.",
)
@options.one_site
@options.compared
@options.keep_values
@click.option("--json", "as_json", is_flag=True, help="Print what is on the page as JSON, and nothing else.")
@options.quiet
def command(  # noqa: PLR0913 -- one argument per option
    rules: str,
    inputs: Inputs,
    *,
    output: str,
    site: str | None,
    compared: str | None,
    keep_values: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write an HTML page about RULES and what they do to the URLs of INPUT.

    The page is one file that loads nothing from anywhere: what the rules remove and lose, each rule
    with examples and counter-examples, the URL scheme of the site, the duplicates that are left.
    The figures are those of 'undust evaluate'. Of a log the page also shows the requests and bytes
    per day that the rules remove, by client. What learning rejected is known to
    'undust learn --report' alone.

    \b
    Examples:
      undust report rules.json crawl.jsonl.gz
      undust report rules.json crawl.warc.gz -o shop.html --site shop.example
      undust compare crawl.jsonl.gz --json > compare.json
      undust report rules.json crawl.jsonl.gz --compare compare.json
    """  # noqa: D301 -- click keeps the lines after a \b
    from undust.jobs.report import report  # noqa: PLC0415 -- slow to load, and not for --help
    from undust.jobs.rule_files import load, readable  # noqa: PLC0415 -- slow to load, and not for --help

    require_stdout_for_one(output, as_json=as_json)
    require_readable([readable(rules)])
    options.require_folder(output)
    options.require_apart(output, rules, compared)
    inputs.require_apart(output)
    comparison = None if compared is None else read_comparison(compared)
    made = report(
        load(rules),
        inputs.read(quiet=quiet or as_json or output == STANDARD),
        output,
        site=site,
        compared=comparison,
        traffic=inputs.traffic(),
        keep_values=keep_values,
        threads=inputs.threads,
    )
    if as_json:
        say_json(made.facts)
    elif not quiet:
        say(f"{output}: {made.sentence}", err=True)


def read_comparison(path: str) -> dict[str, Any]:
    """Return what a file of `undust compare --json` holds, or report what is wrong with it."""
    require_readable([path])
    try:
        found = json.loads(read_whole(path, _MOST_BYTES))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        message = f"{path}: not what `undust compare --json` prints; run it again and keep its output"
        raise UndustError(message)
    return found
