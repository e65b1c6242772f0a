"""`undust serve`: the learner for crawlers in other languages, and what it refuses."""

from __future__ import annotations

import http.client
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

import undust
from tests.crawling.crawled_site import HOST, page_by_id, row_of, sessions
from tests.loopback import running
from undust.crawling import server as server_module
from undust.crawling.server import (
    MOST_AT_ONCE,
    MOST_CONNECTIONS,
    MOST_REQUEST_BYTES,
    CrawlServer,
    openapi,
    reply_to,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

NODE = """
const [base] = process.argv.slice(1);
const post = async (path, body) =>
  (await fetch(base + path, {method: "POST", body: JSON.stringify(body)})).json();
const url = "http://shop.test/a";
const first = await post("/decide", {urls: [url]});
await post("/observe", {rows: [{url, status: 200, digest: "a"}]});
const second = await post("/decide", {urls: [url]});
console.log(first.decisions[0].action, second.decisions[0].action);
"""


def served(learner: undust.CrawlLearner, token: str | None = None) -> AbstractContextManager[CrawlServer]:
    """Serve a learner on loopback."""
    return running(CrawlServer(learner, ("127.0.0.1", 0), token))


def ask(server: CrawlServer, path: str, body: object = None, **headers: str) -> tuple[int, Any]:
    """Send a request, and return the status and the JSON of the answer."""
    client = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=200)
    data = None if body is None else json.dumps(body)
    client.request("GET" if body is None else "POST", path, data, headers)
    response = client.getresponse()
    found = response.status, json.loads(response.read())
    client.close()
    return found


def test_a_crawl_over_http() -> None:
    """Deciding, observing and taking back over HTTP finds every page and skips duplicates."""
    learner = undust.CrawlLearner()
    with served(learner) as server:
        fetched = []
        for start in range(0, 300, 50):
            urls = list(sessions(50, 6))[start : start + 50]
            _, told = ask(server, "/decide", {"urls": urls})
            chosen = [each["url"] for each in told["decisions"] if each["action"] == "fetch"]
            fetched += chosen
            rows = [row_of(url, page_by_id(url)) for url in chosen]
            assert ask(server, "/observe", {"rows": rows}) == (200, {"observed": len(rows)})
        assert {page_by_id(url) for url in fetched} == {str(item) for item in range(50)}
        assert len(fetched) < 200
        assert ask(server, "/returned", {}) == (200, {"urls": []})
        status, rules = ask(server, "/rules")
        assert status == 200
        assert rules["format"] == "undust-rules"


def test_what_is_handed_back_is_handed_back_once() -> None:
    """A URL whose cover gave an error comes back, once."""
    learner = undust.CrawlLearner()
    urls = [f"{HOST}/a", f"{HOST}/a#x"]
    learner.decide_many(urls)
    learner.observe({"url": urls[0], "status": 500})
    replies = [json.loads(reply_to(learner, "POST", "/returned", b'{"most": 5}').body) for _ in range(2)]
    assert replies == [{"urls": [urls[1]]}, {"urls": []}]


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("/decide", b"", "not a JSON object"),
        ("/decide", b"[" * 100_000, "not a JSON object"),
        ("/decide", b'{"urls": "http://a.test"}', "a list of texts"),
        ("/decide", b'{"urls": [1]}', "a list of texts"),
        ("/decide", b'{"urls": [], "more": 1}', "nothing else"),
        ("/decide", json.dumps({"urls": ["a"] * (MOST_AT_ONCE + 1)}).encode(), "at most 1,000"),
        ("/observe", b'{"rows": [{"status": 200}]}', "no text as its url"),
        ("/observe", b'{"rows": [{"url": "http://a.test/", "sketch": {"a": 1}}]}', "not a number"),
        ("/returned", b'{"most": 0}', "from 1 to 1000"),
        ("/nothing", b"{}", "the paths are /decide"),
    ],
)
def test_wrong_requests_get_one_clear_error(path: str, body: bytes, message: str) -> None:
    """Whatever is sent, the answer is one sentence in JSON, and the learner goes on."""
    learner = undust.CrawlLearner()
    reply = reply_to(learner, "POST", path, body)
    assert reply.status in {400, 404}
    assert message in json.loads(reply.body)["error"]
    assert reply_to(learner, "POST", "/decide", b'{"urls": ["http://a.test/"]}').status == 200


def test_metrics_and_description() -> None:
    """Counters are what Prometheus reads; the description names every path but itself."""
    learner = undust.CrawlLearner()
    learner.decide("http://a.test/")
    text = reply_to(learner, "GET", "/metrics", b"").body.decode()
    assert "# TYPE undust_decided_total counter\nundust_decided_total 1\n" in text
    assert json.loads(reply_to(learner, "GET", "/openapi.json", b"").body) == openapi()
    assert set(openapi()["paths"]) == {"/decide", "/observe", "/returned", "/rules", "/metrics"}
    assert reply_to(learner, "GET", "/decide", b"").status == 405


