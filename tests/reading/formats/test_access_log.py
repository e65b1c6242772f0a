"""Access logs: the core against its slow twin, formats of one's own, and hosts."""

from __future__ import annotations

import gzip
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import undust
from tests.oracles.log_lines import Row, read_line
from undust.errors import SourceError
from undust.jobs.read import traffic_of
from undust.reading.formats import Reading, ReadOptions, access_log
from undust.reading.formats.access_log import OTHER_CRAWLERS, PEOPLE, crawler_of, crawlers_of_lines

if TYPE_CHECKING:
    from collections.abc import Callable


GOLDEN = Path(__file__).resolve().parents[2] / "golden"
BASE = "https://shop.test"
TIME = b"[15/Nov/2026:00:23:57 +0000]"


def read(
    data: bytes, base: str | None = None, log_format: str | None = None
) -> tuple[list[dict[str, object]], Reading]:
    """The rows of a log, and what was met in it."""
    reading = Reading("log", ReadOptions(base=base, log_format=log_format))
    rows = [row for batch in access_log.read(BytesIO(data), reading) for row in batch.to_pylist()]
    return rows, reading


def urls(data: bytes, base: str | None = None) -> list[object]:
    """The URLs of a log."""
    return [row["url"] for row in read(data, base)[0]]


targets = st.one_of(
    st.from_regex(rb"/[ -~]{0,20}", fullmatch=True),
    st.binary(max_size=12).map(lambda data: b"/" + data),
    st.sampled_from(
        [
            b"*",
            b"http://a.test/x",
            b"HTTPS://A.test",
            b"http://",
            b"ftp://a.test/",
            b"/a\\x41\\u0041\\q\\",
            b"/\\\\",
            b"",
        ]
    ),
)
requests = st.one_of(
    st.tuples(st.sampled_from([b"GET", b"HEAD", b"POST", b"get", b"", b"\\x16\\x03"]), targets).map(
        b" ".join
    ),
    st.binary(max_size=20),
)
times = st.one_of(
    st.just(TIME),
    st.sampled_from(
        [b"[29/Feb/2023:00:00:00 +0000]", b"[29/Feb/2024:23:59:59 -0730]", b"[01/Nov/0001:00:00:00 +0000]"]
    ),
    st.binary(max_size=30).map(lambda data: b"[" + data + b"]"),
)
ends = st.one_of(
    st.tuples(
        st.sampled_from([b"200", b"206", b"304", b"-", b"000", b"99", b"1000", b"ok"]),
        st.sampled_from([b" 12", b" -", b" many", b"", b' 7 "-" "x"', b" 99999999999999999999"]),
    ).map(b"".join),
    st.binary(max_size=10),
)
protocols = st.sampled_from([b" HTTP/1.1", b" HTTP/1.0", b"", b" FTP/1.1"])


@st.composite
def log_lines(draw: st.DrawFn) -> bytes:
    """A line that is nearly an access log's."""
    line = b'%b %b "%b%b" %b' % (b"203.0.113.7 - -", draw(times), draw(requests), draw(protocols), draw(ends))
    return line.replace(b"\n", b"").replace(b"\r", b"")


@given(st.lists(log_lines(), min_size=1, max_size=5))
def test_core_reads_what_its_slow_twin_reads(lines: list[bytes]) -> None:
    """Rows and reasons agree line by line, whatever the bytes."""
    rows, reading = read(b"\n".join(lines), base=BASE)
    expected = [read_line(line, BASE) for line in lines]
    wanted = [row for row in expected if isinstance(row, Row)]
    assert [Row(*(row[name] for name in Row._fields)) for row in rows] == wanted  # type: ignore[arg-type]
    reasons = sorted(reason for reason in expected if isinstance(reason, str))
    noted = {**reading.skipped, **reading.passed_over}
    assert sorted(reason for reason, records in noted.items() for _ in range(records.count)) == reasons


def golden_formats() -> list[tuple[str, str, str]]:
    """Formats, a line in each, and what it says."""
    blocks = (GOLDEN / "log_formats.txt").read_text(encoding="utf-8").strip().split("\n\n")
    return [cast("tuple[str, str, str]", tuple(block.split("\n"))) for block in blocks[1:]]


