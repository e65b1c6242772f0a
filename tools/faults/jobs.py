"""Every command that writes, as a job that can be done again and again in a folder of its own.

A job knows its arguments, the files it writes, and what they held before. `READ_ONLY` are the commands that
write no file; a command that is in neither table fails a test, so that nobody forgets to try a new one.
"""

from __future__ import annotations

import gzip
import json
import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from undust.cli import ENTRIES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import click

UNDUST = (sys.executable, "-m", "undust")
READ_ONLY = {
    "tree", "explain", "evaluate", "compare", "params", "signatures", "completion",
    "rules list", "rules show", "rules check", "rules diff",
}  # fmt: skip
OTHER_OUTPUTS = ("--report", "--update", "--csv")
APPENDING = {
    "serve": (
        "tests/crawling/test_journal.py",
        ("test_a_crawl_that_is_killed_again_and_again", "test_a_full_disk_is_one_sentence"),
    ),
}
"""Commands that only add lines to a file, so that nothing is replaced, with the tests that end them badly."""
OLD = b"what was there before\n"
PAGES, COPIES = 40, 3


@dataclass(frozen=True)
class Job:
    """One command with everything it needs."""

    command: str
    """As a person types it: `rules merge`."""
    arguments: tuple[str, ...]
    writes: tuple[str, ...]
    """The files that it replaces or makes; those that are not there at the start hold `OLD`."""
    keeps: tuple[str, ...] = ()
    """Files that a run which was ended may leave, and that its sentence or its help names."""
    again: tuple[str, ...] = ()
    """What to add to go on after a run that was ended."""
    program: tuple[str, ...] = UNDUST

    @property
    def name(self) -> str:
        """The command, and the option by which it writes something else than usual: `learn --update`."""
        return " ".join((self.command, *(word for word in self.arguments if word in OTHER_OUTPUTS)))

    @property
    def words(self) -> list[str]:
        """The words to run it with, in its folder."""
        own = self.command.split() if self.program is UNDUST else []
        return [*self.program, *own, *self.arguments]


JOURNAL = ("*.journal*",)
"""What a job that was ended keeps to go on from; `--resume` uses it, and the next run without it says so."""
SAVE_A_REVIEW = """
import sys
import click
from undust.cli import ending_cleanly, one_sentence
from undust.showing.review import ReviewSession
try:
    with one_sentence(), ending_cleanly():
        desk = ReviewSession("rules.json", {})
        desk.save([desk.rules.ids[0]], yes=True)
except click.exceptions.Exit as ending:
    sys.exit(ending.exit_code)
"""
"""What the button of `undust review` does, without the browser that presses it."""
JOBS = (
    Job("learn", ("crawl.jsonl", "-o", "new.json", "-q", "--threads", "1"), ("new.json",), JOURNAL),
    Job(
        "learn",
        ("crawl.jsonl", "--update", "rules.json", "--today", "2026-11-15", "--yes", "-q", "--threads", "1"),
        ("rules.json",),
        (*JOURNAL, "rules.json.bak"),
    ),
    Job(
        "learn",
        ("crawl.jsonl", "-o", "new.json", "--report", "page.html", "-q", "--threads", "1"),
        ("new.json", "page.html"),
        JOURNAL,
    ),
    Job("cluster", ("crawl.jsonl", "-o", "clusters.parquet", "-q"), ("clusters.parquet",)),
    Job("cluster", ("crawl.jsonl", "-o", "clusters.csv.gz", "-q"), ("clusters.csv.gz",)),
    Job("apply", ("rules.json", "urls.txt", "-o", "canonical.txt", "-q"), ("canonical.txt",)),
    Job("apply", ("rules.json", "crawl.jsonl", "-o", "canonical.jsonl.zst", "-q"), ("canonical.jsonl.zst",)),
    Job(
        "apply",
        ("rules.json", "urls.txt", "--output-format", "parquet", "-o", "t.parquet", "-q"),
        ("t.parquet",),
    ),
    Job("normalize", ("urls.txt", "-o", "normal.txt.gz", "-q"), ("normal.txt.gz",)),
    Job(
        "validate",
        ("rules.json", "--sample", "urls.txt", "--from", "crawl.warc.gz", "--samples", "5", "-q"),
        ("rules.json",),
        keeps=("rules.json.journal*",),
        again=("--resume",),
    ),
    Job("report", ("rules.json", "crawl.jsonl", "-o", "page.html", "-q"), ("page.html",)),
    Job(
        "review",
        ("-c", SAVE_A_REVIEW),
        ("rules.json",),
        keeps=("rules.json.*.bak",),
        program=(sys.executable,),
    ),
    Job("rekey", ("rules.json", "index.cdxj", "-o", "rekeyed.cdxj.gz", "-q"), ("rekeyed.cdxj.gz",)),
    Job("rules approve", ("rules.json", "{id}", "--by", "ann", "-o", "approved.json"), ("approved.json",)),
    Job("rules reject", ("rules.json", "{id}", "--by", "ann", "-o", "rejected.json"), ("rejected.json",)),
    Job("rules note", ("rules.json", "{id}", "--note", "seen", "--by", "ann", "-o", "n.json"), ("n.json",)),
    Job("rules verdicts", ("rules.json", "--csv", "rules.csv"), ("rules.csv",)),
    Job("rules disable", ("rules.json", "{id}"), ("rules.json",)),
    Job("rules enable", ("rules.json", "{id}", "-o", "on.json"), ("on.json",)),
    Job("rules compile", ("rules.json", "-o", "rules.undust"), ("rules.undust",)),
    Job("rules merge", ("rules.json", "rules.json", "-o", "merged.json"), ("merged.json",)),
    Job("export", ("rules.json", "--to", "nginx", "-o", "undust.conf"), ("undust.conf",)),
    Job(
        "import", ("robots.txt", "--from", "clean-param", "--site", "shop.test", "-o", "i.json"), ("i.json",)
    ),
)


