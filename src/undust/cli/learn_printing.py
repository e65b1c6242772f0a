"""What `undust learn` prints: rules, counts, what is only likely, and what to do next.

At the end it reports what came of the data, why nothing did, and what became of old rules.
"""

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
from undust.display import how_many
from undust.files.process import peak_memory_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from undust.asking.outcome import Validation
    from undust.cli.inputs import Inputs
    from undust.learning import Drift, Outcome
    from undust.learning.single import MethodOutcome
    from undust.rules import RuleSet

SHOWN_RETIRED = SHOWN_FAILED = 10
SHOWN_NOTES = 20
_FATES = {
    "holds": "held on the new evidence",
    "not seen": "not put to the test",
    "retired": "retired",
    "back": "retired once, and back",
    "off": "still off",
    "new": "new",
}


_NO_URL = "there is no URL in the input; give a crawl, a log or an index, or name its --format"


def told(outcome: Outcome, *, is_asked: bool = False) -> list[str]:
    """Return what learning gave, in lines; after asking, rules are active that its counts do not know."""
    counts = outcome.as_json()
    for_all = counts["rules_for_all_sites"]
    own = counts["rules"] - (0 if outcome.is_by_all else for_all)
    said = outcome.all_totals.sentences(counts["sites"], own)
    if is_asked and not outcome.has_evidence:
        said = said[:1]
    said += _of_checked(outcome)
    if for_all:
        counted = "" if outcome.is_by_all else "; what they remove is not counted above"
        said.append(f"among the rules are {for_all:,} for all sites{counted}")
    reason = why_nothing(outcome)
    # That there is no URL at all ends the command, and what is proposed has words of its own.
    if reason and counts["sites"] and not (outcome.proposed and not outcome.has_evidence):
        said.append(reason)
    # If the pages are not known, neither is the reason why a candidate was left out.
    rejected = outcome.rejected if outcome.has_evidence else {}
    for reason, count in sorted(rejected.items(), key=lambda item: (-item[1], item[0])):
        if count:
            said.append(f"{count:7,} of {counts['candidates']:,} candidates left out: {reason}")
    for site, count in counts["sampled"].items():
        said.append(f"{site} was learned from {count['sampled']:,} of its {count['urls']:,} URLs")
    failed = counts["failed"]
    for site, reason in list(failed.items())[:SHOWN_FAILED]:
        said.append(f"{site} gave nothing: {reason}")
    if len(failed) > SHOWN_FAILED:
        said.append(f"{len(failed) - SHOWN_FAILED:,} more sites gave nothing; --json names them all")
    return said + (drifted(outcome.drift) if outcome.drift else [])


def told_of_learners(learned: MethodOutcome) -> list[str]:
    """Return what single learners found, left out and want a person to know, in lines."""
    said = [f"{learned.candidates:,} candidates, {len(learned.accepted):,} of them held on pages kept apart"]
    said += _of_held_out(learned.as_json())
    if learned.unproved:
        said.append(
            f"{learned.unproved:,} of them could not be proved: no evidence shows whether the URLs they join "
            "are one page; sizes alone do not, digests or the pages themselves would"
        )
    notes = [
        f"{site}, {learner}: {note}"
        for site, proposals in learned.proposals.items()
        for learner, proposal in proposals.items()
        for note in (*proposal.notes, *(f"{count:,} {what} left out" for what, count in proposal.cut.items()))
    ]
    said += notes[:SHOWN_NOTES]
    if len(notes) > SHOWN_NOTES:
        said.append(f"{len(notes) - SHOWN_NOTES:,} more such notes; --json has them all")
    return said


def _of_checked(outcome: Outcome) -> list[str]:
    """Return what the rules lose at most, from pages that nothing was learned from."""
    found = outcome.checked
    if not any(site.rules for site in outcome.sites):
        return []
    left_out = f"; {how_many(found.unstable, 'page')} more could not be checked: their content changes"
    return [f"{found}{left_out if found.unstable else ''}"]


