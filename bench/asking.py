"""From a log alone to proven rules, by asking: generated sites over HTTP, and real logs judged by crawls.

python -m bench.asking                   all kinds, 2,000 URLs each, half of them in the log
python -m bench.asking forum wiki --urls 1000 --seed 4
python -m bench.asking --logs DATA       what is proposed from the logs, lists and indexes of a folder of data
python -m bench.asking --json

Every request goes over HTTP on loopback. It fails if rules from a log remove less than nine tenths of what
`learn` removes that has all pages, if a false rule becomes active, if a tempting one is not refuted though
its URLs show two contents, if a confirmed rule takes more than thirty requests on the mean, or all sites take
more than three thousand.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter, defaultdict
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

import undust
from bench.asking_logs import logs
from bench.sites import KINDS, site
from bench.sites.server import LOOPBACK, serving
from undust.asking.limits import Manners, connection_from
from undust.jobs.ask import ask

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bench.sites import Site
    from undust.asking.outcome import RuleOutcome

SHARE, FETCHES, MOST_FETCHES, MOST_FALSE = 0.9, 30, 3_000, 0.01
COLUMNS = ("url", "status", "size", "time")
"""What a log has."""


class Effect(NamedTuple):
    """What rules do to URLs whose pages are known."""

    removed: float
    lost: float


def main() -> None:
    """Measure, print, and fail if a promise is broken."""
    ask_for = argparse.ArgumentParser(prog="python -m bench.asking", description=__doc__.splitlines()[0])
    ask_for.add_argument("kinds", nargs="*", metavar="KIND", help="some kinds only")
    ask_for.add_argument("--urls", type=int, default=2_000, help="URLs of each site [%(default)s]")
    ask_for.add_argument("--seed", type=int, default=3, help="another seed, another site [%(default)s]")
    ask_for.add_argument("--logs", metavar="DATA", help="judge what is proposed from real data instead")
    ask_for.add_argument("--json", action="store_true", help="print JSON to stdout, and nothing else")
    told = ask_for.parse_args()
    if told.logs:
        sys.exit(logs(told.logs, told.kinds))
    rows = []
    for kind in told.kinds or KINDS:
        rows.append(measured(site(kind, told.urls, told.seed)))
        if not told.json:
            _print(rows[-1], is_first=len(rows) == 1)
    problems = [problem for row in rows for problem in row.pop("problems")]
    not_refuted = [reason for row in rows for reason in row.pop("not refuted")]
    total: dict[str, Any] = {
        name: "all" if name == "kind" else sum(row[name] for row in rows) for name in rows[0]
    }
    total |= {
        name: round(total[name] / len(rows), 4)
        for name in ("learn", "ask", "learn lost", "ask lost", "share")
    }
    mean = total["fetches"] / max(1, total["confirmed"])
    total["a rule"] = round(mean, 1)
    if total["fetches"] > MOST_FETCHES:
        problems.append(f"all sites together take {total['fetches']:,} requests, not {MOST_FETCHES:,}")
    if mean > FETCHES:
        problems.append(f"a confirmed rule takes {mean:.1f} requests on the mean, not {FETCHES}")
    if told.json:
        said = {"kinds": rows, "total": total, "problems": problems, "not refuted": not_refuted}
        print(json.dumps(said))
    else:
        _print(total)
        print(*not_refuted, *problems, sep="\n")
    sys.exit(bool(problems))


def measured(made: Site) -> dict[str, Any]:
    """Return what comes of one site: learned from all pages, and asked about from its log.

    Half of the URLs are in the log, with their pages for `learn`; rules are judged on all of them.
    """
    every = made.observations()
    seen = every.filter(pa.array([is_in_log(url) for url in every.column("url").to_pylist()]))
    log = seen.select(list(COLUMNS))
    truth = made.truth()
    pages = dict(zip(truth.column("url").to_pylist(), truth.column("page").to_pylist(), strict=True))
    likely = undust.learn(log)
    tempting = [rule.with_status("proposed") for rule in made.false_rules]
    hosts = sorted({url.split("/")[2] for url in pages} | {made.domain, f"www.{made.domain}"})
    with serving(made) as server:
        places = dict(connection_from(f"{host}={LOOPBACK}:{server.port}") for host in hosts)
        manners = Manners(delay_s=0.0, connect_to=places, ask_hosts=frozenset(hosts))
        done = ask(likely, log, manners)
        requests = len(server.requests)
        false = ask(undust.RuleSet(tempting), log, manners)
    active = undust.RuleSet([rule for rule in done.rules if rule.status == "active"])
    whole, asked = effect(undust.learn(seen), pages), effect(active, pages)
    wrong = [rule for rule in active if is_false(rule, pages) or is_false(rule, pages, active)]
    given = {rule.id for rule in tempting}
    told = [each for each in false.outcomes if each.rule.id in given]
    held = [each.rule for each in told if each.verdict == "confirmed" and is_false(each.rule, pages)]
    left = [each for each in told if each.verdict != "refuted"]
    hidden = [each for each in left if not is_shown(each.rule, every)]
    problems = [f"{made.domain}: active and false: {rule}" for rule in wrong]
    problems += [f"{made.domain}: tempting, and confirmed: {rule}" for rule in held]
    problems += [
        f"{made.domain}: tempting, and undecided: {each.rule}"
        for each in left
        if each.verdict == "undecided" and each not in hidden and is_false(each.rule, pages)
    ]
    share = asked.removed / whole.removed if whole.removed else 1.0
    if share < SHARE:
        problems.append(f"{made.domain}: {asked.removed:.1%} removed, {whole.removed:.1%} from all pages")
    confirmed = done.count("confirmed")
    return {
        "kind": made.kind.name,
        "learn": round(whole.removed, 4),
        "learn lost": round(whole.lost, 4),
        "ask": round(asked.removed, 4),
        "ask lost": round(asked.lost, 4),
        "share": round(share, 3),
        "proposed": len(likely),
        "confirmed": confirmed,
        "refuted": done.count("refuted"),
        "false active": len(wrong),
        "tempting refuted": sum(each.verdict == "refuted" for each in told),
        "tempting": len(tempting),
        "hidden": len(hidden),
        "fetches": requests,
        "a rule": round(requests / max(1, confirmed), 1),
        "problems": problems,
        "not refuted": [f"{made.domain}: {_why(each, pages, is_hidden=each in hidden)}" for each in left],
    }


def _why(each: RuleOutcome, pages: dict[str, str], *, is_hidden: bool) -> str:
    """Return why a tempting rule is not refuted."""
    if is_hidden and each.verdict != "confirmed":
        return f"tempting, and all its URLs show one content to whoever asks: {each.rule}"
    if not is_false(each.rule, pages):
        return f"tempting, but not false on the URLs of the site: {each.rule}"
    return f"tempting, and {each.verdict} ({each.positives} answers for it; {each.reason}): {each.rule}"


def is_shown(rule: undust.Rule, every: pa.Table) -> bool:
    """Return whether a visitor sees two contents among all URLs that a rule is about.

    If all of them show one form to log in, no answer can speak against it.
    """
    shown = every.filter(pc.equal(every.column("status"), HTTPStatus.OK))
    urls = shown.column("url").combine_chunks()
    compiled = undust.RuleSet([rule.with_status("active")]).compile()
    keys = compiled.batch(urls, keys=True).to_pylist()
    about = {keys[row] for row in compiled.touched(urls)[0].to_pylist()}
    digests = zip(keys, shown.column("digest").to_pylist(), strict=True)
    return len({digest for key, digest in digests if key in about}) > 1


def is_in_log(url: str) -> bool:
    """Return whether a URL is in the half that the log has."""
    return hashlib.blake2b(url.encode(), digest_size=1).digest()[0] % 2 == 0


def effect(rules: undust.RuleSet, pages: dict[str, str]) -> Effect:
    """Return the share of duplicates that are gone, and of pages that lie under another one."""
    groups = _groups(rules, pages)
    lost = sum(len(group) - 1 for group in groups.values())
    distinct = len(set(pages.values()))
    removable = len(pages) - distinct
    return Effect((len(pages) - len(groups) - lost) / max(1, removable), lost / max(1, distinct))


def _groups(rules: undust.RuleSet, pages: dict[str, str]) -> dict[str, Counter[str]]:
    groups: dict[str, Counter[str]] = defaultdict(Counter)
    keys = rules.compile().batch(list(pages), keys=True).to_pylist()
    for key, page in zip(keys, pages.values(), strict=True):
        groups[key][page] += 1
    return groups


def is_false(rule: undust.Rule, pages: dict[str, str], beside: Iterable[undust.Rule] = ()) -> bool:
    """Return whether a rule merges more pages wrongly than one in a hundred, alone or beside others."""
    others = [other for other in beside if other.id != rule.id]
    before = _groups(undust.RuleSet(others), pages)
    after = _groups(undust.RuleSet([*others, rule.with_status("active")]), pages)
    merged = len(before) - len(after)
    wrong = sum(len(group) - 1 for group in after.values()) - sum(len(group) - 1 for group in before.values())
    return wrong > MOST_FALSE * max(1, merged)


def _print(row: dict[str, Any], *, is_first: bool = False) -> None:
    shown = {name: value for name, value in row.items() if name not in {"problems", "not refuted"}}
    if is_first:
        print(*(f"{name:>{max(8, len(name))}}" for name in shown), sep="  ")
    print(*(f"{value!s:>{max(8, len(name))}}" for name, value in shown.items()), sep="  ", flush=True)


if __name__ == "__main__":
    main()
