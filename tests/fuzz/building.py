"""The fuzzers of the C++ core as programs: targets, the files they need, the sanitizers."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
TARGETS = sorted(HERE.glob("fuzz_*.cpp"))
FLAGS = (
    *("-std=c++20", "-O1", "-g1", "-fno-omit-frame-pointer", "-pthread"),
    *("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
    *("-Wall", "-Wextra", "-Wpedantic", "-Werror"),
)


def sources_of_core() -> list[Path]:
    """Return the files of the core that do without Python."""
    files = sorted((REPOSITORY / "cpp").glob("*.cpp"))
    return [
        file for file in files if "nanobind" not in file.read_text() and "python.hpp" not in file.read_text()
    ]


def sources_of(target: Path) -> list[Path]:
    """Return the target, the driver and the files of the core they need.

    A header `x.hpp` stands for the files that carry it out: `x.cpp`, and `x_part.cpp` if there are parts.
    """
    found, waiting = {HERE / "driver.cpp"}, [target]
    while waiting:
        file = waiting.pop()
        found.add(file)
        for name in re.findall(r'^#include "(\w+)\.hpp"', file.read_text(), re.MULTILINE):
            carriers = [other for other in sources_of_core() if f"{other.stem}_".startswith(f"{name}_")]
            header = REPOSITORY / "cpp" / f"{name}.hpp"
            waiting += [other for other in (header, *carriers) if other not in found]
    return sorted(file for file in found if file.suffix == ".cpp")


def compile_object(compiler: str, source: Path, folder: Path) -> Path:
    """Return the object file of a source, from an earlier run if nothing it could include has changed."""
    headers = sorted((REPOSITORY / "cpp").glob("*.hpp"))
    contents = b"".join(file.read_bytes() for file in (source, *headers)) + repr((compiler, FLAGS)).encode()
    target = folder / f"{source.stem}-{hashlib.sha256(contents).hexdigest()[:16]}.o"
    if not target.exists():
        unfinished = target.with_suffix(f".{os.getpid()}")
        command = [compiler, *FLAGS, f"-I{REPOSITORY / 'cpp'}", "-c", str(source), "-o", str(unfinished)]
        subprocess.run(command, check=True)
        unfinished.replace(target)
    return target


def build(compiler: str, target: Path, program: Path) -> None:
    """Write the program that fuzzes a target."""
    folder = REPOSITORY / "build" / "fuzz"
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(lambda source: compile_object(compiler, source, folder), sources_of(target)))
    subprocess.run([compiler, *FLAGS, *map(str, objects), "-o", str(program)], check=True)


def seeds_of(target: Path) -> Path:
    """Return the texts that a target starts from: its own, or URLs."""
    own = HERE / f"seeds_{target.stem.removeprefix('fuzz_')}.txt"
    return own if own.exists() else HERE / "seeds_url.txt"