def test_other_origins_and_names_are_refused() -> None:
    """A web page, a rebound name and a missing token get nothing."""
    learner = undust.CrawlLearner()
    body = {"urls": ["http://a.test/"]}
    with served(learner) as server:
        assert ask(server, "/decide", body, Origin="http://evil.test")[0] == 403
        assert ask(server, "/decide", body, Host="evil.test")[0] == 403
        assert ask(server, "/decide", body)[0] == 200
    with served(learner, "secret") as server:
        assert ask(server, "/decide", body)[0] == 401
        assert ask(server, "/decide", body, Authorization="Bearer wrong")[0] == 401
        assert ask(server, "/decide", body, Authorization="Bearer secret", Host="crawl.test")[0] == 200
    assert learner.counts["decided"] == 2


def test_large_bodies_and_many_connections_are_bounded() -> None:
    """A body that is too long is refused unread; connections beyond the limit get an answer at once."""
    with served(undust.CrawlLearner()) as server:
        address = ("127.0.0.1", server.server_address[1])
        with socket.create_connection(address, timeout=200) as client:
            head = f"POST /decide HTTP/1.1\r\nHost: 127.0.0.1:{address[1]}\r\n"
            client.sendall(f"{head}Content-Length: {MOST_REQUEST_BYTES + 1}\r\n\r\n".encode())
            assert client.recv(200).startswith(b"HTTP/1.1 413 ")
        with socket.create_connection(address, timeout=200) as client:
            client.sendall(b"\x00\x01nonsense\r\n\r\n")
            assert b'"error"' in client.recv(1000)
        clients = [socket.create_connection(address, timeout=200) for _ in range(MOST_CONNECTIONS + 20)]
        try:
            answer = clients[-1].recv(1000)
            assert answer.startswith(b"HTTP/1.1 503 ")
            assert b"connections; try again" in answer
        finally:
            for client in clients:
                client.close()


def test_slow_clients_get_an_answer_and_lose_their_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Byte by byte a request may last long; it is ended at a time, and others are served meanwhile."""
    monkeypatch.setattr(server_module, "SLOWEST_SECONDS", 1)
    with served(undust.CrawlLearner()) as server:
        port = server.server_address[1]
        slow = [socket.create_connection(("127.0.0.1", port), timeout=200) for _ in range(3)]
        try:
            slow[0].sendall(b"POST /decide HTT")
            slow[1].sendall(f"POST /decide HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n".encode())
            head = f"POST /decide HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 50\r\n\r\n"
            slow[2].sendall(f'{head}{{"urls": ['.encode())
            assert ask(server, "/decide", {"urls": [f"{HOST}/a"]})[0] == 200
            for client in slow:
                with client.makefile("rb") as file:
                    answer = file.read()
                assert answer.startswith(b"HTTP/1.1 408 ")
                assert "did not arrive within" in json.loads(answer.partition(b"\r\n\r\n")[2])["error"]
        finally:
            for client in slow:
                client.close()
        assert not server.receiving


def test_fuzzed_bodies_get_an_answer() -> None:
    """Whatever a body is made of, the reply is JSON: what was asked for, or one sentence."""
    chance = random.Random(5)
    learner = undust.CrawlLearner()
    pieces = [*"{}[]:,", '"urls"', '"rows"', '"url"', "1e999", "-0", "null", "true", '"\\ud800"', "NaN"]
    pieces += ['"http://a.test/"', '"sketch"', '"status"', '"digest"', "\x00", "9" * 5000, "[" * 3000]
    row = {"url": "http://a.test/", "status": 200}
    wholes: list[dict[str, Any]] = [{"urls": ["http://a.test/"]}, {"rows": [row]}]
    statuses = set()
    for number in range(1500):
        if number % 2:
            body = "".join(chance.choices(pieces, k=chance.randrange(1, 12))).encode("utf-8", "replace")
        else:
            text = bytearray(json.dumps(chance.choice(wholes)).encode())
            text[chance.randrange(len(text))] = chance.randrange(256)
            body = bytes(text)
        path = chance.choice(("/decide", "/observe", "/returned"))
        reply = reply_to(learner, "POST", path, body)
        told = json.loads(reply.body)
        assert reply.status in {200, 400}, body[:200]
        assert (reply.status == 400) == ("error" in told)
        statuses.add(reply.status)
    assert statuses == {200, 400}


@contextmanager
def command(folder: Path, *words: str) -> Iterator[str]:
    """Run the command, and give what it prints first."""
    line = [sys.executable, "-m", "undust", "serve", "--state", str(folder / "state"), *words]
    environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=200)
    assert process.returncode == 0


def test_the_command_with_curl_and_node(tmp_path: Path) -> None:
    """The server starts, answers curl and Node, stops when told to, and goes on from its state."""
    curl, node = shutil.which("curl"), shutil.which("node")
    if not curl or not node:
        pytest.skip("needs curl and node")
    with command(tmp_path) as said:
        base = said.rpartition(" ")[2]
        options = ["--input-type=module", "-e", NODE, base]
        done = subprocess.run([node, *options], capture_output=True, text=True, check=True, timeout=200)
        assert done.stdout == "fetch skip\n"
    path = str(tmp_path / "crawl.sock")
    with command(tmp_path, "--socket", path):
        words = [curl, "-s", "--unix-socket", path, "-d", '{"urls": ["http://shop.test/a"]}']
        done = subprocess.run([*words, "http://undust/decide"], capture_output=True, text=True, check=True)
        assert (tmp_path / "crawl.sock").stat().st_mode & 0o777 == 0o600
        (decision,) = json.loads(done.stdout)["decisions"]
        assert (decision["action"], decision["reason"]) == ("skip", "it was fetched")
