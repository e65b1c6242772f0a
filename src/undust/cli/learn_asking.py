"""`undust learn --ask`: likely rules proved in the same run; and what is printed about likely rules."""

from __future__ import annotations

import hashlib
import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from undust.cli.validate import showing_fetches
from undust.display import how_many
from undust.files.streams import STANDARD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from undust.asking.outcome import Validation
    from undust.cli.asking_options import AskingChoice
    from undust.cli.inputs import Inputs
    from undust.rules import Rule, RuleSet

SHOWN_PROPOSED = 20
ONLY_PROPOSED, NO_RULES = 3, 4
"""Exit codes of `undust learn`: nothing but proposed rules; no rule at all, or no URL in the input."""
_HEAD = f"{'URLs':>7}  {'alike':>7}  {'unlike':>7}  "


@dataclass(frozen=True)
class AskRequest:
    """What `--ask` is to do."""

    choice: AskingChoice
    archives: tuple[str, ...]
    hosts: frozenset[str]
    max_fpr: float
    seed: int
    output: str | None
    resume: bool
    is_silent: bool

    def run(self, rules: RuleSet, seen: Any) -> Validation:  # noqa: ANN401 -- any Arrow object
        """Ask the sites about what is proposed."""
        from undust.jobs.ask import ask  # noqa: PLC0415 -- slow to load, and not for --help

        job = hashlib.blake2b(
            json.dumps([rules.ids, self.choice.facts(), self.max_fpr, self.seed]).encode(), digest_size=16
        )
        with showing_fetches(rules, is_silent=self.is_silent) as watch:
            return ask(
                rules,
                seen,
                self.choice.manners(self.hosts),
                max_fpr=self.max_fpr,
                samples=self.choice.samples,
                epsilon=self.choice.epsilon,
                seed=self.seed,
                archives=self.archives,
                journal=self.journal,
                resume=self.resume and self.journal is not None and Path(self.journal).exists(),
                job=job.hexdigest(),
                watch=watch,
            )

    @property
    def journal(self) -> str | None:
        """Where answers are written down; nowhere if nothing is written."""
        if self.choice.journal is not None:
            return self.choice.journal
        return None if self.output in {None, STANDARD} else f"{self.output}.asked"


def exit_code(rules: Sequence[Rule]) -> int:
    """Return the exit code of what was learned."""
    from undust.rules.language import is_proposed  # noqa: PLC0415 -- slow to load, and not for --help

    if any(rule.status == "active" for rule in rules):
        return 0
    return ONLY_PROPOSED if any(map(is_proposed, rules)) else NO_RULES


def proposed_lines(rules: Sequence[Rule], width: int, styled: Callable[[str, str], str]) -> Iterator[str]:
    """Yield a table of what is proposed, the rules that would remove most first."""
    from undust.rules.language import LIKELY  # noqa: PLC0415 -- slow to load, and not for --help
    from undust.showing.listing import described, site_name  # noqa: PLC0415

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


def next_question(inputs: Inputs, output: str | None, rules: Sequence[Rule]) -> str:
    """Return the command that proves what is proposed; of several sites, a person says which to ask."""
    from undust.rules.language import ANY_SITE  # noqa: PLC0415 -- slow to load, and not for --help

    files = " ".join(map(shlex.quote, inputs.paths))
    sites = {rule.site for rule in rules} - {ANY_SITE}
    hosts = [name for site in sites for name in (site, f"*.{site}")] if len(sites) == 1 else ["www.your.site"]
    asked = " ".join(f"--ask-host {shlex.quote(host)}" for host in hosts)
    named = f"--base {inputs.base}" if inputs.base else asked
    return f"learn {files} --ask {named} --contact you@example.org -o {output or 'rules.json'}"


def told_of_asking(done: Validation) -> list[str]:
    """Return what asking gave, in lines."""
    counts = ", ".join(f"{done.count(name):,} {name}" for name in ("confirmed", "refuted"))
    left = sum(outcome.verdict == "undecided" for outcome in done.outcomes)
    hosts = f" from {how_many(done.hosts, 'host')}" if done.hosts else ""
    return [f"asked about what was likely: {counts}, {left:,} left open; {done.fetches:,} fetches{hosts}"]
