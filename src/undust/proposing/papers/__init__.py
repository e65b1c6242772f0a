"""The published learners, one file each: clusters of one site to candidate rules.

A learner is a function from the clusters of one site and its options to a `Proposal`. It sees training
data only, and it proves nothing. `LEARNERS` is the shelf; nothing else knows which ones there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from undust.errors import UndustError
from undust.judging.verdict import options_from
from undust.proposing.papers.alignment import AlignmentOptions, propose_by_alignment
from undust.proposing.papers.rewrite import RewriteOptions, propose_rewrites
from undust.proposing.papers.substring import SubstringOptions, propose_substrings
from undust.proposing.papers.tree import TreeOptions, propose_by_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from undust.judging.verdict import Proposal, Resources
    from undust.pages.clustering import SiteClusters


class Learner(NamedTuple):
    """A learner by its name, with the dataclass of its options."""

    name: str
    propose: Callable[[SiteClusters, Any], Proposal]
    options: type


LEARNERS = (
    Learner("substring", propose_substrings, SubstringOptions),
    Learner("rewrite", propose_rewrites, RewriteOptions),
    Learner("tree", propose_by_tree, TreeOptions),
    Learner("alignment", propose_by_alignment, AlignmentOptions),
)


def learner_named(name: str) -> Learner:
    """Return a learner, or raise with the names there are."""
    for learner in LEARNERS:
        if learner.name == name:
            return learner
    known = ", ".join(learner.name for learner in LEARNERS)
    message = f"there is no learner '{name}'; there are {known}"
    raise UndustError(message)


def propose(
    site: SiteClusters,
    methods: Iterable[str] | None = None,
    options: Mapping[str, object] | None = None,
    resources: Resources | None = None,
) -> dict[str, Proposal]:
    """Return what each of the named learners proposes for one site; without names, all of them.

    Options are named as people write them: `{"substring.max_bucket": 6}`. They go before what `resources`
    would make of them.
    """
    said = dict(options or {})
    chosen = LEARNERS if methods is None else [learner_named(name) for name in methods]
    return {
        each.name: each.propose(site, options_from(each.options, each.name, said, resources))
        for each in chosen
    }
