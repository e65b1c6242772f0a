"""Candidates to verdicts: what a proposed rule does to data that no learner saw."""

from undust.validation.held_out import HeldOut, prove_site
from undust.validation.verdict import Demands, Verdict, demands_from

__all__ = ["Demands", "HeldOut", "Verdict", "demands_from", "prove_site"]
