"""How careful the combined learner is; every default was chosen on real sites, see `bench/RESULTS.md`."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Requirements:
    """What a rule must show before it is believed."""

    max_fpr: float = 0.01
    """At most this share of the pages that a rule touches may be lost to another page."""
    min_support: int = 5
    """Pages that must need fewer URLs under a rule: pages, for one login wall makes any number of pairs."""
    blind_support: int = 6
    """The same where there are no sketches, so that near copies cannot be recognised."""
    narrowed_support: int = 7
    """The same for each condition of a rule that failed without it."""
    literal_support: int = 10
    """The same for a rule that writes a parameter of which it read nothing, such as `page=2`, or the name of
    a folder or a page where it read another."""
    number_support: int = 25
    """The same for a rule that writes one number for another, or removes small numbers: they count things."""
    published_support: int = 12
    """The same for what the published learners propose, whose rules say where they hold by names of pages."""
    held_pages: int = 1
    """Among them pages that no proposal was made from."""
    held_out: float = 0.4
    """Share of the pages that proposals are not made from."""
    most_rules: int = 60
    """Of one site."""
    most_urls: int = 60_000
    """Of one site; more are learned from a sample of its pages, drawn by their first URL."""
    most_bytes: int = 12_000_000
    """The same for the text of these URLs: 200 bytes for each, several times what is usual."""
    rounds: int = 3
    seed: int = 0

    def within(self, urls: int | None) -> Requirements:
        """Return the same with at most this many URLs of one site."""
        return self if urls is None else replace(self, most_urls=min(self.most_urls, urls))


def requirements_from(max_fpr: float, min_support: int | None, seed: int) -> Requirements:
    """Return how careful the combined learner is, from what a person says about any learner."""
    said = Requirements(max_fpr=max_fpr, seed=seed)
    return said if min_support is None else replace(said, min_support=min_support, blind_support=min_support)