def leaf_commands(group: click.Group | None = None, before: str = "") -> Iterator[tuple[str, click.Command]]:
    """Give every command of undust with its whole name, those inside of groups too."""
    import click  # noqa: PLC0415

    from undust.cli import main  # noqa: PLC0415

    here = group or main
    context = click.Context(here)
    for name in here.list_commands(context) if group else ENTRIES:
        command = here.get_command(context, name)
        if isinstance(command, click.Group):
            yield from leaf_commands(command, f"{before}{name} ")
        elif command is not None:
            yield f"{before}{name}", command


def urls_of_shop() -> list[tuple[str, str]]:
    """Return URLs with the page they show: each page under several session ids, and some that matter."""
    pages = [
        (f"http://shop.test/item?id={page}&sid={copy}", str(page))
        for page in range(PAGES)
        for copy in range(COPIES)
    ]
    return pages + [(f"http://shop.test/list/{page}.html", f"l{page}") for page in range(PAGES)]


def make_inputs(folder: Path) -> None:
    """Write what the jobs read into a folder; `rules.json` is what some of them write, too."""
    from undust.rules import Rule, RuleSet  # noqa: PLC0415 -- the tool is imported for its table as well

    rows = urls_of_shop()
    (folder / "crawl.jsonl").write_text(
        "".join(json.dumps({"url": url, "status": 200, "digest": page}) + "\n" for url, page in rows),
        encoding="utf-8",
    )
    (folder / "urls.txt").write_text("".join(f"{url}\n" for url, _ in rows), encoding="utf-8")
    index = sorted(
        f"test,shop){url.removeprefix('http://shop.test')} 20261115000000 {json.dumps({'url': url})}\n"
        for url, _ in rows
    )
    (folder / "index.cdxj").write_text("".join(index), encoding="utf-8")
    (folder / "robots.txt").write_text("User-agent: *\nClean-param: sid&ref /item\n", encoding="utf-8")
    drop = "rewrite {s}://{h}/{p**}?{**:sid}&{rest**} -> {s}://{h}/{p}?{rest}"
    lists = "rewrite {s}://{h}/list/{n}.html -> {s}://{h}/list/{n}"
    RuleSet([Rule.parse(text, site="shop.test") for text in (drop, lists)]).save(folder / "rules.json")
    with (folder / "crawl.warc.gz").open("wb") as file:
        plain = [(f"http://shop.test/item?id={page}", str(page)) for page in range(PAGES)]
        for url, page in (*rows, *plain):
            file.write(gzip.compress(_record(url, f"<p>{f'words of {page} ' * 20}".encode()), mtime=0))


def _record(url: str, body: bytes) -> bytes:
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
    head = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-11-15T00:00:00Z\r\n"
    kind = f"Content-Type: application/http\r\nContent-Length: {len(block)}\r\n\r\n"
    return f"{head}{kind}".encode() + block + b"\r\n\r\n"


def prepare(job: Job, inputs: Path, folder: Path) -> Job:
    """Make a folder in which the job can be done; return the job with the names that it has there."""
    from undust.rules import load  # noqa: PLC0415

    shutil.copytree(inputs, folder)
    for name in job.writes:
        if not (folder / name).exists():
            (folder / name).write_bytes(OLD)
    first = load(folder / "rules.json").ids[0]
    arguments = tuple(word.replace("{id}", first) for word in job.arguments)
    return Job(job.command, arguments, job.writes, job.keeps, job.again, job.program)
