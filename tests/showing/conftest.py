"""The sample under review: a rule file of one's own, and a server for it on a free port."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import undust
from tests.browsing import browser, opened
from tests.loopback import running
from undust.jobs.report import ReportInput
from undust.showing.review import ReviewServer, ReviewSession

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from undust.showing.report import Report

__all__ = ["browser", "opened"]


@pytest.fixture(scope="module")
def gathered(repository: Path) -> ReportInput:
    """What is known of the sample."""
    examples = repository / "examples"
    return ReportInput(undust.load(examples / "rules.json"), undust.read(examples / "shop.jsonl.gz"))


@pytest.fixture(scope="module")
def shown(gathered: ReportInput) -> Report:
    """The page of the sample."""
    return gathered.report()


def serving(
    path: Path, gathered: ReportInput, shown: Report | None = None
) -> AbstractContextManager[ReviewServer]:
    """Serve the review of a rule file on a free port."""
    return running(ReviewServer(ReviewSession(str(path), gathered), shown or gathered.report()))


@pytest.fixture
def rule_file(repository: Path, tmp_path: Path) -> Path:
    """A rule file of one's own."""
    path = tmp_path / "rules.json"
    path.write_bytes((repository / "examples" / "rules.json").read_bytes())
    return path


@pytest.fixture
def server(rule_file: Path, gathered: ReportInput, shown: Report) -> Iterator[ReviewServer]:
    """The review of that file."""
    with serving(rule_file, gathered, shown) as server:
        yield server
