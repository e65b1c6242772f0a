"""Real applications, filled with texts, crawled twice on loopback, then learned from and judged.

    python -m bench.raw.applications                    all that are installed
    python -m bench.raw.applications --install          install what is missing (Debian, as root)
    python -m bench.raw.applications fossil --urls 300  one application, fewer URLs
    python -m bench.raw.applications -o FOLDER          keep the archives and labels

The packages are `fossil`, `mercurial` (hgweb) and `gitit`. Half of the pages are learned from, the other half
is judged, as in `bench.raw.judge`. Which URLs show one page is decided by the words that two fetches share.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bench.raw.changes import words
from bench.raw.judge import FIGURES, judged
from bench.raw.sites import LabelledArchive
from bench.raw.visits import Visits, fetch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Start = Callable[[Path, int], list[str]]

PAGES = 40
"""Texts that an application is filled with."""
WAIT_S = 60.0
"""For a server to answer."""
MAIL = "writer@example.test"


def texts(name: str) -> Iterator[tuple[str, str]]:
    """Yield names and texts of pages."""
    for at in range(PAGES):
        own = random.Random(f"{name} {at}")
        title = "".join(word.capitalize() for word in words(own, 2).split())
        yield f"{title}{at}", "\n\n".join(words(own, own.randrange(15, 40)) for _ in range(4)) + "\n"


def day_of(at: int) -> str:
    """Return a day long ago, so that ages such as "6 years ago" are the same in both fetches."""
    return f"2020-{3 + at // 28:02}-{1 + at % 28:02}"


def run(*command: str, cwd: Path) -> None:
    """Run a command that must succeed, in an environment of its own."""
    environment = {
        **os.environ,
        "HOME": str(cwd),
        "USER": "writer",
        "HGUSER": f"Writer <{MAIL}>",
        "GIT_AUTHOR_NAME": "Writer",
        "GIT_AUTHOR_EMAIL": MAIL,
        "GIT_COMMITTER_NAME": "Writer",
        "GIT_COMMITTER_EMAIL": MAIL,
    }
    subprocess.run(command, cwd=cwd, env=environment, check=True, capture_output=True)


def mercurial(folder: Path, port: int) -> list[str]:
    """Fill a repository with files of three folders, one commit each, and return how it is served."""
    run("hg", "init", cwd=folder)
    for at, (name, text) in enumerate(texts("mercurial")):
        path = folder / ("docs", "notes", "lib")[at % 3] / f"{name}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        run("hg", "commit", "-A", "-m", f"Add {name}", "-d", f"{day_of(at)} 10:00", cwd=folder)
    return ["hg", "serve", "-R", str(folder), "-a", "127.0.0.1", "-p", str(port)]


def fossil(folder: Path, port: int) -> list[str]:
    """Fill a repository with wiki pages and files, and return how it is served."""
    store = folder / "site.fossil"
    run("fossil", "init", "--date-override", "2020-02-01", str(store), cwd=folder)
    checkout = folder / "checkout"
    checkout.mkdir()
    run("fossil", "open", str(store), cwd=checkout)
    for at, (name, text) in enumerate(texts("fossil")):
        (checkout / f"{name}.md").write_text(f"# {name}\n\n{text}")
        if at % 2:
            run("fossil", "wiki", "create", name, f"{name}.md", "-M", "markdown", cwd=checkout)
        else:
            run("fossil", "add", f"{name}.md", cwd=checkout)
            date = f"{day_of(at)} 10:00:00"
            run(
                "fossil",
                "commit",
                "-m",
                f"Add {name}",
                "--date-override",
                date,
                "--no-warnings",
                cwd=checkout,
            )
    # Visitors who are not logged in see links only with the capability h.
    run("fossil", "user", "capabilities", "nobody", "ghjorz", "-R", str(store), cwd=folder)
    return ["fossil", "server", "--localhost", "--port", str(port), str(store)]


def gitit(folder: Path, port: int) -> list[str]:
    """Fill a wiki with pages that link to each other, and return how it is served."""
    pages = folder / "wikidata"
    pages.mkdir()
    run("git", "init", "-q", cwd=pages)
    made = list(texts("gitit"))
    for at, (name, text) in enumerate(made):
        others = " ".join(f"[{made[(at + step) % PAGES][0]}]()" for step in (1, 5, 11))
        (pages / f"{name}.page").write_text(f"{text}\n{others}\n")
        run("git", "add", f"{name}.page", cwd=pages)
        run(
            "git",
            "commit",
            "-q",
            "-m",
            f"Add {name}",
            "--date",
            f"2020-03-{1 + at % 28:02}T10:00:00",
            cwd=pages,
        )
    settings = folder / "gitit.conf"
    settings.write_text(f"address: 127.0.0.1\nport: {port}\nrepository-path: {pages}\nmail-command:\n")
    return ["gitit", "-f", str(settings)]


APPLICATIONS: dict[str, tuple[str, Start]] = {
    "fossil": ("fossil", fossil),
    "mercurial": ("hg", mercurial),
    "gitit": ("gitit", gitit),
}
"""Debian package, its program, and how it is filled and served."""


@contextmanager
def served(start: Start) -> Iterator[str]:
    """Fill an application, serve it on loopback, and give its address."""
    with tempfile.TemporaryDirectory() as name:
        port = _free_port()
        folder = Path(name)
        command = start(folder, port)
        quiet = subprocess.DEVNULL
        with subprocess.Popen(command, cwd=folder, stdin=quiet, stdout=quiet, stderr=quiet) as server:
            try:
                address = f"http://127.0.0.1:{port}/"
                until = time.monotonic() + WAIT_S
                while fetch(address) is None:
                    if server.poll() is not None or time.monotonic() > until:
                        message = f"{command[0]} does not answer at {address}; run it by hand to see why"
                        raise RuntimeError(message)
                    time.sleep(0.2)
                yield address
            finally:
                server.terminate()


def _free_port() -> int:
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        return int(some.getsockname()[1])


def main() -> None:
    """Crawl, judge and print a table."""
    ask = argparse.ArgumentParser(
        prog="python -m bench.raw.applications",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    ask.add_argument("names", nargs="*", metavar="NAME", help=", ".join(APPLICATIONS))
    ask.add_argument("--install", action="store_true", help="install missing packages with apt-get")
    ask.add_argument("--urls", type=int, default=600, help="URLs of each site [%(default)s]")
    ask.add_argument("--seeds", nargs="*", type=int, default=[0, 1])
    ask.add_argument("-o", "--output", type=Path, metavar="FOLDER")
    told = ask.parse_args()
    names = told.names or list(APPLICATIONS)
    if unknown := [name for name in names if name not in APPLICATIONS]:
        ask.error(f"unknown application {unknown[0]}; there are {', '.join(APPLICATIONS)}")
    if told.install:
        missing = [name for name in names if shutil.which(APPLICATIONS[name][0]) is None]
        if missing:
            command = ["apt-get", "install", "-y", "--no-install-recommends", *missing]
            subprocess.run(command, check=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = told.output or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        print(f"| application | seed | URLs | pages | {' | '.join(FIGURES)} |", flush=True)
        print(f"| --- | ---: | ---: | ---: |{' ---: |' * len(FIGURES)}", flush=True)
        for name in names:
            _print_rows(name, folder, told.urls, told.seeds)


def _print_rows(name: str, folder: Path, urls: int, seeds: list[int]) -> None:
    program, start = APPLICATIONS[name]
    if shutil.which(program) is None:
        print(f"| {name} | not installed; --install installs it |", flush=True)
        return
    with served(start) as address:
        visits = Visits(address, urls)
        visits.crawl()
    path = folder / f"{name}.warc.gz"
    visits.write(path)
    archive = LabelledArchive(path)
    counts = f"{len(archive.pages)} | {len(set(archive.pages.values()))}"
    for seed in seeds:
        row = judged(archive, seed, "undust")
        figures = " | ".join(f"{row[each]:.2%}" for each in FIGURES)
        print(f"| {name} | {seed} | {counts} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
