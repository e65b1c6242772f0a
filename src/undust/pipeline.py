"""The public verbs, from files to rules."""

from __future__ import annotations

from functools import partial
from itertools import chain
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.comparison import Comparison, compare_methods, methods_named
from undust.comparison.splitting import TEST, require_both_sides, split_by_evidence, split_by_labels
from undust.content.seen import PagesSeen
from undust.content.sketch import SIZE, WORDS
from undust.duplicates import WITH_NOTES, Duplicates, Summary, find_in_site, from_note, rows_of_site
from undust.duplicates.clusters import SCHEMA as CLUSTERS
from undust.duplicates.declarations import declared_in_header, declared_in_robots
from undust.duplicates.glue import VALUES
from undust.engines import SITE
from undust.engines.local import sites_in
from undust.errors import UndustError, UnknownFormat
from undust.evaluation import evaluate as judge
from undust.evaluation.judged import has_labels, labelled_from_duplicates, labelled_from_labels
from undust.learners import learner_named
from undust.learners import propose as propose_for_site
from undust.learning import Care, Outcome, care_from, learn_site
from undust.observations import SCHEMA, FileReport, Observations, Remark, Statement, arrow_table, table_of
from undust.single import HELD_OUT, Job, learn_sites
from undust.sources import named_format
from undust.sources.files import find_files, note_unknown, read_file
from undust.sources.reading import Reading, ReadOptions
from undust.streams import STANDARD, require_readable
from undust.tree.shown import SiteTree, site_tree
from undust.urls import Url, normalize, site_of
from undust.validation import Demands, demands_from, prove_site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from undust.candidates import Proposal
    from undust.duplicates import Declaration, SiteClusters
    from undust.engines import Engine
    from undust.evaluation import Evaluation
    from undust.rules import RuleSet
    from undust.single import Learned
    from undust.validation import Verdict

COMBINED = "undust"
"""The method that is all others together."""
WITH_SITE = SCHEMA.append(pa.field(SITE, pa.string(), nullable=False))
"""Observations on their way to an engine; what is no URL belongs to the site without a name."""


def read(  # noqa: PLR0913 -- one for each thing that a person may have to say about files
    *paths: str | PathLike[str],
    format: str | None = None,  # noqa: A002 -- the name of the option
    base: str | None = None,
    columns: Mapping[str, str] | None = None,
    log_format: str | None = None,
    strict: bool = False,
    shingle_words: int = WORDS,
    sketch_size: int = SIZE,
    watch: Callable[[int, int | None], object] | None = None,
    engine: Engine | None = None,
) -> Observations:
    """Return the observations in files: paths, folders, patterns, or `-` for standard input.

    Args:
        paths: What to read; files are read in the order of their names, each once.
        format: The format of all of them, by name, where it cannot be told from their content.
        base: What stands before paths that name no host: `https://shop.test`.
        columns: Our column names to those of the tables: `{"url": "address"}`.
        log_format: The `LogFormat` or `log_format` of logs in no stock format.
        strict: Raise at the first record that cannot be read, instead of counting it.
        shingle_words: Words in a shingle of the sketches made of archived pages; 10 as published.
        sketch_size: Minima in such a sketch; 4 as published.
        watch: Is told, now and then, how many bytes were read and how many there are, if that is known.
        engine: Where the rows are kept, if there may be more than fit into memory.

    """
    if format is not None:
        named_format(format)
    options = ReadOptions(
        base, dict(columns or {}), log_format, strict, shingle_words=shingle_words, sketch_size=sketch_size
    )
    files = find_files([fspath(path) for path in paths])
    require_readable(file.path for file in files)
    on_bytes = _adding_up(watch, [file.path for file in files]) if watch else None
    reports: list[FileReport] = []
    statements: set[Statement] = set()
    pages = PagesSeen(options.shingle_words, options.sketch_size)
    is_named = dict(files)

    def rows_of(path: str) -> Iterator[pa.RecordBatch]:
        reading = Reading("standard input" if path == STANDARD else path, options, seen=pages)
        try:
            yield from read_file(path, reading, format, on_bytes)
        except UnknownFormat as error:
            if is_named[path] or strict:
                raise
            note_unknown(error, reading)
        reports.append(_report(reading))
        statements.update(reading.statements)

    if engine is None:
        table = pa.Table.from_batches((batch for file in files for batch in rows_of(file.path)), SCHEMA)
    else:
        table = engine.read(
            [file.path for file in files], lambda path: map(_with_site, rows_of(path)), WITH_SITE
        )
    return Observations(table, tuple(reports), tuple(sorted(statements)))


