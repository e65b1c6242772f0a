"""A job that is killed goes on from its finished sites, and only from its own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from undust.engines import LocalEngine
from undust.errors import UndustError
from undust.jobs import combined, one_site
from undust.jobs.combined import SiteJournal, job_of, journal_of, learn_combined
from undust.learning.edited import combined_rules
from undust.reading.observations import table_of

if TYPE_CHECKING:
    from pathlib import Path

    from undust.learning import SiteRules
    from undust.pages.clustering import SiteClusters


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No job is too short for a journal."""
    monkeypatch.setattr(combined, "JOURNAL_PATIENCE", 0.0)


def crowd(sites: int = 6) -> pa.Table:
    """Some sites with a session id that changes nothing."""
    rows = [
        (f"http://s{site}.test/p/{page}{form}", f"{site} {page}")
        for site in range(sites)
        for page in range(8)
        for form in ("", f"?sid={page}")
    ]
    return table_of(pa.table({"url": [url for url, _ in rows], "digest": [digest for _, digest in rows]}))


class Stopped(BaseException):
    """What a program cannot survive."""


class Stopping:
    """Learns some sites, and then the program ends."""

    def __init__(self, sites: int) -> None:
        self.left = sites
        self.learned: list[str] = []

    def __call__(self, site: SiteClusters, *rest: object) -> SiteRules:
        """Learn one more, or end."""
        if site.site not in self.learned:  # it is learned again without some of its pages, to check the rules
            if not self.left:
                raise Stopped
            self.left -= 1
            self.learned.append(site.site)
        return combined_rules(site, *rest)  # type: ignore[arg-type]


def test_a_job_goes_on_from_its_finished_sites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are not learned again, and the result is that of a job that nobody stopped."""
    expected = learn_combined(crowd()).rules.dumps()
    path = tmp_path / "journal"
    first, second = Stopping(4), Stopping(99)
    monkeypatch.setattr(one_site, "combined_rules", first)
    with pytest.raises(Stopped), SiteJournal(path, "job") as kept, LocalEngine(threads=1) as engine:
        learn_combined(crowd(), engine=engine, journal=kept)
    assert path.exists()
    monkeypatch.setattr(one_site, "combined_rules", second)
    with SiteJournal(path, "job", resume=True) as kept, LocalEngine(threads=1) as engine:
        assert sorted(kept.found) == sorted(first.learned)
        outcome = learn_combined(crowd(), engine=engine, journal=kept)
        kept.is_complete = True
    assert outcome.rules.dumps() == expected
    assert not set(second.learned) & set(first.learned)
    assert len(second.learned) + len(first.learned) == 6
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("cut", [1, 7, 30])
def test_the_line_that_was_being_written_is_all_that_is_lost(cut: int, tmp_path: Path) -> None:
    """Wherever it was cut; what is written afterwards stands behind the last whole line."""
    path = tmp_path / "journal"
    with SiteJournal(path, "job") as kept:
        for site in ("a", "b", "c"):
            kept.add(site, f'what {site} gave, in quotes " and é')
    path.write_bytes(path.read_bytes()[:-cut])
    with SiteJournal(path, "job", resume=True) as kept:
        assert list(kept.found) == ["a", "b"]
        kept.add("d", "x")
    with SiteJournal(path, "job", resume=True) as kept:
        assert list(kept.found) == ["a", "b", "d"]
        assert kept.found["b"] == 'what b gave, in quotes " and é'


def test_a_damaged_line_ends_what_is_believed(tmp_path: Path) -> None:
    """Of bytes that somebody changed, nothing is taken."""
    path = tmp_path / "journal"
    with SiteJournal(path, "job") as kept:
        for site in ("a", "b", "c"):
            kept.add(site, "text")
    path.write_bytes(path.read_bytes().replace(b'"b"', b'"z"'))
    with SiteJournal(path, "job", resume=True) as kept:
        assert list(kept.found) == ["a"]


def test_the_journal_of_another_job_is_told(tmp_path: Path) -> None:
    """One sentence; and it stays as it is."""
    path = tmp_path / "journal"
    with SiteJournal(path, "one") as kept:
        kept.add("a", "text")
    before = path.read_bytes()
    with pytest.raises(UndustError, match=r"it is of another job .* start anew without --resume"):
        SiteJournal(path, "another", resume=True)
    path.write_bytes(b"something else")
    with pytest.raises(UndustError, match="it is of another job"):
        SiteJournal(path, "one", resume=True)
    path.write_bytes(before)
    with SiteJournal(path, "another") as kept:  # anew: what was there is gone with the first site
        kept.add("b", "text")
    with SiteJournal(path, "another", resume=True) as kept:
        assert list(kept.found) == ["b"]


def test_two_at_once_are_told(tmp_path: Path) -> None:
    """They would write into each other's lines."""
    path = tmp_path / "journal"
    with SiteJournal(path, "job") as first, SiteJournal(path, "job") as second:
        first.add("a", "text")
        with pytest.raises(UndustError, match="another undust is at work"):
            second.add("b", "text")


def test_a_short_job_leaves_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may even fail; and one that ends well takes the journal of a run before with it."""
    monkeypatch.setattr(combined, "JOURNAL_PATIENCE", 60.0)
    path = tmp_path / "journal"
    with SiteJournal(path, "job") as kept:
        kept.add("a", "text")
    assert not path.exists()
    path.write_text("of yesterday", encoding="utf-8")
    with SiteJournal(path, "job") as kept:
        kept.is_complete = True
    assert not path.exists()


def test_what_tells_one_job_from_another(tmp_path: Path) -> None:
    """Its files with their sizes and times, and all that was said; not the way they were named."""
    crawl = tmp_path / "crawl.csv"
    crawl.write_text("url\nhttp://a.test/\n", encoding="utf-8")
    os.utime(crawl, ns=(1, 1))
    job = job_of([str(crawl)], {"seed": 0})
    assert job == job_of([str(tmp_path)], {"seed": 0})
    assert job != job_of([str(crawl)], {"seed": 1})
    os.utime(crawl, ns=(1, 2))
    assert job != job_of([str(crawl)], {"seed": 0})
    with pytest.raises(UndustError, match="standard input cannot be read again"):
        job_of(["-"], {})
    assert journal_of(str(tmp_path / "rules.json")) == tmp_path / ".rules.json.journal"


@pytest.mark.parametrize("left", [0, 7])
def test_a_first_line_that_found_no_room_is_none(left: int, tmp_path: Path) -> None:
    """A disk was full when the journal began: the job begins anew, and its journal is whole."""
    path = tmp_path / "journal"
    with SiteJournal(path, "job") as kept:
        kept.add("a.test", "text")
    whole = path.read_bytes()
    path.write_bytes(whole[:left])
    with SiteJournal(path, "job", resume=True) as kept:
        assert kept.found == {}
        kept.add("a.test", "text")
    assert path.read_bytes() == whole
