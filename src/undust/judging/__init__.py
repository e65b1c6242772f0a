"""What edits do to the pages of a site: the state they lead to, and what is saved and lost there."""

from undust.judging.effect import EditEffect, effects
from undust.judging.site import ClusterEvidence, PairEvidence, Site
from undust.judging.state import KeyState, ordered

__all__ = ["ClusterEvidence", "EditEffect", "KeyState", "PairEvidence", "Site", "effects", "ordered"]