def _of_held_out(counts: Mapping[str, Any]) -> list[str]:
    """Return how the rules of single learners fare on the pages that they were chosen on."""
    from undust.judging.checked import NOT_CHECKED  # noqa: PLC0415 -- slow to load, and not for --help

    pairs, false = (counts[name] for name in ("held_out_pairs", "held_out_false_pairs"))
    found = f"held-out pairs that the rules send to one URL: {pairs:,}, {false:,} of them false"
    return [f"{found}; {NOT_CHECKED}"] if pairs else []


def why_nothing(outcome: Outcome) -> str | None:
    """Return why there was nothing to learn from, and what would help; None if there was something."""
    sites, urls, pages = outcome.site_counts
    if not sites:
        return _NO_URL
    if not urls:
        return "no URL of the input was answered with a page, so there is nothing to learn from"
    if not outcome.has_evidence:
        return _without_evidence(outcome.doubts)
    if urls == pages:
        return "no two URLs of the input show one page, so there are no duplicates to learn from"
    if pages == sites:
        return "all URLs of a site show one page, and one page proves nothing; give more of the site"
    return None


def without_rules(
    found: Outcome | MethodOutcome, proof: Validation | None = None, *, is_silent: bool = True
) -> str:
    """Return that there is no rule, and why; the reason is not repeated if it was printed before."""
    from undust.learning import Outcome  # noqa: PLC0415 -- slow to load, and not for --help

    if proof is not None and proof.count("refuted"):
        return "no rule was learned: the sites confirmed none of those that were likely"
    if not isinstance(found, Outcome):
        return _without_candidates(found)
    if found.drift is not None and found.drift.fates:
        return "no rule is in effect: those from before do not hold, and no new one was proved"
    reason = why_nothing(found)
    if reason is None:
        return "no rule was learned: pages were compared, and what they show proves none"
    if not found.site_counts[0]:
        return reason
    return f"no rule was learned: {reason}" if is_silent else "no rule was learned, for the reason above"


def _without_candidates(found: MethodOutcome) -> str:
    """Return that single learners found no rule, and why."""
    if not found.proposals:
        return _NO_URL
    if not found.candidates:
        return "no rule was learned: the learners that were named propose none from this input"
    if found.unproved == found.candidates:
        return "no rule was learned: of no candidate could pages be compared"
    return f"no rule was learned: of {how_many(found.candidates, 'candidate')} none held on pages kept apart"


def _without_evidence(doubts: Sequence[str]) -> str:
    """Return what is missing; evidence that is not trusted is not missing evidence."""
    if doubts:
        return (
            f"the evidence in the input is not trusted ({', '.join(doubts)}), so nothing can be "
            "learned; give more of the site, or a column 'cluster' that names the page of each URL"
        )
    return (
        "the input has no evidence of which URLs show the same page, so nothing can be learned; "
        "it needs a digest, a sketch, redirects, rel=canonical or a column 'cluster'"
    )


def drifted(drift: Drift) -> list[str]:
    """Return what became of the rules from before, in lines."""
    counts = {str(fate): count for fate, count in drift.counts.items()}
    said = ["what became of the rules from before:"]
    said += [f"{counts[fate]:7,} {words}" for fate, words in _FATES.items() if fate in counts]
    for rule in drift.of("retired")[:SHOWN_RETIRED]:
        said += [f"retired: {rule.site}: {rule}", f"         {rule.extra['retired']['reason']}"]
    for rule in drift.out_of_effect[:SHOWN_RETIRED]:
        said.append(f"out of effect, since a rule that it needs is off: {rule.site}: {rule}")
    return said


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
    from undust.rules.language import is_proposed  # noqa: PLC0415 -- slow to load, and not for --help

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
    from undust.rules.language import is_proposed  # noqa: PLC0415
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
    is_asked = proof is not None
    said += told(found, is_asked=is_asked) if isinstance(found, Outcome) else told_of_learners(found)
    said += told_of_asking(proof) if proof is not None else []
    is_compared = found.has_evidence if isinstance(found, Outcome) else bool(found.evidence)
    known = {"has_active": not exit_code(rules), "is_compared": is_compared}
    said += told_of_proposed(likely, **known) if likely else []
    said += [f"{seconds:.1f} s"]
    if len(rules) and output is None:
        said += ["", "Nothing was written; name a file with -o rules.json."]
    show(Text("\n".join(said)))
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
