"""The search for the edits of a site under one objective and one model of risk, and what it gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from undust.edits import Given
from undust.judging import KeyState, Site
from undust.judging.effect import lost_in
from undust.searching.doubts import RefusedEdit
from undust.searching.objective import Objective, Risk, Worth
from undust.searching.search import Search

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from undust.edits import Edit
    from undust.pages.clustering import SiteClusters
    from undust.rules import Rule
    from undust.searching.search import IsUnwanted

__all__ = ["Learned", "Objective", "RefusedEdit", "Risk", "Search", "Worth", "learn_site"]


@dataclass(frozen=True)
class Learned:
    """What was learned of one site."""

    site: str
    edits: tuple[Edit, ...]
    rules: tuple[Rule, ...]
    candidates: int
    refused: tuple[RefusedEdit, ...]
    """The edits that were not taken, each once."""
    state: KeyState
    """The keys of the URLs in the end."""
    urls: int
    left: int
    """Keys that remain."""
    pages: int
    lost: int
    """Pages under the key of another."""


def learn_site(
    found: SiteClusters | Site,
    objective: Objective | None = None,
    *,
    given: Sequence[Rule] = (),
    is_unwanted: IsUnwanted | None = None,
    held: NDArray[np.bool_] | None = None,
) -> Learned:
    """Return the edits of one site; a pure function of what it is given.

    Args:
        found: Its clusters, or the site as the judge sees it.
        objective: What an edit is worth.
        given: Rules that are in use already: they come first, and the others are judged beside them.
        is_unwanted: Whether a rule, beside others, does what a person switched off.
        held: Pages from which nothing is proposed.

    """
    site = found if isinstance(found, Site) else Site.of(found)
    start = KeyState(site, tuple(Given(rule=rule) for rule in given))
    search = Search(start, objective or Objective(), is_unwanted, held)
    state = search.run()
    return Learned(
        site.name,
        state.edits,
        state.rules,
        search.candidates,
        search.refused(),
        state,
        urls=len(site.urls),
        left=len(state.keys),
        pages=site.count,
        lost=lost_in(state),
    )
