"""How results appear to people: counts, texts safe for a terminal, objects that a folder above them draws.

A rule set prints as a table, and a notebook shows it as HTML, yet `rules` does not import `showing`. The
front door (`undust/__init__.py`) says which function draws which object; it is loaded at first use, so
that a crawler never loads a table.

`Totals` has the counts that every command, page and JSON shows, one name each. Standard normalization removes
duplicates before any rule does, so the two are counted apart. Where nothing shows which page a URL shows, its
result cannot be judged: such URLs are counted as seen, and in no other number but those that begin with
`seen`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from importlib import import_module

DRAWERS: dict[tuple[str, str], str] = {}
"""By class and form (`text`, `html`): the module and the function that draws it, as `module:function`."""


def drawn(kind: str, form: str, value: object) -> str:
    """Return an object of a kind as a text of a form."""
    module, _, function = DRAWERS[kind, form].partition(":")
    return str(getattr(import_module(module), function)(value))


def how_many(count: int, noun: str) -> str:
    """Return a number with its noun.

    >>> how_many(1200, "URL"), how_many(1, "more form"), how_many(0, "site")
    ('1,200 URLs', '1 more form', '0 sites')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"


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


def printable(text: str, *, keep: str = "") -> str:
    r"""Return a text with line feeds, escape sequences and all else that a terminal would obey written out.

    >>> print(printable("caf\u00e9\n\x1b[31m"))
    café\n\x1b[31m
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


def harmless(text: str) -> str:
    """Return the same for a text of several lines, which stay lines."""
    return printable(text, keep="\n\t")
