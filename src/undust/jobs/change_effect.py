"""What a change of rules does to URLs whose pages are known: removed and lost, before and after."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from undust.errors import UndustError
from undust.jobs.evaluate import known_pages
from undust.rules.language import ANY_SITE

if TYPE_CHECKING:
    from undust.rules import RuleSet


@dataclass(frozen=True)
class ChangeEffect:
    """Removed and lost on a sample, before a change of rules and after it."""

    urls: int
    pages: int
    removed_before: float
    """Share of the duplicates that are removed; standard normalization is counted."""
    removed_after: float
    lost_pages_before: int
    """Pages that are merged into a different one."""
    lost_pages_after: int

    @property
    def is_worse(self) -> bool:
        """Whether more pages are lost than before."""
        return self.lost_pages_after > self.lost_pages_before

    def __str__(self) -> str:
        """Return one sentence for people."""
        removed = (
            f"{self.removed_after:.1%} of the duplicates are removed instead of {self.removed_before:.1%}"
        )
        lost = f"pages lost: {self.lost_pages_after:,} instead of {self.lost_pages_before:,}"
        return f"on the sample of {self.urls:,} URLs, {removed}; {lost}"

    def to_json(self) -> dict[str, Any]:
        """Return the figures for programs."""
        return asdict(self) | {"worse": self.is_worse}


def effect_of_change(before: RuleSet, after: RuleSet, sample: Any) -> ChangeEffect:  # noqa: ANN401 -- any Arrow object
    """Return what turning one rule set into another does to a sample of observations.

    >>> import pyarrow as pa
    >>> from undust import Rule, RuleSet
    >>> rules = RuleSet([Rule.parse('replace "?x" -> ""', site="a.test")])
    >>> urls = ["http://a.test/p", "http://a.test/p?x", "http://a.test/q"]
    >>> seen = pa.table({"url": urls, "digest": ["1", "1", "2"]})
    >>> str(effect_of_change(RuleSet(), rules, seen))[-80:]
    '100.0% of the duplicates are removed instead of 0.0%; pages lost: 0 instead of 0'
    """
    sites = known_pages(sample)
    named = {rule.site for rules in (before, after) for rule in rules}
    if named and ANY_SITE not in named and named.isdisjoint(one.site for one in sites):
        message = "the sample has no URL with a known page on a site of the rules; give another --sample"
        raise UndustError(message)
    old, new = (
        sum(measured[1:], measured[0])
        for measured in ([one.measured(rules) for one in sites] for rules in (before, after))
    )
    return ChangeEffect(
        new.urls,
        new.clusters,
        old.removed,
        new.removed,
        *(round(each.lost * each.clusters) for each in (old, new)),
    )
