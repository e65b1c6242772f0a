"""The text of `undust --help`, printed without loading anything else, so that help appears at once.

The command itself (`undust.cli`) is built from the same texts and prints the same help.
"""

COMMANDS = {
    "learn": "Learn rewrite rules for each site and prove them.",
    "cluster": "Find which URLs show the same page, and why.",
    "params": "Show what each parameter of a site does and who uses it.",
    "tree": "Show a site's URL scheme as a tree of patterns.",
    "apply": "Replace each URL with its canonical form.",
    "explain": "Show each step from a URL to its canonical form.",
    "evaluate": "Measure duplicates removed and pages lost by rules.",
    "compare": "Train all methods on one half, measure on the other.",
    "validate": "Check rules on the live sites with a few polite fetches.",
    "report": "Write an HTML page that shows each rule and its effect.",
    "review": "Serve the report here, with a switch for each rule.",
    "serve": "Learn while a crawl runs, for crawlers in any language.",
    "rules": "List, check, switch, merge and compare rule files.",
    "export": "Write rules for nginx, Apache, crawlers, archives, SQL.",
    "rekey": "Give the captures of a web archive the keys of their pages.",
    "import": "Read rule lists of other systems.",
    "signatures": "Count URLs that remain if pages of equal text are one.",
    "normalize": "Bring URLs into standard form (RFC 3986), without rules.",
    "completion": "Print a script that lets your shell complete undust.",
}
"""What each command does, in one line."""

COMMAND_GROUPS = {
    "Start here": ("learn", "apply", "report"),
    "Check and prove": ("explain", "evaluate", "validate", "review", "rules"),
    "Exchange": ("export", "import", "serve", "rekey"),
    "Study and tools": ("cluster", "tree", "params", "compare", "signatures", "normalize", "completion"),
}
"""The commands in the order of the help; a command that no group names is listed in the last one."""


def grouped_commands() -> dict[str, dict[str, str]]:
    """Return the commands of each group, each with its line of help."""
    named = {name for names in COMMAND_GROUPS.values() for name in names}
    groups = {title: [*names] for title, names in COMMAND_GROUPS.items()}
    groups[next(reversed(COMMAND_GROUPS))] += [name for name in COMMANDS if name not in named]
    return {title: {name: COMMANDS[name] for name in names} for title, names in groups.items()}


PURPOSE = """\
Send duplicate URLs to one form, before anything is fetched twice.

Different URLs often show the same page: they differ in upper and lower
case, in a session id, in a tracking parameter. undust learns rules that
give them one form, and does not change a URL when it is not sure."""

TRIES = """\
Try these first:
  undust learn crawl.warc.gz -o rules.json
  undust apply rules.json urls.txt
  undust normalize urls.txt"""

OPTIONS = {"--version": "Show the version and exit.", "-h, --help": "Show this message and exit."}
MORE = "Run 'undust COMMAND --help' for its options, such as 'undust learn --help'."


def help_text() -> str:
    """Return the help as a terminal of 80 columns shows it."""
    usage = "Usage: undust [OPTIONS] COMMAND [ARGS]..."
    width = max(map(len, COMMANDS))
    commands = (_table(title, rows, width) for title, rows in grouped_commands().items())
    tables = (_table("Options", OPTIONS), *commands)
    return "\n\n".join((usage, _indented(PURPOSE), _indented(TRIES), *tables, _indented(MORE))) + "\n"


def _table(title: str, rows: dict[str, str], width: int = 0) -> str:
    width = width or max(map(len, rows))
    return "\n".join((f"{title}:", *(f"  {name:{width}}  {meaning}" for name, meaning in rows.items())))


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" if line else "" for line in text.split("\n"))
