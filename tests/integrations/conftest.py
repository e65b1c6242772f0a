"""Spiders of the tests here are forks of one process that has loaded Scrapy."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from bench import spiders
from tests.cli.command import IS_FRESH
from tests.cli.warm import WarmCommand

SCRAPY = WarmCommand("scrapy")


def forked(words: list[str], environment: dict[str, str]) -> tuple[int, bytes]:
    """Return how `scrapy` ended, run with these words, and what it printed."""
    with Path(os.devnull).open("rb") as nothing, tempfile.TemporaryFile() as log:
        code = SCRAPY.run(words, (nothing.fileno(), log.fileno(), log.fileno()), environment)
        log.seek(0)
        return code, log.read()


@pytest.fixture(autouse=True)
def _forks(monkeypatch: pytest.MonkeyPatch) -> None:
    if not IS_FRESH & os.environ.keys() and SCRAPY.fits():
        monkeypatch.setattr(spiders, "in_process", forked)
