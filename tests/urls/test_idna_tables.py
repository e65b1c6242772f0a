"""The checked-in Unicode tables are what their generator writes, and what Unicode says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import unicodedata2
from idna import uts46data

from tools.make_idna_tables import header_text

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 400 * 1024


@pytest.fixture(scope="module")
def header(repository: Path) -> str:
    """Return the tables as they are compiled."""
    return (repository / "cpp" / "idna_tables.hpp").read_text(encoding="ascii")


def test_regenerated_tables_are_the_same_bytes(header: str) -> None:
    """The generator, run again, changes nothing."""
    found = re.search(r'kUnicodeVersion\[\] = "([0-9.]+)"', header)
    assert found, "the header does not say its Unicode version"
    installed = {"idna": uts46data.__version__, "unicodedata2": unicodedata2.unidata_version}
    if set(installed.values()) != {found[1]}:
        pytest.skip(f"the tables are of Unicode {found[1]}, the packages of {installed}")
    assert header_text() == header


def test_tables_stay_small(header: str) -> None:
    """The header is something that a person can still open."""
    assert len(header) < MAX_BYTES
