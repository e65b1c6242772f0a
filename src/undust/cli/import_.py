"""`undust import`: rule lists of other systems, in our language."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from undust.cli import options, rule_options
from undust.cli.options import require_stdout_for_one, say, say_json
from undust.cli.rule_options import measured_change, with_sample
from undust.display import how_many
from undust.jobs import require_readable
from undust.jobs.exchange import IMPORTERS, import_rules
from undust.jobs.rule_files import RuleSet

if TYPE_CHECKING:
    from undust.jobs.exchange import Imported


@click.command(
    "import", cls=rule_options.WithFormats, formats={source.name: source.about for source in IMPORTERS}
)
@click.argument("file", metavar="FILE", type=click.Path(allow_dash=True))
@click.option(
    "--from",
    "source",
    metavar="FORMAT",
    required=True,
    type=click.Choice([source.name for source in IMPORTERS]),
    help="What FILE is.",
)
@click.option("--site", help="The site of a FILE that does not name it: a robots.txt, a header.")
@rule_options.exchange_output
@with_sample
@rule_options.exchange_json
@click.pass_context
def command(  # noqa: PLR0913 -- one argument per option
    ctx: click.Context,
    file: str,
    source: str,
    site: str | None,
    output: str,
    *,
    sample: tuple[str, ...],
    yes: bool,
    as_json: bool,
) -> None:
    """Convert the rule list of another system into a rule file.

    Parts that no rule can express are left out; parts that apply to fewer URLs as a rule are narrowed.
    stderr shows both, with the reasons. The exit code is 1 if no rule is left. With --sample, rules that
    would lose pages which standard normalization does not lose are not written, and the exit code is 1.

    \b
    Examples:
      undust import rules/main.json --from duplicate-url-discarder -o rules.json
      undust import robots.txt --from clean-param --site shop.test -o rules.json
    """  # noqa: D301 -- click keeps the lines after a \b
    require_stdout_for_one(output, as_json=as_json)
    options.require_apart(output, file)
    require_readable([file])
    found = import_rules(file, source, site=site)
    effect = measured_change(RuleSet(), found.rules, sample, yes=yes, is_silent=as_json)
    found.rules.save(output)
    if as_json:
        skipped, narrowed = (
            [{"place": each.place, "reason": each.reason} for each in some]
            for some in (found.skipped, found.narrowed)
        )
        said = {"file": file, "rules": len(found.rules), "skipped": skipped, "narrowed": narrowed}
        say_json(said | effect)
    else:
        for word, some in (("narrowed", found.narrowed), ("left out", found.skipped)):
            for each in some:
                say(f"{word}: {each}", err=True)
        say(_summary(found, file), err=True)
    if found.skipped and not found.rules:
        ctx.exit(1)


def _summary(found: Imported, file: str) -> str:
    """Return how many rules there are now, and how much of the file they do not express."""
    parts = [f"{how_many(len(found.rules), 'rule')} from {file}"]
    parts += [f"{len(found.narrowed):,} narrowed"] if found.narrowed else []
    parts += [f"{len(found.skipped):,} left out"] if found.skipped else []
    return "; ".join(parts)
