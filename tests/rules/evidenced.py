"""Rules with any evidence, for property tests of files."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.strategies import rules
from undust.rules import Rule

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=()), max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
"""What a key that nobody knows may hold, half surrogate pairs included."""

_counts, _rates = st.integers(0, 10**12), st.floats(0, 1)
_evidence: dict[str, st.SearchStrategy[Any]] = {
    "status": st.sampled_from(["active", "disabled", "proposed"]),
    "needs": st.lists(st.text(max_size=4), max_size=2),
    "learned_by": st.text(max_size=8),
    "support": _counts,
    "false_positives": _counts,
    "fpr": _rates,
    "fpr_upper": _rates,
    "saves": _counts,
    "examples": st.lists(st.lists(st.text(max_size=9), min_size=2, max_size=2), min_size=1, max_size=2),
    "validated": st.fixed_dictionaries({"when": st.text(max_size=5), "how": st.text(max_size=5)}),
    "targets": st.dictionaries(st.sampled_from(["seen", "redirected", "unseen"]), _counts),
    "review": st.fixed_dictionaries(
        {}, optional={"by": st.text(max_size=3), "verdict": st.sampled_from(["approved", "rejected"])}
    ),
    "zz_note": json_values,
    "zz_é": json_values,
}


@st.composite
def evidenced_rules(draw: st.DrawFn) -> dict[str, Any]:
    """The JSON object of a legal rule with any evidence and keys that nobody knows."""
    rule = Rule.from_json(draw(rules())).to_json() | draw(st.fixed_dictionaries({}, optional=_evidence))
    return rule | ({"fetch": False} if rule["kind"] != "keep" and draw(st.booleans()) else {})


def rule_lists() -> st.SearchStrategy[list[dict[str, Any]]]:
    """The rules of a file."""
    return st.lists(evidenced_rules(), max_size=6, unique_by=lambda rule: str(rule["id"]))
