"""Writes docs/dependencies.md: every package that undust or one of its extras brings along, and its licence.

    python -m tools.dependencies

What is told comes from the packages that are installed; versions are those of constraints.txt. A test fails
when the page is not what this tool would write, or when a licence is none of those that are allowed.
"""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from packaging.requirements import Requirement

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from email.message import Message

REPOSITORY = Path(__file__).resolve().parent.parent
PAGE = REPOSITORY / "docs" / "dependencies.md"
CORE = "undust"
EVERYTHING = "all"
"""The extra that brings the others."""
NAMES = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""The identifiers (SPDX) of what older packages call their licence."""
ALLOWED = {
    *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "MIT", "MIT-0", "PSF-2.0", "Zlib"),
    *("ZPL-2.1", "MPL-2.0"),
}
"""Permissive; and the MPL, which asks for changes of its own files and nothing else."""
HEAD = """# Dependencies

What `pip install undust` and its extras bring along, whole chains included, in the versions that are tested.
`python -m tools.dependencies` writes this page from what is installed; a test fails when it lags behind.
All licences are permissive, or the MPL 2.0, which concerns changes of its own files only.
A package under the GPL or AGPL fails the test.

"""


class Package(NamedTuple):
    """A package that comes along."""

    name: str
    version: str
    licence: str
    wanted_by: tuple[str, ...]
    """`undust` itself, or its extras."""


def normal(name: str) -> str:
    """Return the one spelling of a package's name."""
    return re.sub(r"[-_.]+", "-", name).lower()


def licence_of(metadata: Message) -> str:
    """Return what a package says about its licence, as SPDX has it where it can be told."""
    if expression := metadata.get("License-Expression"):
        return str(expression)
    kinds = [
        line.rpartition(" :: ")[2]
        for line in metadata.get_all("Classifier", [])
        if line.startswith("License :: OSI Approved ::")
    ]
    found = " AND ".join(NAMES.get(kind, kind) for kind in kinds)
    return found or (metadata.get("License") or "unknown").partition("\n")[0]


def is_allowed(licence: str) -> bool:
    """Return whether every licence that a package is under, or one of those to choose from, is allowed."""
    choices = licence.split(" OR ")
    return any(all(part.strip(" ()") in ALLOWED for part in choice.split(" AND ")) for choice in choices)


def chain_of(requirements: Iterable[str]) -> Iterator[str]:
    """Give the names of all packages that some requirements bring along on this machine."""
    waiting = [Requirement(text) for text in requirements]
    met: set[str] = set()
    while waiting:
        wanted = waiting.pop()
        key = str(wanted)
        if key in met or (wanted.marker and not wanted.marker.evaluate({"extra": ""})):
            continue
        met.add(key)
        try:
            found = distribution(wanted.name)
        except PackageNotFoundError:
            continue  # not for this Python
        yield normal(wanted.name)
        for text in found.requires or []:
            inner = Requirement(text)
            extras = ["", *sorted(wanted.extras)]
            if inner.marker is None or any(inner.marker.evaluate({"extra": extra}) for extra in extras):
                inner.marker = None
                waiting.append(inner)


def pins() -> dict[str, str]:
    """Return the versions that are tested."""
    lines = (REPOSITORY / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.partition("==")[::2] for line in lines if "==" in line and not line.startswith("#"))
    return {normal(name): version.split()[0] for name, version in pairs}


def packages() -> list[Package]:
    """Return everything that comes along, by name."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted: dict[str, list[str]] = {}
    for who, requirements in {CORE: project["dependencies"], **project["optional-dependencies"]}.items():
        if who == EVERYTHING:
            continue
        for name in sorted(set(chain_of(requirements)) - {CORE}):
            wanted.setdefault(name, []).append(who)
    pinned = pins()
    return [
        Package(name, pinned.get(name, "?"), licence_of(distribution(name).metadata), tuple(who))  # type: ignore[arg-type]
        for name, who in sorted(wanted.items())
    ]


def row(package: Package) -> str:
    """Return the line of a package."""
    who = CORE if CORE in package.wanted_by else ", ".join(f"`[{extra}]`" for extra in package.wanted_by)
    return f"| {package.name} | {package.version} | {package.licence} | {who} |"


def main() -> None:
    """Write the page."""
    rows = "\n".join(map(row, packages()))
    PAGE.write_text(
        f"{HEAD}| package | version | licence | comes with |\n|---|---|---|---|\n{rows}\n", encoding="utf-8"
    )
    print(f"wrote {PAGE.relative_to(REPOSITORY)}")


if __name__ == "__main__":
    main()
