"""Learns URL rewrite rules that send duplicate URLs to one canonical form."""

from importlib import import_module

TYPE_CHECKING = False  # as checkers of types know it; `typing` takes as long to load as Python itself
if TYPE_CHECKING:
    from undust.engines.local import LocalEngine
    from undust.engines.spark import SparkEngine
    from undust.errors import UndustError
    from undust.exports import export
    from undust.imports import import_rules
    from undust.pipeline import (
        compare,
        evaluate,
        find_duplicates,
        learn,
        propose,
        prove,
        read,
        report,
        split,
        validate,
    )
    from undust.rules import Canonicalizer, Rule, RuleSet, load
    from undust.urls.normalize import normalize

__all__ = [
    "Canonicalizer",
    "LocalEngine",
    "Rule",
    "RuleSet",
    "SparkEngine",
    "UndustError",
    "compare",
    "evaluate",
    "export",
    "find_duplicates",
    "import_rules",
    "learn",
    "load",
    "normalize",
    "propose",
    "prove",
    "read",
    "report",
    "split",
    "validate",
]

_HOMES = {
    "Canonicalizer": "undust.rules",
    "LocalEngine": "undust.engines.local",
    "Rule": "undust.rules",
    "RuleSet": "undust.rules",
    "SparkEngine": "undust.engines.spark",
    "UndustError": "undust.errors",
    "compare": "undust.pipeline",
    "evaluate": "undust.pipeline",
    "export": "undust.exports",
    "find_duplicates": "undust.pipeline",
    "import_rules": "undust.imports",
    "learn": "undust.pipeline",
    "load": "undust.rules",
    "normalize": "undust.urls.normalize",
    "propose": "undust.pipeline",
    "prove": "undust.pipeline",
    "read": "undust.pipeline",
    "report": "undust.pipeline",
    "split": "undust.pipeline",
    "validate": "undust.pipeline",
}


def __getattr__(name: str) -> object:
    # Loaded at first use: the command and many a script need only one of these.
    if name not in _HOMES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
