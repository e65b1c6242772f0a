"""The review server: loopback, a token, its own Host and Origin, its own file, and nothing else."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import undust
from tests.cli.command import run, sentence
from undust.showing.review import ReviewSession

if TYPE_CHECKING:
    from pathlib import Path

    from undust.jobs.report import ReportInput
    from undust.showing.review import ReviewServer


def ask(
    server: ReviewServer, method: str, path: str, body: object = None, **headers: str | None
) -> tuple[int, Any]:
    """Send a request as the page would, but for these headers; None leaves one out."""
    own = {
        "Host": f"127.0.0.1:{server.server_port}",
        "Origin": f"http://127.0.0.1:{server.server_port}",
        "Content-Type": "application/json",
        "X-Undust-Token": server.token,
    }
    said = own | {name.replace("_", "-"): value for name, value in headers.items()}
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=200)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    for name, value in ({"Content-Length": str(len(data))} | said).items():
        if value is not None:
            connection.putheader(name, value)
    connection.endheaders(data)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    is_json = answer.headers["Content-Type"] == "application/json"
    return answer.status, json.loads(text) if is_json else text.decode()


def test_it_listens_on_loopback_only(server: ReviewServer) -> None:
    """No other machine can reach it."""
    assert server.server_address[0] == "127.0.0.1"
    outside = socket.gethostbyname(socket.gethostname())
    if not outside.startswith("127."):
        with pytest.raises(OSError, match="refused"):
            socket.create_connection((outside, server.server_port), timeout=5)


def test_the_page_needs_its_token(server: ReviewServer) -> None:
    """With it the page comes, never to be stored; without it nothing does."""
    code, page = ask(server, "GET", f"/?token={server.token}")
    assert code == 200
    assert "connect-src 'self'" in page.replace("&#39;", "'")
    for query in ("", "?token=", "?token=wrong", f"?token={server.token}x", "?token=%ff"):
        assert ask(server, "GET", f"/{query}")[0] == 403


@pytest.mark.parametrize("host", ["evil.test", "evil.test:{port}", "127.0.0.1", "127.0.0.1:1", "", None])
def test_other_hosts_are_refused(server: ReviewServer, host: str | None) -> None:
    """A name that somebody points at this machine does not open the door (DNS rebinding)."""
    name = None if host is None else host.format(port=server.server_port)
    assert ask(server, "GET", f"/?token={server.token}", Host=name)[0] == 403
    assert ask(server, "POST", "/measure", {"off": [], "site": None}, Host=name)[0] == 403


@pytest.mark.parametrize(
    "origin", ["http://evil.test", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1", None]
)
def test_other_origins_are_refused(server: ReviewServer, rule_file: Path, origin: str | None) -> None:
    """A page from elsewhere in the same browser cannot ask for anything, token or not."""
    before = rule_file.read_bytes()
    name = None if origin is None else origin.format(port=server.server_port)
    assert ask(server, "POST", "/save", {"off": server.desk.rules.ids[:1]}, Origin=name)[0] == 403
    assert rule_file.read_bytes() == before


def test_what_a_browser_says_about_the_asker_counts(server: ReviewServer) -> None:
    """A cross-site request is refused even with everything else right."""
    assert ask(server, "POST", "/measure", {"off": [], "site": None}, Sec_Fetch_Site="cross-site")[0] == 403
    assert ask(server, "POST", "/measure", {"off": [], "site": None}, Sec_Fetch_Site="same-origin")[0] == 200


@pytest.mark.parametrize("token", ["", "wrong", None])
def test_every_door_needs_the_token(server: ReviewServer, token: str | None) -> None:
    """Switches, tries and saves are for whoever started the review."""
    for door, body in (
        ("/try", {"url": "x", "off": []}),
        ("/measure", {"off": [], "site": None}),
        ("/save", {"off": [], "yes": True}),
    ):
        assert ask(server, "POST", door, body, X_Undust_Token=token)[0] == 403


@pytest.mark.parametrize(
    "path",
    [
        "/rules.json",
        "/../rules.json",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/save",
        "/?x",
        "/index.html",
    ],
)
def test_there_is_one_page_and_no_file(server: ReviewServer, path: str) -> None:
    """No path leads to a file, the rule file included."""
    assert ask(server, "GET", path)[0] in {403, 404}
    assert ask(server, "POST", f"{path}?x", {"off": []})[0] == 404


@pytest.mark.parametrize(
    "body",
    [
        {"off": [], "yes": True, "file": "/tmp/other.json"},  # noqa: S108 -- what an attacker would say
        {"off": [], "yes": True, "path": "../other.json"},
        {"off": "all", "yes": True},
        {"off": [1], "yes": True},
        {"off": [], "yes": 1},
        {"off": []},
        {},
        [],
        "x",
        b"{",
        b"[" * 100_000,
        {"off": ["no such id"], "yes": True},
    ],
)
def test_saving_takes_switches_and_no_path(server: ReviewServer, rule_file: Path, body: object) -> None:
    """A request cannot name a file, and one that says anything else is refused; nothing is written."""
    code, told = ask(server, "POST", "/save", body)
    assert code in {400, 409}
    assert told["error"]
    assert [path.name for path in rule_file.parent.iterdir()] == ["rules.json"]


def test_long_and_strange_requests_are_refused(server: ReviewServer) -> None:
    """A length that is missing, wrong or too large ends the request."""
    for length in ("-1", "x", "99999999999", "²", "9" * 5000, "0" * 5000):
        assert ask(server, "POST", "/save", None, Content_Length=length.encode().decode("latin-1"))[0] == 400
    assert ask(server, "POST", "/save", {"off": []}, Content_Type="text/plain")[0] == 400
    assert ask(server, "PUT", "/save", {"off": []})[0] == 501


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "http://[", None),
        ("GET", "/?token=" + "&a" * 5000, None),
        ("POST", "http://[/save", {"off": []}),
        ("POST", "/try", b'{"url": "http://shop.test/\\ud800", "off": []}'),
        ("POST", "/try", b'{"url": "\\u0000", "off": []}'),
        ("POST", "/measure", b'{"off": [], "site": ' + b"9" * 5000 + b"}"),
        ("POST", "/measure", b'{"off": ["\\udfff"], "site": "\\ud800"}'),
        ("POST", "/save", b"\xff\xfe"),
    ],
)
def test_no_request_ends_in_a_traceback(
    server: ReviewServer, capfd: pytest.CaptureFixture[str], method: str, path: str, body: object
) -> None:
    """Whatever comes, there is an answer, and the terminal stays clean."""
    code, _ = ask(server, method, path, body)
    assert code in {200, 400, 403, 404, 409}
    assert ask(server, "POST", "/save", None, Content_Length="9" * 5000)[0] == 400
    assert capfd.readouterr().err == ""


def test_save_keeps_a_backup_and_only_switches(server: ReviewServer, rule_file: Path) -> None:
    """The file has the new switches and nothing else new; the one before is beside it, and so on."""
    before = rule_file.read_bytes()
    first, second = server.desk.rules.ids[:2]
    code, told = ask(server, "POST", "/save", {"off": [first], "yes": True})
    assert code == 200
    assert (rule_file.parent / told["backup"]).read_bytes() == before
    assert undust.load(rule_file) == undust.load(rule_file.parent / told["backup"]).disable(first)
    _, again = ask(server, "POST", "/save", {"off": [first, second], "yes": True})
    assert again["backup"] != told["backup"]
    assert (rule_file.parent / told["backup"]).read_bytes() == before
    assert [rule.status for rule in undust.load(rule_file)][:3] == ["disabled", "disabled", "active"]


def test_what_evidence_retired_is_left_to_evidence(rule_file: Path, gathered: ReportInput) -> None:
    """Who saves other switches has said nothing about it; who switches it has."""
    rules = undust.load(rule_file)
    first, second = rules.ids[:2]
    said = {"status": "disabled", "retired": {"reason": "it failed"}}
    undust.RuleSet([rules[0].to_json() | said, *rules[1:]]).save(rule_file)
    desk = ReviewSession(str(rule_file), gathered)
    desk.save([first, second], yes=True)
    assert undust.load(rule_file).find(first).extra["retired"] == said["retired"]
    desk.save([second])
    desk.save([first, second], yes=True)
    assert undust.load(rule_file).find(first) == rules[0].with_status("disabled")


def test_a_file_that_changed_meanwhile_is_not_overwritten(server: ReviewServer, rule_file: Path) -> None:
    """Somebody else's decision is not lost."""
    undust.load(rule_file).disable(server.desk.rules.ids[3]).save(rule_file)
    before = rule_file.read_bytes()
    code, told = ask(server, "POST", "/save", {"off": [server.desk.rules.ids[0]], "yes": True})
    assert (code, "was changed in the meantime" in told["error"]) == (409, True)
    assert rule_file.read_bytes() == before


