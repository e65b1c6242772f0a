"""What the URLs of an input come to: the counts that every command, page and JSON shows, one name each.

Standard normalization removes duplicates before any rule does, so the two are counted apart. Where nothing
shows which page a URL shows, its result cannot be judged: such URLs are counted as seen, and in no
other number but those that begin with `seen`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from undust.display import how_many


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts of one site, or of many added up."""

    seen: int = 0
    """Distinct URLs, as they were written."""
    seen_normalized: int = 0
    """How many of these remain distinct after standard normalization."""
    seen_left: int = 0
    """… and after the rules."""
    judged: int = 0
    """URLs whose page is known."""
    pages: int = 0
    """The pages that they show."""
    normalized: int = 0
    """How many of the judged URLs remain distinct after standard normalization."""
    left: int = 0
    """… and after the rules."""
    lost_by_normalization: int = 0
    """Pages that standard normalization merges into a different one."""
    lost: int = 0
    """Pages that are merged into a different one in the end."""
    merged_pages: int = 0
    """The same with near copies, which are not a loss."""

    def __add__(self, other: Totals) -> Totals:
        """Return the counts of both."""
        return Totals(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    @property
    def duplicates(self) -> int:
        """Judged URLs that are not needed."""
        return self.judged - self.pages

    @property
    def removed(self) -> int:
        """Duplicates that are removed in the end; a page that was lost is not one of them."""
        return max(0, self.judged - self.left - self.lost)

    @property
    def removed_by_normalization(self) -> int:
        """Duplicates that standard normalization removes."""
        return max(0, self.judged - self.normalized - self.lost_by_normalization)

    @property
    def removed_by_rules(self) -> int:
        """Duplicates that the rules remove beyond that."""
        return self.removed - self.removed_by_normalization

    def as_json(self) -> dict[str, int]:
        """Return the counts for programs."""
        return {
            "seen": self.seen,
            "seen_normalized": self.seen_normalized,
            "seen_left": self.seen_left,
            "judged": self.judged,
            "pages": self.pages,
            "duplicates": self.duplicates,
            "removed_by_normalization": self.removed_by_normalization,
            "removed_by_rules": self.removed_by_rules,
            "left": self.left,
            "lost": self.lost,
        }

    def sentences(self, sites: int, rules: int) -> list[str]:
        """Return what people read first: what could be judged, what is removed by what, what is lost.

        >>> found = Totals(10, 8, 5, judged=10, pages=4, normalized=8, left=5)
        >>> print("; ".join(found.sentences(1, 3)))
        10 URLs of 1 site show 4 pages; standard normalization removes 2 of the 6 duplicates, the 3 rules \
remove 3 more; 5 URLs are left, and no page is lost
        """
        where = how_many(sites, "site")
        if not self.judged:
            return self._unjudged(where, rules)
        known = how_many(self.judged, "URL")
        if self.judged < self.seen:
            first = (
                f"{self.judged:,} of {how_many(self.seen, 'URL')} of {where} could be judged; they show "
                f"{how_many(self.pages, 'page')}"
            )
        else:
            first = f"{known} of {where} show {how_many(self.pages, 'page')}"
        work = (
            f"standard normalization removes {self.removed_by_normalization:,} of the "
            f"{how_many(self.duplicates, 'duplicate')}, {_the(rules)} remove{'s' * (rules == 1)} "
            f"{self.removed_by_rules:,} more"
        )
        pages = how_many(self.lost, "page")
        lost = f"{pages} {'is' if self.lost == 1 else 'are'} lost, merged into a different one"
        left = f"{how_many(self.left, 'URL')} {'is' if self.left == 1 else 'are'} left"
        return [first, work, f"{left}, and {lost if self.lost else 'no page is lost'}"]

    def _unjudged(self, where: str, rules: int) -> list[str]:
        fewer, more = self.seen - self.seen_normalized, self.seen_normalized - self.seen_left
        if not self.seen:
            return [f"0 URLs of {where}"]
        known = f"none of {how_many(self.seen, 'URL')} of {where} could be judged"
        work = f"standard normalization makes them {fewer:,} fewer, {_the(rules)} {more:,} more"
        return [
            f"{known}: the input has no evidence of which show the same page",
            f"{work}; how many of these are duplicates is not known",
        ]


def _the(rules: int) -> str:
    return f"the {how_many(rules, 'rule')}" if rules else "0 rules"
