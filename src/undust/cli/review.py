"""`undust review`: the report on this machine's loopback, with switches that save."""

from __future__ import annotations

import webbrowser
from typing import TYPE_CHECKING

import click

from undust.cli import options
from undust.cli.inputs import inputs as with_inputs
from undust.cli.report import read_comparison
from undust.errors import UndustError
from undust.files.streams import STANDARD, require_readable

if TYPE_CHECKING:
    from undust.cli.inputs import Inputs

_PORTS = 65535


@click.command("review")
@click.argument("rules", metavar="RULES", type=click.Path())
@with_inputs
@options.one_site
@options.compared
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, _PORTS),
    default=0,
    help="The port to listen on, instead of any free one.",
)
@click.option("--browser/--no-browser", default=True, help="Open the page in a browser, or not.")
@click.option(
    "--keep-values/--mask-values",
    default=True,
    help="Show values that look secret, or ***1 instead, as on a page that is passed around.",
)
@click.option(
    "--yes", is_flag=True, help="Save even if more pages are lost than before, without asking again."
)
@options.quiet
def command(  # noqa: PLR0913 -- one argument per option
    rules: str,
    inputs: Inputs,
    *,
    site: str | None,
    compared: str | None,
    port: int,
    browser: bool,
    keep_values: bool,
    yes: bool,
    quiet: bool,
) -> None:
    """Serve the page of 'undust report' on this machine, with a switch for each rule.

    You can try any URL and see each step, switch rules on and off,
    see how removed and lost change, and save the decision to RULES. The previous file is kept next to
    it. A rule that you switched off stays off when rules are learned again. A change after which more pages
    of INPUT would be lost than before is saved only if you confirm it.

    The server listens on 127.0.0.1 only, and only a browser with the whole address can use it.

    \b
    Examples:
      undust review rules.json crawl.jsonl.gz
      undust review rules.json crawl.jsonl.gz --no-browser --port 8000
    """  # noqa: D301 -- click keeps the lines after a \b
    from undust.jobs.report import ReportInput  # noqa: PLC0415 -- slow to load, and not for --help
    from undust.rules import load  # noqa: PLC0415
    from undust.showing.review import ReviewServer, ReviewSession  # noqa: PLC0415

    if rules == STANDARD:
        message = "rules from standard input cannot be saved; name their file"
        raise click.UsageError(message)
    require_readable([rules])
    comparison = None if compared is None else read_comparison(compared)
    seen = inputs.read(quiet=quiet)
    gathered = ReportInput(load(rules), seen, site, keep_values=keep_values, threads=inputs.threads)
    report = gathered.report(comparison)
    desk = ReviewSession(rules, gathered, yes=yes)
    try:
        server = ReviewServer(desk, report, port)
    except OSError as error:
        message = f"port {port} cannot be used ({error.strerror}); leave --port out for a free one"
        raise UndustError(message) from None
    with server:
        click.echo(server.address)
        if not quiet:
            click.echo("Open this address in a browser of this machine; Ctrl-C ends the review.", err=True)
        if browser:
            webbrowser.open(server.address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            click.echo(err=True)
