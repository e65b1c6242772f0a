"""Builds the canonicalizer as WebAssembly for the npm package in js/.

    python -m tools.wasm              # writes js/undust.wasm, inline.js and suffixes.js if out of date
    python -m tools.wasm --output DIR # builds from scratch into another folder

The compiler is Zig's clang (the package `ziglang`). It could bring a whole C and C++ library, but compiling
those takes longer than all the rest. So the few files of the C++ library that the core needs are compiled
here, from the sources in the same package, and js/runtime.cpp stands in for the C library. The same sources
and the same compiler give the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "js"
STAMP = ".built-from"
PARTS = (("host",), ("idna",), ("punycode",), ("pattern", "program", "suffixes", "url"))
"""The files of the core that the canonicalizer is made of start with these words. Those of one part are
compiled as one, the last part together with the border: engines do not inline functions of WebAssembly, so
the compiler has to, and it does so inside of one file only."""

TARGET = (
    "-target", "wasm32-wasi", "-mcpu=generic+exception_handling+simd128+bulk_memory",
    "-fwasm-exceptions", "-O2",
)  # fmt: skip
CORE = (
    "-std=c++20",
    *("-Xclang", "-target-feature", "-Xclang", "-bulk-memory"),
    *("-Xclang", "-target-feature", "-Xclang", "-bulk-memory-opt"),
)
"""Copies are calls of js/memory.cpp: the instruction that copies memory costs more than copying a URL."""
LINKED = ("--no-entry", "--gc-sections", "-s", "-z", "stack-size=1048576", "--initial-memory=4194304")
"""A megabyte of stack: the core does not recurse, and its largest frames are a few kilobytes."""
LIBRARY = {
    "libcxx/src": ("algorithm", "functional", "hash", "stdexcept", "string", "vector", "verbose_abort"),
    "libcxxabi/src": (
        "cxa_aux_runtime", "cxa_exception", "cxa_exception_storage", "cxa_handlers", "cxa_personality",
        "cxa_virtual", "private_typeinfo", "stdlib_exception", "stdlib_typeinfo",
    ),
}  # fmt: skip
"""The files of the C++ library that the core needs: sorting, texts, hash tables and exceptions."""
RUNTIME = (
    "-std=c++23", "-D_LIBCXXABI_BUILDING_LIBRARY", "-D_LIBCXXABI_HAS_NO_THREADS",
    "-D_LIBCPP_BUILDING_LIBRARY", "-DLIBCXXABI_NON_DEMANGLING_TERMINATE", "-D__WASM_EXCEPTIONS__",
)  # fmt: skip
UNWINDER = (
    "-std=c23", "-D_LIBUNWIND_HIDE_SYMBOLS", "-D_LIBUNWIND_HAS_NO_THREADS", "-D__WASM_EXCEPTIONS__",
    "-fvisibility=hidden",
)  # fmt: skip
OWN = ("border.cpp", "exception_tag.s", "memory.cpp", "runtime.cpp")


def core_sources(idea: str) -> list[Path]:
    """Return the files of the core that carry out an idea, without their border to Python."""
    found = sorted((ROOT / "cpp").glob(f"{idea}*.cpp"))
    own = re.compile(rf"{idea}(?![a-z])(?!.*bindings)")
    return [path for path in found if own.match(path.stem)]


def plain_suffix_list() -> str:
    """Return the public suffix list that undust uses without its comments, which are most of it."""
    suffix_list = files("publicsuffixlist") / "public_suffix_list.dat"
    lines = (line.split(None, 1)[:1] for line in suffix_list.read_text(encoding="utf-8").splitlines())
    rules = (words[0] for words in lines if words and not words[0].startswith("//"))
    return "".join(f"{rule}\n" for rule in rules)


def fingerprint() -> str:
    """Return a hash of everything the result depends on."""
    found = hashlib.sha256(plain_suffix_list().encode())
    found.update(version("ziglang").encode())
    own = (PACKAGE / name for name in OWN)
    for path in (*sorted((ROOT / "cpp").glob("*.?pp")), *own):
        found.update(path.name.encode() + path.read_bytes())
    found.update(Path(__file__).read_bytes())
    return found.hexdigest()


def build(output: Path) -> None:
    """Write undust.wasm, the same as a module that holds it as text, and the public suffix list."""
    with tempfile.TemporaryDirectory(prefix="undust-wasm-") as folder:
        # The largest part of the core comes last and takes half of the time, so it is started first.
        steps = [*reversed(list(_compile_core(Path(folder)))), *_compile_library(), *_compile_own()]
        objects = [Path(folder) / f"{number}.o" for number in range(len(steps))]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for done in [
                pool.submit(_zig, *step, "-o", made) for step, made in zip(steps, objects, strict=True)
            ]:
                done.result()
        _zig("wasm-ld", *LINKED, *objects, "-o", output / "undust.wasm")
    # Packed, base64 is a fifth larger: it hides that bytes repeat.
    text = (output / "undust.wasm").read_bytes().hex()
    (output / "inline.js").write_text(f'export default "{text}";\n', encoding="ascii")
    shutil.copy(ROOT / "LICENSE", output)
    suffixes = plain_suffix_list().replace("\n", "\\n")
    (output / "suffixes.js").write_text(f'export default "{suffixes}";\n', encoding="utf-8")


def _compile_core(folder: Path) -> Iterator[tuple[str | Path, ...]]:
    for part in PARTS:
        names = [path.name for idea in part for path in core_sources(idea)]
        names += ["border.cpp"] if part is PARTS[-1] else []
        source = folder / f"all_of_{part[0]}.cpp"  # not the name of a file that it includes
        source.write_text("".join(f'#include "{name}"\n' for name in names), encoding="ascii")
        yield "c++", *TARGET, *CORE, f"-I{ROOT / 'cpp'}", f"-I{PACKAGE}", "-c", source


def _compile_library() -> Iterator[tuple[str | Path, ...]]:
    library = compiler_folder() / "lib"
    parts = ("libcxxabi/include", "libcxxabi/src", "libcxx/src", "libunwind/include")
    includes = [f"-I{library / part}" for part in parts]
    for part, names in LIBRARY.items():
        for name in names:
            yield "c++", *TARGET, *RUNTIME, *includes, "-c", library / part / f"{name}.cpp"
    yield "cc", *TARGET, *UNWINDER, *includes, "-c", library / "libunwind" / "src" / "Unwind-wasm.c"


def _compile_own() -> Iterator[tuple[str | Path, ...]]:
    yield "cc", *TARGET, "-Wno-unused-command-line-argument", "-c", PACKAGE / "exception_tag.s"
    for name in ("memory.cpp", "runtime.cpp"):
        yield "c++", *TARGET, "-std=c++20", "-fno-builtin", "-c", PACKAGE / name


def compiler_folder() -> Path:
    """Return the folder of the package `ziglang`."""
    found = importlib.util.find_spec("ziglang")
    if found is None or found.origin is None:
        sys.exit("the compiler is missing; pip install ziglang")
    return Path(found.origin).parent


def _zig(*words: str | Path) -> None:
    subprocess.run([sys.executable, "-m", "ziglang", *map(str, words)], check=True)


def is_current(folder: Path) -> bool:
    """Return whether what was built into a folder is what would be built now."""
    stamp = folder / STAMP
    return stamp.exists() and stamp.read_text(encoding="ascii") == fingerprint()


def main() -> None:
    """Build what is out of date."""
    parser = argparse.ArgumentParser(prog="python -m tools.wasm", description="Builds js/undust.wasm.")
    parser.add_argument("--output", type=Path, default=PACKAGE, help="folder to write to (js/ by default)")
    output = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)
    if is_current(output):
        return
    build(output)
    (output / STAMP).write_text(fingerprint(), encoding="ascii")
    print(f"made {output / 'undust.wasm'}, {(output / 'undust.wasm').stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
