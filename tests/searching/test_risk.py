"""How likely an edit is wrong: never less than what was seen says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from undust.edits import making
from undust.searching.kinds import IN_OTHER_FOLDERS, SEARCH_KINDS
from undust.searching.priors import PRIORS
from undust.searching.risk import RISK

EDIT = making.dropped("sid")
KINDS = st.sampled_from([kind for kind in PRIORS if not kind.endswith(IN_OTHER_FOLDERS)])


@given(KINDS, st.integers(200, 5000), st.integers(1, 60))
def test_many_pages_outweigh_what_was_known_before(kind: str, right: int, wrong: int) -> None:
    """What is expected is near the share that was seen, or above it; belief in the edit does not halve it."""
    seen = wrong / (right + wrong)
    assert RISK.rate(kind, EDIT, right, wrong) >= 0.6 * seen


@given(KINDS, st.integers(0, 300), st.integers(0, 20))
def test_more_failures_never_lower_the_risk(kind: str, right: int, wrong: int) -> None:
    """One more page that is wrong makes an edit no safer."""
    assert RISK.rate(kind, EDIT, right, wrong + 1) >= RISK.rate(kind, EDIT, right, wrong) - 1e-9


@given(st.sampled_from(SEARCH_KINDS), st.integers(1, 30))
def test_more_folders_never_raise_the_risk_in_others(kind: str, folders: int) -> None:
    """An edit that holds in one folder more is no less likely to hold in the next."""
    assert RISK.in_other_folders(kind, folders + 1) <= RISK.in_other_folders(kind, folders) + 1e-9


def test_order_and_hosts_hold_elsewhere_more_often_than_what_removes_words() -> None:
    """As the shipped file says, from one folder."""
    harmless = max(RISK.in_other_folders(kind, 1) for kind in ("respell order", "write host", "drop slash"))
    assert harmless < RISK.in_other_folders("drop word", 1)
