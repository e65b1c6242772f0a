"""`undust export`: the rules in the language of another system."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from undust.cli import exchange, options
from undust.cli.stdout import require_stdout_for_one
from undust.cli.terminal import say, say_json
from undust.display import how_many
from undust.exchange.exports import EXPORTERS, export
from undust.files.streams import require_readable
from undust.rules import load

if TYPE_CHECKING:
    from undust.reading.observations import Observations


@click.command(
    "export", cls=exchange.WithFormats, formats={target.name: target.about for target in EXPORTERS}
)
@click.argument("rules", metavar="RULES", type=click.Path(allow_dash=True))
@click.option(
    "--to",
    metavar="FORMAT",
    required=True,
    type=click.Choice([target.name for target in EXPORTERS]),
    help="The system to write for.",
)
@click.option("--site", help="Only the rules that concern this site: its own, and those of all sites.")
@click.option(
    "--sample",
    metavar="FILE",
    multiple=True,
    type=click.Path(allow_dash=True),
    help="Measure the effect on the URLs of FILE, any input that `learn` reads; may be repeated.",
)
@exchange.output
@exchange.as_json
@click.pass_context
def command(  # noqa: PLR0913 -- one argument per option
    ctx: click.Context,
    rules: str,
    to: str,
    *,
    site: str | None,
    sample: tuple[str, ...],
    output: str,
    as_json: bool,
) -> None:
    """Write the active rules of RULES in the language of another system.

    A rule that the target cannot say exactly is left out, and stderr says which and why; the others do there
    what they do here. The last line tells how much of the effect is kept: with --sample what the exported
    rules remove and lose there, beside what all rules remove. The exit code is 1 if no rule is left.

    \b
    Examples:
      undust export rules.json --to nginx -o undust.conf
      undust export rules.json --to nginx -o undust.conf --sample crawl.jsonl.gz
      undust export rules.json --to clean-param --site shop.test
    """  # noqa: D301 -- click keeps the lines behind a \b
    require_stdout_for_one(output, as_json=as_json)
    options.require_apart(output, rules, *sample)
    require_readable([rules, *sample])
    exported = export(load(rules), to, output, site=site, sample=_read(sample))
    if as_json:
        refused = [
            {"number": each.number, "id": each.rule.id, "rule": str(each.rule), "reason": each.reason}
            for each in exported.refused
        ]
        said = {"target": to, "rules": [rule.id for rule in exported.rules], "refused": refused}
        say_json(said | {"exact_for": exported.exact_for, "effect": exported.effect.to_json()})
    else:
        for refusal in exported.refused:
            say(refusal, err=True)
        rules_told = how_many(len(exported.rules), "rule")
        click.echo(f"{rules_told} for {to}, exact for {exported.exact_for}", err=True)
        click.echo(str(exported.effect), err=True)
    if exported.refused and not exported.rules:
        ctx.exit(1)


def _read(sample: tuple[str, ...]) -> Observations | None:
    if not sample:
        return None
    from undust.jobs.read import read  # noqa: PLC0415 -- slow to load, and few exports have a sample

    return read(*sample)
