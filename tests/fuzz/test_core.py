"""The C++ core under AddressSanitizer and UBSan, fed with bytes that nobody would write.

Each `fuzz_*.cpp` here is a target. It is built with the core and `driver.cpp`, and starts from the
texts in its `seeds_*.txt`, or from URLs. `UNDUST_FUZZ_SECONDS` and `UNDUST_FUZZ_COUNT` bound each run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tests.fuzz.building import TARGETS, build, seeds_of, sources_of, sources_of_core

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def compiler() -> str:
    """Return the C++ compiler that the core is built with."""
    found = shutil.which(os.environ.get("CXX", "g++"))
    if found is None:
        pytest.skip("no C++ compiler to build the fuzzers with; install g++")
    return found


EVERY = 4
"""Days after which each target was built and run once by the slow tests; `-m huge` has the others."""


def of_today(target: Path) -> bool:
    """Whether it is this target's turn: building all of them takes minutes."""
    return (TARGETS.index(target) + datetime.now(UTC).toordinal()) % EVERY == 0


@pytest.mark.timeout(900)  # the first build on a slow machine takes long
@pytest.mark.parametrize(
    "target",
    [
        pytest.param(each, marks=pytest.mark.slow if of_today(each) else pytest.mark.huge, id=each.stem)
        for each in TARGETS
    ],
)
def test_no_input_breaks_the_core(target: Path, compiler: str, tmp_path: Path) -> None:
    """No input reads or writes out of bounds, leaks, overflows, or breaks a promise of the target."""
    program = tmp_path / target.stem
    build(compiler, target, program)
    count, seconds = (os.environ.get(f"UNDUST_FUZZ_{bound}", "") for bound in ("COUNT", "SECONDS"))
    command = [str(program), str(seeds_of(target)), count or "1000000000", seconds or "5"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stderr[-6000:]
    assert "no finding" in done.stdout


def test_every_file_of_the_core_is_fuzzed() -> None:
    """A new file of the core needs a target, so that it is under the sanitizers at once."""
    fuzzed = {source for target in TARGETS for source in sources_of(target)}
    assert sorted(file.name for file in set(sources_of_core()) - fuzzed) == []
