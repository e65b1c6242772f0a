"""A compiled rule file of very many rules: until it is ready, memory, answers, and damage.

    python -m bench.compiled [--rules 1000000] [--sites 200000] [--urls 1000000] [--rounds 5] [--json]

Invented rules with evidence are written as a rule file and compiled by the command. Processes, one after
another, open the compiled file and answer one URL: processor time, and how much memory more they hold than
before. Then the rule file and the compiled one give canonical forms and keys of URLs of all sites, one half
of which a rule rewrites. Files that are cut off, and files in which a bit was changed, must be refused.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time
from typing import Any

import pyarrow as pa

from bench.common import machine
from bench.rule_sets import rules_of, site_name, urls_of
from undust.errors import UndustError
from undust.rules import RuleSet, load

READY_S, MEMORY_TIMES = 0.05, 1.1
DAMAGES = 20
EVIDENCE = {
    "status": "active",
    "learned_by": "rewrite",
    "support": 120,
    "false_positives": 1,
    "fpr": 0.0083,
    "fpr_upper": 0.0211,
    "saves": 87,
    "validated": {"when": "2030-01-01T00:00:00Z", "how": "held-out"},
}
OPENING = """
import json, sys
from time import perf_counter, process_time
from undust.rules import RuleSet, load

def held():
    fields = dict(line.split(":") for line in open("/proc/self/smaps_rollup").read().splitlines()[1:])
    return int(fields["Rss"].split()[0]) * 1024

RuleSet().compile()("http://shop.test/")
before, spent, at = held(), process_time(), perf_counter()
canonicalize = load(sys.argv[1]).compile()
canonicalize(sys.argv[2])
print(json.dumps([process_time() - spent, perf_counter() - at, held() - before]))
"""


def write_rules(path: Path, sites: int, rules_per_site: int) -> None:
    """Write a rule file."""
    RuleSet([rule | EVIDENCE for rule in rules_of(sites, rules_per_site)]).save(path)


def opened(path: Path, rounds: int) -> dict[str, float]:
    """Return the least processor time and time by the clock until the file is ready, and the memory."""
    words = [sys.executable, "-c", OPENING, str(path), f"http://www.{site_name(0)}/"]
    runs = [json.loads(subprocess.run(words, check=True, capture_output=True).stdout) for _ in range(rounds)]
    spent, clock, held = (min(column) for column in zip(*runs, strict=True))
    return {"ready_seconds": spent, "ready_by_the_clock": clock, "held_bytes": held}


def answers(path: Path, urls: pa.Array) -> tuple[list[pa.Array], float]:
    """Return canonical forms and keys, and the processor time they took."""
    canonicalize = load(str(path)).compile()
    at = process_time()
    found = [canonicalize.batch(urls, keys=keys) for keys in (False, True)]
    return found, process_time() - at


def refused(path: Path, chance: random.Random) -> int:
    """Return how many of the damaged copies are refused: half are cut off, half have a bit changed."""
    data = path.read_bytes()
    copy = path.with_name("damaged.undust")
    count = 0
    for number in range(DAMAGES):
        place = chance.randrange(len(data))
        if number % 2:
            copy.write_bytes(data[:place])
        else:
            changed = bytes([data[place] ^ 1 << chance.randrange(8)])
            copy.write_bytes(data[:place] + changed + data[place + 1 :])
        try:
            load(str(copy))
        except UndustError:
            count += 1
    copy.unlink()
    return count


def measured(rules: int, sites: int, urls: int, rounds: int) -> dict[str, Any]:
    """Return all figures of a rule file of so many rules."""
    with tempfile.TemporaryDirectory() as folder:
        source, compiled = Path(folder, "rules.json"), Path(folder, "rules.undust")
        each = max(1, rules // sites)
        write_rules(source, sites, each)
        words = [sys.executable, "-m", "undust", "rules", "compile", str(source), "-o", str(compiled)]
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit("the rules could not be compiled")
        found: dict[str, Any] = {
            "rules": sites * each,
            "sites": sites,
            "json_bytes": source.stat().st_size,
            "compiled_bytes": compiled.stat().st_size,
            "compiling_seconds": usage.ru_utime + usage.ru_stime,
        }
        found |= opened(compiled, rounds)
        given = [urls_of(sites, each, urls // 2, hit=hit) for hit in (True, False)]
        column = pa.array([url for some in given for url in some])
        by_file = [answers(path, column) for path in (source, compiled)]
        found["equal_answers"] = all(map(pa.Array.equals, by_file[0][0], by_file[1][0]))
        found["answer_seconds"] = [seconds for _, seconds in by_file]
        found["refused"] = refused(compiled, random.Random(1))
    return found


def problems(found: dict[str, Any]) -> list[str]:
    """Return what is not as it is to be."""
    memory = found["held_bytes"] / found["compiled_bytes"]
    checks = {
        f"ready after {found['ready_seconds'] * 1e3:.0f} ms": found["ready_seconds"] <= READY_S,
        f"{memory:.2f} times the memory of the file": memory <= MEMORY_TIMES,
        "other answers than the rule file": found["equal_answers"],
        f"{found['refused']} of {DAMAGES} damaged files refused": found["refused"] == DAMAGES,
    }
    return [text for text, holds in checks.items() if not holds]


def main() -> None:
    """Measure and print; fail if something does not hold."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rules", type=int, default=1_000_000)
    parser.add_argument("--sites", type=int, default=200_000)
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    found = measured(options.rules, options.sites, options.urls, options.rounds)
    if options.json:
        print(json.dumps({"machine": machine()} | found))
    else:
        print(f"compiled rules ({machine()})")
        for name, value in found.items():
            print(f"  {name}: {value}")
    if wrong := problems(found):
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
