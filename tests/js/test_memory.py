"""What js/memory.cpp does in place of the C library: the same, for every size and every overlap."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.js.package import PACKAGE, run

FUNCTIONS = ("memcpy", "memmove", "memset", "memcmp", "memchr")
COMPILED = ("-target", "wasm32-wasi", "-mcpu=generic+simd128", "-std=c++20", "-O2", "-fno-builtin")


def test_it_does_what_plain_loops_do(tmp_path: Path) -> None:
    """Sizes up to some blocks of sixteen bytes, and all ways in which two texts can overlap."""
    pytest.importorskip("ziglang")
    compiled, module = tmp_path / "memory.o", tmp_path / "memory.wasm"
    zig = [sys.executable, "-m", "ziglang"]
    subprocess.run([*zig, "c++", *COMPILED, "-c", PACKAGE / "memory.cpp", "-o", compiled], check=True)
    exports = [f"--export={name}" for name in FUNCTIONS]
    subprocess.run([*zig, "wasm-ld", "--no-entry", *exports, compiled, "-o", module], check=True)
    assert int(run("node", Path(__file__).with_name("memory.mjs"), module)) > 30_000
