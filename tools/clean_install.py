"""Installs undust as strangers do, from a source archive and from a wheel, each into an empty environment.

    python -m tools.clean_install

Nothing of this checkout is on the path there, and HOME is empty. In each environment the command has to say
its version, bring a URL into its standard form, and learn the rules of the sample crawl.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LITTLE = """
import sys, undust
sys.exit(', '.join({'duckdb', 'pyspark', 'scrapy', 'pyarrow'} & set(sys.modules)) or None)
"""


class Place:
    """A folder with a home of its own, in which programs are run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        kept = ("PATH", "PIP_", "CMAKE_", "CCACHE_", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE")
        self.environment = {name: value for name, value in os.environ.items() if name.startswith(kept)}
        self.environment |= {"HOME": str(folder / "home"), "LC_ALL": "C.UTF-8"}
        (folder / "home").mkdir()

    def run(self, *words: str | Path, text: str = "") -> str:
        """Run a program; return what it prints."""
        done = subprocess.run(
            [str(word) for word in words],
            cwd=self.folder,
            env=self.environment,
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            sys.exit(f"{' '.join(map(str, words))}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
        return done.stdout

    def made_environment(self, name: str, *packages: str | Path) -> Path:
        """Return the folder of programs of a new environment with some packages in it."""
        self.run(sys.executable, "-m", "venv", self.folder / name)
        programs = self.folder / name / "bin"
        self.run(programs / "python", "-m", "pip", "install", "--quiet", *packages)
        return programs


def source_archive(place: Place) -> Path:
    """Return the archive that would be published."""
    requires = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"][
        "requires"
    ]
    programs = place.made_environment("builder", *requires)
    program = f"import os; os.chdir({str(ROOT)!r}); import scikit_build_core.build as b"
    archive = place.run(
        programs / "python", "-c", f"{program}; print(b.build_sdist({str(place.folder)!r}))"
    ).split()[-1]
    return place.folder / archive


def check(place: Place, programs: Path) -> None:
    """Exit with a message unless undust works there."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    said = place.run(programs / "undust", "--version")
    if said != f"undust {version}\n":
        sys.exit(f"undust --version says {said!r}, pyproject.toml {version}")
    if (
        place.run(programs / "undust", "normalize", text="HTTP://Shop.test:80/a/../b\n")
        != "http://shop.test/b\n"
    ):
        sys.exit("undust normalize does not")
    place.run(programs / "python", "-c", LITTLE)
    shutil.copy(ROOT / "examples" / "shop.jsonl.gz", place.folder)
    if "11 rules" not in place.run(programs / "undust", "learn", "shop.jsonl.gz", "-o", "rules.json"):
        sys.exit("undust learn does not find the rules of the sample crawl")


def main() -> None:
    """Build, install, try; twice."""
    with tempfile.TemporaryDirectory(prefix="undust-install-") as folder:
        place = Place(Path(folder))
        archive = source_archive(place)
        print(f"made     {archive.name}", flush=True)
        check(place, place.made_environment("from-archive", f"{archive}[learn]"))
        print("works    from the source archive", flush=True)
        builder = place.folder / "builder" / "bin" / "python"
        place.run(builder, "-m", "pip", "wheel", "--quiet", "--no-deps", archive)
        wheel = next(place.folder.glob("*.whl"))
        print(f"made     {wheel.name}", flush=True)
        check(place, place.made_environment("from-wheel", f"{wheel}[learn]"))
        print("works    from the wheel", flush=True)


if __name__ == "__main__":
    main()
