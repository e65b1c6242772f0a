"""Proposers, one for each kind of difference: from the current URLs of a site to edits worth judging."""

from undust.proposing.differences import differences, swaps
from undust.proposing.idle_parts import (
    SeenParts,
    SeenSite,
    defaults,
    drops,
    idle_segments,
    labels,
    last_segments,
    on_any_path,
    parts_of,
    spellings,
)
from undust.proposing.places import places

PROPOSERS = (
    spellings,
    drops,
    defaults,
    labels,
    places,
    on_any_path,
    differences,
    last_segments,
    idle_segments,
    swaps,
)
"""Cheap and general ones first."""
WEIGHED_TOGETHER = ((spellings,), (drops,), (defaults,), PROPOSERS[3:])
"""Those whose edits are weighed against each other; what came before was accepted."""

__all__ = ["PROPOSERS", "WEIGHED_TOGETHER", "SeenParts", "SeenSite", "parts_of"]
