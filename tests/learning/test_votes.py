"""A rule is judged by the tail of its pages and by the share expected to be right, never by a sum."""

from __future__ import annotations

import numpy as np
import pytest

from bench.raw.changes import KINDS, changing_site, judged, numbers
from undust.learning.votes import are_convincing, share_right, worst


def test_evidence_for_does_not_pay_for_evidence_against() -> None:
    """A hundred pages that agree do not outvote ten that are certainly different."""
    assert are_convincing(np.full(100, 4.0))
    assert not are_convincing(np.concatenate((np.full(100, 4.0), np.full(11, -4.0))))


def test_a_few_doubtful_pages_do_not_outvote_the_others() -> None:
    """Four pages of which nothing is known do not refuse a rule with a hundred clean ones."""
    assert are_convincing(np.concatenate((np.full(100, 4.0), np.zeros(4))))


def test_pages_that_say_nothing_prove_nothing() -> None:
    """Without evidence a rule is not believed."""
    assert not are_convincing(np.zeros(50))
    assert not are_convincing(np.zeros(0))
    assert worst(np.array([1.0, 3.0])) == 1.0
    assert share_right(np.array([-4.0, 4.0])) == pytest.approx(0.5)


@pytest.mark.parametrize("kind", KINDS)
def test_pages_that_change_keep_their_rules(kind: str) -> None:
    """Counters, clocks, tokens, rotating lines and their like on every page cost next to nothing."""
    removed, lost, _ = judged(list(changing_site(kind, 1.0, 60)))
    assert removed > 0.9
    assert lost == 0


@pytest.mark.parametrize("kind", ["prices", "weather", "calendar", "variants"])
def test_pages_that_differ_in_numbers_alone_are_not_merged(kind: str) -> None:
    """A number tells pages apart where the site shows that it does."""
    _, lost, _ = judged(list(numbers(kind, 80)))
    assert lost == 0