def find_duplicates(
    seen: Any,  # noqa: ANN401 -- any Arrow object
    *,
    declarations: Iterable[Declaration] = (),
    glue_values: int = VALUES,
) -> Duplicates:
    """Return which URLs are one page, site by site, each with the reason.

    Args:
        seen: What `read` returned, or any Arrow table with a column `url`.
        declarations: What sites say about their own parameters (Clean-param, No-Vary-Search), besides
            what `read` found.
        glue_values: So many values of a part that matters make a group of URLs suspicious.

    """
    by_site = _declared(chain(declarations, _said_in(seen)))
    found, not_urls = [], 0
    for site, rows in sites_in(_table_with_site(seen)):
        if site:
            found.append(find_in_site(rows, site, by_site.get(site, ()), glue_values))
        else:
            not_urls = len(rows)
    return Duplicates(tuple(found), not_urls)


def url_trees(
    seen: Any,  # noqa: ANN401 -- any Arrow object
    *,
    most: int = 5,
    site: str | None = None,
) -> tuple[tuple[SiteTree, ...], int]:
    """Return the URL schemes of the largest sites as trees, the largest first, and how many sites there are.

    Args:
        seen: What `read` returned, or any Arrow table with a column `url`.
        most: So many sites at most.
        site: One site by its name instead.

    """
    table = _table_with_site(seen)
    counted = pc.value_counts(table.column(SITE).combine_chunks())
    sizes = {each["values"].as_py(): each["counts"].as_py() for each in counted}
    sizes.pop("", None)
    if site is not None and site not in sizes:
        message = (
            f"there is no site '{site}' in the input; the largest is {max(sizes, key=sizes.__getitem__)}"
        )
        raise UndustError(message if sizes else "there is no URL in the input")
    ranked = sorted(sizes, key=lambda name: (-sizes[name], name))
    chosen = [site] if site is not None else ranked[:most]
    rows = table.filter(pc.is_in(table.column(SITE), pa.array(chosen, table.schema.field(SITE).type)))
    found = {each.site: each for each in find_duplicates(Observations(rows, (), _statements(seen)))}
    return tuple(_tree_of(found[name]) for name in chosen if name in found), len(sizes)


def _statements(seen: object) -> tuple[Statement, ...]:
    return seen.statements if isinstance(seen, Observations) else ()


def _tree_of(found: SiteClusters) -> SiteTree:
    nodes = np.flatnonzero(found.cluster_of_node >= 0)
    cluster = found.cluster_of_node[nodes]
    can_tell = bool(found.known[nodes].any()) or found.cluster_count < len(nodes)
    return site_tree(found.site, found.node_urls.take(pa.array(nodes)), cluster if can_tell else None)


def write_clusters(  # noqa: PLR0913 -- one for each thing that a person may say
    seen: Any,  # noqa: ANN401 -- any Arrow object
    path: str | None,
    engine: Engine,
    *,
    format: str | None = None,  # noqa: A002 -- the name of the option
    declarations: Iterable[Declaration] = (),
    glue_values: int = VALUES,
) -> Summary:
    """Do what `find_duplicates` does for more than fits into memory; write the clusters to a file.

    Without a path nothing is written. The file has the columns site, url, cluster, evidence and size.
    """
    is_sited = isinstance(seen, Observations) and SITE in seen.table.schema.names
    declared = _declared(chain(declarations, _said_in(seen)))
    function = partial(_rows_of_site, declared=declared, glue_values=glue_values)
    rows = engine.map_sites(seen.table if is_sited else _table_with_site(seen), function, WITH_NOTES)
    summary = Summary()
    clusters = _without_notes(pa.RecordBatchReader.from_stream(rows), summary)
    if path is None:
        for _ in clusters:
            pass
    else:
        engine.write(pa.RecordBatchReader.from_batches(CLUSTERS, clusters), path, format)
    return summary


def _rows_of_site(
    site: str, rows: pa.Table, declared: Mapping[str, tuple[Declaration, ...]], glue_values: int
) -> pa.Table:
    return rows_of_site(site, rows, declared.get(site, ()), glue_values)


def _without_notes(rows: pa.RecordBatchReader, summary: Summary) -> Iterator[pa.RecordBatch]:
    for batch in rows:
        notes = batch.column("note")
        for note in notes.drop_null().to_pylist():
            summary.add(from_note(note))
        yield batch.filter(pc.is_null(notes)).select(CLUSTERS.names)


def _with_site(rows: Any) -> Any:  # noqa: ANN401 -- a batch or a table
    site = pc.fill_null(site_of(rows.column("url")).cast(pa.string()), "")
    return rows.append_column(WITH_SITE.field(SITE), site)


def _table_with_site(seen: Any) -> pa.Table:  # noqa: ANN401 -- any Arrow object
    return _with_site(table_of(seen.table if isinstance(seen, Observations) else seen))


