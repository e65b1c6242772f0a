"""Prints what undust and all of its extras ask for: a requirements file, without undust itself.

    python tools/requirements.py > requirements.txt

With it a fresh clone installs packages while the core is compiled. Nothing but Python itself is needed.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def requirements() -> list[str]:
    """Return the requirements of the base and of every extra, each once."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    found = [*project["dependencies"], *(requirement for several in extras for requirement in several)]
    return list(dict.fromkeys(one for one in found if not re.match(r"undust\b", one)))


if __name__ == "__main__":
    print(*requirements(), sep="\n")
