"""Single published learners as a whole job: split, propose, prove, and the rules in the published order.

Their candidates are found as the papers find them. They are trusted like all other candidates:
see `trust`. The papers prove each candidate alone and stop there, which a job does if asked to
(`Job.alone`).
"""

from undust.learning.single.job import HELD_OUT, Job, learn_sites
from undust.learning.single.learned import MethodOutcome

__all__ = ["HELD_OUT", "Job", "MethodOutcome", "learn_sites"]