@pytest.mark.parametrize(("log_format", "line", "expected"), golden_formats())
def test_formats_of_ones_own(log_format: str, line: str, expected: str) -> None:
    """A `LogFormat` or `log_format` string is all it takes to read a log in it."""
    base = BASE if expected.startswith("/") else None
    rows, reading = read(line.encode(), base, log_format)
    assert not reading.skipped
    (row,) = rows
    said = [row["url"], row["status"], row["size"], row["redirect"]]
    shown = " ".join(str(value) for value in said if value is not None)
    assert shown == (base or "") + expected
    has_time = any(word in log_format for word in ("%t", "}t", "time", "msec"))
    assert str(row["time"]) == ("2026-11-15 00:23:57+00:00" if has_time else "None")


@pytest.mark.parametrize(
    ("log_format", "part"),
    [("%h %t %s", "does not say what was asked for"), ("$request$status", "nothing between them")],
)
def test_formats_that_cannot_be_read_are_refused(log_format: str, part: str) -> None:
    """Such a format is one sentence, before any line is read."""
    with pytest.raises(SourceError, match=part):
        read(b"x", log_format=log_format)


def test_person_gives_scheme_and_port_and_the_log_the_host() -> None:
    """With a base, hosts in the log get its scheme and port, and lines without a host all of it."""
    data = (
        b'a.test:8080 1.2.3.4 - - %b "GET /x HTTP/1.1" 200 1\n- 1.2.3.4 - - %b "GET /y HTTP/1.1" 200 1\n'
        % (TIME, TIME)
    )
    assert urls(data, base="https://shop.test:444/app/") == [
        "https://a.test:444/x",
        "https://shop.test:444/app/y",
    ]


def test_base_has_to_be_a_url() -> None:
    """A base that is none is refused, with an example of one."""
    with pytest.raises(
        SourceError, match=r"'shop\.test' is not a base for URLs; it has to look like https://your\.site"
    ):
        read(b'1.2.3.4 - - %b "GET /x HTTP/1.1" 200 1' % TIME, base="shop.test")


def test_log_of_a_proxy_needs_no_base() -> None:
    """Whole URLs say where they belong."""
    assert urls(b'1.2.3.4 - - %b "GET http://a.test/x HTTP/1.1" 200 1' % TIME) == ["http://a.test/x"]


def test_given_format_makes_a_log_recognisable(tmp_path: Path) -> None:
    """With `log_format`, a log that looks like JSON lines is a log."""
    path = tmp_path / "access.json"
    path.write_text('{"uri":"/a","status":"200"}\n{"uri":"/b","status":"200"}\n')
    seen = undust.read(path, base=BASE, log_format='{"uri":"$request_uri","status":"$status"}')
    assert seen.table["url"].to_pylist() == [f"{BASE}/a", f"{BASE}/b"]
    assert seen.files[0].format == "access-log"


def test_real_logs_lose_nothing(needs_data: Callable[[str], Path]) -> None:
    """Every line of two real logs is a sighting, as all of them are GET requests."""
    for name, base in (
        ("logs/docs.access.log.gz", "http://docs.example.test"),
        ("logs/trac.vhost_access.log.gz", None),
    ):
        path = needs_data(name)
        with gzip.open(path) as file:
            lines = file.read().splitlines()
        seen = undust.read(path, base=base)
        assert len(seen) == sum(b'] "GET ' in line or b'] "HEAD ' in line for line in lines) == len(lines)
        assert not any(seen.counts().values())


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
    rows = traffic_of([str(path), str(other)], base="http://a.test").to_pylist()
    found = {(row["url"], row["crawler"], row["day"] % 100): (row["requests"], row["bytes"]) for row in rows}
    day = rows[0]["day"] % 100
    assert found == {
        ("http://a.test/a", "Googlebot", day): (2, 40),
        ("http://a.test/a", PEOPLE, day): (1, 5),
        ("http://a.test/a", "Googlebot", day + 1): (1, 1),
        ("http://a.test/b", "bingbot", day): (1, 0),
    }
