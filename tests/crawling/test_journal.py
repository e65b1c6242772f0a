"""The state of a crawl on disk: resumed after any kill, followed by others, bounded, and checked."""

from __future__ import annotations

import json
import os
import random
import time
from multiprocessing import get_context
from typing import TYPE_CHECKING

import pytest

import undust
from tests.crawling.crawled_site import HOST, Crawl, page_by_id, row_of, sessions
from undust.crawling import learner as learner_module
from undust.crawling.journal import STATE_FILE
from undust.crawling.rule_tests import FIRST_TESTS
from undust.errors import UndustError

if TYPE_CHECKING:
    from pathlib import Path

KILLS = 20


def test_a_crawl_goes_on_where_it_ended(tmp_path: Path) -> None:
    """Rules, skipped URLs and what was fetched are there again, and no URL is fetched twice."""
    urls = list(sessions(80, 8))
    whole = Crawl(undust.CrawlLearner())
    whole.ask(urls)
    fetched, rules = [], undust.RuleSet()
    for place in range(0, len(urls), 100):
        with undust.CrawlLearner(tmp_path) as learner:
            crawl = Crawl(learner)
            crawl.ask(learner.returned())
            crawl.ask(urls[place : place + 100])
            fetched += crawl.fetched
            rules = learner.rules
    assert fetched == whole.fetched
    assert rules == whole.learner.rules


def test_a_guess_is_no_surer_after_a_restart(tmp_path: Path) -> None:
    """What leaves out a choice has to hold for as many pages as before."""
    urls = [f"{HOST}/list/{number}?order={order}" for number in range(8) for order in ("up", "down")]
    with undust.CrawlLearner(tmp_path, learn=lambda _: ()) as learner:
        for url in urls:
            learner.observe(row_of(url, url.partition("?")[0]))
        before = counts_of_tests(learner)
    assert [(needed, is_proven) for needed, is_proven in before if needed > FIRST_TESTS]
    with undust.CrawlLearner(tmp_path, learn=lambda _: ()) as learner:
        assert counts_of_tests(learner) == before


def counts_of_tests(learner: undust.CrawlLearner) -> list[tuple[int, bool]]:
    """Return for each rule the pages for which it must hold, and whether it did."""
    sites = learner._sites.in_order()  # noqa: SLF001 -- what no crawler needs
    return [(test.needed, test.is_proven) for site in sites for test in site.tests.of.values()]


def test_every_cut_of_the_file_is_a_state(tmp_path: Path) -> None:
    """Wherever a kill cuts the file, the crawl goes on from there and finds every page."""
    urls = list(sessions(40, 6))
    with undust.CrawlLearner(tmp_path / "whole") as learner:
        Crawl(learner).ask(urls)
    data = (tmp_path / "whole" / STATE_FILE).read_bytes()
    chance = random.Random(5)
    for cut in [0, 1, 30, *(chance.randrange(len(data)) for _ in range(KILLS)), len(data) - 1]:
        folder = tmp_path / f"cut{cut}"
        folder.mkdir(exist_ok=True)
        (folder / STATE_FILE).write_bytes(data[:cut])
        with undust.CrawlLearner(folder) as learner:
            crawl = Crawl(learner)
            crawl.ask(learner.returned())
            crawl.ask(urls)
            seen = {page_by_id(url) for site in learner._sites.in_order() for url in site.fetched.records}  # noqa: SLF001
        assert len(seen) == 40, cut


def crawl_and_tell(folder: Path, done: Path) -> None:
    """Crawl a site; a URL is in the file before its fetch is observed."""

    class Telling(Crawl):
        def fetch(self, url: str) -> None:
            with done.open("a") as file:
                file.write(f"{url}\n")
            super().fetch(url)

    crawl = Telling(undust.CrawlLearner(folder))
    crawl.ask(crawl.learner.returned())
    crawl.ask(sessions(240, 6))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_crawl_that_is_killed_again_and_again(tmp_path: Path) -> None:
    """Killed outright at random moments, it is started again each time, and in the end has every page."""
    chance, done = random.Random(11), tmp_path / "done"
    done.touch()
    kills = 0
    for _ in range(KILLS):
        process = get_context("fork").Process(target=crawl_and_tell, args=(tmp_path / "state", done))
        # The moment is counted in what it did, not in seconds: the machine may be busy.
        last = done.stat().st_size + chance.randrange(1, 200)
        process.start()
        while process.is_alive() and done.stat().st_size < last:
            time.sleep(0.001)
        kills += process.is_alive()
        process.kill()
        process.join()
    assert kills == KILLS
    crawl_and_tell(tmp_path / "state", done)
    assert {page_by_id(url) for url in done.read_text().split()} == {str(item) for item in range(240)}


