"""How good a rule set is: every published measure, on labelled data, site by site and rule by rule."""

from undust.measuring.counts import measure
from undust.measuring.judged import Alone, Evaluation, Labelled, RuleRow, evaluate, totals_of
from undust.measuring.measures import Contingency, Measures, Ranking

__all__ = [
    "Alone",
    "Contingency",
    "Evaluation",
    "Labelled",
    "Measures",
    "Ranking",
    "RuleRow",
    "evaluate",
    "measure",
    "totals_of",
]