def test_switches_are_measured_like_any_rule_set(server: ReviewServer, gathered: ReportInput) -> None:
    """Savings and risk under switches are those of `evaluate` on such a rule set."""
    off = server.desk.rules.ids[3]
    _, told = ask(server, "POST", "/measure", {"off": [off], "site": "teapots.test"})
    expected = undust.evaluate(server.desk.rules.disable(off), gathered.seen)
    assert (
        told["figures"]["removed"] == expected.total.removed < gathered.report().facts["figures"]["removed"]
    )
    assert told["totals"] == told["sites"]["teapots.test"]["totals"] == expected.all_totals.as_json()


def test_a_tried_url_shows_each_step(server: ReviewServer) -> None:
    """As `explain` does, with the rules as they are switched."""
    url = "HTTPS://teapots.test:443/p/blue-cup/117?sid=9"
    _, told = ask(server, "POST", "/try", {"url": url, "off": []})
    assert told["canonical"] == "https://teapots.test/p/117"
    assert [step["rule"] is None for step in told["steps"]] == [True, False, False]
    ids = [step["id"] for step in told["steps"] if step["rule"]]
    _, other = ask(server, "POST", "/try", {"url": url, "off": [ids[0]]})
    assert other["canonical"] == "https://teapots.test/p/blue-cup/117?sid=9"
    _, strange = ask(server, "POST", "/try", {"url": "\u202e<b>\ud800", "off": []})
    assert strange["outcome"] == "no URL"


