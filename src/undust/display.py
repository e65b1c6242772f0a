"""Counts as people read them."""

from __future__ import annotations


def how_many(count: int, noun: str) -> str:
    """Return a number with its noun.

    >>> how_many(1200, "URL"), how_many(1, "more form"), how_many(0, "site")
    ('1,200 URLs', '1 more form', '0 sites')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"
