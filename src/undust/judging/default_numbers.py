"""Whether a number is the default of its parameter, or lists are merely short.

`page=1` shows the same as a list without it. Where `page=2` shows the same too, the list is short and
gives no information about longer ones, of which `page=0` may be the first page. Only a list of which
another number shows something else identifies the default.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class OtherNumbers(NamedTuple):
    """What the other values of a parameter do, if one value may be its default."""

    idle: int
    """Pages that other values show as well."""
    telling: int
    """URLs for which another value shows another page: these identify the default."""
    agree: int
    """Those of them that show the same page with the possible default and without it."""

    def confirm(self, least: int) -> bool:
        """Return whether at least this many URLs identify the default, or lists are not mainly short."""
        return self.agree >= least or self.idle <= self.telling


def other_numbers(shown: Iterable[tuple[str, int]], name: str, default: str) -> OtherNumbers:
    """Return what the other values of a parameter do.

    >>> pages = [("http://a.test/x", 1), ("http://a.test/x?p=1", 1), ("http://a.test/x?p=2", 1)]
    >>> other_numbers(pages, "p", "1")
    OtherNumbers(idle=1, telling=0, agree=0)
    >>> other_numbers([*pages[:2], ("http://a.test/x?p=2", 2)], "p", "1")
    OtherNumbers(idle=0, telling=1, agree=1)

    Args:
        shown: URLs, each with the number of its page.
        name: The parameter.
        default: The value that may be its default.

    """
    idle: set[int] = set()
    telling = agree = 0
    for pages in _pages_by_value(shown, name):
        others = {page for value, page in pages.items() if value not in {None, default}}
        if not others or len(pages) == 1:
            continue
        if len(set(pages.values())) == 1:
            idle |= others
            continue
        telling += 1
        agree += pages.get(None, -1) == pages.get(default, -2)
    return OtherNumbers(len(idle), telling, agree)


def _pages_by_value(shown: Iterable[tuple[str, int]], name: str) -> Iterable[dict[str | None, int]]:
    """Return, for each URL that was seen with the parameter, the page that each of its values shows."""
    found: defaultdict[str, dict[str | None, int]] = defaultdict(dict)
    without: dict[str, int] = {}
    for url, page in shown:
        value, rest = _value_and_rest(url, name) if f"{name}=" in url else (None, url)
        if value is None:
            without.setdefault(rest, page)
        else:
            found[rest].setdefault(value, page)
    for rest, pages in found.items():
        if rest in without:
            pages[None] = without[rest]
    return found.values()


def _value_and_rest(url: str, name: str) -> tuple[str | None, str]:
    """Return the first value of a parameter, and the URL without it."""
    head, _, query = url.partition("?")
    parameters = query.split("&")
    for place, parameter in enumerate(parameters):
        own, _, value = parameter.partition("=")
        if own == name:
            rest = parameters[:place] + parameters[place + 1 :]
            return value, f"{head}?{'&'.join(rest)}" if rest else head
    return None, url
