"""What edits do to the pages of a site: the state they lead to, and what is saved and lost there."""

from undust.judging.effect import Effect, effects
from undust.judging.evidence import ClusterEvidence, Evidence
from undust.judging.site import Site
from undust.judging.state import State, ordered

__all__ = ["ClusterEvidence", "Effect", "Evidence", "Site", "State", "effects", "ordered"]
