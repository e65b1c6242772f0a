"""One site's clusters to its rules: all evidence, all proposals, one small set that can be trusted."""

from undust.learning.evidence import masked
from undust.learning.loop import SiteRules, learn_site
from undust.learning.options import Care, care_from
from undust.learning.outcome import Outcome
from undust.learning.refusals import Refused

__all__ = ["Care", "Outcome", "Refused", "SiteRules", "care_from", "learn_site", "masked"]
