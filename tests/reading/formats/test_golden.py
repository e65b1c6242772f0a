"""Small files, each named for what is wrong with it, and exactly what is read from them."""

from __future__ import annotations

from pathlib import Path

import pytest

import undust
from tests.reading.formats.rendered import rendered
from undust import errors

CRAWLS = Path(__file__).resolve().parents[2] / "crawls"
NAMES = sorted(path.name for path in CRAWLS.iterdir() if path.is_file())
WITHOUT_HOST = {"combined_with_odd_requests.log", "tsv_of_a_log_with_quotes.tsv"}


@pytest.mark.parametrize("name", NAMES)
def test_file_gives_exactly_these_rows_and_remarks(name: str) -> None:
    """What is read, skipped, passed over and lost is written down, line by line."""
    base = "https://shop.test" if name in WITHOUT_HOST else None
    expected = (CRAWLS / "expected" / f"{name}.txt").read_text(encoding="utf-8")
    assert rendered(undust.read(CRAWLS / name, base=base)) == expected


def test_every_expectation_has_its_file() -> None:
    """No golden text is left behind when its file goes."""
    assert sorted(path.name.removesuffix(".txt") for path in (CRAWLS / "expected").iterdir()) == NAMES


@pytest.mark.parametrize("name", sorted(WITHOUT_HOST))
def test_paths_without_a_host_need_the_persons_help(name: str) -> None:
    """A log that names no host is one sentence with its mend."""
    with pytest.raises(errors.SourceError) as caught:
        undust.read(CRAWLS / name)
    assert str(caught.value) == (
        f"{CRAWLS / name}: it holds paths and names no host; say whose they are: --base https://your.site"
    )


@pytest.mark.parametrize("name", NAMES)
def test_strict_stops_at_damage_and_only_there(name: str) -> None:
    """`strict` objects to skipped records and lost values, with file and place, and to nothing else."""
    base = "https://shop.test" if name in WITHOUT_HOST else None
    counts = undust.read(CRAWLS / name, base=base).counts()
    if counts["skipped"] or counts["lost"]:
        with pytest.raises(errors.DamagedSource, match=r": (line|offset|row) \d+: .*--strict"):
            undust.read(CRAWLS / name, base=base, strict=True)
    else:
        undust.read(CRAWLS / name, base=base, strict=True)
