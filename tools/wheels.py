"""Builds wheels on this machine for it and for others, and checks them.

    python -m tools.wheels dist                                    # for this system
    python -m tools.wheels dist --target x86_64-linux-musl         # for another one; may be repeated
    python -m tools.wheels dist --check                            # does the core compile for every target?

Other Linux systems are built for with Zig's clang (the package `ziglang`) and the headers of the Python that
runs this: those are the same on all 64-bit Linux systems. A wheel for this system is installed into an empty
environment, where the conformance file must hold. Wheels for macOS and Windows, and for other versions of
Python, are made by .github/workflows/wheels.yml; here only the core itself is compiled for them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

import nanobind

from tools.built_wheel import write_wheel

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


def zig(*words: str | Path) -> None:
    """Run Zig's compiler."""
    subprocess.run([sys.executable, "-m", "ziglang", "c++", *map(str, words)], check=True)


def own_wheel(folder: Path) -> Path:
    """Return a wheel for this system, made as pip makes it."""
    words = ["--quiet", "--no-deps", "--build-constraint", ROOT / "constraints.txt", "--wheel-dir", folder]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *map(str, words), str(ROOT)], check=True)
    return max(folder.glob("undust-*.whl"), key=os.path.getmtime)


def other_wheel(target: WheelTarget, folder: Path) -> Path:
    """Return a wheel for another Linux system, with a core that Zig compiled."""
    home = Path(nanobind.__file__).parent
    includes = [
        sysconfig.get_path("include"),
        home / "include",
        home / "ext" / "robin_map" / "include",
        ROOT / "cpp",
    ]
    flags = ["-std=c++20", "-O2", "-fPIC", "-fvisibility=hidden", "-fno-strict-aliasing", "-DNDEBUG", "-s"]
    sources = [*sorted((ROOT / "cpp").glob("*.cpp")), home / "src" / "nb_combined.cpp"]
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    with tempfile.TemporaryDirectory(prefix="undust-wheel-") as made:
        core = Path(made) / f"_core.cpython-{tag[2:]}-{target.suffix}.so"
        zig(
            "-target",
            target.zig,
            "-shared",
            *flags,
            *(f"-I{path}" for path in includes),
            *sources,
            "-o",
            core,
        )
        return write_wheel(folder, core, f"{tag}-{tag}-{target.platform}")


def check(target: WheelTarget) -> None:
    """Compile the core, without its border to Python, for a system."""
    sources = [path for path in sorted((ROOT / "cpp").glob("*.cpp")) if "bindings" not in path.stem]
    with tempfile.TemporaryDirectory(prefix="undust-check-") as made:
        for source in sources:
            compiled = Path(made) / f"{source.stem}.o"
            zig("-target", target.zig, "-std=c++20", "-O0", f"-I{ROOT / 'cpp'}", "-c", source, "-o", compiled)
    print(f"compiles  {len(sources)} files of the core for {target.zig}", flush=True)


def try_out(wheel: Path) -> None:
    """Install a wheel of this system into an empty environment and run the conformance file there."""
    with tempfile.TemporaryDirectory(prefix="undust-try-") as folder:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        python = Path(folder) / "bin" / "python"
        words = [
            "--quiet",
            "--disable-pip-version-check",
            "--constraint",
            f"{ROOT / 'constraints.txt'}",
            str(wheel),
        ]
        subprocess.run([sys.executable, "-m", "pip", "--python", python, "install", *words], check=True)
        subprocess.run([python, ROOT / "tools" / "conformance.py"], check=True, cwd=folder)


def main() -> None:
    """Build, check, print."""
    names = [target.zig for target in TARGETS]
    parser = argparse.ArgumentParser(prog="python -m tools.wheels", description="Builds wheels.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target", action="append", choices=[each.zig for each in TARGETS if each.platform])
    parser.add_argument("--check", action="store_true", help=f"compile the core for {', '.join(names)}")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    if asked.check:
        for target in TARGETS:
            check(target)
        return
    if not asked.target:
        wheel = own_wheel(asked.folder)
        print(f"made      {wheel.name}", flush=True)
        try_out(wheel)
    for target in TARGETS:
        if target.zig in (asked.target or ()):
            wheel = other_wheel(target, asked.folder)
            with zipfile.ZipFile(wheel) as packed:
                packed.testzip()
            print(f"made      {wheel.name}", flush=True)


if __name__ == "__main__":
    main()
