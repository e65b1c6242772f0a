"""`undust learn` on a log: what is only likely is told apart, written as proposed, and never used."""

from __future__ import annotations

import json
import threading
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

import undust
from bench.sites import Crawl, site
from bench.sites.archive import write_archive
from bench.sites.output import log_lines
from bench.sites.server import LOOPBACK, serving
from tests.cli.command import Ended, run, sentence, start
from undust.exchange.exports import EXPORTERS

if TYPE_CHECKING:
    from pathlib import Path

    from bench.sites.server import SiteServer

FORUM = site("forum", 600, 3)
URL = "http://www.forum3.test/story?id=105&sid=7"
ACTIVE = undust.Rule.parse('replace ".php3?" → "?"', site="a.test")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of a forum."""
    path = tmp_path_factory.mktemp("log") / "access.log"
    path.write_bytes(b"".join(map(log_lines, FORUM.batches())))
    return path


@pytest.fixture(scope="module")
def proposed(log: Path) -> Path:
    """The rules that it makes likely."""
    path = log.with_name("likely.json")
    assert run("learn", log, "-o", path, "-q").code == 3
    return path


def test_a_log_gives_likely_rules_with_the_next_command(log: Path, tmp_path: Path) -> None:
    """Exit code 3; no claim about pages that nobody saw."""
    path = tmp_path / "rules.json"
    done = run("learn", log, "-o", path, "--base", "https://www.forum3.test")
    told = " ".join(done.out.decode().split())
    assert done.code == 3
    assert "Likely and unproven" in told
    assert f"undust learn {log} --ask --base https://www.forum3.test" in told
    assert "merged different pages" not in told
    assert "no two URLs" not in told
    assert {rule.status for rule in undust.load(path)} == {"proposed"}


def test_the_next_command_names_the_one_site_that_the_input_has(tmp_path: Path) -> None:
    """Where the URLs name it; of several, a person has to choose."""
    seen, path = tmp_path / "my urls.txt", tmp_path / "rules.json"
    urls = [
        f"http://www.{name}.test/p/{n}{more}" for name in "ab" for n in range(40) for more in ("", "?sid=x1")
    ]
    seen.write_text("".join(f"{url}\n" for url in urls[:80]), encoding="utf-8")
    one = run("learn", seen, "-o", path).out.decode()
    assert f"undust learn '{seen}' --ask --ask-host a.test --ask-host '*.a.test' --contact" in one
    seen.write_text("".join(f"{url}\n" for url in urls), encoding="utf-8")
    assert "--ask --ask-host www.your.site --contact" in run("learn", seen, "-o", path).out.decode()


def test_digests_that_prove_no_rule_are_not_called_missing(tmp_path: Path) -> None:
    """A few pages are known, and most URLs only by their sizes."""
    seen = tmp_path / "seen.jsonl"
    rows: list[dict[str, object]] = [
        {"url": f"http://a.test/p/{n}{more}", "size": 5000 + 61 * n}
        for n in range(60)
        for more in ("", f"?sid={n:04x}f", f"?sid={n:04x}e")
    ]
    rows += [{"url": f"http://a.test/q/{n}", "digest": str(n), "size": 700 + n} for n in range(60)]
    seen.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = run("learn", seen, "-o", tmp_path / "rules.json")
    told = " ".join(done.out.decode().split())
    assert done.code == 3, told
    assert "what the input has of their content proves no rule: 1 rule is likely" in told
    assert "not their content" not in told


def test_machines_read_how_many_are_active_and_proposed(log: Path, tmp_path: Path) -> None:
    """As counts beside the rules themselves."""
    done = run("learn", log, "-o", tmp_path / "rules.json", "--json")
    said = json.loads(done.out)
    assert (done.code, said["active"], said["rules"]) == (3, 0, 0)
    assert said["proposed"] == len(said["learned"]) > 3


@pytest.mark.parametrize("data", [b"", b"\n\n"])
@pytest.mark.parametrize("flags", [(), ("-q",), ("--json",)])
def test_no_url_is_an_exit_code_of_its_own(data: bytes, flags: tuple[str, ...], tmp_path: Path) -> None:
    """Told in one sentence, in silence too."""
    empty = tmp_path / "empty.log"
    empty.write_bytes(data)
    done = run("learn", empty, "--format", "urls", "-o", tmp_path / "rules.json", *flags)
    assert "there is no URL in the input" in sentence(done, code=4)


@pytest.mark.parametrize("flags", ["-q", "--json"])
def test_no_rule_is_an_exit_code_of_its_own(flags: str, tmp_path: Path) -> None:
    """Whether pages were compared or none could be; a sentence says which, in silence too."""
    seen = tmp_path / "seen.jsonl"
    rows = [{"url": f"http://a.test/{n}", "digest": str(n)} for n in range(30)]
    seen.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    compared = sentence(run("learn", seen, flags), code=4)
    bare = [{"url": row["url"]} for row in rows]
    seen.write_text("".join(json.dumps(row) + "\n" for row in bare), encoding="utf-8")
    not_compared = sentence(run("learn", seen, flags), code=4)
    assert compared.startswith("no rule was learned: ")
    assert not_compared.startswith("no rule was learned: ")
    assert compared != not_compared


def test_the_reason_for_no_rule_is_told_once(tmp_path: Path) -> None:
    """What was printed with the counts is not repeated at the end."""
    seen = tmp_path / "seen.jsonl"
    rows = [{"url": f"http://a.test/{n}", "digest": str(n)} for n in range(30)]
    seen.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = run("learn", seen, "-o", tmp_path / "rules.json")
    assert sentence(done, code=4) == "no rule was learned, for the reason above"
    assert b"no two URLs of the input show one page" in done.out


@pytest.mark.parametrize(
    ("folders", "reason"),
    [
        ((), "there is no URL in the input"),
        (("story",), "the learners that were named propose none"),
        (("story", "news"), "none held on pages kept apart"),
    ],
)
def test_single_learners_say_why_there_is_no_rule(
    folders: tuple[str, ...], reason: str, tmp_path: Path
) -> None:
    """With the same exit code."""
    seen = tmp_path / "seen.jsonl"
    rows = [
        {"url": f"http://a.test/{name}/{n}", "digest": f"{name if n % 2 else ''}{n}"}
        for name in folders
        for n in range(60)
    ]
    seen.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert reason in sentence(run("learn", seen, "-q", "--method", "substring"), code=4)


def test_active_rules_are_not_replaced_by_likely_ones(log: Path, tmp_path: Path) -> None:
    """Unless a person says so; a file of proposed rules may be."""
    path = tmp_path / "rules.json"
    undust.RuleSet([ACTIVE]).save(path)
    before = path.read_bytes()
    done = run("learn", log, "-o", path, "-q")
    assert "only likely rules were found, so" in sentence(done, code=1)
    assert path.read_bytes() == before
    assert run("learn", log, "-o", path, "-q", "--yes").code == 3
    assert {rule.status for rule in undust.load(path)} == {"proposed"}
    assert run("learn", log, "-o", path, "-q").code == 3


def test_update_adds_what_is_likely(log: Path, tmp_path: Path) -> None:
    """To the rules that are there."""
    path = tmp_path / "rules.json"
    undust.RuleSet([ACTIVE]).save(path)
    assert run("learn", log, "--update", path, "-q").code == 0
    statuses = [rule.status for rule in undust.load(path)]
    assert (statuses.count("active"), statuses.count("disabled")) == (1, 0)
    assert statuses.count("proposed") > 3


def test_nothing_proposed_is_applied(proposed: Path) -> None:
    """Neither as canonical form nor as key, by whatever command."""
    listed = f"{URL}\n".encode()
    assert run("apply", proposed, data=listed).out == listed
    assert run("apply", "--key", proposed, data=listed).out == listed
    assert run("explain", proposed, URL).out.decode().rstrip().endswith(f"canonical  {URL}")
    assert undust.load(proposed).compile().key(URL) == URL


@pytest.mark.parametrize("target", sorted(each.name for each in EXPORTERS))
def test_nothing_proposed_is_exported(target: str, proposed: Path, tmp_path: Path) -> None:
    """An export of nothing but proposed rules is that of no rules, and says that none is in effect."""
    done = run("export", proposed, "--to", target, "-o", tmp_path / "exported")
    assert done.code == 1
    assert "no rule of the file is in effect" in done.err
    written = tmp_path / "exported"
    assert not written.exists() or written.read_text("utf-8") == undust.export(undust.RuleSet(), target).text


@pytest.mark.parametrize("method", ["substring", "rewrite", "tree", "alignment"])
def test_every_learner_proposes(method: str, log: Path, tmp_path: Path) -> None:
    """Few, ranked, and none in effect; the pattern tree needs a larger site."""
    path = tmp_path / "rules.json"
    if method == "tree":
        log = tmp_path / "access.log"
        log.write_bytes(b"".join(map(log_lines, site("forum", 2500, 3).batches())))
    done = run("learn", log, "--method", method, "-o", path, "-q")
    rules = undust.load(path)
    assert done.code == 3
    assert 0 < len(rules) <= 200
    assert {rule.learned_by for rule in rules} == {method}
    assert {rule.status for rule in rules} == {"proposed"}
    counts = [rule.extra["likely"]["urls"] for rule in rules]
    assert counts == sorted(counts, reverse=True)


def test_asking_needs_a_name(log: Path) -> None:
    """A log's host may be forged, so that somebody has to say who is asked."""
    assert "no host was named to fetch from" in sentence(run("learn", log, "--ask"), code=2)
    assert "is not a host" in sentence(run("learn", log, "--ask", "--ask-host", "a/b"), code=2)
    assert "which is not used; add --ask" in sentence(run("learn", log, "--delay", "3"), code=2)


