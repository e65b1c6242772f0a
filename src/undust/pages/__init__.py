"""How likely two URLs of a site show one page, calibrated on the site itself.

`SiteEvidence` answers for pairs of URLs with log-likelihood ratios. It is built from `SiteFacts`, columns
over the distinct URLs of one site, and works with whatever the input has: blocks of pages, sketches,
digests, labels.
"""

from undust.pages.evidence import SiteEvidence
from undust.pages.facts import EVIDENCE_MOST, Earlier, SiteFacts, UrlShapes

__all__ = ["EVIDENCE_MOST", "Earlier", "SiteEvidence", "SiteFacts", "UrlShapes"]
