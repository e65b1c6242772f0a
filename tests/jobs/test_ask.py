"""From a log to proven rules by asking a generated site: what is confirmed, refuted, and asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import undust
from bench.sites import site
from bench.sites.server import LOOPBACK, SiteServer, serving
from undust.asking.limits import Manners, connection_from
from undust.jobs.ask import ask
from undust.rules.language import LIKELY, is_proposed

if TYPE_CHECKING:
    from pathlib import Path

    from bench.sites import Site
    from undust.asking.outcome import Validation

FORUM = site("forum", 600, 3)
LOG = FORUM.observations().select(["url", "status", "size", "time"])
HOSTS = sorted({url.split("/")[2] for url in LOG.column("url").to_pylist()})


def manners(server: SiteServer, **said: Any) -> Manners:  # noqa: ANN401 -- of any field
    """How the server is asked: every host of the site by name, without a pause."""
    places = dict(connection_from(f"{host}={LOOPBACK}:{server.port}") for host in HOSTS)
    usual: dict[str, Any] = {"delay_s": 0.0, "connect_to": places, "ask_hosts": frozenset(HOSTS)}
    return Manners(**usual | said)


@pytest.fixture(scope="module")
def likely() -> undust.RuleSet:
    """What the log makes likely."""
    return undust.learn(LOG)


@pytest.fixture(scope="module")
def asked(likely: undust.RuleSet) -> tuple[Validation, SiteServer]:
    """What the site says of it."""
    with serving(FORUM) as server:
        return ask(likely, LOG, manners(server)), server


def lost(rules: undust.RuleSet, made: Site) -> int:
    """Pages that lie under another one."""
    truth = made.truth()
    urls, pages = (truth.column(name).to_pylist() for name in ("url", "page"))
    keys = rules.compile().batch(urls, keys=True).to_pylist()
    together: dict[str, set[str]] = {}
    for key, page in zip(keys, pages, strict=True):
        together.setdefault(key, set()).add(page)
    return sum(len(some) - 1 for some in together.values())


def test_a_log_alone_gives_proposed_rules_and_no_others(likely: undust.RuleSet) -> None:
    """With what speaks for each, those that would remove most first; none of them is in effect."""
    assert len(likely) > 3
    assert all(map(is_proposed, likely))
    counts = [rule.extra[LIKELY]["urls"] for rule in likely]
    assert counts == sorted(counts, reverse=True)
    assert (
        likely.compile()("http://www.forum3.test/story?id=5&sid=1")
        == "http://www.forum3.test/story?id=5&sid=1"
    )
    assert undust.learn(LOG).dumps() == likely.dumps()


def test_the_site_confirms_true_rules_and_no_false_one(asked: tuple[Validation, SiteServer]) -> None:
    """What is active then merges no two pages, and most of the session ids are gone."""
    done, _ = asked
    active = undust.RuleSet([rule for rule in done.rules if rule.status == "active"])
    assert len(active) > 3
    assert lost(active, FORUM) == 0
    assert any("sid=" in rule.source for rule in active)
    assert all((rule.validated or {})["outcome"] == "confirmed" for rule in active)
    for rule in done.rules:
        if rule.status == "disabled" and "retired" not in rule.extra:
            assert (rule.validated or {})["outcome"] == "refuted"


def test_few_requests_are_enough(asked: tuple[Validation, SiteServer]) -> None:
    """At most thirty for each rule that is confirmed, as the server counts; no URL again and again."""
    done, server = asked
    assert len(server.requests) <= 30 * done.count("confirmed")
    assert done.fetches == len(server.requests)
    times = [request.url for request in server.requests]
    assert max(map(times.count, set(times))) <= 2


def test_only_named_hosts_are_asked(likely: undust.RuleSet) -> None:
    """A log names what strangers want; without the site's hosts nothing is asked, and all stays proposed."""
    with serving(FORUM) as server:
        done = ask(likely, LOG, manners(server, ask_hosts=frozenset({"other.test"})))
        assert not server.requests
        assert done.rules.dumps() == likely.dumps()
        done = ask(likely, LOG, manners(server, ask_hosts=frozenset({"www.forum3.test"})))
        assert {request.url.split("/")[2] for request in server.requests} == {"www.forum3.test"}
        assert done.count("confirmed")


class Stopping(Exception):  # noqa: N818 -- nobody's fault
    """The machine went down."""


def test_what_was_answered_is_not_asked_again_after_a_kill(
    likely: undust.RuleSet, asked: tuple[Validation, SiteServer], tmp_path: Path
) -> None:
    """The second run asks for the rest only, and comes to the same verdicts."""
    journal = tmp_path / "rules.json.asked"

    def stop(_rule: undust.Rule, _url: str, fetches: int) -> None:
        if fetches >= 60:
            raise Stopping

    with serving(FORUM) as server:
        told: dict[str, Any] = {"journal": journal, "job": "one"}
        with pytest.raises(Stopping):
            ask(likely, LOG, manners(server), watch=stop, **told)
        before = len(server.requests)
        assert before >= 60
        done = ask(likely, LOG, manners(server), resume=True, **told)
        every = [(request.url, request.moment) for request in server.requests]
    urls = [url for url, _ in every]
    assert max(map(urls.count, set(urls))) <= 2
    first, second = set(urls[:before]), urls[before:]
    looked_again = [url for url in second if url in first]
    assert len(every) <= asked[0].fetches + 1, looked_again
    verdicts = {each.rule.id: each.verdict for each in done.outcomes}
    assert verdicts == {each.rule.id: each.verdict for each in asked[0].outcomes}


def test_the_budget_holds_over_all_rounds(likely: undust.RuleSet) -> None:
    """However many rounds there are."""
    with serving(FORUM) as server:
        ask(likely, LOG, manners(server, max_fetches=50))
        assert len(server.requests) <= 50


def test_pages_in_an_archive_are_not_asked_for(
    likely: undust.RuleSet, asked: tuple[Validation, SiteServer], tmp_path: Path
) -> None:
    """What somebody has fetched already costs the site nothing."""
    from bench.sites import Crawl  # noqa: PLC0415 -- for this test alone
    from bench.sites.archive import write_archive  # noqa: PLC0415

    path = tmp_path / "forum.warc.gz"
    write_archive([FORUM], Crawl(), str(path))
    with serving(FORUM) as server:
        done = ask(likely, LOG, manners(server), archives=[path])
        with_archive = len(server.requests)
        asked_for = [request.url for request in server.requests]
    assert done.count("confirmed")
    seen = set(LOG.column("url").to_pylist())
    first_looks = [url for url in dict.fromkeys(asked_for) if url in seen and asked_for.count(url) == 1]
    assert with_archive < 0.5 * asked[0].fetches, first_looks
    assert lost(undust.RuleSet([rule for rule in done.rules if rule.status == "active"]), FORUM) == 0


def test_a_list_without_sizes_is_enough_to_ask() -> None:
    """URLs alone make some rules likely."""
    urls = [f"http://a.test/p/{n}{form}" for n in range(40) for form in ("", f"?sid={n:08x}ab{n * 7:05x}")]
    rules = undust.learn(pa.table({"url": urls}))
    assert any("sid" in rule.source for rule in rules)
    assert all(map(is_proposed, rules))
