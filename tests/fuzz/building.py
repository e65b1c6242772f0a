"""The fuzzers of the C++ core as programs: targets, the files they need, the sanitizers."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import groupby
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
TARGETS = sorted(HERE.glob("fuzz_*.cpp"))
FLAGS = (
    *("-std=c++20", "-O0", "-g1", "-fno-omit-frame-pointer", "-pthread"),
    *("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
    *("-Wall", "-Wextra", "-Wpedantic", "-Werror"),
)


@cache
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
            waiting += [other for other in (_header(name), *carriers) if other not in found]
    return sorted(file for file in found if file.suffix == ".cpp")


def _header(name: str) -> Path:
    """Return a header of the targets, or of the core."""
    own = HERE / f"{name}.hpp"
    return own if own.exists() else REPOSITORY / "cpp" / f"{name}.hpp"


def units_of(sources: list[Path]) -> list[tuple[Path, ...]]:
    """Return the sources in groups that are compiled as one: `x.cpp` and its parts `x_part.cpp`."""
    by_idea = groupby(sources, key=lambda source: (source.parent, source.stem.split("_")[0]))
    units = [tuple(several) for _, several in by_idea]
    return sorted(units, key=len, reverse=True)


def compile_unit(compiler: str, unit: tuple[Path, ...], folder: Path) -> Path:
    """Return the object file of some sources, from an earlier run if nothing in them has changed."""
    headers = sorted([*HERE.glob("*.hpp"), *(REPOSITORY / "cpp").glob("*.hpp")])
    contents = b"".join(file.read_bytes() for file in (*unit, *headers)) + repr((compiler, FLAGS)).encode()
    target = folder / f"{unit[0].stem}-{hashlib.sha256(contents).hexdigest()[:16]}.o"
    if not target.exists():
        unfinished = target.with_suffix(f".{os.getpid()}")
        together = "".join(f'#include "{source}"\n' for source in unit)
        command = [compiler, *FLAGS, f"-I{REPOSITORY / 'cpp'}", "-x", "c++", "-c", "-", "-o", str(unfinished)]
        subprocess.run(command, input=together, text=True, check=True)
        unfinished.replace(target)
    return target


def build(compiler: str, target: Path, program: Path) -> None:
    """Write the program that fuzzes a target."""
    folder = REPOSITORY / "build" / "fuzz"
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(
            pool.map(lambda unit: compile_unit(compiler, unit, folder), units_of(sources_of(target)))
        )
    subprocess.run([compiler, *FLAGS, *map(str, objects), "-o", str(program)], check=True)


def seeds_of(target: Path) -> Path:
    """Return the texts that a target starts from: its own, or URLs."""
    own = HERE / f"seeds_{target.stem.removeprefix('fuzz_')}.txt"
    return own if own.exists() else HERE / "seeds_url.txt"