@dataclass(frozen=True)
class Asked:
    """A run that asked the forum, its rules, and how often each URL was requested."""

    ended: Ended
    path: Path
    requests: Counter[str]

    @classmethod
    def by(cls, server: SiteServer, log: Path, path: Path, *more: str) -> Asked:
        """Run the command against a server."""
        ended = run(*cls.words(server, log, path), *more)
        return cls(ended, path, Counter(request.url for request in server.requests))

    @staticmethod
    def words(server: SiteServer, log: Path, path: Path) -> list[str]:
        """Return the words of the command."""
        hosts = ("www.forum3.test", "scifi.forum3.test")
        places = [f"--connect-to={host}={LOOPBACK}:{server.port}" for host in hosts]
        return ["learn", str(log), "--ask", "--delay", "0", *places, "-o", str(path)]

    def verdicts(self) -> dict[str, tuple[str | None, object]]:
        """Return what the file says of each rule."""
        rules = undust.load(self.path)
        return {rule.id: (rule.status, (rule.validated or {}).get("outcome")) for rule in rules}


@pytest.fixture(scope="module")
def asked(log: Path) -> Asked:
    """What comes of asking the site in the same run."""
    with serving(FORUM) as server:
        return Asked.by(server, log, log.with_name("asked.json"), "--json")


