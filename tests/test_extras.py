"""What an extra brings, missing or too old: one sentence that says what to install."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.conftest import REPOSITORY
from undust.errors import MissingExtra
from undust.extras import require

if TYPE_CHECKING:
    from pathlib import Path

SHOP = REPOSITORY / "examples" / "shop.jsonl.gz"
HOSTS = ("duckdb", "pandas", "polars", "scrapy")


def test_what_is_there_is_not_mentioned() -> None:
    """A version that is new enough is enough."""
    require("pyarrow", "1.0")
    require("pyarrow", "18", extra="tables")


@pytest.mark.parametrize(
    ("package", "oldest", "extra", "sentence"),
    [
        ("no-such-package", "1", "spark", "no-such-package is not installed; pip install 'undust[spark]'"),
        ("no-such-package", "1", None, "no-such-package is not installed; pip install 'no-such-package>=1'"),
        ("pyarrow", "999.1", "x", r"pyarrow [\d.]+ is older than 999.1, which undust needs; pip install 'un"),
    ],
)
def test_what_is_missing_is_told(package: str, oldest: str, extra: str | None, sentence: str) -> None:
    """By a name that `except ImportError` catches too."""
    with pytest.raises(MissingExtra, match=sentence.replace("[", r"\[").replace(r"\[\d.]", r"[\d.]")) as told:
        require(package, oldest, extra)
    assert isinstance(told.value, ImportError)


WITHOUT = """
import sys
from importlib import metadata
found = metadata.version
def version(name):
    if name == {host!r}:
        {what}
    return found(name)
metadata.version = version
try:
    import undust.integrations.{host}
except ImportError as error:
    print(type(error).__name__, error)
print({host!r} in sys.modules)
"""


@pytest.mark.parametrize("host", HOSTS)
def test_an_integration_says_so_before_it_loads_its_host(host: str) -> None:
    """Missing or too old: the sentence, and nothing of the host is loaded."""
    missing = WITHOUT.format(host=host, what="raise metadata.PackageNotFoundError(name)")
    old = WITHOUT.format(host=host, what="return '0.1'")
    for program, expected in ((missing, f"{host} is not installed; pip"), (old, f"{host} 0.1 is older than")):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        said, is_loaded = done.stdout.splitlines()
        assert said.startswith(f"MissingExtra {expected}")
        assert is_loaded == "False"


LOADED = """
import json, sys
from undust import __main__ as command
sys.argv = ["undust", *json.loads(sys.argv[1])]
try:
    command.main()
finally:
    print("pandas" in sys.modules, file=sys.stderr)
"""


@pytest.mark.parametrize("words", [["tree"], ["cluster", "-o", "clusters.parquet", "-q"]])
def test_no_command_loads_pandas(words: list[str], tmp_path: Path) -> None:
    """Nor does what it starts; pyarrow would, wherever pandas is installed."""
    pytest.importorskip("pandas")
    given = json.dumps([words[0], str(SHOP), *words[1:]])
    done = subprocess.run(
        [sys.executable, "-c", LOADED, given], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stderr.splitlines()[-1] == "False"


def test_a_program_of_somebody_else_keeps_its_pandas() -> None:
    """Only the command leaves it out."""
    program = (
        "import undust; undust.normalize(['http://a.test']); import pandas; print(pandas.Series([1]).sum())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"