def _said_in(seen: object) -> Iterator[Declaration]:
    """Yield what sites say in the files that were read."""
    for statement in seen.statements if isinstance(seen, Observations) else ():
        url = Url.parse(normalize(statement.url))
        if url and statement.kind == "Clean-param":
            yield from declared_in_robots(url.host, statement.text)
        elif url and (declaration := declared_in_header(url.host, url.path, statement.text)):
            yield declaration


def _declared(declarations: Iterable[Declaration]) -> dict[str, tuple[Declaration, ...]]:
    by_host: dict[str, list[Declaration]] = {}
    for declaration in declarations:
        by_host.setdefault(declaration.host, []).append(declaration)
    by_site: dict[str, list[Declaration]] = {}
    for host, own in by_host.items():
        by_site.setdefault(site_of(f"http://{host}/") or "", []).extend(own)
    return {site: tuple(own) for site, own in by_site.items()}


def split(duplicates: Duplicates, held_out: float = 0.3, *, seed: int = 0) -> tuple[Duplicates, Duplicates]:
    """Return two parts that share no cluster, to learn from one and to prove on the other.

    Which part a cluster falls into depends on its smallest URL alone, so that more data moves nothing.
    """
    return duplicates.split(held_out, seed)


def propose(
    training: Duplicates,
    methods: Iterable[str] | None = None,
    options: Mapping[str, object] | None = None,
) -> dict[str, dict[str, Proposal]]:
    """Return what learners propose, by site and by learner: all learners, or those that are named.

    Args:
        training: What the learners may see.
        methods: Their names, as in `["substring", "tree"]`.
        options: By their written names, as in `{"substring.max_bucket": 6}`.

    """
    names = None if methods is None else list(methods)
    return {found.site: propose_for_site(found, names, options) for found in training}


def prove(
    proposals: Mapping[str, Mapping[str, Proposal]],
    held_out: Duplicates,
    *,
    max_fpr: float = Demands.max_fpr,
    min_support: int = Demands.min_support,
    threads: int = 1,
) -> tuple[Verdict, ...]:
    """Return a verdict on every candidate, measured on data that no learner saw.

    Args:
        proposals: What `propose` returned.
        held_out: The other part of the split.
        max_fpr: The largest share of false pairs that is accepted.
        min_support: The number of pages that must show a candidate to be right.
        threads: How many to use; the result is the same.

    """
    demands = Demands(max_fpr, min_support)
    return tuple(
        verdict
        for found in held_out
        for proposal in proposals.get(found.site, {}).values()
        for verdict in prove_site(proposal.candidates, found, demands, threads)
    )


def learn_with(  # noqa: PLR0913 -- one for each thing that a person may say
    seen: Any,  # noqa: ANN401 -- any Arrow object
    methods: Iterable[str],
    *,
    options: Mapping[str, object] | None = None,
    max_fpr: float = Demands.max_fpr,
    min_support: int = Demands.min_support,
    held_out: float = HELD_OUT,
    seed: int = 0,
    threads: int = 1,
) -> Learned:
    """Return the rules of single learners, each proved on its own, in the order the learner publishes.

    Args:
        seen: What `read` or `find_duplicates` returned, or any Arrow table with a column `url`.
        methods: The names of the learners.
        options: By their written names, as in `{"substring.max_bucket": 6}`.
        max_fpr: The largest share of false pairs that is accepted.
        min_support: The number of pages that must show a candidate to be right.
        held_out: The share of the clusters that no learner sees, for the proof.
        seed: Another number holds out other clusters.
        threads: How many to use; the result is the same.

    """
    duplicates = seen if isinstance(seen, Duplicates) else find_duplicates(seen)
    job = Job(tuple(methods), dict(options or {}), Demands(max_fpr, min_support), held_out, seed, threads)
    return learn_sites(duplicates, job)


def learn(  # noqa: PLR0913 -- one for each thing that a person may say
    seen: Any,  # noqa: ANN401 -- any Arrow object
    *,
    methods: Iterable[str] = (COMBINED,),
    options: Mapping[str, object] | None = None,
    max_fpr: float = Care.max_fpr,
    min_support: int | None = None,
    seed: int = 0,
    threads: int = 1,
    keep_values: bool = False,
) -> RuleSet:
    """Return the rules that send the duplicate URLs of each site to one form.

    Args:
        seen: What `read` or `find_duplicates` returned, or any Arrow table with a column `url`.
        methods: `undust`, which is all together, or the names of single learners.
        options: Of single learners, by their written names, as in `{"substring.max_bucket": 6}`.
        max_fpr: The largest share of wrong merges that a rule may show.
        min_support: The number of pages that must show a rule to be right.
        seed: Another number holds out other pages.
        threads: How many to use; the result is the same.
        keep_values: Show the values of dropped parameters in examples, instead of `***`.

    """
    names = tuple(methods)
    duplicates = seen if isinstance(seen, Duplicates) else find_duplicates(seen)
    if names == (COMBINED,):
        care = care_from(max_fpr, min_support, seed)
        return learn_combined(duplicates, care, keep_values=keep_values).rules
    support = demands_from(min_support).min_support
    demands = {"max_fpr": max_fpr, "min_support": support, "seed": seed, "threads": threads}
    return learn_with(duplicates, names, options=options, **demands).rules  # type: ignore[arg-type]


