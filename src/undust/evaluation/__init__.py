"""How good a rule set is: every published measure, on labelled data, site by site and rule by rule."""

from undust.evaluation.counts import measure
from undust.evaluation.judged import Evaluation, Labelled, Row, evaluate
from undust.evaluation.measures import Contingency, Measures
from undust.evaluation.ranking import Ranking

__all__ = ["Contingency", "Evaluation", "Labelled", "Measures", "Ranking", "Row", "evaluate", "measure"]
