"""A command loads what it needs: whoever only reads or applies rules loads no learner."""

from __future__ import annotations

import pytest

from tools.entered_files import files_of

LEARNERS = {"learning", "proposing", "judging"}


@pytest.mark.parametrize(
    ("command", "absent"),
    [
        ("report", LEARNERS | {"asking", "exchange", "integrations"}),
        ("apply", LEARNERS | {"asking", "engines", "exchange", "integrations", "measuring", "pages"}),
    ],
)
def test_no_learner_is_loaded(command: str, absent: set[str]) -> None:
    """On the sample, no file of these folders is imported; and the files that are entered were loaded."""
    entered, loaded = files_of(command)
    assert {path.split("/")[0] for path in loaded} & absent == set()
    assert set(entered) <= set(loaded)
    assert f"cli/{command}.py" in entered
