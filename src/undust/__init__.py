"""Learns URL rewrite rules that send duplicate URLs to one canonical form."""

from importlib import import_module

from undust.display import DRAWERS as _DRAWERS

TYPE_CHECKING = False  # as checkers of types know it; `typing` takes as long to load as Python itself
if TYPE_CHECKING:
    from undust.crawling import CrawlLearner
    from undust.engines.local import LocalEngine
    from undust.engines.spark import SparkEngine
    from undust.errors import UndustError
    from undust.exchange.imports import import_rules
    from undust.jobs.evaluate import compare, evaluate
    from undust.jobs.exchange import export
    from undust.jobs.find_duplicates import find_duplicates, split
    from undust.jobs.learn import learn, propose, prove
    from undust.jobs.learn_result import LearnResult
    from undust.jobs.read import read
    from undust.jobs.report import report
    from undust.jobs.validate import validate
    from undust.rules import Canonicalizer, Rule, RuleSet, load
    from undust.urls.url import normalize

__all__ = [
    "Canonicalizer",
    "CrawlLearner",
    "LearnResult",
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
    "CrawlLearner": "undust.crawling",
    "LearnResult": "undust.jobs.learn_result",
    "LocalEngine": "undust.engines.local",
    "Rule": "undust.rules",
    "RuleSet": "undust.rules",
    "SparkEngine": "undust.engines.spark",
    "UndustError": "undust.errors",
    "compare": "undust.jobs.evaluate",
    "evaluate": "undust.jobs.evaluate",
    "export": "undust.jobs.exchange",
    "find_duplicates": "undust.jobs.find_duplicates",
    "import_rules": "undust.exchange.imports",
    "learn": "undust.jobs.learn",
    "load": "undust.rules",
    "normalize": "undust.urls.url",
    "propose": "undust.jobs.learn",
    "prove": "undust.jobs.learn",
    "read": "undust.jobs.read",
    "report": "undust.jobs.report",
    "split": "undust.jobs.find_duplicates",
    "validate": "undust.jobs.validate",
}

_DRAWERS.update(
    {
        ("Evaluation", "html"): "undust.showing.words:evaluation_as_html",
        ("Rule", "html"): "undust.showing.words:rule_as_html",
        ("RuleSet", "html"): "undust.showing.words:set_as_html",
        ("RuleSet", "text"): "undust.showing.listing:as_text",
    }
)


def __getattr__(name: str) -> object:
    # Loaded at first use: the command and most scripts need only one of these.
    if name not in _HOMES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)

    try:
        value: object = getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        from undust.extras import missing_extra  # noqa: PLC0415 -- only where something is missing

        raise missing_extra(error) or error from None
    globals()[name] = value
    return value
