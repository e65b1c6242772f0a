"""Pythons that wheels are built for and tried with, asked what they are."""

from __future__ import annotations

import json
import subprocess
from typing import NamedTuple

STABLE = "312"
"""The first Python whose stable ABI has all that nanobind needs."""

ASK = """
import json, sys
print(json.dumps({
    "version": f"{sys.version_info.major}{sys.version_info.minor}",
    "is_free_threaded": "t" in sys.abiflags,
    "system": sys.implementation._multiarch,
}))
"""
ASK_FOR_HEADERS = 'import sysconfig; print(sysconfig.get_path("include"))'


class PythonBuild(NamedTuple):
    """What an extension module is compiled for: a version of Python on a system."""

    version: str
    """As tags of wheels have it: 313."""
    is_free_threaded: bool
    system: str = ""
    """As names of extension modules have it: x86_64-linux-gnu."""

    @classmethod
    def of(cls, *python: str) -> PythonBuild:
        """Return that of an interpreter, given as the words of a command."""
        asked = subprocess.run([*python, "-c", ASK], check=True, capture_output=True, text=True)
        return cls(**json.loads(asked.stdout))

    @property
    def abi(self) -> str:
        """Return how wheels call what its extension modules are compiled against.

        >>> PythonBuild("313", is_free_threaded=True).abi
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

        >>> [PythonBuild(version, is_free_threaded=False).tag for version in ("311", "313")]
        ['cp311-cp311', 'cp312-abi3']
        """
        return f"cp{STABLE}-abi3" if self.is_stable else f"cp{self.version}-{self.abi}"

    def module_name(self, system: str) -> str:
        """Return how the file of an extension module is called on a system.

        >>> PythonBuild("311", is_free_threaded=False).module_name("x86_64-linux-gnu")
        '_core.cpython-311-x86_64-linux-gnu.so'
        """
        return "_core.abi3.so" if self.is_stable else f"_core.cpython-{self.abi[2:]}-{system}.so"

    def takes(self, wheel: str) -> bool:
        """Return whether a wheel of this name, for Linux, is for this Python.

        >>> python = PythonBuild("314", is_free_threaded=False, system="aarch64-linux-musl")
        >>> python.takes("undust-0.1.0-cp312-abi3-musllinux_1_2_aarch64.whl")
        True
        >>> python.takes("undust-0.1.0-cp312-abi3-manylinux_2_28_aarch64.whl")
        False
        """
        *_, version, abi, platform = wheel.removesuffix(".whl").split("-")
        machine, _, library = self.system.partition("-linux-")
        kinds = ("musllinux_",) if library == "musl" else ("manylinux_", "linux_")
        is_own = f"{version}-{abi}" in (self.tag, f"cp{self.version}-{self.abi}")
        return is_own and platform.startswith(kinds) and platform.endswith(machine)


def headers_of(python: str) -> str:
    """Return the folder with the headers of an installed Python."""
    asked = subprocess.run([python, "-c", ASK_FOR_HEADERS], check=True, capture_output=True, text=True)
    return asked.stdout.strip()
