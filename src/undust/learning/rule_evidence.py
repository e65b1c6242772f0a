"""What is written beside each rule: measured on held-out pages, at the place where the rule works."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from undust.learning.accumulated import SeenUrls, counted
from undust.privacy.masking import Masks
from undust.rules.language import ANY_SITE
from undust.rules.masking import forgotten_names, removed_from
from undust.statistics import upper_bound

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from undust.learning.site_pages import SitePages
    from undust.learning.state import Effect, State
    from undust.rules import Rule

    Ints = NDArray[np.int64]

_EXAMPLES = 3


class Ledger:
    """The evidence of the rules that were accepted."""

    def __init__(self, pages: SitePages) -> None:
        self.pages = pages
        self.held = np.flatnonzero(pages.is_held[pages.of_url])
        self.rows: dict[str, Rule] = {}

    @cached_property
    def seen(self) -> SeenUrls:
        """The URLs of the evidence; made at first use, because many sites accept no rule."""
        return SeenUrls.of(self.pages.site)

    def note(self, rule: Rule, effect: Effect, before: Ints, texts: pa.Array, state: State) -> None:
        """Write down what a rule did when it was accepted."""
        held, pages = self.held, self.pages.of_url[self.held]
        support_before, false_before = pairs_of(before[held], pages)
        support_after, false_after = pairs_of(state.image[held], pages)
        false = max(0, false_after - false_before) if effect.lost_held else 0
        support = max(0, support_after - support_before) + false
        saves = len(np.unique(before[held])) - len(np.unique(state.image[held]))
        measured = replace(
            rule,
            support=support,
            false_positives=false,
            fpr=false / support if support else 0.0,
            fpr_upper=round(upper_bound(effect.lost, effect.lost + effect.pages), 6),
            saves=max(0, saves),
            examples=tuple(self._examples(effect, before, texts, state)),
        )
        self.rows[rule.id] = counted(measured, self.seen, effect.pages, effect.lost)

    def _examples(
        self, effect: Effect, before: Ints, texts: pa.Array, state: State
    ) -> Iterator[tuple[str, str]]:
        """Yield a few of the forms it changes, with what became of them."""
        proofs = effect.sources[effect.merging & ~effect.failing]
        few = (
            proofs[np.unique(np.linspace(0, len(proofs) - 1, _EXAMPLES).astype(np.int64))]
            if len(proofs)
            else ()
        )
        order = np.argsort(before, kind="stable")
        for source in few:
            url = order[np.searchsorted(before[order], source)]
            yield str(texts[int(source)]), str(state.images[int(state.image[url])])

    def has_false_pairs(self, rule: Rule) -> bool:
        """Return whether a rule was seen to send two held-out pages to one form."""
        return rule.id in self.rows and self.rows[rule.id].false_positives > 0  # type: ignore[operator]

    def with_evidence(self, rules: Iterable[Rule]) -> Iterator[Rule]:
        """Yield the rules with what was written down of them."""
        yield from (self.rows.get(rule.id, rule) for rule in rules)


def pairs_of(image: Ints, page: Ints) -> tuple[int, int]:
    """Return how many pairs of URLs have one image and one page, and one image and two pages."""
    together = np.unique(image, return_counts=True)[1]
    same = np.unique(image * (int(page.max(initial=0)) + 1) + page, return_counts=True)[1]
    support = int((same * (same - 1) // 2).sum())
    return support, int((together * (together - 1) // 2).sum()) - support


def masked(rules: Iterable[Rule]) -> list[Rule]:
    """Return rules whose examples show nothing that looks secret."""
    found = list(rules)
    by_site: dict[str, list[Rule]] = {}
    for rule in found:
        by_site.setdefault(rule.site, []).append(rule)
    for_all = forgotten_names(by_site.get(ANY_SITE, ()))
    # The examples of a rule for all sites are of any of them.
    names = {site: (*forgotten_names(some), *for_all) for site, some in by_site.items()}
    names[ANY_SITE] = forgotten_names(found)
    masks = Masks()
    return [_without_secrets(rule, names[rule.site], masks) for rule in found]


def _without_secrets(rule: Rule, names: Sequence[str], masks: Masks) -> Rule:
    examples = tuple(
        (masks.text(url, removed_from(url, names)), masks.text(becomes, removed_from(becomes, names)))
        for url, becomes in rule.examples
    )
    return replace(rule, examples=examples) if examples != rule.examples else rule
