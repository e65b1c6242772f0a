"""The core with a fault in it, built in a copy of its files."""

from __future__ import annotations

import shutil
import subprocess
import sys
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from tools.mutation.trial import Exchanged

if TYPE_CHECKING:
    from tools.mutation.core_mutants import CoreMutant


class CoreCopy:
    """A copy of the core, configured once; each fault costs one file and the linking."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root, self.folder = root, folder
        self._bring_up_to_date()
        if not (folder / "build" / "CMakeCache.txt").exists():
            shutil.rmtree(folder, ignore_errors=True)
            self._bring_up_to_date()
            nanobind = [sys.executable, "-m", "nanobind", "--cmake_dir"]
            place = subprocess.run(nanobind, capture_output=True, text=True, check=True).stdout.strip()
            settings = {
                "nanobind_DIR": place,
                "Python_EXECUTABLE": sys.executable,
                "CMAKE_CXX_FLAGS_RELEASE": "-O1 -DNDEBUG",  # quick to build, and quick enough for the tests
            }
            if shutil.which("ccache"):
                settings["CMAKE_CXX_COMPILER_LAUNCHER"] = "ccache"
            self._cmake("-S", ".", "-B", "build", *(f"-D{name}={value}" for name, value in settings.items()))

    def _bring_up_to_date(self) -> None:
        """Copy what differs; what does not keeps its time, and is not compiled again."""
        for own in (self.root / "CMakeLists.txt", *sorted((self.root / "cpp").iterdir())):
            copy = self.folder / own.relative_to(self.root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            if not copy.exists() or copy.read_bytes() != own.read_bytes():
                shutil.copyfile(own, copy)

    def _cmake(self, *arguments: str) -> None:
        command = shutil.which("cmake") or str(Path(sys.executable).parent / "cmake")
        subprocess.run([command, *arguments], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)

    def build(self, mutant: CoreMutant, jobs: int) -> Exchanged:
        """Return the core with the fault; the copy is whole again afterwards."""
        file = self.folder / "cpp" / mutant.file
        text = (self.root / "cpp" / mutant.file).read_text(encoding="utf-8")
        if text.count(mutant.old) != 1:
            times = text.count(mutant.old)
            message = f"{mutant.file}: '{mutant.old}' stands there {times} times; mend core_mutants.py"
            raise ValueError(message)
        file.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        try:
            self._cmake("--build", "build", "--parallel", str(jobs))
        finally:
            file.write_text(text, encoding="utf-8")
        built = next((self.folder / "build").glob("_core*.so"))
        other = self.folder / f"{blake2b(mutant.key.encode(), digest_size=6).hexdigest()}.so"
        shutil.copy(built, other)
        return Exchanged("undust._core", other, other)
