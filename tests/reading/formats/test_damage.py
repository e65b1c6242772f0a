"""The page about damage says what the readers do, for every format."""

from __future__ import annotations

from tests.reading.formats.damage import ANY, ONE, PAGE, WHOLE, table
from undust.reading.formats import SOURCES


def test_the_page_does_not_lie() -> None:
    """Each row of the page is tried, and the page has a row for everything that is tried."""
    assert PAGE.read_text(encoding="utf-8") == table(), "run python -m tests.reading.formats.damage"


def test_no_format_is_forgotten() -> None:
    """A new format needs a whole sample, and damage of its own."""
    names = {source.name for source in SOURCES}
    assert (names, names) == (set(WHOLE), set(ONE))
    assert len(ANY) > 10
