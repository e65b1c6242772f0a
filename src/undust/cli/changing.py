"""Before rules are changed: what the change does to a sample, and a refusal if it would lose pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from undust.cli.terminal import say
from undust.display import how_many
from undust.errors import UndustError
from undust.rules.needs import dependents

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from undust.rules import Rule, RuleSet

F = TypeVar("F", bound="Callable[..., Any]")

sample_option = click.option(
    "--sample",
    metavar="FILE",
    multiple=True,
    type=click.Path(allow_dash=True),
    help="Measure the change on the URLs of FILE, any input that `learn` reads; may be repeated.",
)
yes_option = click.option(
    "--yes", is_flag=True, help="Make the change even if more pages of the sample are lost than before."
)


def with_sample(function: F) -> F:
    """Give a command the options --sample and --yes."""
    return sample_option(yes_option(function))


def measured_change(
    before: RuleSet, after: RuleSet, sample: Sequence[str], *, yes: bool, is_silent: bool = False
) -> dict[str, Any]:
    """Return what a change does to a sample, for programs; print it for people; refuse one that loses pages.

    Without a sample the answer is empty.
    """
    if not sample:
        return {}
    from undust.jobs.change_effect import effect_of_change  # noqa: PLC0415 -- loads pyarrow
    from undust.jobs.read import read  # noqa: PLC0415

    effect = effect_of_change(before, after, read(*sample))
    if effect.is_worse and not yes:
        message = f"{effect}; nothing was written; add --yes to lose them"
        raise UndustError(message)
    if not is_silent:
        say(str(effect), err=True)
    return {"effect": effect.to_json()}


def out_of_effect(before: RuleSet, after: RuleSet) -> list[Rule]:
    """Return the rules that a change puts out of effect though active: a rule that they need is off."""
    off = {rule.id for rule in before} - {rule.id for rule in after if rule.status == "active"}
    active = {rule.id for rule in after if rule.status == "active"}
    return [rule for rule in dependents(list(before), off) if rule.id in active]


def cost_of(rules: Sequence[Rule]) -> str:
    """Return what rules that are out of effect removed, in a sentence."""
    removed = sum(rule.saves or 0 for rule in rules)
    counted = f"; removed when learned: {how_many(removed, 'URL')}" if removed else ""
    return f"{how_many(len(rules), 'rule')} out of effect, since what is needed is off{counted}"
