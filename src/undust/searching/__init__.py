"""The search for a site's edits under one objective and one model of risk."""

from undust.searching.learned import Learned, learn_site
from undust.searching.objective import Objective, Risk, Worth
from undust.searching.search import RefusedEdit, Search

__all__ = ["Learned", "Objective", "RefusedEdit", "Risk", "Search", "Worth", "learn_site"]
