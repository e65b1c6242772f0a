"""What `undust learn` prints: rules, counts, what is only likely, and what to do next."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from undust.cli.learn_job import ONLY_PROPOSED, exit_code
from undust.cli.terminal import show, show_lines
from undust.files.process import peak_memory_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.cli.inputs import Inputs
    from undust.jobs.learn_files import LearnedRules
    from undust.rules import Rule, RuleSet

_SHOWN_RULES = 60


def figures_of(found: LearnedRules, seconds: float, output: str | None) -> dict[str, Any]:
    """Return what was learned, for machines."""
    rules = found.rules
    return (
        {"rules": len(rules)}
        | found.counts()
        | _by_status(rules)
        | {"output": output, "seconds": round(seconds, 3), "peak_memory_bytes": peak_memory_bytes()}
        | found.details()
        | {"learned": [rule.to_json() for rule in rules]}
    )


def _by_status(rules: RuleSet) -> dict[str, Any]:
    from undust.rules.proposed import is_proposed  # noqa: PLC0415 -- slow to load, and not for --help

    proposed = sum(map(is_proposed, rules))
    active = sum(rule.status == "active" for rule in rules)
    return {"rules": len(rules) - proposed, "active": active, "proposed": proposed}


def print_learned(found: LearnedRules, seconds: float, output: str | None, inputs: Inputs) -> None:
    """Print what was learned, for people."""
    from rich.text import Text  # noqa: PLC0415 -- rich is slow to load, and not for --json

    from undust.rules.proposed import is_proposed  # noqa: PLC0415
    from undust.showing.learned import proposed_lines, told_of_proposed  # noqa: PLC0415
    from undust.showing.listing import listed  # noqa: PLC0415

    rules = found.rules
    certain = [rule for rule in rules if not is_proposed(rule)]
    likely = [rule for rule in rules if is_proposed(rule)]
    shown = certain[:_SHOWN_RULES]
    if shown:
        show_lines(lambda width, styled: listed(shown, width, styled, origins=True))
    if len(certain) > _SHOWN_RULES:
        show(Text(f"{len(certain) - _SHOWN_RULES:,} more rules; `undust rules list` shows all of a file"))
    if likely:
        show_lines(lambda width, styled: proposed_lines(likely, width, styled))
    said = ["", *found.sentences()]
    known = {"has_active": not exit_code(rules), "is_compared": found.is_compared}
    said += told_of_proposed(likely, **known) if likely else []
    said += [f"{seconds:.1f} s"]
    if len(rules) and output is None:
        said += ["", "Nothing was written; name a file with -o rules.json."]
    show(Text("\n".join(said)))
    is_asked = found.proof is not None
    commands = [f"undust {line}" for line in _next(rules, output, inputs, is_asked=is_asked)]
    if commands:
        # A command that is broken over two lines cannot be copied.
        lines = "\n".join(f"  {command}" for command in commands)
        show(Text(f"\nWhat you can do next:\n{lines}"), wrap=False)


def _next(rules: RuleSet, output: str | None, inputs: Inputs, *, is_asked: bool) -> list[str]:
    code = exit_code(rules)
    if code == ONLY_PROPOSED and not is_asked:
        return [next_question(inputs, output, rules)]
    if code or output is None:
        return []
    return [
        f"rules check {output}             what could go wrong in use",
        f"explain {output} URL             why a URL becomes what it becomes",
        f"apply --key {output} urls.txt    the key of each URL, to compare by",
        f"evaluate {output} OTHER          what they do to other data",
        f"report {output} INPUT            a page that shows each rule at work",
    ]


def next_question(inputs: Inputs, output: str | None, rules: Sequence[Rule]) -> str:
    """Return the command that proves what is proposed; of several sites, a person says which to ask."""
    from undust.rules.language import ANY_SITE  # noqa: PLC0415 -- slow to load, and not for --help

    files = " ".join(map(shlex.quote, inputs.paths))
    sites = {rule.site for rule in rules} - {ANY_SITE}
    hosts = [name for site in sites for name in (site, f"*.{site}")] if len(sites) == 1 else ["www.your.site"]
    asked = " ".join(f"--ask-host {shlex.quote(host)}" for host in hosts)
    named = f"--base {inputs.base}" if inputs.base else asked
    return f"learn {files} --ask {named} --contact you@example.org -o {output or 'rules.json'}"
