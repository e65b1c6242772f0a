"""Runs the conformance file with the undust that is installed; nothing else of this repository is needed.

    python tools/conformance.py

The exit code is 1 if a case is not as the file says.
"""

from __future__ import annotations

import json
import sys
from importlib.resources import files
from typing import Any

from undust._core import parse_rule
from undust.errors import InvalidRule
from undust.rules import RuleSet
from undust.rules.problems import asked


def spelled_out(rule: dict[str, Any]) -> dict[str, Any]:
    """Return a rule with the keys of a rule file."""
    if "text" not in rule:
        return rule
    kind, source, target, when, unless = asked(parse_rule, rule["text"])
    said = {"kind": kind, "from": source, "to": target, "when": when, "unless": unless}
    return {key: value for key, value in rule.items() if key != "text"} | said


def holds(case: dict[str, Any]) -> bool:
    """Return whether a case is as the file says."""
    try:
        canonicalize = RuleSet([spelled_out(rule) for rule in case["rules"]]).compile()
    except InvalidRule as problem:
        return "error" in case and case["error"].lower() in str(problem).lower()
    if "error" in case:
        return False
    asked_for = (case["url"], case["canonical"])
    return all(
        (canonicalize(url), canonicalize.key(url)) == (case["canonical"], case["key"]) for url in asked_for
    )


def main() -> None:
    """Run all cases."""
    lines = files("undust").joinpath("rules/conformance.jsonl").read_text("utf-8").splitlines()
    wrong = [case["about"] for case in map(json.loads, lines) if not holds(case)]
    if wrong:
        sys.exit(f"{len(wrong)} of {len(lines):,} cases are not as the conformance file says: {wrong[:5]}")
    print(f"{len(lines):,} cases, all as the conformance file says")


if __name__ == "__main__":
    main()
