"""What `undust --help` says, told without loading anything: who asks for help should not wait for it.

The command itself (`undust.cli`) is built from the same words, and says the same.
"""

COMMANDS = {
    "learn": "Learn the rules of each site, and prove them.",
    "cluster": "Find which URLs show one page, and why.",
    "tree": "Show a site's URL scheme as a tree of patterns.",
    "apply": "Send each URL of a list or table to its canonical form.",
    "explain": "Show each step from a URL to its canonical form.",
    "evaluate": "Measure what rules do to URLs whose pages are known.",
    "compare": "Train all methods on one half, judge them on the other.",
    "validate": "Ask the sites themselves, politely, whether rules hold.",
    "report": "Write a page about rules and what they do.",
    "review": "Serve that page here, with switches that save.",
    "rules": "List, check, switch, merge and compare rule files.",
    "export": "Write rules for nginx, Apache, crawlers, archives, SQL.",
    "import": "Read rule lists of other systems.",
    "signatures": "See how far pages of equal text reduce the URLs.",
    "normalize": "Bring URLs into their standard form, line by line.",
    "completion": "Print a script that lets your shell complete undust.",
}
"""The commands in the order in which people meet them."""

PURPOSE = """\
Send duplicate URLs to one form, before anything is fetched twice.

Different URLs often show the same page: they differ in upper and lower
case, in a session id, in a tracking parameter. undust gives them one form,
and leaves alone whatever it cannot be sure of."""

TRIES = """\
Try these first:
  undust learn crawl.warc.gz -o rules.json
  undust apply rules.json urls.txt
  undust normalize urls.txt"""

OPTIONS = {"--version": "Show the version and exit.", "-h, --help": "Show this message and exit."}
MORE = "Each command explains itself: 'undust learn --help'."


def help_text() -> str:
    """Return the help as a terminal of 80 columns shows it."""
    usage = "Usage: undust [OPTIONS] COMMAND [ARGS]..."
    tables = (_table("Options", OPTIONS), _table("Commands", COMMANDS))
    return "\n\n".join((usage, _indented(PURPOSE), _indented(TRIES), *tables, _indented(MORE))) + "\n"


def _table(title: str, rows: dict[str, str]) -> str:
    width = max(map(len, rows))
    return "\n".join((f"{title}:", *(f"  {name:{width}}  {meaning}" for name, meaning in rows.items())))


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" if line else "" for line in text.split("\n"))
