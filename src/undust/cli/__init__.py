"""The command `undust`. Each verb is a module of its own, loaded only when it is run."""

from __future__ import annotations

import click

from undust.cli.frame import Entry, Frame

ENTRIES = {
    "learn": Entry("undust.cli.learn", "Learn the rules of each site, and prove them."),
    "cluster": Entry("undust.cli.cluster", "Find which URLs show one page, and why."),
    "tree": Entry("undust.cli.tree", "Show a site's URL scheme as a tree of patterns."),
    "apply": Entry("undust.cli.apply", "Send each URL of a list or table to its canonical form."),
    "explain": Entry("undust.cli.explain", "Show each step from a URL to its canonical form."),
    "evaluate": Entry("undust.cli.evaluate", "Measure what rules do to URLs whose pages are known."),
    "compare": Entry("undust.cli.compare", "Train all methods on one half, judge them on the other."),
    "validate": Entry("undust.cli.validate", "Ask the sites themselves, politely, whether rules hold."),
    "report": Entry("undust.cli.report", "Write a page about rules and what they do."),
    "review": Entry("undust.cli.review", "Serve that page here, with switches that save."),
    "rules": Entry("undust.cli.rules", "List, check, switch, merge and compare rule files."),
    "export": Entry("undust.cli.export", "Write rules for nginx, Apache, crawlers, archives, SQL."),
    "import": Entry("undust.cli.import_", "Read rule lists of other systems."),
    "signatures": Entry("undust.cli.signatures", "See how far pages of equal text reduce the URLs."),
    "normalize": Entry("undust.cli.normalize", "Bring URLs into their standard form, line by line."),
    "completion": Entry("undust.cli.completion", "Print a script that lets your shell complete undust."),
}
"""The commands in the order in which people meet them."""


@click.group(
    cls=Frame,
    entries=ENTRIES,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Each command explains itself: 'undust normalize --help'.",
)
@click.version_option(package_name="undust", message="undust %(version)s")
def main() -> None:
    """Send duplicate URLs to one form, before anything is fetched twice.

    Different URLs often show the same page: they differ in upper and lower case, in
    a session id, in a tracking parameter. undust gives them one form, and leaves
    alone whatever it cannot be sure of.

    \b
    Try these first:
      echo 'HTTP://Shop.test:80/a/../b' | undust normalize
      undust normalize urls.txt.gz -o normal.txt.gz
      undust normalize --json urls.txt
    """  # noqa: D301 -- click keeps the lines behind a \b
