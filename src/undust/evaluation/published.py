"""Rules applied as their papers apply them, instead of by the one canonicalizer.

The canonicalizer follows the first rule that changes a URL, again and again. The papers differ: so each
way is written down here, and a comparison tells where it makes a difference. All start from the normal
form, and all end with the masks, since an ignored part is written as `*` in every paper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from undust.rules import RuleSet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from undust.rules import Rule

PASSES = 10
"""MA of DustBuster: how often all rules are gone through."""


def in_passes(rules: RuleSet, urls: pa.Array, threads: int = 1) -> pa.Array:
    """DustBuster, phase 5: rule after rule, each until it changes nothing, and all that up to ten times.

    A single rule runs to its end rather than ten times; a growing rule, which has none, does nothing.
    """
    turning, masks = _apart(rules)
    programs = [RuleSet([rule]).compile() for rule in turning]
    images = RuleSet().compile().batch(urls, threads=threads)
    for _ in range(PASSES):
        before = images
        for program in programs:
            images = program.batch(images, threads=threads)
        if images.equals(before):
            break
    return RuleSet(masks).compile().batch(images, keys=True, threads=threads)


def once(rules: RuleSet, urls: pa.Array, threads: int = 1) -> pa.Array:
    """One step: the first rule that changes a URL does so once, and that is all.

    With the most specific rules first this is what Dasgupta et al. need, with the highest support first
    what DUSTER does, and with the rules that selection kept what the pattern tree does.
    """
    turning, masks = _apart(rules)
    step = RuleSet(turning).program.step
    images = pa.array([step(url)[1] for url in urls.to_pylist()], pa.string())
    return RuleSet(masks).compile().batch(images, keys=True, threads=threads)


PUBLISHED: Mapping[str, Callable[[RuleSet, pa.Array, int], pa.Array]] = {
    "substring": in_passes,
    "rewrite": once,
    "tree": once,
    "alignment": once,
}
"""By learner: what its paper makes of URLs, given the rules in the published order."""


def _apart(rules: RuleSet) -> tuple[list[Rule], list[Rule]]:
    """Return the active rules that turn a URL into another, and those that only mask it."""
    active = [rule for rule in rules if rule.status == "active"]
    masks = [rule for rule in active if ":any}" in (rule.target or "")]
    return [rule for rule in active if rule not in masks], masks
