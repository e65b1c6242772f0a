"""`undust tree`: the URL scheme of a site: which forms of URL there are, how many, how duplicate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import click

from undust.cli import options
from undust.cli.inputs import inputs as with_inputs
from undust.cli.options import say_json, show
from undust.display import how_many

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table
    from rich.text import Text

    from undust.cli.inputs import Inputs
    from undust.showing.tree import Branch, Condensed, SiteTree

PERCENT = 100
BRANCH, LAST, TRUNK, BLANK = "├─ ", "└─ ", "│  ", "   "


@click.command("tree")
@with_inputs
@click.option(
    "--sites",
    "most",
    metavar="N",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="Show the N largest sites.",
)
@click.option("--site", metavar="NAME", help="Show this site only, as in shop.example.")
@click.option(
    "--min-share",
    metavar="PERCENT",
    type=options.Numbers(0, PERCENT),
    default=1.0,
    show_default=True,
    help="Fold branches with less than PERCENT of the site's URLs.",
)
@click.option("--depth", metavar="N", type=click.IntRange(min=0), help="Show N levels below the root.")
@click.option(
    "--salience",
    type=click.Choice(["node", "site"]),
    default="node",
    show_default=True,
    help="Keep values apart that are frequent at their key in a node, or anywhere in the site.",
)
@click.option(
    "--least",
    metavar="N",
    type=click.IntRange(min=1),
    help="Keep a value apart if N URLs have it; the square root of their number by default.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print all branches as JSON to stdout, and nothing else."
)
@options.keep_values
@options.quiet
def command(  # noqa: PLR0913 -- one argument per option
    inputs: Inputs,
    most: int,
    site: str | None,
    min_share: float,
    depth: int | None,
    *,
    salience: Literal["node", "site"],
    least: int | None,
    as_json: bool,
    keep_values: bool,
    quiet: bool,
) -> None:
    """Show the URL scheme of a site as a tree.

    Each line is a form of URL: its share of the site's URLs, how many of those are duplicates of
    others of the same form (if the input has evidence), the pattern, and an example. In a pattern *
    is any value, [x=*] may be missing, and … stands for more that may be missing; one that begins
    with ? has the path of the line above it.

    What looks secret, such as a token or a mail address, is written as ***1, ***2 and so on.

    Reads what 'undust cluster' reads: crawls, capture indexes, logs, tables, plain lists of URLs.

    \b
    Examples:
      undust tree crawl.jsonl.gz
      undust tree urls.txt.gz --site shop.example --min-share 0.5
      undust tree access.log --base https://a.test --json
    """  # noqa: D301 -- click keeps the lines after a \b
    from undust.jobs.find_duplicates import url_trees  # noqa: PLC0415 -- slow to load, and not for --help

    seen = inputs.read(quiet=quiet or as_json)
    trees, count = url_trees(seen, most=most, site=site, salience=salience, least=least)
    if not keep_values:
        from undust.showing.tree import without_secrets  # noqa: PLC0415

        trees = without_secrets(trees)
    if as_json:
        told = {"sites": count, "shown": len(trees), "trees": [tree.as_json() for tree in trees]}
        say_json(told)
        return
    for tree in trees:
        show(_heading(tree))
        if tree.root is not None:
            show(_table(tree.root, min_share / PERCENT, depth), "")
    if len(trees) < count and site is None and not quiet:
        click.echo(f"The {len(trees)} largest of {count:,} sites; --sites N shows more, --site NAME one.")


def _heading(tree: SiteTree) -> str:
    pieces = [f"{how_many(tree.urls, 'URL')} after normalization"]
    if tree.root is not None:
        rate = tree.root.duplicate_rate
        known = "no evidence of duplicates" if rate is None else f"{rate:.0%} duplicates"
        forms = sum(not branch.children for branch in tree.root.walk())
        pieces += [known, how_many(forms, "form")]
    if tree.unusual:
        pieces.append(f"{tree.unusual:,} of no usual form")
    return f"{tree.site}: {', '.join(pieces)}"


def _table(root: Branch, min_share: float, depth: int | None) -> Table:
    from rich.table import Table  # noqa: PLC0415 -- slow to load

    from undust.showing.tree import condensed, main_origin  # noqa: PLC0415

    origin = main_origin(root)
    table = Table(box=None, padding=(0, 2, 0, 0), expand=True, header_style="bold", pad_edge=False)
    table.add_column("share", justify="right", no_wrap=True)
    if root.duplicate_rate is not None:
        table.add_column("dup.", justify="right", no_wrap=True)
    table.add_column(f"form at {origin}", no_wrap=True, overflow="ellipsis", ratio=3)
    table.add_column("example", no_wrap=True, overflow="ellipsis", ratio=2, style="dim")
    for row in _rows(condensed(root, min_share, depth), origin, "", "", ""):
        rate = [] if root.duplicate_rate is None else [_percent(row.rate)]
        table.add_row(_percent(row.share), *rate, row.form, row.example)
    return table


class _TreeRow(NamedTuple):
    share: float
    rate: float | None
    form: Text
    example: Text


def _rows(shown: Condensed, origin: str, above: str, before: str, own: str) -> Iterator[_TreeRow]:
    from rich.text import Text  # noqa: PLC0415 -- slow to load

    branch = shown.branch
    pattern = _beyond(branch.pattern, above).removeprefix(origin)
    form = Text(before + own, style="dim") + Text(pattern, style="not dim")
    yield _TreeRow(branch.share, branch.duplicate_rate, form, Text(branch.example.removeprefix(origin)))
    inner = before + {"": "", LAST: BLANK, BRANCH: TRUNK}[own]
    for place, child in enumerate(shown.children, 1):
        is_last = place == len(shown.children) and not shown.folded
        yield from _rows(child, origin, branch.pattern, inner, LAST if is_last else BRANCH)
    if shown.folded and shown.children:
        text = f"{inner}{LAST}… {how_many(shown.folded, 'more form')}"
        yield _TreeRow(shown.folded_share, None, Text(text, style="dim"), Text(""))


def _beyond(pattern: str, above: str) -> str:
    """Return what a pattern adds to the one above it, where both have the same path."""
    path, _, query = pattern.partition("?")
    path_above, _, query_above = above.partition("?")
    old = query_above.split("&")
    new = [entry for entry in query.split("&") if entry not in old]
    if path != path_above or not query or not new:
        return pattern
    return "?" + "&".join(["…"] * (len(new) < len(query.split("&"))) + new)


def _percent(share: float | None) -> str:
    if share is None:
        return ""
    is_small = 0 < share < 0.0995  # noqa: PLR2004 -- below ten, one digit more
    return f"{share * PERCENT:.1f} %" if is_small else f"{share * PERCENT:.0f} %"
