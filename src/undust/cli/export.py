"""`undust export`: the rules in the language of another system."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from undust.cli import options, rule_options
from undust.cli.options import require_stdout_for_one, say, say_json
from undust.cli.rule_options import with_sample
from undust.display import how_many
from undust.errors import UndustError
from undust.jobs import open_output, require_readable
from undust.jobs.exchange import EXPORTERS, export
from undust.jobs.rule_files import load, readable

if TYPE_CHECKING:
    from undust.jobs.exchange import Exported


@click.command(
    "export", cls=rule_options.WithFormats, formats={target.name: target.about for target in EXPORTERS}
)
@click.argument("rules", metavar="RULES", type=click.Path(allow_dash=True))
@click.option(
    "--to",
    metavar="FORMAT",
    required=True,
    type=click.Choice([target.name for target in EXPORTERS]),
    help="The system to write for.",
)
@click.option("--site", help="Only the rules that apply to this site: its own, and those for all sites.")
@with_sample
@click.option(
    "--base",
    metavar="FILE",
    type=click.Path(allow_dash=True),
    help="A rules.yaml of pywb that the rules are put into, at its top; its own rules stay.",
)
@rule_options.exchange_output
@rule_options.exchange_json
@click.pass_context
def command(  # noqa: PLR0913 -- one argument per option
    ctx: click.Context,
    rules: str,
    to: str,
    *,
    site: str | None,
    sample: tuple[str, ...],
    yes: bool,
    base: str | None,
    output: str,
    as_json: bool,
) -> None:
    """Write the active rules of RULES in the language of another system.

    A rule that the target cannot express exactly is left out, and so is a rule that needs one left out;
    stderr shows which and why. The others do there what they do here. The last line reports how much of the
    effect is kept: with --sample what the exported rules remove and lose, beside what all rules remove. The
    exit code is 1 if no rule is left, and if with --sample more pages would be lost than all rules lose;
    then nothing is written, unless --yes is given.

    \b
    Examples:
      undust export rules.json --to nginx -o undust.conf
      undust export rules.json --to nginx -o undust.conf --sample crawl.jsonl.gz
      undust export rules.json --to clean-param --site shop.test
      undust export rules.json --to pywb --base pywb/rules.yaml -o rules.yaml
    """  # noqa: D301 -- click keeps the lines after a \b
    require_stdout_for_one(output, as_json=as_json)
    bases = [] if base is None else [base]
    options.require_apart(output, rules, *sample, *bases)
    require_readable([readable(rules), *sample, *bases])
    seen = None
    if sample:
        from undust.jobs.read import read  # noqa: PLC0415 -- slow to load, and few exports have a sample

        seen = read(*sample)
    exported = export(load(rules), to, site=site, sample=seen, base=base)
    if not yes:
        _require_no_worse(exported)
    with open_output(output) as stream:
        stream.write(exported.text.encode())
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
    if not exported.rules:
        ctx.exit(1)


def _require_no_worse(exported: Exported) -> None:
    """Refuse an export that loses more pages of the sample than all rules do."""
    on_sample = exported.effect.sample
    if on_sample is not None and on_sample.lost > on_sample.lost_by_all:
        message = (
            f"{exported.effect}, and all rules lose {100 * on_sample.lost_by_all:.1f} %; "
            "nothing was written; add --yes to lose them"
        )
        raise UndustError(message)
