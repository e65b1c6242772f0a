"""Never twice: what was answered is written down, and a run that was ended goes on from there."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import re
import signal
import threading
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

import undust
from bench.sites import Crawl, Site, site
from bench.sites.server import SiteServer
from bench.sites.server import serving as serving_sites
from tests.asking.rules import DROP, HOST, outcome, tried
from tests.asking.servers import page, serving
from tests.cli.command import run, sentence, start
from tools.faults.processes import OF_OTHERS, own_modules
from undust.asking.answers import Answer, JournalFile
from undust.errors import UndustError

if TYPE_CHECKING:
    from pathlib import Path

KILLS = 20


def answers_in(journal: Path) -> list[dict[str, Any]]:
    """The answers of a journal, torn lines left out."""
    lines = journal.read_bytes().split(b"\n")[:-1]
    return [json.loads(line)["answer"] for line in lines if line.startswith(b'{"answer"')]


def prove(rules: str, urls: list[str], places: list[str], journal: str, *, resume: bool) -> None:
    """Prove rules in a process that may be ended at any moment."""
    import pyarrow as pa  # noqa: PLC0415 -- in the new process

    done = undust.validate(
        undust.load(rules),
        pa.table({"url": urls}),
        live=True,
        delay=0,
        samples=12,
        epsilon=0.2,
        connect_to=places,
        journal=journal,
        resume=resume,
    )
    done.rules.save(rules)


class Jobs:
    """A small site, its rules in a file, and processes that prove them."""

    def __init__(self, folder: Path, made: Site, server: SiteServer) -> None:
        self.rules, self.journal = folder / "rules.json", folder / "journal"
        true = list(made.rules)
        undust.RuleSet([*true[:4], *list(made.false_rules)[:2]]).save(self.rules)
        self.urls = made.observations(Crawl(evidence=())).column("url").to_pylist()
        hosts = {url.split("/")[2] for url in self.urls}
        self.places = [f"{host}=127.0.0.1:{server.port}" for host in sorted(hosts)]
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload([*own_modules(), *OF_OTHERS])

    def begin(self, *, resume: bool) -> Any:  # noqa: ANN401 -- a process
        """Start a run."""
        said = (str(self.rules), self.urls, self.places, str(self.journal))
        process = self._context.Process(target=prove, args=said, kwargs={"resume": resume})
        process.start()
        return process

    def verdicts(self) -> list[tuple[str, str | None, Any]]:
        """What the file says of each rule."""
        return [
            (rule.id, rule.status, (rule.validated or {}).get("outcome")) for rule in undust.load(self.rules)
        ]


@pytest.mark.slow
def test_killed_twenty_times(tmp_path: Path) -> None:
    """After any number of kills: the same verdicts, and nothing asked twice but what was on its way."""
    made = site("wiki", urls=300, seed=2)
    for name in ("once", "often"):
        (tmp_path / name).mkdir()
    with serving_sites(made) as server:
        once = Jobs(tmp_path / "once", made, server)
        process = once.begin(resume=False)
        process.join(120)
        assert process.exitcode == 0
        total = len(server.requests)
    with serving_sites(made) as server:
        often = Jobs(tmp_path / "often", made, server)
        chance = random.Random(11)
        moments = sorted(chance.sample(range(2, total), KILLS))
        for number, moment in enumerate(moments):
            process = often.begin(resume=number > 0)
            killed_after(process, server, moment)
        process = often.begin(resume=True)
        process.join(120)
        assert process.exitcode == 0
    assert often.verdicts() == once.verdicts()
    assert {outcome for _, _, outcome in once.verdicts()} == {"confirmed", "refuted"}
    recorded = answers_in(often.journal)
    assert len({(answer["url"], answer["turn"]) for answer in recorded}) == len(recorded)
    asked = Counter(request.url for request in server.requests)
    written = Counter(answer["url"] for answer in recorded)
    assert asked.keys() == written.keys()
    assert 0 <= asked.total() - written.total() <= KILLS
    assert {answer["why"] for answer in recorded} >= {"sample", "robots", "second look"}


def killed_after(process: Any, server: SiteServer, count: int) -> None:  # noqa: ANN401
    """Kill a process as soon as the server has seen so many requests, if it is not done before."""
    seen = threading.Event()
    requests = server.requests

    class Counting(list[Any]):
        def append(self, each: object) -> None:
            super().append(each)
            if len(self) >= count:
                seen.set()

    server.requests = Counting(requests)
    if len(requests) >= count:
        seen.set()
    while process.is_alive() and not seen.wait(0.05):
        pass
    os.kill(process.pid, signal.SIGKILL)
    process.join(30)


@pytest.mark.huge
def test_the_command_killed_and_resumed(tmp_path: Path) -> None:
    """The same with the command itself: rules stay as they were until the end, then they are all there."""
    rules, urls, journal = tmp_path / "rules.json", tmp_path / "urls.txt", tmp_path / "rules.json.journal"
    undust.RuleSet([DROP]).save(rules)
    before = rules.read_bytes()
    paths = [f"/p{number}" for number in range(8)]
    urls.write_text("".join(f"http://{HOST}{path}?x=1\n" for path in paths), encoding="utf-8")
    with serving({path: page(f"page {path}") for path in paths}) as server:
        said = [
            "validate",
            str(rules),
            "--sample",
            str(urls),
            "--connect-to",
            f"{HOST}=127.0.0.1:{server.port}",
        ]
        process = start(*said, "--delay", "0.2")
        while len(server.log) < 5 and process.poll() is None:
            threading.Event().wait(0.02)
        process.kill()
        process.communicate()
        assert rules.read_bytes() == before
        left = sentence(run(*said))
        assert "a run that was not ended has left its answers here; go on with --resume" in left
        done = run(*said, "--delay", "0", "--resume", "--json")
    told = json.loads(done.out)
    assert (told["rules"][0]["confirmed"], told["rules"][0]["positives"]) == (True, 8)
    asked = Counter(request.path for request in server.log)
    assert asked.total() - len(answers_in(journal)) <= 1
    assert undust.load(rules)[0].validated is not None


def test_a_second_run_keeps_the_journal_of_the_first(tmp_path: Path) -> None:
    """What came to its end is set aside, and everything is asked anew."""
    journal = tmp_path / "journal"
    with serving({"/a": page("a")}) as server:
        for _ in range(3):
            outcome(server, ["/a?x=1"], journal=journal)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["journal", "journal.1", "journal.2"]
    assert server.asked("/a") == 6


def test_resuming_what_is_done_asks_nobody(tmp_path: Path) -> None:
    """All answers are there, so nothing is asked; the outcome is the same, and nothing is written twice."""
    journal = tmp_path / "journal"
    with serving({f"/{name}": page(name) for name in "abc"}) as server:
        first = tried(server, ["/a?x=1", "/b?x=1", "/c?x=1"], journal=journal)
        asked, size = len(server.log), journal.stat().st_size
        again = tried(server, ["/a?x=1", "/b?x=1", "/c?x=1"], journal=journal, resume=True)
    assert again.outcomes == first.outcomes
    assert len(server.log) == asked
    assert journal.stat().st_size - size < 40


def test_a_line_that_was_being_written(tmp_path: Path) -> None:
    """It is forgotten; what was whole is not."""
    journal = JournalFile(tmp_path / "journal", "job", resume=False)
    journal.add("answer", Answer("http://a.test/", status=200, text=b"some text", time=3.0).to_json())
    journal.close()
    with (tmp_path / "journal").open("ab") as file:
        file.write(b'{"answer":{"url":"http://a.test/b","tu')
    journal = JournalFile(tmp_path / "journal", "job", resume=True)
    assert journal.recorded("http://a.test/", 0) == Answer(
        "http://a.test/", status=200, text=b"some text", time=3.0
    )
    assert journal.recorded("http://a.test/", 1) is None
    journal.close()
    assert (tmp_path / "journal").read_bytes().endswith(b"}\n")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"hello\n", "not a journal of undust"),
        (b'{"job":{"format":"undust-journal","version":9,"job":"job"}}\n', "not a journal of undust"),
        (
            b'{"job":{"format":"undust-journal","version":1,"job":"x"}}\n',
            "written for other rules or samples",
        ),
        (b'{"job":{"format":"undust-journal","version":1,"job":"job"}}\n[1]\n', "journal:2: not a line"),
        (
            b'{"job":{"format":"undust-journal","version":1,"job":"job"}}\n{"answer":{"url":1}}\n',
            ":2: not a line",
        ),
    ],
)
def test_what_is_no_journal_of_this_job(content: bytes, message: str, tmp_path: Path) -> None:
    """It is refused in one sentence, and left as it is."""
    path = tmp_path / "journal"
    path.write_bytes(content)
    with pytest.raises(UndustError, match=message):
        JournalFile(path, "job", resume=True)
    assert path.read_bytes() == content


def test_one_writer(tmp_path: Path) -> None:
    """Two runs never write one journal."""
    journal = JournalFile(tmp_path / "journal", "job", resume=False)
    with pytest.raises(UndustError, match="another undust writes this journal"):
        JournalFile(tmp_path / "journal", "job", resume=True)
    journal.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ended_politely(number: int, tmp_path: Path) -> None:
    """Ctrl-C and a polite kill end it at once, also while a host is waited for; no answer is made up."""
    rules, urls = tmp_path / "rules.json", tmp_path / "urls.txt"
    undust.RuleSet([DROP]).save(rules)
    urls.write_text("".join(f"http://{HOST}/p{place}?x=1\n" for place in range(9)), encoding="utf-8")
    with serving({f"/p{place}": page(f"page {place}") for place in range(9)}) as server:
        place = f"{HOST}=127.0.0.1:{server.port}"
        process = start("validate", rules, "--sample", urls, "--connect-to", place, "--delay", "60")
        while not server.log and process.poll() is None:
            threading.Event().wait(0.02)
        process.send_signal(number)
        _, err = process.communicate(timeout=200)
    assert process.returncode == 128 + number
    assert re.fullmatch(rb"undust: stopped by (Ctrl-C|SIGTERM); .*\n", err)
    assert [answer["status"] for answer in answers_in(tmp_path / "rules.json.journal")] in ([], [404])
