"""What is read is never written over: two names that mean one file are a mistake, told before any work."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

import undust
from tests.cli.command import run, sentence

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a crawl under two names, rules, a list, and a robots.txt, to work in."""
    shutil.copy(repository / "examples" / "shop.jsonl.gz", tmp_path / "crawl.gz")
    shutil.copy(repository / "examples" / "rules.json", tmp_path / "rules.json")
    (tmp_path / "link.gz").symlink_to(tmp_path / "crawl.gz")
    (tmp_path / "urls.txt").write_text("https://a.test/1\n", encoding="utf-8")
    (tmp_path / "robots.txt").write_text("Clean-param: sid\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        "learn crawl.gz -o crawl.gz",
        "learn crawl.gz -o ./link.gz",
        "learn link.gz -o crawl.gz",
        "learn *.gz -o crawl.gz",
        "learn . -o crawl.gz",
        "learn urls.txt crawl.gz -o urls.txt",
        "learn crawl.gz -o new.json --report crawl.gz",
        "learn crawl.gz --update rules.json -o new.json --report rules.json",
        "learn crawl.gz --update rules.json --report rules.json",
        "learn crawl.gz --method tree -o crawl.gz",
        "cluster crawl.gz -o crawl.gz --output-format csv",
        "report rules.json crawl.gz -o crawl.gz",
        "report rules.json crawl.gz -o rules.json",
        "validate rules.json --sample urls.txt --from crawl.gz -o urls.txt",
        "validate rules.json --sample urls.txt --from crawl.gz -o crawl.gz",
        "apply rules.json urls.txt -o rules.json",
        "export rules.json --to nginx -o rules.json",
        "import robots.txt --from clean-param --site a.test -o robots.txt",
    ],
)
def test_what_is_read_is_not_written_over(folder: Path, arguments: str) -> None:
    """Under whatever name; every file is as it was, and none is new."""
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    said = sentence(run(*arguments.split()), code=2)
    assert "is read, and would be replaced; name another one to write" in said
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_two_results_need_two_files(folder: Path) -> None:
    """Or the page would be all that is left of the rules."""
    said = sentence(run("learn", "crawl.gz", "-o", "same.x", "--report", folder / "same.x"), code=2)
    assert f"the file {folder / 'same.x'} is where the rules go; name another one for --report" in said
    assert not (folder / "same.x").exists()


def test_what_a_folder_holds_besides_is_written_again(folder: Path) -> None:
    """Rules and pages of the last run lie beside the crawl, and are no input."""
    job = ("learn", ".", "-o", "new.json", "--report", "page.html", "-q")
    assert [run(*job).code for _ in range(2)] == [0, 0]
    assert run("learn", ".", "--update", "new.json", "-o", "new.json", "-q").code == 0
    assert len(undust.load("new.json")) > 5
    assert (folder / "page.html").stat().st_size > 0


def test_devices_and_streams_are_no_files(folder: Path) -> None:
    """They are written to, and nothing is lost."""
    crawl = (folder / "crawl.gz").read_bytes()
    nowhere = ("learn", "-", "-o", "/dev/null", "--report", "/dev/null", "-q")
    assert run(*nowhere, data=crawl).code == 0
    assert run("cluster", "-", "-o", "-", "-q", data=crawl).code == 0


def test_a_list_may_be_brought_into_form_where_it_is(folder: Path) -> None:
    """What becomes of each line is still that line."""
    assert run("apply", "rules.json", "urls.txt", "-o", "urls.txt").code == 0
    assert run("normalize", "urls.txt", "-o", "urls.txt").code == 0
    assert (folder / "urls.txt").read_text(encoding="utf-8") == "https://a.test/1\n"
