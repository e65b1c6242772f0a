"""Servers that mean harm: each ends as promised, and their own log shows that nothing else was asked."""

from __future__ import annotations

import gzip
import itertools
import json
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import undust
from tests.asking.rules import DROP, HOST, listed, outcome, tried
from tests.asking.servers import Connection, Request, Server, moved, page, serving
from tests.cli.command import run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.asking.servers import Script

MEBIBYTE = 1 << 20
PATIENCE_S = 200
"""How long the server waits for the client to hang up: no measure, but the end of a test that failed."""
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


def endless(connection: Connection, _request: Request) -> None:
    """A body without an end, as fast as it is taken."""
    connection.send(HEAD + b"\r\n")
    for _ in range(4096):
        connection.send(b"<p>more and more of the same " * 2400)


def endless_chunks(connection: Connection, _request: Request) -> None:
    """The same in chunks."""
    connection.send(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    for _ in range(4096):
        connection.send(b"10000\r\n" + b"x" * 65536 + b"\r\n")


def bomb(connection: Connection, _request: Request) -> None:
    """A body that unpacks to a thousand times its size, and has no end."""
    connection.send(HEAD + b"Content-Encoding: gzip\r\n\r\n")
    packed = gzip.compress(b"a" * (16 * MEBIBYTE))
    for _ in range(100_000):
        connection.send(packed)


def loris(connection: Connection, _request: Request) -> None:
    """A header, byte by byte."""
    for byte in itertools.cycle(b"X-Header: something\r\n"):
        connection.send(bytes([byte]))
        time.sleep(0.1)


def drip(connection: Connection, _request: Request) -> None:
    """A body, byte by byte."""
    connection.send(HEAD + b"Content-Length: 100000\r\n\r\n")
    for _ in range(100000):
        connection.send(b"x")
        time.sleep(0.1)


def silent(connection: Connection, _request: Request) -> None:
    """Nothing at all."""
    connection.socket.settimeout(PATIENCE_S)
    if not connection.socket.recv(1):
        raise ConnectionResetError


def raw(data: bytes) -> Script:
    """A script that sends these bytes and ends."""
    return lambda connection, _request: connection.send(data)


BROKEN = {
    "/short": raw(HEAD + b"Content-Length: 1000\r\n\r\n<p>cut off here"),
    "/two-lengths": raw(HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"),
    "/no-number": raw(HEAD + b"Content-Length: many\r\n\r\nhello"),
    "/chunks": raw(HEAD + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\nhello\r\n0\r\n\r\n"),
    "/cut-chunk": raw(HEAD + b"Transfer-Encoding: chunked\r\n\r\n20\r\nhello"),
    "/no-http": raw(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "/nothing": raw(b""),
    "/huge-header": raw(b"HTTP/1.1 200 OK\r\nX: " + b"y" * (2 * MEBIBYTE) + b"\r\n\r\n"),
    "/bad-gzip": lambda connection, _request: connection.reply(b"\x1f\x8b no gzip", Content_Encoding="gzip"),
}


@pytest.mark.parametrize("script", [endless, endless_chunks, bomb, loris, drip, silent])
def test_what_never_ends(script: Script) -> None:
    """No page, no verdict: undust hangs up before the server is done, and nothing is asked for twice."""
    with serving({"/a": script}) as server:
        found = outcome(server, ["/a?x=1"], timeout=1.5)
        assert server.hung_up.get(timeout=PATIENCE_S) == "/a"
    assert (found.verdict, found.positives, found.negatives, found.unknown) == ("undecided", 0, 0, 1)
    assert [request.path for request in server.log] == ["/robots.txt", "/a?x=1"]


@pytest.mark.parametrize("path", BROKEN)
def test_answers_that_break_the_protocol(path: str) -> None:
    """What is no proper answer says nothing, and the next URL is asked for all the same."""
    with serving({**BROKEN, "/fine": page("a page like any other")}) as server:
        found = outcome(server, [f"{path}?x=1", "/fine?x=1"])
    assert (found.verdict, found.positives, found.negatives, found.unknown) == ("undecided", 1, 0, 1)
    assert sorted(request.path for request in server.log) == sorted(
        ["/robots.txt", f"{path}?x=1", "/fine?x=1", "/fine"]
    )


def test_a_longer_body_than_it_says() -> None:
    """What stands behind the body is not taken for the next answer, though the connection stays open."""
    answers = HEAD + b"Content-Length: 15\r\n\r\n<p>a fine page!" + HEAD + b"Content-Length: 3\r\n\r\nabc"

    def longer(connection: Connection, _request: Request) -> None:
        connection.send(answers)
        connection.socket.settimeout(2)
        with suppress(TimeoutError):
            connection.socket.recv(1)

    with serving({"/a": longer, "/b": page("another one")}) as server:
        found = outcome(server, ["/a?x=1", "/b?x=1"])
    assert (found.positives, found.negatives) == (2, 0)
    assert len(server.log) == 5


def test_memory_is_bounded(tmp_path: Path) -> None:
    """Endless bodies, a bomb and a robots.txt of 50 MB, in a process of its own: it stays small."""
    sent = 0

    def robots(connection: Connection, _request: Request) -> None:
        nonlocal sent
        connection.send(
            b"HTTP/1.1 200 OK\r\nContent-Length: 52428800\r\n\r\nUser-agent: *\nDisallow: /secret\n"
        )
        for _ in range(800):
            connection.send(b"# nothing to see on this line of many\n" * 1724)
            sent += 1724 * 38

    rules, urls = tmp_path / "rules.json", tmp_path / "urls.txt"
    undust.RuleSet([DROP]).save(rules)
    paths = ["/a?x=1", "/b?x=1", "/c?x=1", "/secret?x=1", "/fine?x=1"]
    urls.write_text("".join(f"http://{HOST}{path}\n" for path in paths), encoding="utf-8")
    scripts = {"/a": endless, "/b": endless_chunks, "/c": bomb, "/fine": page("fine"), "/robots.txt": robots}
    with serving(scripts) as server:
        options = ["--connect-to", f"{HOST}=127.0.0.1:{server.port}", "--delay", "0", "--json"]
        done = run("validate", str(rules), "--sample", str(urls), *options)
    told = json.loads(done.out)
    assert told["peak_memory_bytes"] < 400 * MEBIBYTE
    assert told["rules"][0]["positives"] == 1
    assert server.asked("/secret") == 0
    assert sent < 16 * MEBIBYTE


def test_redirects_in_a_circle_and_without_end() -> None:
    """A circle is left where it closes, a chain after five steps."""
    chain = {f"/step{number}": moved(f"/step{number + 1}") for number in range(20)}
    with serving({"/loop": moved("/pool"), "/pool": moved("/loop"), **chain}) as server:
        found = outcome(server, ["/loop?x=1", "/step0?x=1"])
    assert (found.positives, found.negatives, found.unknown) == (0, 0, 2)
    assert server.asked("/step5") == 1
    assert server.asked("/step6") == 0
    assert [server.asked(path) for path in ("/loop", "/pool")] == [2, 1]


OUTSIDE = (
    *(
        "http://other.test/",
        "//other.test/a",
        "http://169.254.169.254/latest/meta-data/",
        "file:///etc/passwd",
    ),
    *(
        "http://127.0.0.1/",
        "http://user:secret@www.evil.test/in",
        "gopher://www.evil.test/",
        "http://[::1]:22/",
    ),
    *("javascript:alert(1)", "http://www.evil.test.other.test/", "http://"),
)


@pytest.mark.parametrize("target", OUTSIDE)
def test_redirects_that_leave_the_site(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are noted and not followed: no name is looked up and nobody connected to."""
    reached = connections_made(monkeypatch)
    with serving({"/a": moved(target), "/b": page("this one stays")}) as server:
        rest = [f"other.test=127.0.0.1:{server.port}", f"127.0.0.1=127.0.0.1:{server.port}"]
        found = outcome(
            server, ["/a?x=1", "/b?x=1"], connect_to=[f"{HOST}=127.0.0.1:{server.port}", *rest], timeout=2.0
        )
    assert (found.positives, found.negatives) == (1, 0)
    assert {request.host for request in server.log} == {HOST}
    assert {request.path for request in server.log} <= {"/robots.txt", "/a?x=1", "/a", "/b?x=1", "/b"}
    assert set(reached) == {("127.0.0.1", server.port)}


def connections_made(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Note whoever is connected to from now on."""
    reached: list[tuple[str, int]] = []
    real = socket.create_connection

    def noting(address: tuple[str, int], *args: Any, **kwargs: Any) -> socket.socket:  # noqa: ANN401
        reached.append(address)
        return real(address, *args, **kwargs)

    monkeypatch.setattr(socket, "create_connection", noting)
    return reached


def names(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """Let names lead to these addresses, one answer after the other; the last one for ever."""
    asked: list[str] = []

    def look(host: str, port: int, *_: Any, **__: Any) -> list[Any]:  # noqa: ANN401
        found = answers[min(len(asked), len(answers) - 1)]
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    monkeypatch.setattr(socket, "getaddrinfo", look)
    return asked


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.169.254", "100.64.0.1", "::1", "::ffff:127.0.0.1"],
)
def test_a_name_that_leads_inside(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A private address is refused after the look-up; no connection is tried, and the reason is told."""
    names(monkeypatch, [address])
    reached = connections_made(monkeypatch)
    with serving({"/a": page("secret")}) as server:
        table = listed([f":{server.port}/a?x=1"])
        rules = undust.RuleSet([DROP])
        found = undust.validate(rules, table, live=True, delay=0).outcomes[0]
    assert found.verdict == "undecided"
    assert f"leads to {address}, which is not a public address" in found.reason
    assert (reached, server.connections) == ([], 0)


def test_private_addresses_if_they_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    """With `allow_private` the same server is asked."""
    names(monkeypatch, ["127.0.0.1"])
    with serving({"/a": page("an inner page")}) as server:
        table = listed([f":{server.port}/a?x=1"])
        done = undust.validate(undust.RuleSet([DROP]), table, live=True, delay=0, allow_private=True)
    assert done.outcomes[0].positives == 1
    assert server.connections > 0


def test_a_name_that_changes_its_mind(monkeypatch: pytest.MonkeyPatch) -> None:
    """The address that was judged is the one that is connected to: a name is never handed on."""
    names(monkeypatch, ["93.184.216.34"], ["127.0.0.1"])
    reached: list[tuple[str, int]] = []

    def refuse(address: tuple[str, int], *_: Any, **__: Any) -> socket.socket:  # noqa: ANN401
        reached.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", refuse)
    outcome(None, ["/a?x=1"])
    assert reached == [("93.184.216.34", 80)]
    names(monkeypatch, ["127.0.0.1", "93.184.216.34"])
    reached.clear()
    outcome(None, ["/a?x=1"])
    assert reached == [("93.184.216.34", 80)]


def test_what_is_sent() -> None:
    """Who asks and how to reach them; no cookie that was set, no password, no referrer."""

    def setting(connection: Connection, _request: Request) -> None:
        connection.reply(b"<p>take this", Set_Cookie="session=1; Path=/", WWW_Authenticate="Basic")

    with serving({"/a": setting, "/b": setting}) as server:
        found = tried(server, ["/a?x=1", "/b?x=1", "/c?x=1"], contact="ann@example.org")
    assert found.fetches == len(server.log) == 6
    for request in server.log:
        assert set(request.headers) == {"host", "user-agent", "accept", "accept-encoding"}
        assert request.headers["user-agent"].startswith("undust/")
        assert "contact: ann@example.org" in request.headers["user-agent"]


def test_a_user_agent_on_one_line() -> None:
    """Nobody writes a header of their own into a contact."""
    with serving({"/a": page("a")}) as server:
        outcome(server, ["/a?x=1"], contact="a@b.test\r\nX-Evil: 1")
    assert all("x-evil" not in request.headers for request in server.log)
    assert "a@b.test??X-Evil: 1" in server.log[0].headers["user-agent"]


def test_urls_that_are_never_fetched() -> None:
    """Other schemes, passwords, other sites: none of them is in the log."""
    urls = [
        *("ftp://www.evil.test/a?x=1", "http://me:secret@www.evil.test/a?x=1", "http://good.test/a?x=1"),
        f"http://{HOST}/a?x=1",
    ]
    with serving({"/a": page("the one")}) as server:
        places = [f"{host}=127.0.0.1:{server.port}" for host in (HOST, "good.test")]
        undust.validate(
            undust.RuleSet([DROP]), pa.table({"url": urls}), live=True, delay=0, connect_to=places
        )
    assert [request.path for request in server.log] == ["/robots.txt", "/a?x=1", "/a"]
    assert {request.host for request in server.log} == {HOST}


def test_pages_that_change(tmp_path: Path) -> None:
    """A page that is another one at every visit refutes nothing; its second visit is in the journal."""
    visits = itertools.count()

    def changing(connection: Connection, _request: Request) -> None:
        number = next(visits)
        connection.reply(" ".join(f"word{number}x{place}" for place in range(200)).encode())

    journal = tmp_path / "journal"
    paths = [f"/{name}?x=1" for name in "abcdefgh"]
    with serving({path.partition("?")[0]: changing for path in paths}) as server:
        found = outcome(server, paths, journal=journal)
    assert (found.verdict, found.negatives, found.unknown) == ("undecided", 0, 8)
    answers = [json.loads(line)["answer"] for line in journal.read_text().splitlines() if '{"answer"' in line]
    again = [(answer["url"], answer["turn"]) for answer in answers if answer["why"] == "second look"]
    assert again
    assert {turn for _, turn in again} == {1}
    assert len(answers) == len(server.log)
    assert len({(answer["url"], answer["turn"]) for answer in answers}) == len(answers)


def test_stopped_by_a_server_that_is_gone() -> None:
    """Nobody listens: undecided, with the reason."""
    server = Server({})
    server.close()
    found = outcome(server, ["/a?x=1"])
    assert found.verdict == "undecided"
    assert "robots.txt cannot be read" in found.reason
