"""`undust rules`: look at rule files, check them, and change what a person may change."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from undust.cli import options
from undust.cli.options import require_stdout_for_one, say, say_json, show, show_lines
from undust.cli.review import approve, keep_note, reject, show_verdicts
from undust.cli.rule_options import (
    as_json_option,
    measured_change,
    new_file_option,
    rule_file,
    sites_option,
    with_sample,
)
from undust.jobs import STANDARD, require_readable
from undust.jobs.rule_files import RuleSet, cost_of, files_of_rules, load, out_of_effect, readable, rules_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from undust.jobs.rule_files import Rule


@click.group("rules")
def command() -> None:
    """Show and check rule files, and switch rules on and off.

    A rule is named by its id, or by as much of the start of its id as is unique in the file.

    \b
    Examples:
      undust rules list rules.json
      undust rules check rules.json
      undust rules disable rules.json 5ad74dbb
      undust rules merge old.json new.json -o rules.json
      undust rules compile rules.json -o rules.undust
    """  # noqa: D301 -- click keeps the lines after a \b


def _loaded(file: str) -> RuleSet:
    require_readable([readable(file)])
    return load(file)


def _objects(rules: Sequence[Rule]) -> list[dict[str, Any]]:
    return [rule.to_json() for rule in rules]


for _command in (show_verdicts, approve, reject, keep_note):
    command.add_command(_command)


@command.command("list", short_help="Show the rules in their order.")
@rule_file
@click.option("--site", help="Only the rules of this site; '*' is for those of all sites.")
@as_json_option
def list_(file: str, site: str | None, *, as_json: bool) -> None:
    """Show the rules in their order, with the URLs each removed and the bound of its risk."""
    rules = [rule for rule in _loaded(file) if site is None or rule.site == site]
    if as_json:
        say_json({"file": file, "rules": _objects(rules)})
        return
    from undust.showing.listing import listed  # noqa: PLC0415

    show_lines(lambda width, styled: listed(rules, width, styled))


@command.command("show")
@rule_file
@click.argument("id", metavar="ID")
@as_json_option
def show_(file: str, id: str, *, as_json: bool) -> None:  # noqa: A002 -- the name that rule files use
    """Show one rule with its evidence."""
    rule = _loaded(file).find(id)
    if as_json:
        say_json(rule.to_json())
        return
    from undust.showing.listing import sheet  # noqa: PLC0415

    show(sheet(rule))


@command.command("check", short_help="Find cycles, conflicts and redundant rules.")
@rule_file
@as_json_option
@click.pass_context
def check(ctx: click.Context, file: str, *, as_json: bool) -> None:
    """Find cycles, conflicts, and rules that are never applied or are redundant.

    The rules are run on URLs made from their own patterns, so each finding has a URL that shows it; a
    file without findings may still have some that no such URL shows. The exit code is 1 if there are any.
    """
    rules = _loaded(file)
    findings = rules.check()
    if as_json:
        objects = [
            {
                "kind": finding.kind,
                "numbers": finding.numbers,
                "ids": [rule.id for rule in finding.rules],
                "message": finding.message,
                "url": finding.url,
            }
            for finding in findings
        ]
        say_json({"file": file, "rules": len(rules), "findings": objects})
    else:
        from undust.showing.listing import findings_table  # noqa: PLC0415

        show(findings_table(findings, len(rules)))
    if findings:
        ctx.exit(1)


_ids = click.argument("ids", metavar="ID...", nargs=-1, required=True)
_output = click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(allow_dash=True),
    help="Write here instead of to RULES itself.",
)


@command.command("disable", short_help="Switch rules off.")
@rule_file
@_ids
@_output
@with_sample
@as_json_option
def disable(  # noqa: PLR0913 -- one argument per option
    file: str, ids: tuple[str, ...], output: str | None, *, sample: tuple[str, ...], yes: bool, as_json: bool
) -> None:
    """Switch rules off; they stay in the file, and stay off when rules are learned again.

    So does a rule that new evidence has retired, which could come back by evidence without that. A rule that
    needs one of them is then out of effect too, and stderr says which. With --sample, a change after which
    more pages would be lost is refused, with exit code 1.
    """
    _switch(file, output, ids, RuleSet.disable, sample=sample, yes=yes, as_json=as_json)


@command.command("enable")
@rule_file
@_ids
@_output
@with_sample
@as_json_option
def enable(  # noqa: PLR0913 -- one argument per option
    file: str, ids: tuple[str, ...], output: str | None, *, sample: tuple[str, ...], yes: bool, as_json: bool
) -> None:
    """Switch rules on; a proposed rule becomes active, as your decision.

    With --sample, a change after which more pages would be lost is refused, with exit code 1.
    """
    _switch(file, output, ids, RuleSet.enable, sample=sample, yes=yes, as_json=as_json)


def _switch(  # noqa: PLR0913 -- what, how, and how to print
    file: str,
    output: str | None,
    ids: tuple[str, ...],
    change: Callable[..., RuleSet],
    *,
    sample: tuple[str, ...],
    yes: bool,
    as_json: bool,
) -> None:
    target = output or file
    require_stdout_for_one(target, as_json=as_json)
    before = _loaded(file)
    after = change(before, *ids)
    changed = [item.after for item in before.diff(after).changed]
    effect = measured_change(before, after, sample, yes=yes, is_silent=as_json)
    if changed or target != file:
        after.save(target)
    unmet = out_of_effect(before, after)
    if as_json:
        said = [{"id": rule.id, "status": rule.status} for rule in changed]
        more = {"out_of_effect": [rule.id for rule in unmet]} if unmet else {}
        say_json({"file": target, "changed": said} | more | effect)
        return
    for rule in changed:
        say(f"{'off' if rule.status == 'disabled' else 'on'}: {rule.id[:8]}  {rule}", err=True)
    for rule in unmet:
        say(f"out of effect: {rule.id[:8]}  {rule}", err=True)
    if unmet:
        click.echo(cost_of(unmet), err=True)
    if not changed:
        click.echo("nothing to change", err=True)


@command.command("merge")
@click.argument("files", metavar="RULES RULES...", nargs=-1, required=True, type=click.Path(allow_dash=True))
@new_file_option
@with_sample
@as_json_option
def merge(files: tuple[str, ...], output: str, *, sample: tuple[str, ...], yes: bool, as_json: bool) -> None:
    """Merge rule files; the rules of the first file come first.

    A rule that is in several files keeps its first place and takes its evidence from the last file; it is
    off if any file has switched it off. With --sample, the result is compared with the first file: if more
    pages would be lost, nothing is written and the exit code is 1.
    """
    require_stdout_for_one(output, as_json=as_json)
    first, *others = map(_loaded, files)
    merged = first
    for other in others:
        merged = merged.merge(other)
    effect = measured_change(first, merged, sample, yes=yes, is_silent=as_json)
    merged.save(output)
    sizes = [len(first), *map(len, others)]
    if as_json:
        said = {"file": output, "rules": len(merged), "merged": dict(zip(files, sizes, strict=True))}
        say_json(said | effect)
    else:
        parts = ", ".join(f"{size:,} of {file}" for file, size in zip(files, sizes, strict=True))
        say(f"{output}: {len(merged):,} rules from {parts}", err=True)


@command.command("diff")
@click.argument("before", type=click.Path(allow_dash=True))
@click.argument("after", type=click.Path(allow_dash=True))
@as_json_option
def diff(before: str, after: str, *, as_json: bool) -> None:
    """Show what turns the rules of BEFORE into those of AFTER."""
    found = _loaded(before).diff(_loaded(after))
    if as_json:
        changed = [{"id": change.after.id, "fields": change.fields} for change in found.changed]
        say_json(
            {
                "added": _objects(found.added),
                "removed": _objects(found.removed),
                "changed": changed,
                "moved": [rule.id for rule in found.moved],
            }
        )
        return
    from undust.showing.listing import difference_table  # noqa: PLC0415

    show(difference_table(found))


@command.command("compile", short_help="Write rules as a file that is ready at once.")
@rule_file
@new_file_option
@sites_option
@as_json_option
def compile_(file: str, output: str, sites: str | None, *, as_json: bool) -> None:
    """Compile RULES into a file that every command takes instead of them.

    A compiled file is mapped into memory: a million rules are ready in milliseconds, and processes on one
    machine share their memory. It is checked for damage when it is opened. It fits the version of undust and
    the kind of machine that wrote it, and it is trusted like a program: compile the rules of others yourself.
    """
    require_stdout_for_one(output, as_json=as_json)
    options.require_apart(output, file)
    require_readable(files_of_rules(file, sites))
    if (file, sites).count(STANDARD) > 1:
        message = "stdin can be read once, so name a file for the rules or for the sites"
        raise click.UsageError(message)
    rules = rules_of(file, sites)
    rules.compile_to(output)
    size = None if output == STANDARD else Path(output).stat().st_size
    if as_json:
        say_json({"file": output, "rules": len(rules), "bytes": size})
    else:
        counted = "" if size is None else f", {size:,} bytes"
        say(f"{output}: {len(rules):,} rules{counted}", err=True)
