"""A job larger than its memory, seen from outside."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from bench.scale import measured, problems
from bench.scale_rows import batches, site_name

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_two_hundred_thousand_rows_in_little_memory(tmp_path: Path) -> None:
    """Half of them of one site, which does not fit: it finishes, within its memory, and leaves nothing."""
    asked = argparse.Namespace(minima=32, threads=2, memory="384MB", resume=False, one_site=False)
    figures = measured(200_000, "local", asked, tmp_path)
    assert list(problems([figures])) == []
    assert figures["disk_bytes"] > 10 << 20  # it did not fit
    assert (figures["sites"], figures["failed"]) == (200, 0)
    (giant,) = figures["sampled"]
    assert giant == site_name(0)
    assert figures["sampled"][giant]["urls"] > 70_000
    assert figures["rules"] > 200


def test_the_rows_are_as_they_are_said_to_be() -> None:
    """Half of them of the giant, several URLs for a page, and always the same."""
    table = pa.Table.from_batches(batches(20_000))
    assert table.equals(pa.Table.from_batches(batches(20_000)))
    urls = table["url"].to_pylist()
    giant = sum("site0.test/" in url for url in urls)
    assert 0.48 < giant / len(urls) < 0.52
    pages = len(set(table["digest"].to_pylist()))
    assert 1.2 < len(set(urls)) / pages < 4
