"""What was fetched of one site: a record for each URL, which URLs showed one text, and how two compare."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from undust.crawling.records import PageRecord, compared
from undust.crawling.responses import joined

if TYPE_CHECKING:
    from undust.crawling.records import Comparison

MOST_SHARING = 10
"""A text that this many URLs show though no rule makes them one says nothing: it is a page for whatever is
not there, or the form to log in."""
MOST_HOPS = 3
"""Of redirects that are followed among what was fetched."""


@dataclass
class Fetched:
    """The responses of one site."""

    records: dict[str, bytes] = field(default_factory=dict)
    """Observed URLs, each with its latest record, in the order in which they came."""
    failed: set[str] = field(default_factory=set)
    """Those that gave an error."""
    texts: dict[int, str] = field(default_factory=dict)
    """Texts by their numbers, each with the first URL that showed it."""
    sharing: Counter[str] = field(default_factory=Counter)
    """These first URLs, with how many others showed the same though no rule says so."""
    has_sketches: bool = False

    def __len__(self) -> int:
        return len(self.records)

    def __contains__(self, url: str) -> bool:
        return url in self.records

    def add(self, url: str, record: PageRecord) -> None:
        """Keep a record."""
        self.has_sketches |= bool(record.sketch)
        self.records[url] = record.to_bytes()
        (self.failed.add if record.is_error else self.failed.discard)(url)

    def record(self, url: str) -> PageRecord:
        """Return the record of a URL that was observed."""
        return PageRecord.from_bytes(self.records[url])

    def pages(self) -> list[str]:
        """Return the URLs that gave no error."""
        failed = self.failed
        return [url for url in self.records if url not in failed] if failed else [*self.records]

    def is_new_text(self, record: PageRecord) -> bool | None:
        """Return whether no URL has shown a text before; None if the text is not known."""
        numbers = record.bands
        return numbers[-1] not in self.texts if numbers else None

    def other_with(self, url: str, record: PageRecord) -> str | None:
        """Return the first other URL that showed the same text, if any, and remember the text."""
        found = None
        for number in record.bands:
            other = self.texts.setdefault(number, url)
            is_other = found is None and other != url and other not in self.failed
            if is_other and self.compare(url, other) == "same":
                found = other
        return found

    def distinguishes(self, record: PageRecord) -> bool:
        """Return whether few enough URLs share a text for it to distinguish pages."""
        firsts = (self.texts.get(number) for number in record.bands)
        return all(first is None or self.sharing[first] < MOST_SHARING for first in firsts)

    def compare(self, one: str, other: str) -> Comparison:
        """Return whether two observed URLs showed the same page, redirects followed."""
        left, mine = self._led_to(one)
        right, its = self._led_to(other)
        if left == right:
            return "same"
        return compared(mine, its, has_sketches=self.has_sketches)

    def _led_to(self, url: str) -> tuple[str, PageRecord]:
        record = self.record(url)
        for _ in range(MOST_HOPS):
            if not record.is_redirect or record.redirect is None:
                break
            url = joined(url, record.redirect)
            if url not in self.records:
                break
            record = self.record(url)
        return url, record