def require_methods(names: Iterable[str]) -> None:
    """Raise unless these are methods to learn with, before any work is done."""
    for name in names:
        if name != COMBINED:
            learner_named(name)


def learn_combined(
    duplicates: Duplicates,
    care: Care | None = None,
    *,
    keep_values: bool = False,
    watch: Callable[[str], object] | None = None,
) -> Outcome:
    """Return what all evidence and all proposals together give, site by site."""
    learned = []
    for site in duplicates:
        learned.append(learn_site(site, care))
        if watch:
            watch(site.site)
    has_evidence = any(bool(site.known.any()) or bool((site.sizes > 1).any()) for site in duplicates)
    return Outcome(tuple(learned), keep_values, has_evidence)


def evaluate(
    rules: RuleSet,
    seen: Any,  # noqa: ANN401 -- any Arrow object
    *,
    threads: int = 1,
) -> Evaluation:
    """Return every published measure of a rule set, on URLs whose pages are known.

    Args:
        rules: What is judged, by the keys it gives.
        seen: Observations. Where some have a label in `cluster`, those are judged by it; otherwise
            the pages are those that `find_duplicates` finds.
        threads: How many to use; the result is the same.

    """
    table = table_of(seen)
    if has_labels(table):
        return judge(rules, *labelled_from_labels(table), threads=threads)
    return judge(rules, *labelled_from_duplicates(find_duplicates(seen)), threads=threads)


def compare(  # noqa: PLR0913 -- one for each thing that a person may say
    seen: Any,  # noqa: ANN401 -- any Arrow object
    methods: Iterable[str] | None = None,
    *,
    labels: Any = None,  # noqa: ANN401 -- any Arrow object
    options: Mapping[str, object] | None = None,
    max_fpr: float | Sequence[float] = Demands.max_fpr,
    min_support: int | None = None,
    test: float = TEST,
    held_out: float = HELD_OUT,
    seed: int = 0,
    threads: int = 1,
    watch: Callable[[str], object] = lambda _: None,
) -> Comparison:
    """Return what all methods, trained on the same pages, do to the same pages that none of them saw.

    Args:
        seen: Observations; what they say of pages (labels in `cluster` first of all) is what methods
            learn from, and what they are judged by.
        methods: Their names, or all there are.
        labels: A table of `url` and `cluster` to judge by instead, which no method sees.
        options: Of learners, by their written names, as in `{"substring.max_bucket": 6}`.
        max_fpr: The largest share of false pairs that is accepted; one row for each, if there are several.
        min_support: The number of pages that must show a candidate to be right, instead of what each
            method demands by itself.
        test: The share of the pages that are judged.
        held_out: The share of the others that learners do not see either, to prove their candidates on.
        seed: Another number splits in another way.
        threads: How many to use; the result is the same.
        watch: Is told the name of each method before its turn.

    """
    chosen = methods_named(methods)
    if labels is None:
        training, judged, unlabelled = split_by_evidence(find_duplicates(seen), arrow_table(seen), test, seed)
    else:
        rest, judged, unlabelled = split_by_labels(arrow_table(seen), arrow_table(labels), test, seed)
        training = find_duplicates(rest)
    require_both_sides(training.summary.clusters, judged)
    bounds = (max_fpr,) if isinstance(max_fpr, int | float) else tuple(max_fpr)
    job = Job((), dict(options or {}), demands_from(min_support), held_out, seed, threads, min_support)
    rows = compare_methods(training, judged, chosen, job, bounds=bounds, watch=watch)
    return Comparison.of(rows, training, judged, unlabelled)


def _adding_up(watch: Callable[[int, int | None], object], paths: list[str]) -> Callable[[int], object]:
    """Return a function that is told of bytes one by one, and tells `watch` of all so far."""
    total = None if STANDARD in paths else sum(Path(path).stat().st_size for path in paths)
    done = 0

    def add(count: int) -> None:
        nonlocal done
        done += count
        watch(done, total)

    return add


def _report(reading: Reading) -> FileReport:
    return FileReport(reading.name, reading.format, reading.rows, tuple(_remarks(reading)))


def _remarks(reading: Reading) -> Iterable[Remark]:
    for fate, reasons in (
        ("skipped", reading.skipped),
        ("passed over", reading.passed_over),
        ("lost", reading.lost),
    ):
        for reason, records in sorted(reasons.items()):
            yield Remark(fate, reason, records.count, tuple(records.samples))  # type: ignore[arg-type]
