"""The two ways in which `undust learn` learns: all methods together through an engine, or single ones.

Both give what was found while the observations are still there, for a page about them may be wanted.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from undust.cli import long_jobs
from undust.cli.memory import require_room
from undust.errors import UndustError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from undust.cli.inputs import Inputs
    from undust.learning import Drift, Outcome
    from undust.pipeline import Stages
    from undust.pipeline.journal import Journal
    from undust.rules import RuleSet
    from undust.single import Learned


@dataclass(frozen=True)
class Asked:
    """What the person wants to be learned."""

    inputs: Inputs
    output: str | None
    methods: tuple[str, ...]
    options: dict[str, object]
    """Of single learners."""
    max_fpr: float
    min_support: int | None
    seed: int
    before: RuleSet | None
    """Rules to prove again."""
    today: str
    keep_values: bool
    has_report: bool
    resume: bool
    is_silent: bool


class Found(NamedTuple):
    """What came of it."""

    result: Outcome | Learned
    rules: RuleSet
    refusals: Any
    seen: Any
    failed: Mapping[str, str]
    """Sites that gave nothing for an error."""
    drift: Drift | None = None
    journal: Journal | None = None

    @property
    def why(self) -> str:
        """Which sites failed, in a sentence."""
        from undust.pipeline import failed_sites  # noqa: PLC0415 -- slow to load, and not for --help

        return failed_sites(self.failed)


@contextmanager
def together(asked: Asked, place: long_jobs.Place, stages: Stages) -> Iterator[Found]:
    """Learn with all methods together, and give what came of it."""
    from undust.engines.budget import site_rows  # noqa: PLC0415 -- slow to load, and not for --help
    from undust.learning import care_from  # noqa: PLC0415
    from undust.pipeline import learn_combined, refusals_of  # noqa: PLC0415

    care = care_from(asked.max_fpr, asked.min_support, asked.seed)
    facts = {
        "care": asdict(care),
        "update": asked.before and asked.before.dumps(),
        "today": asked.before and asked.today,
        "site_rows": site_rows(asked.inputs.memory),
        "refused": asked.has_report,
    }
    said = {"resume": asked.resume, "is_silent": asked.is_silent}
    with (
        long_jobs.journal(asked.inputs, asked.output, facts, **said) as journal,
        place.engine(asked.inputs) as engine,
    ):
        with stages.timed("reading"):
            seen = asked.inputs.read(quiet=asked.is_silent, engine=engine)
        if asked.has_report:
            require_room(len(seen), asked.inputs.memory, "--report")
        with long_jobs.watching(is_silent=asked.is_silent) as watch:
            outcome = learn_combined(
                seen,
                care,
                keep_values=asked.keep_values,
                update=asked.before,
                today=asked.today,
                engine=engine,
                journal=journal,
                stages=stages,
                keep_refused=asked.has_report,
                watch=watch,
            )
        with stages.timed("across sites"):
            rules = outcome.rules
        found = Found(outcome, rules, refusals_of(outcome), seen, outcome.failed, outcome.drift, journal)
        if found.failed and not outcome.sites:
            raise UndustError(found.why)
        yield found


@contextmanager
def single(asked: Asked, place: long_jobs.Place, stages: Stages) -> Iterator[Found]:
    """Learn with methods that are named, each by itself, and give what came of it."""
    from undust.learning import masked  # noqa: PLC0415 -- slow to load, and not for --help
    from undust.pipeline import learn_with, refusals_of_verdicts  # noqa: PLC0415
    from undust.rules import RuleSet  # noqa: PLC0415
    from undust.validation import demands_from  # noqa: PLC0415

    _require_local(place, resume=asked.resume)
    with stages.timed("reading"):
        seen = asked.inputs.read(quiet=asked.is_silent)
    with stages.timed("learning"):
        learned = learn_with(
            seen,
            asked.methods,
            options=asked.options,
            max_fpr=asked.max_fpr,
            min_support=demands_from(asked.min_support).min_support,
            seed=asked.seed,
            threads=asked.inputs.threads,
            memory=asked.inputs.memory,
            folder=asked.inputs.tmp,
        )
    rules = learned.rules if asked.keep_values else RuleSet(masked(learned.rules))
    yield Found(learned, rules, refusals_of_verdicts(learned), seen, {})


def _require_local(place: long_jobs.Place, *, resume: bool) -> None:
    """Say that an option goes nowhere."""
    is_said = {
        "--engine": place.engine_name != "local",
        "--master": place.master is not None,
        "--resume": resume,
    }
    for name, said in is_said.items():
        if said:
            message = f"{name} needs all methods together; leave --method out"
            raise click.UsageError(message)
