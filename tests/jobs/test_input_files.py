"""Files with what was said about them: read, added up, and refused where memory does not hold them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from undust.errors import UndustError, WrongUsage
from undust.jobs.input_files import InputFiles, memory_of, require_room

if TYPE_CHECKING:
    from pathlib import Path

LOG = '192.0.2.1 - - [10/Oct/2025:13:55:36 +0000] "GET {} HTTP/1.1" 200 100 "-" "curl/8"\n'


@pytest.fixture
def log(tmp_path: Path) -> InputFiles:
    """A log of three requests for two URLs."""
    path = tmp_path / "access.log"
    path.write_text("".join(map(LOG.format, ("/a", "/b", "/a"))))
    return InputFiles((str(path),), None, "http://shop.test", {}, None, strict=False)


def test_files_are_read_with_what_was_said_of_them(log: InputFiles) -> None:
    """The base makes URLs of the paths in a log."""
    assert log.read().table["url"].to_pylist() == [f"http://shop.test/{name}" for name in "aba"]


def test_where_memory_is_bounded_the_same_rows_come_through_an_engine(log: InputFiles) -> None:
    """Rows that are gathered by an engine have the columns that they have without one."""
    bounded = replace(log, memory=1 << 30)
    assert bounded.read().table.equals(log.read().table)


def test_requests_are_added_up(log: InputFiles) -> None:
    """A URL that is asked for twice is one row of traffic."""
    rows = {row["url"]: (row["requests"], row["bytes"]) for row in log.traffic().to_pylist()}
    assert rows == {"http://shop.test/a": (2, 200), "http://shop.test/b": (1, 100)}


def test_what_is_read_is_known(log: InputFiles, tmp_path: Path) -> None:
    """A file that is read is among the files, another one is not."""
    assert log.has(log.paths[0])
    assert not log.has(str(tmp_path / "rules.json"))


def test_only_what_decides_the_rows_is_a_fact(log: InputFiles) -> None:
    """Where the files are and how much memory there is says nothing of the rows."""
    facts = log.facts()
    assert facts["base"] == "http://shop.test"
    assert not facts.keys() & {"paths", "threads", "memory", "tmp"}


def test_a_memory_is_a_size() -> None:
    """What is not one is wrong usage."""
    assert memory_of("1GB") == 1 << 30
    with pytest.raises(WrongUsage, match="'much' is not a size"):
        memory_of("much")


def test_too_many_rows_are_refused_before_they_are_held() -> None:
    """Without a bound any number of rows is allowed."""
    require_room(10**9, None, "this command")
    with pytest.raises(UndustError, match="this command holds all of its input"):
        require_room(10**9, 1 << 30, "this command")
