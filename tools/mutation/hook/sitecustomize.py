"""Lets one module of undust come from another file, in every Python that has this folder on its path.

Tests start processes of their own (the command, mostly), and the fault has to be there too. What is
exchanged stands in `UNDUST_MUTANT`: the module, its own file, and the file that holds the other text or
the other build.
"""

from __future__ import annotations

import json
import os
import sys
from importlib.machinery import ExtensionFileLoader, ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, ModuleType


class OtherText(SourceFileLoader):
    """Loads a module under its own file name, with another text."""

    def __init__(self, name: str, path: str, text: str) -> None:
        super().__init__(name, path)
        self.text = text

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002
        """Return the code of the other text."""
        return compile(Path(self.text).read_bytes(), self.path, "exec", dont_inherit=True)


class Exchange:
    """Finds the one module that is exchanged, and leaves all others to those who know them."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where the module comes from, if it is the one."""
        del path, target
        told = os.environ.get("UNDUST_MUTANT")
        if not told or json.loads(told)["module"] != name:
            return None
        own, other = json.loads(told)["own"], json.loads(told)["other"]
        if other.endswith(".so"):
            return spec_from_file_location(name, other, loader=ExtensionFileLoader(name, other))
        places = [str(Path(own).parent)] if own.endswith("__init__.py") else None
        return spec_from_file_location(
            name, own, loader=OtherText(name, own, other), submodule_search_locations=places
        )


sys.meta_path.insert(0, Exchange)
