"""What an edit is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

import undust
from undust.edits import Given, making
from undust.judging import KeyState, Site, effects
from undust.learning.edited import combined_rules
from undust.rules import Rule
from undust.searching import Objective

if TYPE_CHECKING:
    from undust.pages.clustering import SiteClusters

DROPPED = "rewrite {s}://{h}/{p**}?h=old&{rest**} → {s}://{h}/{p}?{rest}"


def clusters(both: int, alone: int) -> SiteClusters:
    """Pages that were seen with and without a parameter, and others that were seen with it only."""
    pages = {f"http://a.test/{n}{tail}": str(n) for n in range(both) for tail in ("", "?h=old")}
    pages |= {f"http://a.test/x{n}?h=old": f"x{n}" for n in range(alone)}
    table = pa.table({"url": list(pages), "cluster": list(pages.values())})
    (found,) = undust.find_duplicates(table)
    return found


def test_urls_that_meet_no_other_are_counted() -> None:
    """Where they move to, there is none before or after."""
    state = KeyState(Site.of(clusters(9, 30)))
    (effect,) = effects(state, [making.dropped_value("h", "old")])
    assert (effect.pages, effect.alone, len(effect.moved)) == (9, 30, 39)


def test_what_was_seldom_seen_with_and_without_a_part_counts_against_removing_it() -> None:
    """Of a few pages, they may be the ones that do not change; many pages are enough all the same."""
    edit, objective = making.dropped_value("h", "old"), Objective()

    def rate(both: int, alone: int) -> float:
        (effect,) = effects(KeyState(Site.of(clusters(both, alone))), [edit])
        return objective.worth(effect).rate

    assert rate(9, 30) > 1.5 * rate(9, 0)
    assert rate(200, 30) < 1.5 * rate(200, 0)
    assert objective.worth_having(*effects(KeyState(Site.of(clusters(9, 0))), [edit])) is not None
    assert objective.worth_having(*effects(KeyState(Site.of(clusters(9, 60))), [edit])) is None


def test_rules_of_other_methods_are_held_against_the_same_model() -> None:
    """A rule that does nothing cannot be judged, and stays."""
    given = Given(rule=Rule.parse(DROPPED, site="a.test"))
    objective = Objective()

    def believes(both: int, alone: int) -> bool:
        (effect,) = effects(KeyState(Site.of(clusters(both, alone))), [given])
        return objective.believes(effect, "drop nothing")

    assert believes(40, 0)
    assert not believes(6, 60)
    assert believes(0, 5)


def test_few_pages_among_many_teach_nothing() -> None:
    """The same through the whole learner."""
    assert combined_rules(clusters(40, 0)).rules
    assert not combined_rules(clusters(6, 60)).rules