def test_one_process_writes(tmp_path: Path) -> None:
    """A second writer is refused in one sentence; it may follow."""
    with undust.CrawlLearner(tmp_path):
        with pytest.raises(UndustError, match="another process writes this state; stop it, or open"):
            undust.CrawlLearner(tmp_path)
        undust.CrawlLearner(tmp_path, follow=True).close()
    undust.CrawlLearner(tmp_path).close()


def test_others_see_the_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A follower decides by the rules of the writer soon after they are learned, and changes nothing."""
    monkeypatch.setattr(learner_module, "FOLLOWED_SECONDS", 0)
    with undust.CrawlLearner(tmp_path, explore=0) as writer:
        follower = undust.CrawlLearner(tmp_path, follow=True, explore=0)
        assert follower.decide(f"{HOST}/item?id=500&sid=a").action == "fetch"
        Crawl(writer).ask(sessions(60, 4))
        size = (tmp_path / STATE_FILE).stat().st_size
        assert follower.decide(f"{HOST}/item?id=500&sid=b").action == "skip"
        assert follower.decide(f"{HOST}/item?id=1&sid=fresh").action == "skip"
        assert follower.rules == writer.rules
        follower.observe(row_of(f"{HOST}/item?id=500&sid=a", "500"))
        assert (tmp_path / STATE_FILE).stat().st_size == size
        follower.close()


def test_a_state_of_another_version_is_refused(tmp_path: Path) -> None:
    """Neither another version nor another file is taken for a state, and neither is changed."""
    undust.CrawlLearner(tmp_path).close()
    path = tmp_path / STATE_FILE
    from undust.files.replacing import checked_line  # noqa: PLC0415 -- this test alone writes such a file

    for data in (checked_line({"format": "undust-crawl", "version": 1}), b"something else\n" * 3):
        path.write_bytes(data)
        with pytest.raises(UndustError, match="name another folder"):
            undust.CrawlLearner(tmp_path)
        assert path.read_bytes() == data


def test_the_state_is_bounded(tmp_path: Path) -> None:
    """A skipped URL takes its length and 20 bytes; an observation 360 bytes more than its texts at most."""
    urls = list(sessions(50, 40))
    with undust.CrawlLearner(tmp_path, explore=0) as learner:
        for url in urls:
            if learner.decide(url).is_fetch:
                page = page_by_id(url)
                sketch = [4_000_000_000 + 97 * int(page) + number for number in range(32)]
                for _ in range(2):
                    learner.observe(row_of(url, page) | {"sketch": sketch, "size": 10_000})
    sizes: dict[str, list[int]] = {}
    for line in (tmp_path / STATE_FILE).read_bytes().splitlines()[1:]:
        kind, text, *_ = json.loads(line[9:])
        sizes.setdefault(kind, []).append(len(line) - len(text))
    assert max(sizes["s"]) <= 20
    assert max(sizes["o"]) <= 360
    assert len(sizes["o"]) < 300
    assert len(sizes["s"]) + len(sizes["o"]) == len(urls)


def test_a_full_disk_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When nothing can be written any more, the error names the file, and what was written stays whole."""
    learner = undust.CrawlLearner(tmp_path, explore=0)
    learner.observe(row_of(f"{HOST}/a", "a"))
    real = os.write

    def half(file: int, data: bytes) -> int:
        if len(data) > 5:
            return real(file, data[:5])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("undust.crawling.journal.os.write", half)
    with pytest.raises(UndustError, match="the disk is full"):
        learner.observe(row_of(f"{HOST}/b", "b"))
    monkeypatch.undo()
    learner.observe(row_of(f"{HOST}/c", "c"))
    learner.close()
    with undust.CrawlLearner(tmp_path) as again:
        assert again.decide(f"{HOST}/c").reason == "it was fetched"
        assert again.decide(f"{HOST}/b").action == "fetch"
