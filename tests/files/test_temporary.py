"""Temporary folders: a signal at any step leaves none behind."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
from typing import TYPE_CHECKING, Any

import pytest

from undust.engines.spool import Scratch
from undust.files.temporary import temporary_folder, undisturbed

if TYPE_CHECKING:
    from pathlib import Path


class Stopped(BaseException):
    """What the handler of a signal raises."""


@pytest.fixture
def stopped_by_signals() -> Any:  # noqa: ANN401 -- a generator
    """Let SIGTERM raise, as it does in the command."""

    def stop(*_: object) -> None:
        raise Stopped

    before = signal.signal(signal.SIGTERM, stop)
    yield
    signal.signal(signal.SIGTERM, before)


def made_and_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a signal come right behind the making of a folder, before anybody can have noted its name."""
    make = os.mkdir

    def stopped(path: Any, *arguments: Any, **options: Any) -> None:  # noqa: ANN401
        make(path, *arguments, **options)
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(os, "mkdir", stopped)


def stopped_while_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a signal come when a folder is about to be removed."""
    remove = shutil.rmtree

    def stopped(*arguments: Any, **options: Any) -> None:  # noqa: ANN401
        signal.raise_signal(signal.SIGTERM)
        remove(*arguments, **options)

    monkeypatch.setattr(shutil, "rmtree", stopped)


@pytest.mark.usefixtures("stopped_by_signals")
def test_a_signal_while_scratch_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is known before it is there."""
    made_and_stopped(monkeypatch)
    scratch = Scratch(str(tmp_path))
    with pytest.raises(Stopped):
        _ = scratch.folder
    scratch.close()
    del scratch
    gc.collect()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("stopped_by_signals")
def test_a_signal_while_scratch_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The removal is finished, and then the signal is raised."""
    scratch = Scratch(str(tmp_path))
    (scratch.folder / "rows").write_text("x", encoding="utf-8")
    stopped_while_removed(monkeypatch)
    with pytest.raises(Stopped):
        scratch.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("stopped_by_signals")
def test_a_signal_while_a_folder_of_a_block_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for a folder that is there for one block only."""
    made_and_stopped(monkeypatch)
    with pytest.raises(Stopped), temporary_folder("undust-", str(tmp_path)):
        pytest.fail("the block must not begin")
    gc.collect()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("stopped_by_signals")
def test_an_undisturbed_block_is_done_whole() -> None:
    """A signal waits for its end, and is heard then."""
    steps = []

    def work() -> None:
        with undisturbed():
            signal.raise_signal(signal.SIGTERM)
            steps.append("after the signal")

    with pytest.raises(Stopped):
        work()
    assert steps == ["after the signal"]
    with pytest.raises(Stopped):
        signal.raise_signal(signal.SIGTERM)


def test_a_second_signal_does_not_end_the_cleaning_up() -> None:
    """Whoever sends SIGTERM twice gets the same end."""
    from undust.cli import Ended, ending_cleanly  # noqa: PLC0415 -- loads click

    cleaned = []

    def work() -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            signal.raise_signal(signal.SIGTERM)
            cleaned.append("all")

    with pytest.raises(Ended), ending_cleanly():
        work()
    assert cleaned == ["all"]


@pytest.mark.usefixtures("stopped_by_signals")
def test_a_signal_while_the_folder_of_the_system_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python writes a file into it and removes it again; a signal in between leaves none behind."""
    opened = os.open

    def stopped(path: Any, *arguments: Any, **options: Any) -> int:  # noqa: ANN401
        found = opened(path, *arguments, **options)
        signal.raise_signal(signal.SIGTERM)
        return found

    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(os, "open", stopped)
    with pytest.raises(Stopped), temporary_folder("undust-"):
        pass
    assert list(tmp_path.iterdir()) == []
