"""The methods that can be compared: what each makes of training data, and of a URL afterwards.

A method that is not there (a learner not built, a package not installed) is not in the list. Beside the
learners are what people use today instead of learned rules, where it is installed, and one caricature.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from undust.errors import UndustError
from undust.learning import requirements_from
from undust.learning.edited import combined_rules, edited_rules
from undust.learning.single_methods import Job, learn_sites
from undust.measuring.measures import Ranking, interleaved
from undust.measuring.published import PUBLISHED_APPLICATIONS
from undust.proposing import papers
from undust.rules import RuleSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from undust.learning import Requirements, SiteRules
    from undust.learning.single_methods import MethodOutcome
    from undust.pages.clustering import Duplicates, SiteClusters

    Function = Callable[[str], str]
    Images = Callable[[pa.Array], pa.Array]


def baselines() -> Iterator[tuple[str, Callable[[], Function]]]:
    """Yield the name of each that is there, and what gives its function from a URL to a URL.

    They are loaded only then: some take a second. A URL that one of them cannot take stays as it is.
    """
    for name, packages, make in (
        ("w3lib", ("w3lib",), _w3lib),
        ("courlan", ("courlan",), _courlan),
        (
            "duplicate-url-discarder",
            ("duplicate_url_discarder", "duplicate_url_discarder_rules"),
            _duplicate_url_discarder,
        ),
    ):
        if all(find_spec(package) for package in packages):
            yield name, make
    yield "drop-query", lambda: _drop_query


def _w3lib() -> Function:
    return careful(import_module("w3lib.url").canonicalize_url)


def _courlan() -> Function:
    courlan = import_module("courlan")

    def clean(url: str) -> str:
        text: str = courlan.normalize_url(courlan.clean_url(url) or url, strict=True) or url
        return text

    return careful(clean)


def _duplicate_url_discarder() -> Function:
    paths = import_module("duplicate_url_discarder_rules").RULE_PATHS
    suffixes = import_module("tldextract.tldextract")
    # Left alone, it fetches a suffix list at its first URL; its bundled one makes every run the same.
    vars(suffixes)["TLD_EXTRACTOR"] = suffixes.TLDExtract(suffix_list_urls=())
    canonicalizer = import_module("duplicate_url_discarder.url_canonicalizer").UrlCanonicalizer(paths or [])
    return careful(canonicalizer.process_url)


def _drop_query(url: str) -> str:
    return url.partition("#")[0].partition("?")[0]


def careful(function: Function) -> Function:
    """Return the function, giving back a URL that it fails on."""

    def image(url: str) -> str:
        try:
            return function(url)
        except (ValueError, UnicodeError):
            return url

    return image


VARIANTS: Mapping[str, tuple[tuple[str, Mapping[str, object]], ...]] = {
    "rewrite": (
        *((f"rewrite-{fanout}", {"fanout": fanout}) for fanout in (5, 10, 30)),
        ("rewrite-scaled", {"fanout": 10, "scaled": True}),
    ),
    "tree": tuple((f"tree-{selection}", {"selection": selection}) for selection in ("naive", "graph")),
    "alignment": (
        ("alignment", {}),
        ("alignment-pairs", {"sample": 2, "samples": 20, "word_runs": False}),
    ),
}
"""Learners that are shown in several settings: the name of each, and its options."""


@dataclass(frozen=True)
class Ready:
    """A method after training, for one bound on false positives."""

    images: Images
    """From URLs to what they are compared by."""
    rules: int = 0
    candidates: int = 0
    valid: int = 0
    ranking: Ranking = field(default_factory=Ranking)
    as_published: Images | None = None
    """The same rules applied as their paper does."""


@dataclass(frozen=True)
class Method:
    """A method by its name; `train` gives what it is ready to do under each bound on false positives."""

    name: str
    train: Callable[[Duplicates, Job], Callable[[float], Ready]]
    learns: bool = True
    """Whether bounds on false positives, and so a sweep over them, mean anything to it."""


def methods_named(names: Iterable[str] | None = None) -> tuple[Method, ...]:
    """Return the methods with these names, or all; the name of a learner stands for all its variants."""
    there = tuple(_all())
    if names is None:
        return there
    wanted = list(names)
    known = {method.name for method in there} | {learner.name for learner in papers.LEARNERS}
    for name in wanted:
        if name not in known:
            message = f"there is no method '{name}'; there are {', '.join(m.name for m in there)}"
            raise UndustError(message)
    return tuple(
        method for method in there if any(method.name == name or _is_variant(method, name) for name in wanted)
    )


def _is_variant(method: Method, learner: str) -> bool:
    return any(method.name == name for name, _ in VARIANTS.get(learner, ()))


def _all() -> Iterable[Method]:
    yield Method("none", _fixed(lambda urls: urls), learns=False)
    yield Method("standard", _fixed(_standard), learns=False)
    for name, make in baselines():
        yield Method(name, partial(_baseline, make), learns=False)
    for learner in papers.LEARNERS:
        for name, options in VARIANTS.get(learner.name, ((learner.name, {}),)):
            said = {f"{learner.name}.{option}": value for option, value in options.items()}
            yield Method(name, partial(_learned, learner.name, said))
    yield Method("edits", partial(_by_site, edited_rules))
    yield Method("undust", partial(_by_site, combined_rules))


def _fixed(images: Images) -> Callable[[Duplicates, Job], Callable[[float], Ready]]:
    ready = Ready(images)
    return lambda _, __: lambda ___: ready


def _baseline(make: Callable[[], Callable[[str], str]], _: Duplicates, __: Job) -> Callable[[float], Ready]:
    ready = Ready(partial(_one_by_one, make()))
    return lambda ___: ready


def _standard(urls: pa.Array) -> pa.Array:
    return RuleSet().compile().batch(urls, keys=True)


def _one_by_one(function: Callable[[str], str], urls: pa.Array) -> pa.Array:
    return pa.array([function(url) for url in urls.to_pylist()], pa.string())


def _learned(
    learner: str, options: Mapping[str, object], training: Duplicates, job: Job
) -> Callable[[float], Ready]:
    # What the person says about a learner comes last: it holds for all its variants.
    mine = replace(job, methods=(learner,), options={**options, **job.options})
    learned = learn_sites(training, mine)

    def under(max_fpr: float) -> Ready:
        again = learned.under(replace(job.demands, max_fpr=max_fpr))
        rules = again.rules
        published = PUBLISHED_APPLICATIONS.get(learner)
        return Ready(
            partial(_by_rules, rules, job.threads),
            rules=len(rules),
            candidates=again.candidates,
            valid=len(again.accepted),
            ranking=ranking_of(again),
            as_published=partial(_as_published, published, rules, job.threads) if published else None,
        )

    return under


def _by_site(
    learn: Callable[[SiteClusters, Requirements], SiteRules], training: Duplicates, job: Job
) -> Callable[[float], Ready]:
    def under(max_fpr: float) -> Ready:
        requirements = requirements_from(max_fpr, job.min_support, job.seed)
        learned = [learn(site, requirements) for site in training]
        rules = RuleSet(rule for site in learned for rule in site.rules)
        return Ready(
            partial(_by_rules, rules, job.threads),
            rules=len(rules),
            candidates=sum(site.candidates for site in learned),
            valid=len(rules),
        )

    return under


def _by_rules(rules: RuleSet, threads: int, urls: pa.Array) -> pa.Array:
    return rules.compile().batch(urls, keys=True, threads=threads)


def _as_published(published: Any, rules: RuleSet, threads: int, urls: pa.Array) -> pa.Array:  # noqa: ANN401
    return published(rules, urls, threads)


def ranking_of(learned: MethodOutcome) -> Ranking:
    """Return how the candidates of all sites rank, the best of each site first."""
    sites: dict[str, list[tuple[Any, Any, bool]]] = {}
    for verdict in learned.verdicts:
        rules = verdict.candidate.rules
        sides: Sequence[Any] = [tuple(rule.source for rule in rules), tuple(rule.target for rule in rules)]
        sites.setdefault(rules[0].site, []).append((sides[0], sides[1], verdict.accepted))
    return interleaved([Ranking.either_way(found) for found in sites.values()])
