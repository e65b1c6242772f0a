"""The stub of the core is generated, so the checked-in one must be what the core says today."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def test_the_stub_is_what_the_core_says(repository: Path, tmp_path: Path) -> None:
    """`src/undust/_core.pyi` equals what nanobind writes; `make stub` writes it again."""
    generated = tmp_path / "_core.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "--quiet", "--module", "undust._core"]
    subprocess.run([*command, "--output-file", str(generated)], check=True, cwd=tmp_path)
    checked_in = repository / "src" / "undust" / "_core.pyi"
    assert generated.read_text(encoding="utf-8") == checked_in.read_text(encoding="utf-8"), "run: make stub"
