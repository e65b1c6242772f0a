"""How many files of the package a command goes through on the sample crawl: whoever reads it reads those.

python -m tools.entered_files                 learn, report and apply
python -m tools.entered_files report --list   the files of one command, by folder

A file is loaded when it is imported; it is entered when a function of it runs, and not only while files
are imported. Work in other processes is not seen, so everything runs in one.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SAMPLE, RULES, URLS = (ROOT / "examples" / name for name in ("shop.jsonl.gz", "rules.json", "shop.txt"))
COMMANDS = {
    "learn": (str(SAMPLE), "-o", "rules.json", "--threads", "1"),
    "report": (str(RULES), str(SAMPLE), "-o", "report.html"),
    "apply": (str(RULES), str(URLS), "-o", "applied.txt"),
}
PROGRAM = """
import json, sys, threading
entered = set()
def enter(frame, event, _):
    file = frame.f_code.co_filename
    if event == "call" and file not in entered and "/undust/" in file and not is_import(frame):
        entered.add(file)
def is_import(frame):
    while frame:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename != "<string>":
            return True
        frame = frame.f_back
    return False
sys.argv = ["undust", *sys.argv[1:]]
from undust.__main__ import main
threading.setprofile(enter)
sys.setprofile(enter)
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
finally:
    sys.setprofile(None)
    loaded = [m.__file__ for n, m in sorted(sys.modules.items()) if (n + ".").startswith("undust.")]
    loaded = [file for file in loaded if file]
    print(json.dumps([sorted(entered & set(loaded)), loaded]), file=sys.stderr)
"""


def files_of(command: str) -> tuple[list[str], list[str]]:
    """Return the files that a command enters, and those that it loads, by their paths in the package."""
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-c", PROGRAM, command, *COMMANDS[command]]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"undust {command} failed: {done.stderr.strip()}")
    entered, loaded = json.loads(done.stderr.strip().splitlines()[-1])
    return _inside(entered), _inside(loaded)


def _inside(paths: list[str]) -> list[str]:
    return sorted(path.split("/undust/")[-1] for path in paths if path.endswith(".py"))


def main() -> None:
    """Print the counts, and the files where they are asked for."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("commands", metavar="COMMAND", nargs="*", default=list(COMMANDS), help="[all three]")
    ask.add_argument("--list", action="store_true", help="print the files too; those only loaded behind a -")
    given = ask.parse_args()
    for command in given.commands:
        entered, loaded = files_of(command)
        print(f"{command}: {len(entered)} files entered, {len(loaded)} loaded")
        if given.list:
            print(*((name if name in set(entered) else f"- {name}") for name in loaded), sep="\n")


if __name__ == "__main__":
    main()
