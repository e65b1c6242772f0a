"""`undust params`: each parameter and each shape of path of a site, who asks for it, and what it does."""

from __future__ import annotations

import csv
import io
import textwrap
from typing import TYPE_CHECKING, Any

import click

from undust.cli import options
from undust.cli.inputs import inputs as with_inputs
from undust.cli.options import say_json, show_lines
from undust.display import printable
from undust.errors import UndustError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from undust.cli.inputs import Inputs
    from undust.jobs.params import ParameterRow

SHOWN_CRAWLERS = 3
"""Of a row, those that ask most."""
LEAST_WIDTH = 20
"""Columns for what is known of a parameter, on the smallest terminal."""


@click.command("params")
@with_inputs
@options.one_site
@click.option(
    "--rules",
    "rules_file",
    metavar="RULES",
    type=click.Path(),
    help="Also report the requests of a log that these rules remove.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON to stdout, and nothing else.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the table as CSV to stdout, and nothing else.")
@options.quiet
def command(  # noqa: PLR0913 -- one argument per option
    inputs: Inputs, *, site: str | None, rules_file: str | None, as_json: bool, as_csv: bool, quiet: bool
) -> None:
    """Show for each parameter of INPUT its URLs and values, who requests it, and what it does.

    Does nothing: pages are the same whatever it is. Default value: they are the same without one
    value. Matters: they are others. This is known from pages, or from sizes without pages.

    \b
    Examples:
      undust params access.log --base https://a.test
      undust params access.log --base https://a.test --rules rules.json
      undust params access.log --base https://a.test --csv > params.csv
    """  # noqa: D301 -- click keeps the lines after a \b
    if as_json and as_csv:
        message = "--json and --csv are two forms of one table; leave one of them out"
        raise click.UsageError(message)
    from undust.jobs.params import params  # noqa: PLC0415 -- slow to load, and not for --help
    from undust.jobs.rule_files import load  # noqa: PLC0415 -- slow to load, and not for --help
    from undust.showing.measured import told_savings  # noqa: PLC0415

    rules = load(rules_file) if rules_file else None
    seen = inputs.read(quiet=quiet or as_json or as_csv)
    rows, saved = params(seen, inputs.traffic(), site, rules)
    if not rows:
        where = f" of {site}" if site else ""
        message = (
            f"there is no URL{where} in the input; give a crawl, a log or an index, or name its --format"
        )
        raise UndustError(message)
    if as_json:
        say_json({"params": [row.to_json() for row in rows], "savings": [each.to_json() for each in saved]})
    elif as_csv:
        click.echo(_csv(rows), nl=False)
    else:
        show_lines(lambda width, styled: _lines(rows, width, styled))
        for line in told_savings(saved):
            click.echo(line)


def _csv(rows: Sequence[ParameterRow]) -> str:
    out = io.StringIO()
    names = [name for name in rows[0].to_json() if name != "by_crawler"]
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*names, "by_crawler"])
    for row in rows:
        said = row.to_json()
        who = "; ".join(f"{name}: {count}" for name, count in _ranked(said["by_crawler"]))
        writer.writerow([*(_cell(said[name]) for name in names), who])
    return out.getvalue()


def _cell(value: Any) -> Any:  # noqa: ANN401 -- of any column
    """Return a value so that no table program takes it for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" and value else value


def _ranked(by_crawler: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(by_crawler.items(), key=lambda item: (-item[1], item[0]))


def _lines(rows: Sequence[ParameterRow], width: int, styled: Callable[[str, str], str]) -> Iterator[str]:
    has_requests = any(row.requests for row in rows)
    head = f"{'URLs':>7}  {'values':>7}  " + (f"{'requests':>8}  {'bytes':>6}  " if has_requests else "")
    yield styled(f"{head}{'verdict':13}  parameter or path", "bold")
    site = None
    for row in rows:
        if row.site != site:
            site = row.site
            yield " " * len(head) + styled(site, "bold")
        left = f"{row.urls:7,}  {row.values:7,}  "
        if has_requests:
            left += f"{_share(row.request_share):>8}  {_share(row.byte_share):>6}  "
        name = f"?{row.name}" if row.kind == "parameter" else row.name
        verdict = row.verdict if row.kind == "parameter" else ""
        default = f"={row.default}" if row.default is not None else ""
        yield (left + f"{verdict:13}  " + printable(f"{name}{default}"))[:width]
        details = [row.evidence] if row.kind == "parameter" else []
        details += [f"{who} {count:,}" for who, count in _ranked(row.by_crawler)[:SHOWN_CRAWLERS]]
        indent = len(head) + 15
        for line in textwrap.wrap(printable("; ".join(details)), max(LEAST_WIDTH, width - indent)):
            yield styled(" " * indent + line, "dim")


def _share(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"