def test_asking_makes_likely_rules_active(asked: Asked) -> None:
    """In the same run, exit code 0; what is refuted is off, with the reason."""
    said = json.loads(asked.ended.out)
    assert asked.ended.code == 0
    assert said["active"] > 3
    assert said["asked"]["fetches"] == asked.requests.total()
    rules = undust.load(asked.path)
    assert rules.compile()(URL) == "http://www.forum3.test/story?id=105"
    for rule in rules:
        assert rule.status != "disabled" or rule.validated or "retired" in rule.extra
    assert asked.path.with_name("asked.json.asked").exists()


def test_what_was_confirmed_is_not_counted_as_no_rules(log: Path, tmp_path: Path) -> None:
    """A person reads what the site said, and no count from before it was asked."""
    with serving(FORUM) as server:
        told = " ".join(Asked.by(server, log, tmp_path / "rules.json").ended.out.decode().split())
    assert "asked about what was likely: " in told
    assert " confirmed, " in told
    assert "0 rules" not in told


def test_asking_goes_on_after_a_kill(asked: Asked, log: Path, tmp_path: Path) -> None:
    """With --resume: the same verdicts, and nothing asked again but what was on its way."""
    path = tmp_path / "rules.json"
    with serving(FORUM) as server:
        process = start(*Asked.words(server, log, path), "-q")
        while len(server.requests) < 60 and process.poll() is None:
            threading.Event().wait(0.01)
        process.kill()
        process.communicate()
        assert not path.exists()
        again = Asked.by(server, log, path, "-q", "--resume")
    assert again.ended.code == 0
    assert again.verdicts() == asked.verdicts()
    twice = again.requests - asked.requests
    assert twice.total() <= 2, twice


