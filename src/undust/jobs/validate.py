"""Rules against the sites themselves, their archives, or what was seen of them."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from undust.asking.outcome import is_tried
from undust.asking.proof import Beforehand
from undust.asking.rule_file import Judges, Known, SiteSamples, run
from undust.asking.samples import samples_from
from undust.asking.sampling import Sampling, judge_from
from undust.engines import SITE
from undust.errors import UndustError
from undust.jobs.find_duplicates import find_duplicates
from undust.jobs.input_files import AskingChoice
from undust.jobs.read import read, with_site
from undust.learning.bounds import kind_and_bits
from undust.reading.observations import Observations, sites_in, table_of
from undust.rules.language import ANY_SITE
from undust.searching.classes import classes_apart
from undust.searching.likely import without_visits
from undust.searching.objective import PRIORS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from os import PathLike

    from undust.asking.outcome import How, Validation
    from undust.rules import Rule, RuleSet


def _true(rule: Rule) -> float:
    """Return the share of rules of its kind that are true on other sites."""
    return PRIORS[kind_and_bits(rule)[0]].true


BEFOREHAND = Beforehand(_true, classes_apart)


SITES_OF_GENERAL_RULES = 10
"""A rule for all sites is tried on this many of them, those with most URLs."""
ATTEMPTS_PER_SAMPLE = 3
"""URLs that are asked for, for each answer that is wanted, with those that cannot be compared."""
"""Stages of an answer that may each take their time: to be reached, to begin, to go on."""
URLS_AT_ONCE = 65_536


def validate(  # noqa: PLR0913 -- one for each thing that a person may say
    rules: RuleSet,
    seen: Any = None,  # noqa: ANN401 -- any Arrow object
    *,
    live: bool = False,
    archives: Iterable[str | PathLike[str]] = (),
    samples: int = 100,
    epsilon: float = 0.05,
    max_fpr: float = 0.01,
    seed: int = 0,
    delay: float = 1.0,
    max_fetches: int = 10_000,
    max_fetches_per_host: int | None = None,
    timeout: float = 60.0,
    contact: str | None = None,
    allow_private: bool = False,
    connect_to: Iterable[str] = (),
    hosts: Iterable[str] | None = None,
    journal: str | PathLike[str] | None = None,
    resume: bool = False,
    watch: Callable[[Rule, str, int], object] | None = None,
) -> Validation:
    """Return the rules, each tried on a sample of URLs until it is confirmed or refuted.

    A rule that is refuted is switched off, with the reason; nothing is removed. Without `live` and
    without `archives` nothing is asked: what was seen of the URLs decides.

    Args:
        rules: The rules to prove.
        seen: URLs to try them on: what `read` returned, or any Arrow table with a column `url`. The
            examples of the rules are tried besides.
        live: Ask the sites themselves.
        archives: Ask these web archives instead.
        samples: N of DustBuster: answers that decide any rule.
        epsilon: The share of them that refutes a rule.
        max_fpr: The largest expected share of false merges of a proposed rule when it is
            confirmed; its prior, what it was proposed from and the answers count together.
        seed: Another number draws other URLs.
        delay: Seconds between two requests to one host, at least.
        max_fetches: Requests in all.
        max_fetches_per_host: Requests to one host.
        timeout: Seconds for a whole answer; a third of them for each step of it.
        contact: How the owner of a site can reach you.
        allow_private: Ask also at private, loopback and link-local addresses.
        connect_to: Hosts to be found elsewhere, as in `["www.shop.test=127.0.0.1:8080"]`.
        hosts: The only ones that are asked, `*.shop.test` for all below one; any without it.
        journal: A file in which every answer is written down as it comes.
        resume: Go on with that journal.
        watch: Called before each request with the rule, the URL, and the number of requests so far.

    """
    paths = list(archives)
    if live and paths:
        message = "either the sites are asked or the archives are; leave one of them out"
        raise UndustError(message)
    groups = _groups(rules, seen, seed)
    if not live and not paths:
        seen_before = Sampling(samples, epsilon, max_fpr=max_fpr, seed=seed)
        return run(rules, groups, _observed(seen), seen_before, "held-out")
    from undust.asking.live_judge import Asking  # noqa: PLC0415 -- loads what only asking needs

    said = AskingChoice(
        samples=samples,
        epsilon=epsilon,
        delay=delay,
        max_fetches=max_fetches,
        max_fetches_per_host=max_fetches_per_host,
        timeout=timeout,
        contact=contact,
        connect_to=tuple(connect_to),
        allow_private=allow_private,
    )
    manners = said.manners(None if hosts is None else frozenset(hosts))
    asking = Asking(
        manners,
        read(*paths).table if paths else None,
        journal,
        job=_fingerprint(rules, groups, seed),
        resume=resume,
        watch=watch,
    )
    how: How = "live" if live else "archive"
    # A site was asked about every URL, and says nothing of some; an archive never saw them.
    max_unknown = 1.0 if live else Sampling.max_unknown
    attempts = ATTEMPTS_PER_SAMPLE * samples
    sampling = Sampling(
        samples, epsilon, attempts=attempts, max_unknown=max_unknown, max_fpr=max_fpr, seed=seed
    )
    with asking:
        return run(rules, groups, asking, sampling, how, beforehand=BEFOREHAND)


def _groups(rules: RuleSet, seen: Any, seed: int) -> list[SiteSamples]:  # noqa: ANN401 -- any Arrow object
    """Return the rules by site, those of all sites last, each with the URLs to try them on."""
    by_site: dict[str, list[Rule]] = {}
    for rule in rules:
        by_site.setdefault(rule.site, []).append(rule)
    general = by_site.pop(ANY_SITE, [])
    nothing = _rows(None)
    of_site = {site: rows for site, rows in sites_in(_rows(seen)) if site}
    groups = [_group(site, own, of_site.get(site, nothing), seed) for site, own in by_site.items()]
    if general:
        most = sorted(of_site, key=lambda site: (-len(of_site[site]), site))[:SITES_OF_GENERAL_RULES]
        rows = pa.concat_tables([nothing, *(of_site[site] for site in most)])
        groups.append(_group(ANY_SITE, general, rows, seed))
    return groups


def _rows(seen: Any) -> pa.Table:  # noqa: ANN401 -- any Arrow object
    """Return what is known of the URLs to try rules on: `url`, `status`, `size` and `site`."""
    nothing = pa.table({"url": pa.array([], pa.string())})
    return with_site(_table(nothing if seen is None else seen)).select(["url", "status", "size", SITE])


def _table(seen: Any) -> pa.Table:  # noqa: ANN401 -- any Arrow object
    return table_of(seen.table if isinstance(seen, Observations) else seen)


def _group(site: str, rules: Sequence[Rule], rows: pa.Table, seed: int) -> SiteSamples:
    url, status = (rows.column(name).combine_chunks() for name in ("url", "status"))
    samples = samples_from(url, status, rules, seed)
    size = rows.column("size").combine_chunks()
    known = {
        address: count for address, count in zip(url.to_pylist(), size.to_pylist(), strict=True) if count
    }
    visits = () if site == ANY_SITE else without_visits(site)
    samples = replace(samples, sizes=known, visits=visits)
    return SiteSamples(site, tuple(rules), samples, sum(map(is_tried, rules)))


def _fingerprint(rules: RuleSet, groups: Sequence[SiteSamples], seed: int) -> str:
    """Return what identifies a job: a journal belongs to one job."""
    digest = hashlib.blake2b("\n".join([str(seed), *rules.ids]).encode(), digest_size=16)
    for group in groups:
        urls = group.samples.urls
        for start in range(0, len(urls), URLS_AT_ONCE):
            digest.update("\n".join([group.site, *urls[start : start + URLS_AT_ONCE].to_pylist()]).encode())
    return digest.hexdigest()


def _observed(seen: Any) -> Judges:  # noqa: ANN401 -- any Arrow object
    """Return judges that know what was seen."""
    if seen is None:
        message = "nothing was seen that could decide; give observations, live=True or archives"
        raise UndustError(message)
    newest = pc.max(_table(seen).column("time")).as_py()
    time = newest.timestamp() if newest else 0.0
    return Judges({found.site: Known(judge_from(found), time) for found in find_duplicates(seen)})
