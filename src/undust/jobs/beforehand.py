"""What is known of rules before a site is asked about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undust.asking.proof import Beforehand
from undust.learning.bounds import kind_and_bits
from undust.searching.classes import classes_apart
from undust.searching.objective import PRIORS

if TYPE_CHECKING:
    from undust.rules import Rule


def _true(rule: Rule) -> float:
    """Return the share of rules of its kind that are true on other sites."""
    return PRIORS[kind_and_bits(rule)[0]].true


BEFOREHAND = Beforehand(_true, classes_apart)