def test_what_was_switched_off_survives_learning_again(
    repository: Path, tmp_path: Path, gathered: ReportInput
) -> None:
    """The decision of a review outlives `learn --update`."""
    crawl, path = repository / "examples" / "shop.jsonl.gz", tmp_path / "rules.json"
    assert run("learn", crawl, "-q", "-o", path).code == 0
    off = undust.load(path).ids[0]
    ReviewSession(str(path), gathered).save([off])
    assert undust.load(path).find(off).status == "disabled"
    assert run("learn", crawl, "-q", "--update", path).code == 0
    assert undust.load(path).find(off).status == "disabled"


def test_the_command_serves_until_it_is_stopped(repository: Path, rule_file: Path) -> None:
    """`undust review` prints its address, answers there, and ends at Ctrl-C without a word of Python."""
    words = ["review", str(rule_file), str(repository / "examples" / "shop.jsonl.gz"), "-q", "--no-browser"]
    process = subprocess.Popen(
        [sys.executable, "-m", "undust", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout
    address = process.stdout.readline().strip()
    host = address.split("/")[2]
    connection = http.client.HTTPConnection(host, timeout=200)
    connection.request("GET", address.removeprefix(f"http://{host}"))
    assert connection.getresponse().status == 200
    connection.close()
    process.send_signal(2)
    _, said = process.communicate(timeout=200)
    assert "Traceback" not in said


def test_bad_usage_is_told(repository: Path, rule_file: Path) -> None:
    """Rules from a pipe cannot be saved; a port that is taken is named."""
    crawl = repository / "examples" / "shop.jsonl.gz"
    assert "name their file" in run("review", "-", crawl).err
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = run("review", rule_file, crawl, "-q", "--no-browser", "--port", str(port))
    assert f"port {port} cannot be used" in sentence(ended)
