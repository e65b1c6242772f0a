"""Every example in the README and the docs is executed, in the order in which it is read.

`python` blocks are doctests, plain code, or a file whose name is in the first line; `console` blocks are
commands with their output, `js` blocks are programs that a command below them runs, `json` blocks must be
JSON. The blocks of one page share a namespace and a folder that has `examples/`. What cannot be run here
(`make`, `pip`) stands in `sh` blocks, and drawings in `text` blocks.
"""

from __future__ import annotations

import doctest
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.command import WARM, may_be_warm
from tests.js.package import built, program

REPOSITORY = Path(__file__).resolve().parent.parent
API_PAGE = REPOSITORY / "docs" / "api.md"
PAGES = sorted([*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")])
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]\n]+\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
NOT_RUN = {"sh", "text", "nginx"}


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the line of the page where the text starts."""

    language: str
    text: str
    line: int


def blocks_of(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(found[1].strip(), found[2], text.count("\n", 0, found.start(2)) + 1)
        for found in FENCE.finditer(text)
    ]


def run_python(block: Block, page: Path, names: dict[str, object]) -> None:
    """Run a doctest, or plain code, among the names that the page made so far."""
    if ">>>" not in block.text:
        code = compile("\n" * (block.line - 1) + block.text, page, "exec")
        exec(code, names)  # noqa: S102 -- our own page
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, page.name, str(page), block.line - 1)
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append, clear_globs=False)
    names.update(test.globs)
    assert not said, "".join(said)


def run_console(block: Block, page: Path, folder: Path, programs: Path) -> None:
    """Run the commands of a block; what each prints must be what stands below it."""
    environment = {
        **os.environ,
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "LC_ALL": "C.UTF-8",
    }
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        inherited: tuple[int, ...] = ()
        words = ["/bin/bash", "-c", command]
        if may_be_forked(command):
            inherited = (WARM.client_in(programs),)
            words[2] = f"PATH={programs}:$PATH UNDUST_LINE={inherited[0]}; export UNDUST_LINE; {command}"
        done = subprocess.run(
            words,
            cwd=folder,
            env=environment,
            pass_fds=inherited,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=800,
        )
        assert done.stdout == expected, f"{page.name}:{block.line}: $ {command}"


def may_be_forked(command: str) -> bool:
    """Whether the one run of `undust` in it may be a fork of a process that has loaded everything."""
    runs = re.findall(r"\bundust +([^|;&>]*)", command)
    return len(runs) == 1 and may_be_warm(tuple(runs[0].split()))


def save_script(block: Block, page: Path, folder: Path) -> None:
    """Save a program for Node, which has the npm package beside it; a console block below runs it."""
    named = re.match(r"// (\w+\.mjs)\n", block.text)
    assert named, f"{page.name}:{block.line}: a program without a name"
    (folder / named[1]).write_text(block.text, encoding="utf-8")
    (folder / "node_modules").mkdir(exist_ok=True)
    if not (folder / "node_modules" / "undust").exists():
        program("node")
        (folder / "node_modules" / "undust").symlink_to(built())


STARTS_MUCH = {"scrapy.md", "spark.md"}
"""Their examples start Spark and crawls again and again; what they show has tests of its own."""


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.huge) if page.name in STARTS_MUCH else page for page in PAGES],
    ids=lambda page: page.relative_to(REPOSITORY).as_posix(),
)
def test_examples_of_a_page(
    page: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a page shows is what happens."""
    programs = tmp_path_factory.mktemp("programs")
    shutil.copytree(REPOSITORY / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": page.stem}
    for block in blocks_of(page):
        if block.language == "python":
            if named := re.match(r"# (\w+\.py)\n", block.text):  # a file that the reader saves
                (tmp_path / named[1]).write_text(block.text, encoding="utf-8")
            run_python(block, page, names)
        elif block.language == "console":
            run_console(block, page, tmp_path, programs)
        elif block.language == "js":
            save_script(block, page, tmp_path)
        elif block.language == "json":
            json.loads(block.text)
        else:
            assert block.language in NOT_RUN, f"{page.name}:{block.line}: a block that nobody checks"


LINKING = [*PAGES, REPOSITORY / "bench" / "RESULTS.md"]


@pytest.mark.parametrize("page", LINKING, ids=lambda page: page.relative_to(REPOSITORY).as_posix())
def test_links_of_a_page(page: Path) -> None:
    """A link to a file or a picture of the repository leads there, and to a place that the page has."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    dead = []
    for target, place in LINK.findall(text):
        if "://" in target or target.startswith("mailto:"):
            continue
        file = page.parent / target if target else page
        if not file.exists() or (place and place not in places_of(file)):
            dead.append(f"{target}#{place}")
    assert not dead


@pytest.mark.parametrize("page", LINKING, ids=lambda page: page.relative_to(REPOSITORY).as_posix())
def test_files_that_a_page_names_are_there(page: Path) -> None:
    """A test, a tool or a file of the core that a page points to has not moved meanwhile."""
    named = re.findall(
        r"`((?:tests|tools|bench|src|cpp|examples)/[\w./*-]+)`", page.read_text(encoding="utf-8")
    )
    assert [name for name in named if not any(REPOSITORY.glob(name.rstrip("/")))] == []


def places_of(page: Path) -> set[str]:
    """The names under which the headings of a page can be linked to."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


def test_no_page_needs_what_is_not_installed() -> None:
    """A reader who installed undust can run the examples: `bench` and `tests` stay in the repository."""
    of_the_repository = {"sites.md"}  # it is about the sites that the benchmarks generate
    ours = re.compile(r"^(?:>>> |\.\.\. )?(?:from|import) (?:bench|tests|tools)\b", re.MULTILINE)
    for page in PAGES:
        for block in blocks_of(page) if page.name not in of_the_repository else ():
            assert block.language != "python" or not ours.search(block.text), f"{page.name}:{block.line}"


def test_the_readme_shows_enough() -> None:
    """A page without runnable examples would pass the tests above for the wrong reason."""
    languages = [block.language for block in blocks_of(REPOSITORY / "README.md")]
    assert "python" in languages
    assert "console" in languages


def test_commands_of_the_readme_exist() -> None:
    """Each `make` target that a page names is in the Makefile."""
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    for page in PAGES:
        if page == API_PAGE:
            continue  # its blocks are docstrings, whose prose makes this and that
        for target in re.findall(r"\bmake ([a-z]+)\b(?=[`\s])", "\n".join(code_of(page))):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"{page.name}: make {target}"


def code_of(page: Path) -> list[str]:
    """Everything that a page sets in code: blocks and words between backticks."""
    text = page.read_text(encoding="utf-8")
    inline = re.findall(r"`([^`\n]+`)", FENCE.sub("", text))
    return inline + [block.text for block in blocks_of(page)]
