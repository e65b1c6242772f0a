"""Follows the README literally, as someone who has never heard of undust: `make stranger`.

In a fresh clone, with an empty home and only the programs that the README asks for, every command of every
`sh` and `console` block is run, in the order of the page, and every `python` block in one session. What a
page shows below a command must be what comes out; a `sh` command must end well, and what its comment says it
writes must be there. Blocks with invented file names are skipped, and named.
"""

from __future__ import annotations

import argparse
import doctest
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^```(sh|console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COLUMNS = "100"


@dataclass(frozen=True)
class Step:
    """One thing that the README says to do, and what it promises."""

    language: str
    text: str
    promise: str
    line: int


def steps_of(page: str) -> list[Step]:
    """Return every command and every Python block of a page, in order."""
    found: list[Step] = []
    for block in FENCE.finditer(page):
        language, text = block[1], block[2]
        line = page.count("\n", 0, block.start(2)) + 1
        if language == "python":
            found.append(Step(language, text, "", line))
        elif language == "sh":
            for number, row in enumerate(text.splitlines()):
                command, _, comment = row.partition("#")
                if command.strip():
                    found.append(Step(language, command.strip(), comment.strip(), line + number))
        else:
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                found.append(Step(language, command, output, line))
    return found


def invented_files(step: Step, folder: Path) -> list[str]:
    """Return the inputs of an `sh` command that nobody has: names with an ending that are no files here."""
    words = step.text.split()
    outputs = {words[place + 1] for place, word in enumerate(words[:-1]) if word in {"-o", "--report", ">"}}
    names = [word for word in words[1:] if re.fullmatch(r"[\w./-]+\.[a-z]\w*", word)]
    return [name for name in names if name not in outputs and not (folder / name).exists()]


def promised_files(step: Step) -> list[str]:
    """Return the files that the comment of a command says it writes."""
    told = re.search(r"writes (.*)$", step.promise)
    return re.findall(r"[\w-]+\.[a-z]+", told[1]) if told else []


class Stranger:
    """Somebody at a terminal in a checkout, who believes what the page says."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        path = os.pathsep.join((str(folder / ".venv" / "bin"), os.environ["PATH"]))
        self.environment = {
            "PATH": path,
            "HOME": str(home),
            "COLUMNS": COLUMNS,
            "LC_ALL": "C.UTF-8",
            "NO_COLOR": "1",
        }
        # where packages come from is for the machine to say
        kept = ("PIP_", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE")
        self.environment |= {name: value for name, value in os.environ.items() if name.startswith(kept)}
        self.python: list[Step] = []

    def follow(self, step: Step) -> str:
        """Do one step; return what is wrong with it, or nothing."""
        if step.language == "python":
            self.python.append(step)
            return self._follow_python()
        done = subprocess.run(
            ["/bin/bash", "-c", step.text],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if step.language == "console":
            return "" if done.stdout == step.promise else f"promised:\n{step.promise}came out:\n{done.stdout}"
        if done.returncode:
            return f"ended with {done.returncode}:\n{done.stdout[-3000:]}"
        missing = [name for name in promised_files(step) if not (self.folder / name).exists()]
        return f"does not write {', '.join(missing)}" if missing else ""

    def _follow_python(self) -> str:
        """Run all Python blocks so far in the environment that was made, as one session."""
        session = "".join(step.text for step in self.python)
        test = doctest.DocTestParser().get_doctest(session, {}, "README", None, 0)
        program = (
            "import doctest, sys\n"
            "test = doctest.DocTestParser().get_doctest(sys.stdin.read(), {}, 'README', None, 0)\n"
            "runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)\n"
            "sys.exit(bool(runner.run(test).failed))"
        )
        if not test.examples:
            return "a python block without an example shows nothing"
        done = subprocess.run(
            [str(self.folder / ".venv" / "bin" / "python"), "-c", program],
            cwd=self.folder,
            env=self.environment,
            input=session,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout + done.stderr if done.returncode else ""


def main() -> None:
    """Clone, follow, and say what was promised and not kept."""
    parser = argparse.ArgumentParser(description="Follow the README in a fresh clone with an empty HOME.")
    parser.add_argument("--without", action="append", default=[], help="skip this command, as 'make test'")
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="undust-stranger-") as place:
        folder, home = Path(place) / "undust", Path(place) / "home"
        home.mkdir()
        git = shutil.which("git") or "git"
        subprocess.run([git, "clone", "--quiet", str(ROOT), str(folder)], check=True)
        stranger = Stranger(folder, home)
        for step in steps_of((folder / "README.md").read_text(encoding="utf-8")):
            first = step.text.splitlines()[0]
            invented = invented_files(step, folder) if step.language == "sh" else []
            if invented or step.text in options.without:
                print(
                    f"skip   README.md:{step.line}: {first}  ({', '.join(invented) or 'as asked'})",
                    flush=True,
                )
                continue
            fault = stranger.follow(step)
            wrong += bool(fault)
            print(f"{'WRONG' if fault else 'kept '}  README.md:{step.line}: {first}", flush=True)
            if fault:
                print(fault, flush=True)
    print(
        f"\n{wrong} promises of the README were not kept" if wrong else "\nthe README keeps what it promises"
    )
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
