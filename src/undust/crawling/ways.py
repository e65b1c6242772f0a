"""How URLs come to their keys: which rules change each on the way, and until where two ways differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa

from undust.crawling.rule_tests import RuleUse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from undust._core import Program

    Steps = list[tuple[int, str]]
    Way = tuple[str, Steps, str, Steps, Steps, str, str]
    """What `Program.explain` says of a URL: its forms on the way to its key, which is the last but one."""

FORM_PLACE: Final = 2
KEY_PLACE: Final = 5
"""Places in a way: the canonical form, and the key."""


def until_one(one: Way, other: Way) -> list[tuple[int, str, str]]:
    """Return the steps of two URLs with one key until they are the same: rule, URL before, and after."""
    mine, its = all_steps(one), all_steps(other)
    while mine and its and mine[-1][1] == its[-1][1]:
        del mine[-1], its[-1]
    return mine + its


def all_steps(way: Way) -> list[tuple[int, str, str]]:
    """Return the steps of a URL to its key: rule, URL before, and after."""
    before = way[0]
    found = []
    for steps in (way[1], way[3], way[4]):
        for rule, after in steps:
            found.append((rule, before, after))
            before = after
    return found


def uses_in(steps: Iterable[tuple[str, str, str]]) -> list[RuleUse]:
    """Return what each rule does first in some steps: id, URL before, and after."""
    found: dict[str, RuleUse] = {}
    for id_, before, after in steps:
        if id_ not in found:
            found[id_] = RuleUse.between(id_, before, after)
    return list(found.values())


def keys_by(program: Program, urls: list[str]) -> list[str]:
    """Return the keys of URLs under some rules."""
    if not urls:
        return []
    keys: list[str] = pa.array(program.batch(pa.array(urls, pa.large_string()), keys=True)).to_pylist()
    return keys
