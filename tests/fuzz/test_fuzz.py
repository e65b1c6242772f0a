"""The C++ core under AddressSanitizer and UBSan, fed with bytes that nobody would write.

Each `fuzz_*.cpp` here is a target. It is built with the core and `driver.cpp`, and starts from the
texts in its `seeds_*.txt`, or from URLs. `UNDUST_FUZZ_SECONDS` and `UNDUST_FUZZ_COUNT` bound each run.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
TARGETS = sorted(HERE.glob("fuzz_*.cpp"))
FLAGS = (
    *("-std=c++20", "-O1", "-g", "-fno-omit-frame-pointer", "-pthread"),
    *("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
    *("-Wall", "-Wextra", "-Wpedantic", "-Werror"),
)


def sources_of_core() -> list[Path]:
    """Return the files of the core that do without Python."""
    files = sorted((REPOSITORY / "cpp").glob("*.cpp"))
    return [
        file for file in files if "nanobind" not in file.read_text() and "python.hpp" not in file.read_text()
    ]


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


@pytest.fixture(scope="module")
def objects(compiler: str) -> dict[str, Path]:
    """Return every object file by the name of its source."""
    folder = REPOSITORY / "build" / "fuzz"
    folder.mkdir(parents=True, exist_ok=True)
    sources = [*sources_of_core(), HERE / "driver.cpp", *TARGETS]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        files = list(pool.map(lambda source: compile_object(compiler, source, folder), sources))
    return {source.stem: file for source, file in zip(sources, files, strict=True)}


@pytest.mark.parametrize("target", [target.stem for target in TARGETS])
def test_no_input_breaks_the_core(
    target: str, compiler: str, objects: dict[str, Path], tmp_path: Path
) -> None:
    """No input reads or writes out of bounds, leaks, overflows, or breaks a promise of the target."""
    program = tmp_path / target
    others = {other.stem for other in TARGETS} - {target}
    linked = [str(file) for name, file in objects.items() if name not in others]
    subprocess.run([compiler, *FLAGS, *linked, "-o", str(program)], check=True)
    own_seeds = HERE / f"seeds_{target.removeprefix('fuzz_')}.txt"
    seeds = own_seeds if own_seeds.exists() else HERE / "seeds_url.txt"
    count, seconds = (os.environ.get(f"UNDUST_FUZZ_{bound}", "") for bound in ("COUNT", "SECONDS"))
    command = [str(program), str(seeds), count or "1000000000", seconds or "20"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stderr[-6000:]
    assert "no finding" in done.stdout


def test_the_core_is_fuzzed_without_python() -> None:
    """Only the border to Python is left out, so a new file of the core is under the sanitizers at once."""
    left_out = {file.name for file in (REPOSITORY / "cpp").glob("*.cpp")} - {
        f.name for f in sources_of_core()
    }
    assert all(name.endswith("bindings.cpp") for name in left_out)
