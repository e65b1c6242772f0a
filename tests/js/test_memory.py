"""What js/memory.cpp and js/runtime.cpp do in place of the C library: the same as it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.js.package import PACKAGE, run

FUNCTIONS = ("memcpy", "memmove", "memset", "memcmp", "memchr")
MANAGERS = ("_Znwm", "_ZdlPv", "aligned_alloc", "free", "strlen", "strcmp", "wmemchr")
"""Of runtime.cpp: operators new and delete, as linkers know them, and functions of C."""
COMPILED = ("-target", "wasm32-wasi", "-mcpu=generic+simd128", "-std=c++20", "-O2", "-fno-builtin")


def test_it_does_what_plain_loops_do(tmp_path: Path) -> None:
    """Sizes up to some blocks of sixteen bytes, and all ways in which two texts can overlap."""
    assert (
        int(run("node", Path(__file__).with_name("memory.mjs"), linked("memory", FUNCTIONS, tmp_path)))
        > 30_000
    )


def test_memory_is_given_once_and_used_again(tmp_path: Path) -> None:
    """No two blocks overlap, each is aligned as asked, and freed memory is used again."""
    module = linked("runtime", MANAGERS, tmp_path)
    assert int(run("node", Path(__file__).with_name("runtime.mjs"), module)) > 10_000


def linked(name: str, functions: tuple[str, ...], folder: Path) -> Path:
    """Return a module of one file, with these functions for JavaScript."""
    pytest.importorskip("ziglang")
    compiled, module = folder / f"{name}.o", folder / f"{name}.wasm"
    zig = [sys.executable, "-m", "ziglang"]
    subprocess.run([*zig, "c++", *COMPILED, "-c", PACKAGE / f"{name}.cpp", "-o", compiled], check=True)
    exports = [f"--export={function}" for function in functions]
    subprocess.run([*zig, "wasm-ld", "--no-entry", *exports, compiled, "-o", module], check=True)
    return module
