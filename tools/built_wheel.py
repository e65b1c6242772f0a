"""Puts a wheel together from what is already built here: the core as installed, the sources, the metadata.

    python -m tools.built_wheel DIR

It has the content of a wheel that `pip wheel .` makes, without compiling the core again; tests install it.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import re
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

from undust import _core

SOURCE = Path(__file__).resolve().parent.parent / "src"
NOT_PACKED = {"__pycache__"}


def write_wheel(folder: Path, core: Path | None = None, tag: str | None = None) -> Path:
    """Return the wheel, written into a folder; with a core of another system, under the tag of that."""
    installed = distribution("undust")
    about = {name: installed.read_text(name) or "" for name in ("METADATA", "WHEEL", "entry_points.txt")}
    about["WHEEL"] = "".join(f"{line}\n" for line in about["WHEEL"].splitlines() if line)
    own_tag = re.search(r"^Tag: (.*)$", about["WHEEL"], re.MULTILINE)
    if own_tag is None:
        sys.exit("undust is installed without the tag of its wheel; run 'make .venv/installed'")
    tag = tag or own_tag[1]
    about["WHEEL"] = about["WHEEL"].replace(own_tag[1], tag)
    home = f"undust-{installed.version}.dist-info"
    files = {f"{home}/{name}": text.encode() for name, text in about.items()}
    core = core or Path(_core.__file__)
    files[f"undust/{core.name}"] = core.read_bytes()
    for path in sorted((SOURCE / "undust").rglob("*")):
        if path.is_file() and not NOT_PACKED & set(path.parts):
            files[path.relative_to(SOURCE).as_posix()] = path.read_bytes()
    files[f"{home}/RECORD"] = _record(files, f"{home}/RECORD")
    wheel = folder / f"undust-{installed.version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in files.items():
            packed.writestr(name, data)
    return wheel


def _record(files: dict[str, bytes], own_name: str) -> bytes:
    rows = [
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')},{len(data)}"
        for name, data in files.items()
    ]
    return "".join(f"{row}\n" for row in [*rows, f"{own_name},,"]).encode()


def main() -> None:
    """Write it and print its name."""
    parser = argparse.ArgumentParser(prog="python -m tools.built_wheel", description=__doc__)
    parser.add_argument("folder", type=Path)
    print(write_wheel(parser.parse_args().folder))


if __name__ == "__main__":
    main()
