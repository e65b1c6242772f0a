"""What `undust learn` prints: rules, counts, what is only likely, and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from undust.cli.learn_asking import (
    ONLY_PROPOSED,
    exit_code,
    next_question,
    proposed_lines,
    told_of_asking,
    told_of_proposed,
)
from undust.cli.memory import peak_memory_bytes
from undust.cli.outcomes import told, told_of_learners

if TYPE_CHECKING:
    from undust.asking.outcome import Validation
    from undust.cli.inputs import Inputs
    from undust.learning import Outcome
    from undust.learning.single import MethodOutcome
    from undust.rules import RuleSet

_SHOWN_RULES = 60


def figures_of(
    found: Outcome | MethodOutcome,
    rules: RuleSet,
    seconds: float,
    output: str | None,
    proof: Validation | None = None,
) -> dict[str, Any]:
    """Return what was learned, for machines."""
    from undust.learning import Outcome  # noqa: PLC0415 -- slow to load, and not for --help

    return (
        {"rules": len(rules)}
        | found.as_json()
        | _by_status(rules)
        | {
            "output": output,
            "seconds": round(seconds, 3),
            "peak_memory_bytes": peak_memory_bytes(),
        }
        | ({"asked": proof.to_json()} if proof is not None else {})
        | ({"by_site": found.by_site()} if isinstance(found, Outcome) else {})
        | {"learned": [rule.to_json() for rule in rules]}
    )


def _by_status(rules: RuleSet) -> dict[str, Any]:
    from undust.rules.proposed import is_proposed  # noqa: PLC0415 -- slow to load, and not for --help

    proposed = sum(map(is_proposed, rules))
    active = sum(rule.status == "active" for rule in rules)
    return {"rules": len(rules) - proposed, "active": active, "proposed": proposed}


def print_learned(  # noqa: PLR0913, PLR0917 -- all that is printed
    found: Outcome | MethodOutcome,
    rules: RuleSet,
    seconds: float,
    output: str | None,
    inputs: Inputs,
    proof: Validation | None,
) -> None:
    """Print what was learned, for people."""
    from rich.text import Text  # noqa: PLC0415 -- rich is slow to load, and not for --json

    from undust.cli.printing import show, show_lines  # noqa: PLC0415
    from undust.learning import Outcome  # noqa: PLC0415
    from undust.rules.proposed import is_proposed  # noqa: PLC0415
    from undust.showing.listing import listed  # noqa: PLC0415

    certain = [rule for rule in rules if not is_proposed(rule)]
    likely = [rule for rule in rules if is_proposed(rule)]
    shown = certain[:_SHOWN_RULES]
    if shown:
        show_lines(lambda width, styled: listed(shown, width, styled, origins=True))
    if len(certain) > _SHOWN_RULES:
        show(Text(f"{len(certain) - _SHOWN_RULES:,} more rules; `undust rules list` shows all of a file"))
    if likely:
        show_lines(lambda width, styled: proposed_lines(likely, width, styled))
    said = [""]
    said += told(found) if isinstance(found, Outcome) else told_of_learners(found)
    said += told_of_asking(proof) if proof is not None else []
    said += told_of_proposed(likely, has_active=not exit_code(rules)) if likely else []
    said += [f"{seconds:.1f} s"]
    if len(rules) and output is None:
        said += ["", "Nothing was written; name a file with -o rules.json."]
    show(Text("\n".join(said)))
    commands = [f"undust {line}" for line in _next(rules, output, inputs, is_asked=proof is not None)]
    if commands:
        # A command that is broken over two lines cannot be copied.
        lines = "\n".join(f"  {command}" for command in commands)
        show(Text(f"\nWhat you can do next:\n{lines}"), wrap=False)


def _next(rules: RuleSet, output: str | None, inputs: Inputs, *, is_asked: bool) -> list[str]:
    code = exit_code(rules)
    if code == ONLY_PROPOSED and not is_asked:
        return [next_question(inputs, output)]
    if code or output is None:
        return []
    return [
        f"rules check {output}             what could go wrong in use",
        f"explain {output} URL             why a URL becomes what it becomes",
        f"apply --key {output} urls.txt    the key of each URL, to compare by",
        f"evaluate {output} OTHER          what they do to other data",
        f"report {output} INPUT            a page that shows each rule at work",
    ]
