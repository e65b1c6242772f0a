"""Rules that are likely and unproven, and what is written beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from undust.rules.language import Rule

LIKELY = "likely"
"""The key of a rule with the evidence for it: `urls` that it would remove, how many of them are `alike`
and `unlike` what they become, how likely it is (`true`), and the `edit` that it is a part of."""


def is_proposed(rule: Rule) -> bool:
    """Return whether a rule is only likely so far."""
    return rule.status == "proposed"
