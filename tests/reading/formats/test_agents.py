"""Who asked, by the User-Agent of a line: crawlers by name, others together, nobody where none is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from undust.jobs.traffic import traffic_of
from undust.reading.formats.access_log import OTHER_CRAWLERS, PEOPLE, crawler_of, crawlers_of_lines
from undust.reading.formats.reading import ReadOptions

if TYPE_CHECKING:
    from pathlib import Path

LINE = (
    '{host}9.9.9.9 - - [{day}/Nov/2026:10:00:00 +0000] "{method} {path} HTTP/1.1" 200 {size} "-" "{agent}"\n'
)


@pytest.mark.parametrize(
    ("agent", "who"),
    [
        ("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Googlebot"),
        ("Mozilla/5.0 (compatible; bingbot/2.0)", "bingbot"),
        ("mozilla/5.0 (compatible; GOOGLEBOT/2.1)", "Googlebot"),
        ("my-crawler/1.0", OTHER_CRAWLERS),
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", PEOPLE),
        ("-", None),
        (None, None),
    ],
)
def test_who_asked(agent: str | None, who: str | None) -> None:
    """As programs call themselves."""
    assert crawler_of(pa.array([agent], pa.string())).to_pylist() == [who]


def test_lines_that_do_not_fit_tell_nobody() -> None:
    """Where lines and rows do not come out even, nothing is guessed."""
    lines = pa.array([b'a "GET /" "Googlebot"', b"", b'b "bingbot"'], pa.binary())
    assert crawlers_of_lines(lines, [], 2).to_pylist() == ["Googlebot", "bingbot"]
    assert crawlers_of_lines(lines, [0], 1).to_pylist() == ["bingbot"]
    assert crawlers_of_lines(lines, [], 3).to_pylist() == [None] * 3


def test_a_log_is_added_up_by_url_day_and_who_asks(tmp_path: Path) -> None:
    """Requests and bytes; what is no GET, or no line of a log, is not counted, and shifts nobody."""
    said: list[dict[str, object]] = [
        {"path": "/a", "size": 10, "agent": "Googlebot/2.1"},
        {"path": "/a", "size": 30, "agent": "Googlebot/2.1"},
        {"path": "/a", "size": 5, "agent": "Firefox"},
        {"path": "/cart", "size": 7, "agent": "Firefox", "method": "POST"},
        {"path": "/a", "size": 1, "agent": "Googlebot/2.1", "day": 16},
        {"path": "/b", "size": "-", "agent": "bingbot"},
    ]
    usual: dict[str, object] = {"host": "", "day": 15, "method": "GET"}
    path, other = tmp_path / "access.log", tmp_path / "urls.txt"
    lines = [LINE.format(**{**usual, **each}) for each in said]
    path.write_text("".join([*lines[:3], "not a line\n\n", *lines[3:]]), encoding="utf-8")
    other.write_text("http://a.test/x\n", encoding="utf-8")
    rows = traffic_of([str(path), str(other)], ReadOptions(base="http://a.test")).to_pylist()
    found = {(row["url"], row["crawler"], row["day"] % 100): (row["requests"], row["bytes"]) for row in rows}
    day = rows[0]["day"] % 100
    assert found == {
        ("http://a.test/a", "Googlebot", day): (2, 40),
        ("http://a.test/a", PEOPLE, day): (1, 5),
        ("http://a.test/a", "Googlebot", day + 1): (1, 1),
        ("http://a.test/b", "bingbot", day): (1, 0),
    }
