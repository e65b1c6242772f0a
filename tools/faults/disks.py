"""A small file system of its own, filled to the last byte; only root may make one."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from tools.faults.jobs import prepare

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tools.faults.jobs import Job

BLOCK = 4096
SPARE = 1 << 18


@contextmanager
def full_disk(job: Job, inputs: Path, folder: Path) -> Iterator[Path]:
    """Put a full disk over the folder of a job, with its files on it; give the file that fills it."""
    held = sum(path.stat().st_size + BLOCK for path in [*folder.iterdir(), *inputs.iterdir()])
    _mount(folder, "-o", f"size={held + SPARE}")
    try:
        (folder / "below").mkdir()
        prepare(job, inputs, folder / "below" / "files")
        for path in (folder / "below" / "files").iterdir():
            path.rename(folder / path.name)
        (folder / "below" / "files").rmdir()
        (folder / "below").rmdir()
        (folder / "tmp").mkdir()
        filler = folder / "filler"
        with suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(BLOCK))
        yield filler
    finally:
        _unmount(folder)


def can_mount(work: Path) -> bool:
    """Return whether this user may make a small file system of its own."""
    place = work / "mount"
    place.mkdir()
    try:
        _mount(place)
    except (OSError, subprocess.CalledProcessError):
        return False
    _unmount(place)
    return True


def _mount(folder: Path, *options: str) -> None:
    subprocess.run(["mount", "-t", "tmpfs", *options, "tmpfs", str(folder)], check=True, capture_output=True)  # noqa: S607


def _unmount(folder: Path) -> None:
    subprocess.run(["umount", str(folder)], check=True)  # noqa: S607
