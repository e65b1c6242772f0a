"""The methods that can be compared: what each makes of training data, and of a URL afterwards.

A method that is not there (a learner not built, a package not installed) is not in the list. Beside the
learners are what people use today instead of learned rules, where it is installed, and one caricature.

The canonicalizer follows the first rule that changes a URL, again and again. The papers differ: so each way
is written down here, and a comparison reports where it makes a difference. All start from the normal form,
and all end with the masks, since an ignored part is written as `*` in every paper.

The published figures are what the papers report of these methods, for the table with both. Figures of one
site are means: totals of tables by the number of sites. Only what is printed is here, and a figure that a
paper does not have is left out. The papers count on other sites and with other bounds, so these figures say
what to expect, not what to reach.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.errors import UndustError
from undust.learning import requirements_from
from undust.learning.edited import combined_rules, edited_rules
from undust.learning.single_methods import Job, learn_sites
from undust.measuring.measures import Ranking, interleaved
from undust.proposing import papers
from undust.rules import RuleSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from undust.learning import Requirements, SiteRules
    from undust.learning.single_methods import MethodOutcome
    from undust.pages.clustering import Duplicates, SiteClusters
    from undust.rules import Rule

    Function = Callable[[str], str]
    Images = Callable[[pa.Array], pa.Array]


PASSES = 10
"""MA of DustBuster: the number of passes over all rules."""


def in_passes(rules: RuleSet, urls: pa.Array, threads: int = 1) -> pa.Array:
    """DustBuster, phase 5: rule after rule, each until it changes nothing, and all that up to ten times.

    A single rule runs to its end rather than ten times; a growing rule, which has none, does nothing.
    """
    turning, masks = _apart(rules)
    images = RuleSet().compile().batch(urls, threads=threads).cast(pa.large_string())
    passing = _Passing(turning, threads)
    for _ in range(PASSES):
        before = images
        images = passing.once_through(images)
        if images.equals(before):
            break
    return RuleSet(masks).compile().batch(images, keys=True, threads=threads)


class _Passing:
    """Rules that URLs go through in order; each URL only meets those that change it."""

    def __init__(self, rules: list[Rule], threads: int) -> None:
        self.every = RuleSet(rules).compile()
        self.alone = [RuleSet([rule]).compile() for rule in rules]
        self.threads = threads

    def once_through(self, images: pa.Array) -> pa.Array:
        """Return the URLs after each rule was applied once."""
        waiting = np.arange(len(images))
        turn = np.zeros(len(images), np.int64)
        while len(waiting):
            rows, rules = (
                each.to_numpy()
                for each in self.every.touched(images.take(pa.array(waiting)), threads=self.threads)
            )
            is_due = rules >= turn[waiting[rows]]
            rows, rules = rows[is_due], rules[is_due]
            order = np.lexsort((rules, rows))
            first = order[np.unique(rows[order], return_index=True)[1]]
            waiting, due = waiting[rows[first]], rules[first]
            images = self._changed(images, waiting, due)
            turn[waiting] = due + 1
        return images

    def _changed(self, images: pa.Array, rows: NDArray[np.int64], due: NDArray[np.int64]) -> pa.Array:
        mask = np.zeros(len(images), np.bool_)
        mask[rows] = True
        parts, order = [], np.lexsort((rows, due))
        for rule, some in _groups(due[order], rows[order]):
            parts.append(self.alone[rule].batch(images.take(pa.array(some)), threads=self.threads))
        if not parts:
            return images
        back = np.argsort(rows[order], kind="stable")
        return pc.replace_with_mask(images, pa.array(mask), pa.concat_arrays(parts).take(pa.array(back)))


def _groups(keys: NDArray[np.int64], values: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    starts = [*np.flatnonzero(np.diff(keys, prepend=-1)), len(keys)]
    for start, end in pairwise(starts):
        yield int(keys[start]), values[start:end]


def once(rules: RuleSet, urls: pa.Array, threads: int = 1) -> pa.Array:
    """One step: the first rule that changes a URL does so once, and that is all.

    With the most specific rules first this is what Dasgupta et al. need, with the highest support first
    what DUSTER does, and with the rules that selection kept what the pattern tree does.
    """
    turning, masks = _apart(rules)
    step = RuleSet(turning).program.step
    images = pa.array([step(url)[1] for url in urls.to_pylist()], pa.string())
    return RuleSet(masks).compile().batch(images, keys=True, threads=threads)


PUBLISHED_APPLICATIONS: Mapping[str, Callable[[RuleSet, pa.Array, int], pa.Array]] = {
    "substring": in_passes,
    "rewrite": once,
    "tree": once,
    "alignment": once,
}
"""By learner: what its paper makes of URLs, given the rules in the published order."""


def _apart(rules: RuleSet) -> tuple[list[Rule], list[Rule]]:
    """Return the active rules that turn a URL into another, and those that only mask it."""
    active = [rule for rule in rules if rule.status == "active"]
    masks = [rule for rule in active if ":any}" in (rule.target or "")]
    return [rule for rule in active if rule not in masks], masks


class PublishedFigure(NamedTuple):
    """One line of a published table."""

    method: str
    """As `compare` calls it."""
    paper: str
    candidates: float | None = None
    """Before any filter, for one site; of all sites where the paper has no number of sites."""
    valid: float | None = None
    """The share of these that passed the proof."""
    rules: float | None = None
    """Deployed, for one site."""
    compression: float | None = None
    """The share of the URLs that is removed."""


_BAR_YOSSEF, _DASGUPTA, _LEI, _RODRIGUES = "Bar-Yossef 2006", "Dasgupta 2008", "Lei 2010", "Rodrigues 2015"
"""First authors: four sites; 360 hosts, fpr at most 5 %; 200 sites, fpr at most 5 %; WBR10, fpr 0."""
PUBLISHED_FIGURES = (
    PublishedFigure("substring", f"{_BAR_YOSSEF}, forum", 37, 7 / 37, 7, 0.047),
    PublishedFigure("substring", f"{_BAR_YOSSEF}, academic", 2_041, 52 / 2_041, 52, 0.18),
    PublishedFigure("substring", f"{_BAR_YOSSEF}, large news", 1_243, 62 / 1_243, 62, 0.06),
    PublishedFigure("substring", f"{_BAR_YOSSEF}, small news", 96, 5 / 96, 5, 0.26),
    PublishedFigure("rewrite-5", _LEI, 52_577 / 200, 19_754 / 52_577, 10_433 / 200, 0.188),
    PublishedFigure("rewrite-10", _LEI, 36_149 / 200, 13_813 / 36_149, 7_434 / 200, 0.16),
    PublishedFigure("rewrite-10", _DASGUPTA, None, None, 166_000 / 360, 0.21),
    PublishedFigure("rewrite-10", _RODRIGUES, 31_565, 1_985 / 31_565),
    PublishedFigure("rewrite-30", _DASGUPTA, None, None, 21_000 / 360, 0.16),
    PublishedFigure("tree-naive", _LEI, 14_912 / 200, 6_373 / 14_912, 2_069 / 200, 0.263),
    PublishedFigure("tree-graph", _LEI, 14_912 / 200, 6_373 / 14_912, 1_171 / 200, 0.345),
    PublishedFigure("tree-graph", _RODRIGUES, 6_974, 1_575 / 6_974),
    PublishedFigure("alignment", _RODRIGUES, 786, 577 / 786),
)
"""Of 786 candidates 577 are 73.4 %; the paper prints 85.48 %."""


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
