"""Names of parameters that distinguish visits."""

from __future__ import annotations

import pytest

from undust.edits.making import SESSIONS, TRACKING, names_visit


@pytest.mark.parametrize("name", [*TRACKING, *SESSIONS, "utm_source", "PhpSessId", "GCLID"])
def test_known_names_are_recognised_in_any_spelling(name: str) -> None:
    """Families are known by their beginning, others whole."""
    assert names_visit(name)


@pytest.mark.parametrize("name", ["id", "side", "sids", "utm", "xutm_source", "page", "", "s*", "_gab"])
def test_other_names_are_not(name: str) -> None:
    """What a site may use for its pages is never taken for a visit."""
    assert not names_visit(name)
