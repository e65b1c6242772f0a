"""`undust rekey`: the index of a web archive, with captures of one page under one key."""

from __future__ import annotations

import click

from undust.cli import options
from undust.cli.options import destination, require_stdout_for_one, say_json
from undust.display import how_many
from undust.jobs import require_readable
from undust.jobs.exchange import Rekeyed, rekeyed_lines
from undust.jobs.rule_files import load, readable


@click.command("rekey")
@click.argument("rules", metavar="RULES", type=click.Path(allow_dash=True))
@click.argument("indexes", metavar="INDEX...", nargs=-1, required=True, type=click.Path(allow_dash=True))
@options.output
@click.option("--only-changed", is_flag=True, help="Write only lines whose key changed, to add to an index.")
@options.json_of_lines
@options.quiet
def command(  # noqa: PLR0913 -- one argument per option
    rules: str,
    indexes: tuple[str, ...],
    *,
    output: str | None,
    only_changed: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write the INDEX files of a web archive with the keys that RULES give, sorted.

    Reads CDX and CDXJ, packed or plain. The key of each line, a SURT, is replaced with the SURT of the
    canonical key of the line's URL; all else stays. The lines are sorted as archives expect it, with a
    bounded amount of memory. So captures of one page are together, and an archive answers a request for
    the canonical URL with all of them. A key that is not the SURT of its URL stays as it is.

    \b
    Examples:
      undust rekey rules.json index.cdxj -o rekeyed.cdxj
      undust rekey rules.json index.cdxj --only-changed -o more.cdxj
    """  # noqa: D301 -- click keeps the lines after a \b
    require_stdout_for_one(output, as_json=as_json)
    options.require_apart(output, rules, *indexes)
    require_readable((readable(rules), *indexes))
    counts = Rekeyed()
    lines = rekeyed_lines(load(rules).compile(), indexes, counts, only_changed=only_changed)
    with destination(output, as_json=as_json) as write:
        for line in lines:
            write(line)
    if as_json:
        said = {
            "lines": counts.lines,
            "changed": counts.changed,
            "kept": counts.kept,
            "skipped": counts.skipped,
        }
        say_json(said)
    elif not quiet:
        click.echo(_summary(counts), err=True)


def _summary(counts: Rekeyed) -> str:
    """Return what happened, in one sentence."""
    words = [f"{how_many(counts.lines, 'line')}, {counts.changed:,} with a new key"]
    if counts.kept:
        words.append(f"{counts.kept:,} left alone as their key is not the SURT of their URL")
    if counts.skipped:
        words.append(f"{counts.skipped:,} left out as they are not captures")
    return ", ".join(words)
