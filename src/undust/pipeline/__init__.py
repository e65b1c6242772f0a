"""The public verbs, from files to rules; the only folder where an engine meets the domain."""

from undust.pipeline.combined import learn_combined
from undust.pipeline.finding import find_duplicates, split, url_trees, write_clusters
from undust.pipeline.judging import compare, evaluate
from undust.pipeline.learning import (
    COMBINED,
    failed_sites,
    learn,
    learn_with,
    propose,
    prove,
    require_methods,
)
from undust.pipeline.proving import validate
from undust.pipeline.reading import is_input, read
from undust.pipeline.reporting import Gathered, refusals_of, refusals_of_verdicts, report
from undust.pipeline.stages import Stages

__all__ = [
    "COMBINED",
    "Gathered",
    "Stages",
    "compare",
    "evaluate",
    "failed_sites",
    "find_duplicates",
    "is_input",
    "learn",
    "learn_combined",
    "learn_with",
    "propose",
    "prove",
    "read",
    "refusals_of",
    "refusals_of_verdicts",
    "report",
    "require_methods",
    "split",
    "url_trees",
    "validate",
    "write_clusters",
]
