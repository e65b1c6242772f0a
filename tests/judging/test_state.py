"""Numbers of texts after some have changed are those that numbering everything would give."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from undust.judging.state import numbered, renumbered

TEXT = st.text(alphabet="abzé\U0001f600~", max_size=3)


@given(
    known=st.sets(TEXT, min_size=20, max_size=80),
    changed=st.dictionaries(st.integers(0, 79), TEXT, max_size=5),
)
def test_as_if_all_were_numbered_anew(known: set[str], changed: dict[int, str]) -> None:
    """Whatever the new texts are: known ones, new ones, the same twice, in any place."""
    texts, _ = numbered(pa.array(sorted(known)))
    rows = np.array(sorted(row for row in changed if row < len(texts)), np.int64)
    made = pa.array([changed[row] for row in rows.tolist()], pa.large_string())
    after = texts.to_pylist()
    for row in rows.tolist():
        after[row] = changed[row]
    wanted, numbers = numbered(pa.array(after, pa.large_string()))
    found, became = renumbered(texts, rows, made)
    assert found.equals(wanted)
    assert became.tolist() == numbers.tolist()