def test_pages_that_were_fetched_before_are_not_asked_for(asked: Asked, log: Path, tmp_path: Path) -> None:
    """With --from: a web archive answers first."""
    archive = tmp_path / "forum.warc.gz"
    write_archive([FORUM], Crawl(), str(archive))
    with serving(FORUM) as server:
        again = Asked.by(server, log, tmp_path / "rules.json", "-q", "--from", str(archive))
    assert again.ended.code == 0
    assert again.requests.total() < 0.5 * asked.requests.total()


def test_validate_does_the_same_for_a_file(proposed: Path, log: Path, tmp_path: Path) -> None:
    """Only hosts that were named are asked."""
    path = tmp_path / "rules.json"
    told = sentence(run("validate", proposed, "--sample", log, "-o", path), code=2)
    assert "no host was named to fetch from" in told
    with serving(FORUM) as server:
        hosts = [f"--connect-to=www.forum3.test={LOOPBACK}:{server.port}"]
        done = run("validate", proposed, "--sample", log, "--delay", "0", *hosts, "-o", path, "-q")
        assert {request.url.split("/")[2] for request in server.requests} == {"www.forum3.test"}
    assert done.code == 0
    assert any(rule.status == "active" for rule in undust.load(path))


def hostile_line(host: bytes, path: bytes, number: int = 0) -> bytes:
    """A line of a log that names any host; each number is a page with a size of its own."""
    asked = b'9.9.9.9 - - [15/Nov/2026:00:34:41 +0000] "GET %s HTTP/1.1"' % path
    return b'%s %s 200 %d "-" "-"\n' % (host, asked, 1000 + 137 * number)


def test_hostile_lines_of_a_log_are_bounded(tmp_path: Path) -> None:
    """Endless lines, binary, very many hosts: each is one record, and the honest lines still teach."""
    endless = [hostile_line(b"x.test", b"/" + b"a" * (4 << 20)), bytes(range(256)) * 40 + b"\n"]
    forged = [hostile_line(b"h%d.test" % n, b"/p?sid=%d" % n) for n in range(100)]
    honest = [
        hostile_line(b"x.test", b"/p%d%s" % (n, form), n) for n in range(30) for form in (b"", b"?sid=%d" % n)
    ]
    path = tmp_path / "hostile.log"
    path.write_bytes(b"".join([*endless, *forged, *endless, *honest]))
    done = run("learn", path, "--format", "access-log", "--json")
    said = json.loads(done.out)
    assert done.code == 3
    assert {rule["site"] for rule in said["learned"]} == {"x.test"}
    assert any("sid" in rule["from"] for rule in said["learned"])
    assert len(done.err) < 4_000


@pytest.mark.parametrize("named", ["x.test", "127.0.0.1"])
def test_a_log_names_nobody_to_ask(named: str, tmp_path: Path) -> None:
    """Neither a host that only the log names, nor a private address without the option for it."""
    with serving(FORUM) as server:
        hosts = [b"127.0.0.1:%d" % server.port, b"[::1]:%d" % server.port, b"169.254.169.254", b"x.test"]
        lines = [
            hostile_line(host, b"/p%d%s" % (n, form), n)
            for host in hosts
            for n in range(20)
            for form in (b"", b"?sid=%d" % n)
        ]
        path = tmp_path / "forged.log"
        path.write_bytes(b"".join(lines))
        done = run(
            "learn", path, "--format", "access-log", "--ask", "--delay", "0", "--ask-host", named, "--json"
        )
        assert not server.requests
    said = json.loads(done.out)
    assert done.code == 3
    assert said["active"] == 0
