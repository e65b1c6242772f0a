"""What asking sites gave, as people read it: each rule with its answers, and the counts in a sentence."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from undust.display import how_many
from undust.errors import printable
from undust.showing.listing import described, short_ids
from undust.urls import Url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from undust.asking.outcome import Validation, Verdict

STYLES: dict[Verdict, str] = {"confirmed": "", "refuted": "bold", "undecided": "dim"}
_HEAD = f"{'verdict':9}  {'id':8}{'same':>6}  {'other':>5}  {'fetches':>7}  "
NARROWEST = 8
SHOWN_OF_URL = 34
"""Characters, so that a line of progress fits into 80."""


def outcome_lines(done: Validation, width: int, styled: Callable[[str, str], str]) -> Iterator[str]:
    """Yield the lines of a table: a rule over as many as it needs, and below it why it was not confirmed."""
    short = short_ids(outcome.rule for outcome in done.outcomes)
    yield styled(f"{_HEAD}rule", "bold")
    rest = max(width - len(_HEAD), NARROWEST)
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
            left = " " * len(_HEAD)


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
