"""The core with a fault in it, built in a copy of its files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tools.mutation.trial import Exchanged

if TYPE_CHECKING:
    from tools.mutation.core_mutants import CoreMutant


class CoreCopy:
    """A copy of the core, configured once; each fault costs one file and the linking."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root, self.folder = root, folder
        if not (folder / "build" / "CMakeCache.txt").exists():
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(root / "cpp", folder / "cpp")
            shutil.copy(root / "CMakeLists.txt", folder)
            nanobind = [sys.executable, "-m", "nanobind", "--cmake_dir"]
            place = subprocess.run(nanobind, capture_output=True, text=True, check=True).stdout.strip()
            self._cmake(
                "-S", ".", "-B", "build", f"-Dnanobind_DIR={place}", f"-DPython_EXECUTABLE={sys.executable}"
            )
            self._cmake("--build", "build", "--parallel", str(os.cpu_count() or 1))

    def _cmake(self, *arguments: str) -> None:
        command = shutil.which("cmake") or str(Path(sys.executable).parent / "cmake")
        subprocess.run([command, *arguments], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)

    def build(self, mutant: CoreMutant) -> Exchanged:
        """Return the core with the fault; the copy is whole again afterwards."""
        file = self.folder / "cpp" / mutant.file
        text = (self.root / "cpp" / mutant.file).read_text(encoding="utf-8")
        if text.count(mutant.old) != 1:
            times = text.count(mutant.old)
            message = f"{mutant.file}: '{mutant.old}' stands there {times} times; mend core_mutants.py"
            raise ValueError(message)
        file.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        try:
            self._cmake("--build", "build")
        finally:
            file.write_text(text, encoding="utf-8")
        built = next((self.folder / "build").glob("_core*.so"))
        other = self.folder / f"mutant{built.name.removeprefix('_core')}"
        shutil.copy(built, other)
        return Exchanged("undust._core", other, other)
