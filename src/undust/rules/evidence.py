"""The types of a rule's evidence, checked when a rule is made from a file.

The core reads only what a rule says. What is known about it comes from learners, from people and
from other programs, so a wrong type is reported as clearly as a wrong pattern.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from undust.rules.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

REVIEW_VERDICTS = ("approved", "rejected")
"""What a person may decide about a rule; kept in its `review`."""


def check(data: Mapping[str, Any]) -> None:
    """Raise a `Problem` if a field of evidence is not what it should be."""
    for key, (fits, wanted) in _FIELDS.items():
        value = data.get(key)
        if value is not None and not fits(value):
            message = f"is no {wanted}; correct it or leave it out"
            raise Problem(message, key)


def _is_count(value: Any) -> bool:  # noqa: ANN401 -- any JSON value
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_rate(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1


def _is_text(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, str)


def _is_list_of_pairs(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, (list, tuple)) and all(
        isinstance(pair, (list, tuple)) and len(pair) == 2 and all(map(_is_text, pair))  # noqa: PLR2004
        for pair in value
    )


def _is_proof(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, dict) and _is_text(value.get("when")) and _is_text(value.get("how"))


def _is_table_of_counts(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, dict) and all(map(_is_count, value.values()))


def _is_review(value: Any) -> bool:  # noqa: ANN401
    if not isinstance(value, dict) or value.get("verdict") not in {None, *REVIEW_VERDICTS}:
        return False
    return all(_is_text(value[key]) for key in ("by", "when", "note") if key in value)


_COUNT = (_is_count, "whole number from 0 on")
_RATE = (_is_rate, "number from 0 to 1")
_FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "learned_by": (_is_text, "text"),
    "support": _COUNT,
    "false_positives": _COUNT,
    "fpr": _RATE,
    "fpr_upper": _RATE,
    "saves": _COUNT,
    "examples": (_is_list_of_pairs, "list of pairs of URLs"),
    "validated": (_is_proof, "object with the texts 'when' and 'how'"),
    "targets": (_is_table_of_counts, "object of whole numbers from 0 on"),
    "review": (_is_review, "object with the texts 'by', 'when', 'note' and the verdict approved or rejected"),
}
