"""The base alone, installed into an empty environment: small, and enough to apply rules."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.conftest import REPOSITORY
from tools.built_wheel import write_wheel

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = REPOSITORY / "examples"
MOST_PACKAGES = 3
MOST_BYTES = 15_000_000


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of a new environment with the base of undust in it, and nothing else."""
    folder = tmp_path_factory.mktemp("light")
    wheel = write_wheel(folder)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    pins = REPOSITORY / "constraints.txt"
    words = ["--quiet", "--disable-pip-version-check", "--no-compile", "--constraint", str(pins), str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", "--python", python, "install", *words], check=True)
    return folder / "venv"


def run(environment: Path, *words: str | Path, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run a program of the environment, away from this checkout."""
    apart = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV"))}
    return subprocess.run(
        [environment / "bin" / words[0], *words[1:]],
        input=text,
        capture_output=True,
        text=True,
        cwd=environment,
        env=apart | {"PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C.UTF-8"},
        check=False,
    )


def test_it_is_small(environment: Path) -> None:
    """At most three packages besides undust, and 15 MB."""
    [packages] = (environment / "lib").glob("python*/site-packages")
    names = {re.split(r"-\d", path.name)[0] for path in packages.glob("*.dist-info")}
    assert "undust" in names
    assert len(names - {"undust"}) <= MOST_PACKAGES
    assert sum(path.stat().st_size for path in packages.rglob("*") if path.is_file()) <= MOST_BYTES


def test_all_conformance_cases_hold(environment: Path) -> None:
    """The rules mean there what they mean here."""
    done = run(environment, "python", REPOSITORY / "tools" / "conformance.py")
    assert done.stderr == ""
    assert re.fullmatch(r"(9\d\d|\d,\d{3}) cases, all as the conformance file says\n", done.stdout)


RULES = str(EXAMPLES / "rules.json")
URL = "http://www.teapots.test/p/blue-cup/117?sid=9"
COMMANDS = (
    (["normalize"], "HTTP://A.test:80\n", "http://a.test/\n"),
    (["apply", RULES], f"{URL}\n", "https://teapots.test/p/117\n"),
    (["apply", RULES, "--key", "--stats"], f"{URL}\n", "https://teapots.test/p/117\n"),
    (["explain", RULES, URL], "", "canonical  https://teapots.test/p/117"),
    (["explain", "--json", RULES, URL], "", '"canonical": "https://teapots.test/p/117"'),
    (["rules", "list", RULES], "", "11 rules of 1 site"),
    (["rules", "show", RULES, "494c83d9"], "", "status   on"),
    (["rules", "check", RULES], "", "11 rules, nothing found"),
    (["rules", "diff", RULES, RULES], "", "no difference"),
    (["export", RULES, "--to", "nginx"], "", "rewrite"),
    (["export", RULES, "--to", "pywb"], "", "match"),
    (["import", "--from", "clean-param", "--site", "shop.test", "-"], "Clean-param: ref /shop/\n", '"rules"'),
    (
        ["apply", RULES, "--column", "url"],
        f'{{"url": "{URL}"}}\n',
        '"canonical_url": "https://teapots.test/p/117"',
    ),
)


@pytest.mark.parametrize(("words", "text", "expected"), COMMANDS, ids=lambda value: str(value)[:40])
def test_what_the_base_does(environment: Path, words: list[str], text: str, expected: str) -> None:
    """Every command that applies, shows, exports or imports rules."""
    done = run(environment, "undust", *words, text=text)
    assert expected in done.stdout, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["learn", "cluster", "tree", "compare"])
def test_what_it_does_not_do_says_what_to_install(environment: Path, command: str) -> None:
    """In one sentence; the help is there all the same."""
    done = run(environment, "undust", command, EXAMPLES / "shop.jsonl.gz")
    assert re.fullmatch(r"undust: \w+ is not installed; pip install 'undust\[learn\]'\n", done.stderr)
    assert done.returncode == 1
    assert "Usage" in run(environment, "undust", command, "--help").stdout


FROM_PYTHON = """
import sys, undust
rules = undust.load(sys.argv[1])
print(rules.compile()("http://www.teapots.test/p/blue-cup/117?sid=9"), str(rules).splitlines()[-1])
for ask in (lambda: undust.learn, lambda: undust.normalize(["http://a.test"]), lambda: undust.report):
    try:
        ask()
    except ImportError as error:
        print(type(error).__name__, error)
"""


def test_from_python(environment: Path) -> None:
    """Rules load, run and print; whatever takes more packages says which."""
    done = run(environment, "python", "-c", FROM_PYTHON, RULES)
    assert done.stderr == ""
    first, *missing = done.stdout.splitlines()
    assert first == "https://teapots.test/p/117 11 rules of 1 site"
    assert len(missing) == 3
    for line in missing:
        assert re.fullmatch(r"MissingExtra \w+ is not installed; pip install 'undust\[learn\]'", line)


def test_importing_it_loads_next_to_nothing(environment: Path) -> None:
    """A program that imports undust waits for no module that it did not ask for."""
    loaded = "import sys; before = set(sys.modules); import undust; print(*sorted(set(sys.modules) - before))"
    done = run(environment, "python", "-I", "-c", loaded)
    assert done.stderr == ""
    others = {name for name in done.stdout.split() if name.partition(".")[0] != "importlib"}
    assert others <= {"__future__", "undust", "undust.display", "warnings"}


WITHOUT_LEARN = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"duckdb", "fastwarc", "jinja2", "numpy", "pyarrow", "resiliparse"}:
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Missing())
from scrapy import Request
from scrapy.utils.test import get_crawler
from undust.integrations.scrapy import Addon, RequestFingerprinter
crawler = get_crawler(settings_dict={"UNDUST_RULES": sys.argv[1]})
made = RequestFingerprinter.from_crawler(crawler).fingerprint
print(made(Request("https://teapots.test/p/117")) == made(Request("https://www.teapots.test/p/blue-cup/117?sid=9")))
try:
    Addon(crawler).update_settings(get_crawler(settings_dict={"UNDUST_OBSERVATIONS": "seen.jsonl"}).settings)
except SystemExit as refused:
    print(refused.code)
"""


def test_the_scrapy_fingerprinter_is_part_of_it() -> None:
    """With Scrapy beside the base; observing pages says what it takes."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_LEARN, RULES], capture_output=True, text=True, check=True
    )
    is_one, refused = done.stdout.splitlines()
    assert is_one == "True"
    assert re.search(r"UNDUST_OBSERVATIONS is set, and \w+ is not installed; pip install", refused)
