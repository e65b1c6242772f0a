"""What a person decides about rules: `undust review`, and parts of `undust rules`.

`undust review` shows the report on this machine's loopback, with switches that save. `undust rules`
has `verdicts`, `approve`, `reject` and `note` for the same.
"""

from __future__ import annotations

import webbrowser
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from undust.cli import options
from undust.cli.inputs import inputs as with_inputs
from undust.cli.options import require_stdout_for_one, say, say_json, show_lines
from undust.cli.report import read_comparison
from undust.cli.rule_options import as_json_option, measured_change, rule_file, with_sample
from undust.errors import UndustError
from undust.jobs import STANDARD, open_output, require_readable
from undust.jobs.rule_files import decision, load, verdicts

if TYPE_CHECKING:
    from collections.abc import Callable

    from undust.cli.inputs import Inputs
    from undust.jobs.rule_files import Rule, RuleSet


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
    from undust.jobs.rule_files import load  # noqa: PLC0415 -- slow to load, and not for --help
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


ids_argument = click.argument("ids", metavar="ID...", nargs=-1)
output_option = click.option(
    "-o", "--output", metavar="FILE", type=click.Path(), help="Write here instead of to RULES itself."
)
by_option = click.option("--by", metavar="NAME", help="Who decides; the name of the user by default.")
note_option = click.option("--note", metavar="TEXT", help="A note that is kept with the rule.")


@click.command("verdicts", short_help="Show which rules need a person, and why.")
@rule_file
@click.option("--csv", "csv_file", metavar="FILE", type=click.Path(), help="Write all rules to FILE as CSV.")
@as_json_option
def show_verdicts(file: str, csv_file: str | None, *, as_json: bool) -> None:
    """Show each rule with a verdict and its reason, those that need a person first.

    `risky`: it is known to merge different pages, or to lead to URLs that do not work. `look`: too little is
    known of it, or it does what is often a mistake. `ok`: what was seen supports it, or a person approved it.
    A rule is redirect-safe if the URLs that it writes were seen to work, else compare-only.

    \b
    Examples:
      undust rules verdicts rules.json
      undust rules verdicts rules.json --csv rules.csv
    """  # noqa: D301 -- click keeps the lines after a \b
    from undust.showing.listing import as_csv, judged_rules, verdict_lines  # noqa: PLC0415 -- loads rich

    require_stdout_for_one(csv_file, as_json=as_json)
    require_readable([file])
    rules = list(load(file))
    if csv_file is not None:
        with open_output(csv_file) as output:
            output.write(as_csv(rules))
    if as_json:
        say_json({"file": file, "rules": judged_rules(rules)})
    elif csv_file is None:
        show_lines(lambda _width, styled: verdict_lines(rules, styled))


@click.command("approve", short_help="Approve rules that you have looked at.")
@rule_file
@ids_argument
@click.option("--all-ok", is_flag=True, help="Approve every active rule whose verdict is ok.")
@by_option
@note_option
@output_option
@as_json_option
def approve(  # noqa: PLR0913 -- one argument per option
    file: str,
    ids: tuple[str, ...],
    *,
    all_ok: bool,
    by: str | None,
    note: str | None,
    output: str | None,
    as_json: bool,
) -> None:
    """Write into RULES that you approve rules: who, when, and a note.

    \b
    Examples:
      undust rules approve rules.json 5ad74dbb --note "tried on the staging site"
      undust rules approve rules.json --all-ok --by ann
    """  # noqa: D301 -- click keeps the lines after a \b
    rules = _loaded(file)
    chosen = list(ids)
    if all_ok:
        judged = zip(rules, verdicts(rules), strict=True)
        chosen += [rule.id for rule, each in judged if each.level == "ok" and not _is_decided(rule)]
    elif not ids:
        message = "name the rules by their ids, or add --all-ok"
        raise click.UsageError(message)
    said = decision("approved", note, by)
    _write(rules, file, output, chosen, lambda rule: replace(rule, review=said), as_json=as_json)


@click.command("reject", short_help="Reject rules, and switch them off.")
@rule_file
@ids_argument
@by_option
@note_option
@output_option
@with_sample
@as_json_option
def reject(  # noqa: PLR0913 -- one argument per option
    file: str,
    ids: tuple[str, ...],
    *,
    by: str | None,
    note: str | None,
    output: str | None,
    sample: tuple[str, ...],
    yes: bool,
    as_json: bool,
) -> None:
    """Write into RULES that you reject rules, and switch them off.

    They stay off when rules are learned again. With --sample, a change after which more pages would be lost
    is refused, with exit code 1.
    """
    _require_ids(ids)
    said = decision("rejected", note, by)
    _write(
        _loaded(file),
        file,
        output,
        ids,
        lambda rule: replace(rule.with_status("disabled"), review=said),
        sample=sample,
        yes=yes,
        as_json=as_json,
    )


@click.command("note", short_help="Keep a note with a rule.")
@rule_file
@ids_argument
@click.option("--note", metavar="TEXT", required=True, help="The note.")
@by_option
@output_option
@as_json_option
def keep_note(  # noqa: PLR0913 -- one argument per option
    file: str, ids: tuple[str, ...], *, note: str, by: str | None, output: str | None, as_json: bool
) -> None:
    """Write a note into RULES; what was decided about the rules stays."""
    _require_ids(ids)
    said = decision(None, note, by)
    _write(
        _loaded(file),
        file,
        output,
        ids,
        lambda rule: replace(rule, review={**(rule.review or {}), **said}),
        as_json=as_json,
    )


def _is_decided(rule: Rule) -> bool:
    """Return whether a person decided about a rule before; who and when is not to be lost."""
    return "verdict" in (rule.review or {})


def _loaded(file: str) -> RuleSet:
    require_readable([file])
    return load(file)


def _require_ids(ids: tuple[str, ...]) -> None:
    if not ids:
        message = "name the rules by their ids"
        raise click.UsageError(message)


def _write(  # noqa: PLR0913 -- what, where, and how to print
    rules: RuleSet,
    file: str,
    output: str | None,
    ids: list[str] | tuple[str, ...],
    change: Callable[[Rule], Rule],
    *,
    sample: tuple[str, ...] = (),
    yes: bool = False,
    as_json: bool,
) -> None:
    target = output or file
    require_stdout_for_one(target, as_json=as_json)
    chosen = {rules.find(start).id for start in ids}
    after = rules.with_rules(change(rule) if rule.id in chosen else rule for rule in rules)
    changed = [rule for rule in after if rule.id in chosen]
    effect = measured_change(rules, after, sample, yes=yes, is_silent=as_json)
    after.save(target)
    if as_json:
        said = [{"id": rule.id, "status": rule.status, "review": rule.review} for rule in changed]
        say_json({"file": target, "changed": said} | effect)
        return
    for rule in changed:
        say(f"{(rule.review or {}).get('verdict', 'note')}: {rule.id[:8]}  {rule}", err=True)
    if not changed:
        click.echo("nothing to change", err=True)
