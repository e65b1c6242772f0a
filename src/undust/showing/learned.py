"""What learning and asking gave, in words: what was found, what is likely, and why nothing was learned."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

from undust.display import how_many, printable
from undust.judging.checked import NOT_CHECKED
from undust.learning import Outcome
from undust.rules.language import LIKELY, short_ids
from undust.showing.listing import described, site_name
from undust.urls import Url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from undust.asking.outcome import Validation, Verdict
    from undust.learning import Drift
    from undust.learning.single_methods import MethodOutcome
    from undust.rules import Rule

SHOWN_RETIRED = SHOWN_FAILED = 10
SHOWN_NOTES = 20
FLIPPED = 3
"""Sites that are named in the question whether their rules are retired."""
_FATES = {
    "holds": "held on the new evidence",
    "not seen": "not put to the test",
    "retired": "retired",
    "back": "retired once, and back",
    "off": "still off",
    "new": "new",
}
SHOWN_PROPOSED = 20
_HEAD = f"{'URLs':>7}  {'alike':>7}  {'unlike':>7}  "
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


def without_rules(found: Outcome | MethodOutcome, *, is_refuted: bool = False, is_silent: bool = True) -> str:
    """Return that there is no rule, and why; the reason is not repeated if it was printed before.

    Args:
        found: What learning gave.
        is_refuted: Whether the sites were asked, and confirmed nothing.
        is_silent: Whether nothing was printed before.

    """
    if is_refuted:
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


def sudden_end(drift: Drift, name: str) -> tuple[str, list[str]]:
    """Return a sentence on many rules of a file that fail at once; and in lines what became of its rules."""
    retired, held = len(drift.of("retired")), len(drift.of("holds"))
    where = f"{', '.join(drift.flipped[:FLIPPED])}{' and others' * (len(drift.flipped) > FLIPPED)}"
    told = (
        f"{retired:,} of the {retired + held:,} rules of {name} that the input can test no longer hold"
        f"{f', most of those of {where}' * bool(where)}; a site that was moved looks like this, and so does "
        "a crawl that went wrong"
    )
    return told, drifted(drift)


def proposed_lines(rules: Sequence[Rule], width: int, styled: Callable[[str, str], str]) -> Iterator[str]:
    """Yield a table of what is proposed, the rules that would remove most first."""
    yield ""
    yield styled("Likely and unproven; nothing applies or exports these:", "bold")
    yield styled(f"{_HEAD}rule", "bold")
    site = None
    rest = max(width - len(_HEAD), 8)
    for rule in rules[:SHOWN_PROPOSED]:
        if rule.site != site:
            site = rule.site
            yield " " * len(_HEAD) + styled(site_name(site), "bold")
        said = rule.extra.get(LIKELY)
        counts = [said.get(name, 0) if isinstance(said, dict) else 0 for name in ("urls", "alike", "unlike")]
        left = "".join(f"{count:7,}  " for count in counts)
        for line in described(rule).split("\n"):
            for start in range(0, len(line), rest):
                yield left + line[start : start + rest]
                left = " " * len(_HEAD)
    if len(rules) > SHOWN_PROPOSED:
        yield f"{len(rules) - SHOWN_PROPOSED:,} more are proposed; `undust rules list` shows all of a file"
    yield (
        "URLs: what the rule would remove. Alike, unlike: pages of the same and of another size, digest or "
        "declaration."
    )


def told_of_proposed(rules: Sequence[Rule], *, has_active: bool, is_compared: bool) -> list[str]:
    """Return in a sentence what proposed rules are, and why they are no more."""
    count = how_many(len(rules), "rule")
    are = "is" if len(rules) == 1 else "are"
    beside = "besides, " if has_active else ""
    content = "what the input has of their content proves no rule"
    missing = content if is_compared else "the input has URLs but not their content, so nothing is proved"
    why = "" if has_active else f"{missing}: "
    return [f"{why}{beside}{count} {are} likely and written as proposed"]


STYLES: dict[Verdict, str] = {"confirmed": "", "refuted": "bold", "undecided": "dim"}
_OUTCOME_HEAD = f"{'verdict':9}  {'id':8}{'same':>6}  {'other':>5}  {'fetches':>7}  "
NARROWEST = 8
SHOWN_OF_URL = 34
"""Characters, so that a line of progress fits into 80."""


def outcome_lines(done: Validation, width: int, styled: Callable[[str, str], str]) -> Iterator[str]:
    """Yield the lines of a table: a rule over as many as it needs, and below it why it was not confirmed."""
    short = short_ids(outcome.rule for outcome in done.outcomes)
    yield styled(f"{_OUTCOME_HEAD}rule", "bold")
    rest = max(width - len(_OUTCOME_HEAD), NARROWEST)
    for found in done.outcomes:
        counts = f"{found.positives:6,}  {found.negatives:5,}  {found.fetches:7,}  "
        left = styled(f"{found.verdict:9}  {short[found.rule.id]:8}", STYLES[found.verdict]) + counts
        said = [
            line[at : at + rest]
            for line in described(found.rule).split("\n")
            for at in range(0, len(line), rest)
        ]
        if found.verdict != "confirmed":
            said += wrap(found.reason, rest, break_on_hyphens=False)
        for text in said:
            yield left + text
            left = " " * len(_OUTCOME_HEAD)


def told_of_validation(done: Validation, seconds: float) -> str:
    """Return the counts of a proof, in a sentence."""
    counts = ", ".join(f"{done.count(name):,} {name}" for name in STYLES)
    if done.retired:
        counts += f"; {done.retired:,} switched off, for others do the same or the opposite"
    return f"{counts}; {done.fetches:,} fetches{_hosts(done)}, {seconds:.1f} s"


def told_of_asking(done: Validation) -> str:
    """Return what asking about likely rules gave, in a sentence."""
    counts = ", ".join(f"{done.count(name):,} {name}" for name in ("confirmed", "refuted"))
    left = sum(outcome.verdict == "undecided" for outcome in done.outcomes)
    fetches = f"{done.fetches:,} fetches{_hosts(done)}"
    return f"asked about what was likely: {counts}, {left:,} left open; {fetches}"


def _hosts(done: Validation) -> str:
    return f" from {how_many(done.hosts, 'host')}" if done.hosts else ""


def place_of(url: str) -> str:
    """Return the host and the path of a URL that is being asked for, as far as a line has room for them."""
    parsed = Url.parse(url)
    return printable(f"{parsed.host} {parsed.path}"[:SHOWN_OF_URL]) if parsed else ""
