"""Runs the conformance file with the undust that is installed; nothing else of this repository is needed.

    python tools/conformance.py
    python tools/conformance.py --threads 8     # each of them runs all cases, with the same canonicalizers

The exit code is 1 if a case is not as the file says.
"""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from undust._core import parse_rule
from undust.errors import InvalidRule
from undust.rules import RuleSet
from undust.rules.language import asked

if TYPE_CHECKING:
    from undust.rules import Canonicalizer


def spelled_out(rule: dict[str, Any]) -> dict[str, Any]:
    """Return a rule with the keys of a rule file."""
    if "text" not in rule:
        return rule
    kind, source, target, when, unless = asked(parse_rule, rule["text"])
    said = {"kind": kind, "from": source, "to": target, "when": when, "unless": unless}
    return {key: value for key, value in rule.items() if key != "text"} | said


def compiled(case: dict[str, Any]) -> Canonicalizer | InvalidRule:
    """Return the canonicalizer of a case, or why there is none."""
    try:
        return RuleSet([spelled_out(rule) for rule in case["rules"]]).compile()
    except InvalidRule as problem:
        return problem


def holds(case: dict[str, Any], canonicalize: Canonicalizer | InvalidRule) -> bool:
    """Return whether a case is as the file says."""
    if isinstance(canonicalize, InvalidRule):
        return "error" in case and case["error"].lower() in str(canonicalize).lower()
    if "error" in case:
        return False
    asked_for = (case["url"], case["canonical"])
    return all(
        (canonicalize(url), canonicalize.key(url)) == (case["canonical"], case["key"]) for url in asked_for
    )


def wrong_cases(cases: list[dict[str, Any]], threads: int) -> set[str]:
    """Return what the cases are about that one thread or another, all at work on all cases, finds wrong."""
    with ThreadPoolExecutor(threads) as pool:
        ready = list(pool.map(compiled, cases))

        def found(_: int) -> list[str]:
            return [case["about"] for case, each in zip(cases, ready, strict=True) if not holds(case, each)]

        return {about for wrong in pool.map(found, range(threads)) for about in wrong}


def main() -> None:
    """Run all cases."""
    parser = argparse.ArgumentParser(prog="python tools/conformance.py", description="Runs all cases.")
    parser.add_argument("--threads", type=int, default=1, help="that share the canonicalizers")
    lines = files("undust").joinpath("rules/conformance.jsonl").read_text("utf-8").splitlines()
    wrong = sorted(wrong_cases([json.loads(line) for line in lines], parser.parse_args().threads))
    if wrong:
        sys.exit(f"{len(wrong)} of {len(lines):,} cases are not as the conformance file says: {wrong[:5]}")
    print(f"{len(lines):,} cases, all as the conformance file says")


if __name__ == "__main__":
    main()
