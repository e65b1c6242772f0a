"""The report served to one person on this machine, with switches that save."""

from undust.showing.review.review_session import ReviewSession
from undust.showing.review.server import ReviewServer

__all__ = ["ReviewServer", "ReviewSession"]
