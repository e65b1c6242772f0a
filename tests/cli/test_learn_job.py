"""`undust learn` as a long job: killed and resumed, with sites that fail, in little memory."""

from __future__ import annotations

import io
import json
import re
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import undust
from tests.cli.command import SMALL_FILES, Ended, run, sentence
from tools.faults.jobs import leaf_commands
from undust.cli import main
from undust.cli.inputs import watching_sites

if TYPE_CHECKING:
    from pathlib import Path

SITES = 12

# The command with a journal from the first site on, with a site or two that fail or take all memory if they
# are named, and with less room for rows in memory.
COMMAND = """
import os, sys
from undust.__main__ import main
from undust.engines import spool
from undust.jobs import combined, one_site
combined.JOURNAL_PATIENCE = 0.0
spool.HELD_SHARE = float(os.environ.get("HELD", spool.HELD_SHARE))
real = one_site.combined_rules
failing, greedy = (os.environ.get(name, "").split() for name in ("FAILING", "GREEDY"))
def learn_site(site, *rest):
    if site.site in failing:
        raise ArithmeticError("of no use")
    if site.site in greedy:
        bytearray(1 << 62)
    return real(site, *rest)
one_site.combined_rules = learn_site
main()
"""


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some sites with a session id that changes nothing."""
    path = tmp_path_factory.mktemp("crawl") / "crawl.parquet"
    rows = [
        (f"http://s{site:02}.test/p/{page}{form}", f"{site} {page}")
        for site in range(SITES)
        for page in range(8)
        for form in ("", f"?sid={page}")
    ]
    table = pa.table({"url": [url for url, _ in rows], "digest": [digest for _, digest in rows]})
    pq.write_table(table, path)
    return path


@pytest.fixture(scope="module")
def expected(crawl: Path) -> bytes:
    """The rules that nobody disturbed."""
    return undust.learn(undust.read(crawl)).dumps()


def started(*words: str | Path, blocks: int | None = None, **said: str) -> subprocess.Popen[bytes]:
    """The command as `COMMAND` has it, told by its environment; no file gets more blocks of 512 bytes."""
    limited = ["/bin/sh", "-c", SMALL_FILES.format(blocks=blocks), "sh"] if blocks else []
    return subprocess.Popen(
        [*limited, sys.executable, "-c", COMMAND, *map(str, words)],
        env={"PATH": "", **said},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def ended(process: subprocess.Popen[bytes]) -> Ended:
    """How it ended."""
    out, err = process.communicate()
    assert b"Traceback" not in err, err.decode()
    return Ended(process.returncode, out, err.decode())


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_job_goes_on(number: signal.Signals, crawl: Path, expected: bytes, tmp_path: Path) -> None:
    """The same bytes as if nothing had happened, and nothing is left beside them."""
    rules, journal, tmp = tmp_path / "rules.json", tmp_path / ".rules.json.journal", tmp_path / "tmp"
    tmp.mkdir()
    words = ("learn", crawl, "-o", rules, "--threads", "1", "--tmp", tmp)
    process = started(*words)
    while process.poll() is None and not (journal.exists() and journal.read_bytes().count(b"\n") > 3):
        time.sleep(0.02)
    process.send_signal(number)
    killed = ended(process)
    assert killed.code != 0
    assert not rules.exists()
    assert ("--resume goes on" in killed.err) == (number == signal.SIGTERM)
    finished = journal.read_bytes().count(b"\n") - 1
    assert 0 < finished < SITES
    assert "of another job" in sentence(run("learn", crawl, "-o", rules, "--resume", "--seed", "3", "--json"))
    done = run(*words, "--resume", "--json")
    assert done.code == 0, done.err
    assert rules.read_bytes() == expected
    assert sorted(each.name for each in tmp_path.iterdir()) == ["rules.json", "tmp"]
    assert list(tmp.iterdir()) == []


def test_sites_that_fail_are_named_and_tried_again(crawl: Path, expected: bytes, tmp_path: Path) -> None:
    """The others complete, the exit code says so, and a run that goes well gives everything."""
    rules = tmp_path / "rules.json"
    words = ("learn", crawl, "-o", rules, "--threads", "1", "--json")
    failed = ended(started(*words, FAILING="s03.test s11.test"))
    reason = "learning from them failed: ArithmeticError: of no use"
    assert "s03.test and 1 more" in sentence(failed)
    assert json.loads(failed.out)["failed"] == {"s03.test": reason, "s11.test": reason}
    assert json.loads(failed.out)["sites"] == SITES - 2
    sites = {rule.site for rule in undust.load(rules)}
    undisturbed = {rule["site"] for rule in json.loads(expected)["rules"]} - {"*", "s03.test", "s11.test"}
    assert len(undisturbed) > 2
    assert undisturbed <= sites
    assert not {"s03.test", "s11.test"} & sites
    again = ended(started(*words, "--resume"))
    assert (again.code, again.err) == (0, "")
    assert rules.read_bytes() == expected
    table = ended(started("learn", crawl, "-o", rules, "--threads", "1", FAILING="s03.test"))
    assert "s03.test gave nothing" in table.out.decode()


def test_rules_are_kept_when_every_site_fails(crawl: Path, tmp_path: Path) -> None:
    """What is there is not replaced by nothing."""
    rules = tmp_path / "rules.json"
    rules.write_text("precious", encoding="utf-8")
    every = " ".join(f"s{site:02}.test" for site in range(SITES))
    failed = ended(started("learn", crawl, "-o", rules, "--threads", "1", FAILING=every))
    assert "ArithmeticError: of no use" in failed.err
    assert failed.code == 1
    assert rules.read_text(encoding="utf-8") == "precious"


def test_memory_threads_and_folder_change_nothing(crawl: Path, expected: bytes, tmp_path: Path) -> None:
    """But where the work is done; the time is told by stage."""
    rules = tmp_path / "rules.json"
    words = ("learn", crawl, "-o", rules, "--memory", "384MB", "--threads", "2", "--tmp", tmp_path, "--json")
    stages = json.loads(run(*words).out)["stages"]
    assert rules.read_bytes() == expected
    assert list(stages) == [
        *("reading", "grouping", "clustering", "learning", "giant sites", "across sites", "writing")
    ]
    assert stages["learning"] > 0
    assert [each.name for each in tmp_path.iterdir()] == ["rules.json"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--engine", "abacus"], 1, "there is no engine 'abacus'; use local"),
        (["--master", "yarn"], 1, "has no master"),
        (["--resume"], 2, "name that with -o"),
        (["--resume", "--method", "tree", "-o", "r.json"], 2, "--resume needs all methods together"),
        (["--engine", "spark", "--method", "tree"], 2, "--engine needs all methods together"),
        (["--tmp", "nowhere"], 2, "nowhere"),
        (["--memory", "12MB"], 2, "at least 384MB"),
    ],
)
def test_what_cannot_be_is_told(words: list[str], code: int, said: str, crawl: Path) -> None:
    """One sentence, before any work."""
    done = CliRunner().invoke(main, ["learn", str(crawl), *words])
    assert said in sentence(Ended(done.exit_code, b"", done.stderr), code)


def test_a_page_about_more_than_fits_is_refused(tmp_path: Path) -> None:
    """Before the work, and not after hours of it; and so is a command that holds all rows."""
    path = tmp_path / "many.parquet"
    urls = pa.array([f"http://a.test/{number}" for number in range(280_000)])
    pq.write_table(pa.table({"url": urls}), path)
    asked = ("learn", path, "--memory", "384MB", "--report", tmp_path / "page.html")
    assert "--report holds all of its input" in sentence(run(*asked, "-q"))
    clusters = ("cluster", path, "--memory", "384MB", "-o", tmp_path / "clusters.parquet", "-q")
    assert "a.test has 280,000 rows, and a site is looked at as a whole" in sentence(run(*clusters))
    assert not (tmp_path / "clusters.parquet").exists()
    said = sentence(run("tree", path, "--memory", "384MB", "-q"))
    assert re.search(r"280,000 rows take about 0\.4 GB; allow more --memory", said)


@pytest.mark.parametrize(
    ("held", "mend"),
    [
        ("1e-9", "there is no room for temporary files; free some, or name another --tmp"),
        ("0.1", ".rules.json.journal: it grew beyond the size allowed for a file; raise the limit"),
    ],
)
def test_a_job_goes_on_when_there_is_room_again(
    held: str, mend: str, crawl: Path, expected: bytes, tmp_path: Path
) -> None:
    """The rows find no room, or the sites that are done: one sentence, no rules; all of them next time."""
    rules, tmp = tmp_path / "rules.json", tmp_path / "tmp"
    tmp.mkdir()
    words = ("learn", crawl, "-o", rules, "--threads", "1", "--memory", "384MB", "--tmp", tmp, "-q")
    assert mend in sentence(ended(started(*words, blocks=4, HELD=held)))
    assert not rules.exists()
    assert list(tmp.iterdir()) == []
    again = ended(started(*words, "--resume", HELD=held))
    assert (again.code, again.err) == (0, "")
    assert rules.read_bytes() == expected
    assert sorted(each.name for each in tmp_path.iterdir()) == ["rules.json", "tmp"]


def test_a_site_that_finds_no_memory_is_tried_again(crawl: Path, expected: bytes, tmp_path: Path) -> None:
    """The others complete; the sentence says what to try, and `--resume` does that site alone."""
    rules = tmp_path / "rules.json"
    words = ("learn", crawl, "-o", rules, "--threads", "1", "--json")
    failed = ended(started(*words, GREEDY="s05.test"))
    assert "s05.test: there was not enough memory for it; try fewer --threads" in sentence(failed)
    assert json.loads(failed.out)["sites"] == SITES - 1
    again = ended(started(*words, "--resume"))
    assert (again.code, again.err) == (0, "")
    assert rules.read_bytes() == expected


HOLDING = {
    "compare": ["compare", "CRAWL"],
    "evaluate": ["evaluate", "RULES", "CRAWL"],
    "params": ["params", "CRAWL"],
    "report": ["report", "RULES", "CRAWL", "-o", "page.html"],
    "review": ["review", "RULES", "CRAWL"],
    "signatures": ["signatures", "CRAWL"],
    "tree": ["tree", "CRAWL"],
    "validate": ["validate", "RULES", "--sample", "CRAWL", "--from", "CRAWL"],
    "learn": ["learn", "CRAWL", "--method", "tree"],
}
"""Commands that hold all of their input."""
BOUNDED = {
    "apply": ["apply", "RULES", "CRAWL"],
    "normalize": ["normalize", "CRAWL"],
    "cluster": ["cluster", "CRAWL"],
}
"""Commands that hold a part of it: blocks, or a site."""


def test_every_command_that_reads_data_can_be_bounded() -> None:
    """In memory and in threads; and each of them is tried below."""
    options = {
        name: {option for each in command.params for option in each.opts} for name, command in leaf_commands()
    }
    assert {name for name in options if "--memory" in options[name]} == {*HOLDING, *BOUNDED}
    assert all("--threads" in options[name] for name in options if "--memory" in options[name])


@pytest.mark.parametrize("name", [*HOLDING, *BOUNDED])
def test_what_does_not_fit_is_refused_by_every_command(
    name: str, crawl: Path, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sentence that says so, before the rows are there, and no file; here each row takes a gigabyte."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("undust.engines.spool.ROW_BYTES", 1 << 30)
    monkeypatch.setattr("undust.cli.options.peak_memory_bytes", lambda: 5 << 30)
    shutil.copy(repository / "examples" / "rules.json", tmp_path)
    names = {"CRAWL": str(crawl), "RULES": "rules.json"}
    words = [names.get(word, word) for word in (HOLDING | BOUNDED)[name]]
    done = CliRunner().invoke(main, [*words, "--memory", "4GB", "--threads", "1"])
    assert "allow more --memory" in sentence(Ended(done.exit_code, b"", done.stderr))
    assert [each.name for each in tmp_path.iterdir()] == ["rules.json"]


class Terminal(io.StringIO):
    """A place to print to that says it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def test_a_bar_tells_how_long_the_rest_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """By observations, for one site can be half of the work; and only where somebody looks."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    moment = 0.0
    monkeypatch.setattr("rich.console.monotonic", lambda: moment)
    with watching_sites(is_silent=False) as watch:
        assert watch is not None
        watch.expect(sites=3, rows=600_000)
        for site, rows in (("a.test", 1), ("b.test", 2)):
            watch.tell(site, rows)
            moment += 0.15
            while f"learned {site}" not in terminal.getvalue():
                time.sleep(0.02)
        shown = terminal.getvalue()
    assert "learned b.test" in shown
    assert "2 of 3 sites" in shown
    hours = [int(found) for found in re.findall(r"(\d+):\d\d:\d\d", shown)]
    assert hours
    assert 2 < hours[-1] < 100  # 3 rows took a moment
    with watching_sites(is_silent=True) as watch:
        assert watch is None
