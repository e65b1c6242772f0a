"""The C++ core under AddressSanitizer and UBSan, fed with bytes that nobody would write.

Each `fuzz_*.cpp` here is a target. It is built with the core and `driver.cpp`, and starts from the
texts in its `seeds_*.txt`, or from URLs. `UNDUST_FUZZ_SECONDS` and `UNDUST_FUZZ_COUNT` bound each run.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

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


@pytest.fixture(scope="module")
def compiler() -> str:
    """Return the C++ compiler that the core is built with."""
    found = shutil.which(os.environ.get("CXX", "g++"))
    if found is None:
        pytest.skip("no C++ compiler to build the fuzzers with; install g++")
    return found


def build(compiler: str, target: Path, program: Path) -> None:
    """Write the program that fuzzes a target."""
    folder = REPOSITORY / "build" / "fuzz"
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(lambda source: compile_object(compiler, source, folder), sources_of(target)))
    subprocess.run([compiler, *FLAGS, *map(str, objects), "-o", str(program)], check=True)


@pytest.mark.timeout(900)  # the first build on a slow machine takes long
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.stem)
def test_no_input_breaks_the_core(target: Path, compiler: str, tmp_path: Path) -> None:
    """No input reads or writes out of bounds, leaks, overflows, or breaks a promise of the target."""
    program = tmp_path / target.stem
    build(compiler, target, program)
    own_seeds = HERE / f"seeds_{target.stem.removeprefix('fuzz_')}.txt"
    seeds = own_seeds if own_seeds.exists() else HERE / "seeds_url.txt"
    count, seconds = (os.environ.get(f"UNDUST_FUZZ_{bound}", "") for bound in ("COUNT", "SECONDS"))
    command = [str(program), str(seeds), count or "1000000000", seconds or "5"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stderr[-6000:]
    assert "no finding" in done.stdout


def test_every_file_of_the_core_is_fuzzed() -> None:
    """A new file of the core needs a target, so that it is under the sanitizers at once."""
    fuzzed = {source for target in TARGETS for source in sources_of(target)}
    assert sorted(file.name for file in set(sources_of_core()) - fuzzed) == []
