"""A browser for the files of this folder."""

from __future__ import annotations

from tests.browsing import browser, opened

__all__ = ["browser", "opened"]
