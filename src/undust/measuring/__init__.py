"""How good a rule set is: every published measure, on labelled data, site by site and rule by rule."""

from undust.measuring.counts import measure
from undust.measuring.judged import Evaluation, Labelled, RuleRow, evaluate
from undust.measuring.measures import Contingency, Measures
from undust.measuring.ranking import Ranking

__all__ = ["Contingency", "Evaluation", "Labelled", "Measures", "Ranking", "RuleRow", "evaluate", "measure"]
