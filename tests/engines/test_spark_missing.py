"""Without Spark or Java: one sentence that says what to install; what does not use Spark does not load it.

And Java that does not answer any more when the work ends.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

import undust
from undust.cli import main
from undust.engines.spark.session import told
from undust.errors import MissingExtra, UndustError

if TYPE_CHECKING:
    from pathlib import Path

LEARN = ["-m", "undust", "learn", "--engine", "spark", "examples/shop.jsonl.gz", "-o"]


def test_without_pyspark(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The engine and the command name the extra that brings it."""

    def none(name: str) -> str:
        if name == "pyspark":
            raise PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr("importlib.metadata.version", none)
    with pytest.raises(MissingExtra, match=r"^pyspark is not installed; pip install 'undust\[spark\]'$"):
        undust.SparkEngine(None)  # type: ignore[arg-type]
    output = tmp_path / "rules.json"
    done = CliRunner().invoke(main, [*LEARN[2:], str(output)])
    assert done.exit_code == 1
    assert done.stderr == "undust: pyspark is not installed; pip install 'undust[spark]'\n"
    assert not output.exists()


@pytest.mark.parametrize("home", [None, "/no/such/java"])
def test_without_java(home: str | None, tmp_path: Path) -> None:
    """The command says it in one sentence, and leaves no file."""
    pytest.importorskip("pyspark")
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    environment |= {"PATH": str(tmp_path)} | ({"JAVA_HOME": home} if home else {})
    output = tmp_path / "rules.json"
    done = subprocess.run(
        [sys.executable, *LEARN, output], env=environment, capture_output=True, text=True, check=False
    )
    where = f"at JAVA_HOME={home}" if home else "on the path"
    assert done.stderr == (
        f"undust: Spark needs Java 17 or newer, which is not {where}; "
        "install it (on Debian: apt-get install default-jre-headless), or set JAVA_HOME\n"
    )
    assert done.returncode == 1
    assert not output.exists()


def test_too_little_memory_for_java(tmp_path: Path) -> None:
    """It would start, and end with a hundred lines."""
    pytest.importorskip("pyspark")
    output = tmp_path / "rules.json"
    words = [sys.executable, *LEARN, str(output), "--memory", "400MB"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.stderr == (
        "undust: --memory 400MB is too little for Spark, whose Java takes half of it and needs 512 MB; "
        "give 1GB or more\n"
    )
    assert not output.exists()


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("...\nModuleNotFoundError: No module named 'undust'\n...", "the executors have no undust; install"),
        ("Caused by: java.io.IOException: No space left on device", "no space left on its disk; free some"),
        ("java.io.IOException: Disk quota exceeded", "no space left on its disk; free some"),
        (
            "ExecutorLostFailure (executor 3 exited caused by ...)",
            "executor was lost again and again; give",
        ),
        (
            "[PARQUET_TYPE_ILLEGAL] Illegal Parquet type: INT64 (TIMESTAMP(NANOS,false)). SQLSTATE: 42846",
            "Spark reads no Parquet column of type INT64 (TIMESTAMP(NANOS,false)); write another",
        ),
        ("java.lang.OutOfMemoryError: Java heap space", "an executor ran out of memory; give"),
        (
            "[FAILED_READ_FILE.NO_HINT] Error while reading file s3a://b/part-7.parquet. SQLSTATE",
            "s3a://b/part-7.parquet: it cannot be read as Parquet; get it again",
        ),
        (
            "An error\n\torg.x.SomeException: what it says.\n\tat org.x.Y(Y.java)",
            "what it says; its log",
        ),
        (
            "An error occurred.\n: org.x.SparkException: Job aborted: it is so.\n\tat org.x.Y(Y.java)",
            "Job aborted: it is so; its log",
        ),
        (
            "Job aborted due to stage failure: Master removed our application: FAILED",
            "an executor was lost again and again; give",
        ),
        ("", "it does not say why; its log says more"),
    ],
)
def test_a_hundred_lines_become_a_sentence(said: str, sentence: str) -> None:
    """With what to do about it."""
    error = told(said)
    assert isinstance(error, UndustError)
    assert sentence in str(error)
    assert "\n" not in str(error)


def test_only_its_own_modules_import_spark(repository: Path) -> None:
    """The engine and the integration; in all others Spark is not even named."""
    users = set()
    for path in sorted((repository / "src" / "undust").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if re.search("py4j|pyspark", text) else ():
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.split(".")[0] in {"py4j", "pyspark"} for name in names):
                users.add(path.relative_to(repository / "src" / "undust").parts[:2])
    assert users == {("engines", "spark"), ("integrations", "spark.py")}


def test_the_engines_load_without_spark() -> None:
    """The local engine is for those who have no Spark."""
    program = "import sys, undust.jobs, undust.engines; print('pyspark' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


class Deaf:
    """A session that fails to stop, or never does."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def stop(self) -> None:
        """Be asked to stop."""
        time.sleep(self.seconds)
        message = "nobody is there"
        raise ConnectionError(message)


def test_java_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """What went wrong first is told, and is not waited for; where nothing did, its silence is told."""
    pytest.importorskip("pyspark")
    monkeypatch.setattr("undust.engines.spark.engine.SPARK_PATIENCE", 0.05)

    def left(seconds: float) -> undust.SparkEngine:
        engine = undust.SparkEngine(Deaf(seconds))  # type: ignore[arg-type]
        engine._owns_session = True  # noqa: SLF001
        return engine

    for seconds in (0, 60):
        with pytest.raises(KeyError, match="first"), left(seconds):
            raise KeyError("first")  # noqa: EM101
    with pytest.raises(ConnectionError, match="nobody is there"), left(0):
        pass
