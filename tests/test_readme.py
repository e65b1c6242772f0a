"""The front page: its pictures and its table are what the code prints and the benchmarks saw."""

from __future__ import annotations

import gzip
import json
import re
import sys
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from tools.screenshot import PICTURE, taken, text_in
from tools.stranger import Stranger, invented_files, promised_files, steps_of

if TYPE_CHECKING:
    from pathlib import Path

SECONDS = re.compile(r"^\d+\.\d s$", re.MULTILINE)


def test_the_screenshot_shows_what_the_command_prints() -> None:
    """The picture is renewed (`python -m tools.screenshot`) when the command prints something else."""
    shown, printed = text_in(PICTURE.read_text(encoding="utf-8")), text_in(taken())
    assert SECONDS.sub("x s", shown) == SECONDS.sub("x s", printed)
    assert SECONDS.search(shown)


def test_the_problem_is_a_real_one(repository: Path) -> None:
    """The URLs of the first picture are in the sample crawl, as copies of one page."""
    picture = (repository / "docs" / "pictures" / "problem.svg").read_text(encoding="utf-8")
    urls = set(re.findall(r">(https?://[^<]*teapots[^<]*)<", picture))
    with gzip.open(repository / "examples" / "shop.jsonl.gz", "rt", encoding="utf-8") as lines:
        seen = {row["url"]: row for row in map(json.loads, lines)}
    assert len(urls) == 5
    assert urls <= set(seen)


@pytest.mark.parametrize("name", ["problem.svg", "learn.svg"])
def test_pictures_load_nothing(repository: Path, name: str) -> None:
    """A picture is well-formed, says what it shows, and asks no other place for anything."""
    text = (repository / "docs" / "pictures" / name).read_text(encoding="utf-8")
    root = ET.fromstring(text)  # noqa: S314 -- our own file
    assert root.find("{http://www.w3.org/2000/svg}title") is not None
    assert not re.findall(r"href|url\(|@import|<script|<image", text)


def rows_of(text: str, title: str) -> dict[str, list[str]]:
    """The rows of the first table behind a title, by their first cell, without bold type."""
    part = text[text.index(title) :]
    lines = [line.replace("**", "").strip("| ") for line in part.splitlines() if re.match(r"\| [^-]", line)]
    rows = [line.split(" | ") for line in lines]
    return {row[0].strip("`"): [cell.strip() for cell in row[1:]] for row in reversed(rows)}


def test_the_table_has_the_figures_of_the_benchmarks(repository: Path) -> None:
    """What the front page says of others and of us was measured, and is as new as the measurement."""
    own = rows_of((repository / "README.md").read_text(encoding="utf-8"), "## Beside what people use")
    results = (repository / "bench" / "RESULTS.md").read_text(encoding="utf-8")
    quality = rows_of(results, "### Crawls of seven applications")
    normalizing = rows_of(results, "## Normalizing, beside other libraries")
    applying = rows_of(results, "## Applying rules")["links of popular pages, 10 rules a site"]
    names = {"w3lib": "w3lib.url", "duplicate-url-discarder": "duplicate", "courlan": "courlan"}
    names |= {"drop-query": "without", "undust": "undust"}
    for method, start in names.items():
        row = next(cells for name, cells in own.items() if name.startswith(start))
        assert row[:2] == quality[method][:2], method
    times = {name: cells[2] for name, cells in own.items() if len(cells) > 2 and cells[2]}

    def micro(nanoseconds: str) -> str:
        return f"{int(nanoseconds.replace(',', '')) / 1000:.1f}"

    courlan = normalizing["courlan.normalize_url"][2]
    expected = [micro(applying[2]), micro(applying[4]), micro(courlan), micro(applying[0])]
    assert sorted(times.values()) == sorted(expected)


PAGE = """
```sh
echo x > made.txt     # writes made.txt
undust learn crawl.warc.gz -o rules.json
```

```console
$ echo one; echo two
one
two
```

```python
>>> 1 + 1
2
```
"""


def test_a_stranger_reads_every_command() -> None:
    """Each command of the page is a step, with what it promises."""
    steps = steps_of(PAGE)
    assert [(step.language, step.line) for step in steps] == [
        ("sh", 3),
        ("sh", 4),
        ("console", 8),
        ("python", 14),
    ]
    assert promised_files(steps[0]) == ["made.txt"]
    assert steps[2].promise == "one\ntwo\n"


def test_a_stranger_skips_only_what_nobody_has(repository: Path) -> None:
    """A command on an invented file is left out; the README has four, and all others are followed."""
    assert invented_files(steps_of(PAGE)[1], repository) == ["crawl.warc.gz"]
    steps = steps_of((repository / "README.md").read_text(encoding="utf-8"))
    skipped = [step.text for step in steps if step.language == "sh" and invented_files(step, repository)]
    assert skipped == [
        "undust learn crawl.warc.gz -o rules.json",
        "undust learn access.log --base https://your.site -o likely.json",
        "undust learn access.log --base https://your.site --ask -o rules.json",
        "undust apply rules.json urls.txt",
    ]
    assert {"make run", "make test", "pip install ."} <= {step.text for step in steps}


@pytest.mark.parametrize(
    ("kept", "broken"),
    [
        ("echo x > made.txt     # writes made.txt", "echo x > made.txt     # writes other.txt"),
        ("echo x > made.txt", "false"),
        ("one\ntwo\n```", "one\nthree\n```"),
        (">>> 1 + 1\n2", ">>> 1 + 1\n3"),
    ],
)
def test_a_stranger_sees_a_broken_promise(kept: str, broken: str, tmp_path: Path) -> None:
    """A page that keeps its word passes; one word changed, and the step that breaks it is told."""
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(sys.executable)
    for page, faults in ((PAGE, 0), (PAGE.replace(kept, broken), 1)):
        stranger = Stranger(tmp_path, tmp_path)
        steps = [step for step in steps_of(page) if not invented_files(step, tmp_path)]
        assert sum(bool(stranger.follow(step)) for step in steps) == faults
