"""The report served to one person on this machine, with switches that save."""

from undust.review.desk import Desk
from undust.review.server import ReviewServer

__all__ = ["Desk", "ReviewServer"]
