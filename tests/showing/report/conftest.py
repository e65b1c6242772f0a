"""The sample crawl, and the browser that pages of it are opened in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browsing import browser, opened

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["browser", "opened"]


@pytest.fixture(scope="session")
def sample(repository: Path) -> Callable[[str], Path]:
    """Give the path of a file of the sample crawl."""
    return lambda name: repository / "examples" / name
