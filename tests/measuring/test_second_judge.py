"""A judge that was written apart, and knows nothing of undust, must see what we see."""

from __future__ import annotations

import gzip
import importlib.util
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import undust
from tests.pages.clustering.sites import sketch
from undust.measuring import measure
from undust.measuring.compare import with_labels
from undust.measuring.judged import labelled_from_labels

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType


def second_judge(path: Path) -> ModuleType:
    """The other judge as a module."""
    spec = importlib.util.spec_from_file_location("second_judge", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@given(
    st.lists(st.tuples(st.sampled_from("pqrstu"), st.sampled_from("ABCDEFG")), min_size=1, max_size=40),
    st.dictionaries(st.sampled_from("pqrstu"), st.integers(0, 5)),
)
def test_random_clusterings(
    needs_data: Callable[[str], Path], rows: list[tuple[str, str]], changed: dict[str, int]
) -> None:
    """On any pages, images and near copies both give one answer."""
    judge = second_judge(needs_data("judge.py"))
    sketches = {page: sketch("one text", minima) for page, minima in changed.items()}
    found = measure([page for page, _ in rows], [image for _, image in rows], sketches)
    pages = {str(number): page for number, (page, _) in enumerate(rows)}
    images = {str(number): image for number, (_, image) in enumerate(rows)}
    theirs = judge.measure(pages, images, sketches)
    assert (found.urls, found.clusters) == (theirs["urls"], theirs["pages"])
    assert (found.removed, found.lost) == pytest.approx((theirs["removed"], theirs["lost"]))
    if not sketches:
        assert found.fpr == pytest.approx(theirs["fpr"])


@pytest.mark.parametrize("name", ["crawls/opencart", "mirrors/shopgeneral"])
def test_real_sites(name: str, needs_data: Callable[[str], Path]) -> None:
    """What dropping all queries does to a real shop, in the eyes of both."""
    judge = second_judge(needs_data("judge.py"))
    with gzip.open(needs_data(f"{name}.labels.tsv.gz"), "rt", encoding="utf-8") as lines:
        labels = [line.rstrip("\n").split("\t") for line in lines][1:]
    table = pa.table({"url": [url for url, _ in labels], "cluster": [page for _, page in labels]})
    seen = undust.read(needs_data(f"{name}.jsonl.gz")).table
    for site in labelled_from_labels(with_labels(seen, table))[0]:
        images = [url.partition("?")[0] for url in site.urls.to_pylist()]
        found = site.measured_by(pa.array(images))
        pages = dict(zip(site.urls.to_pylist(), site.pages, strict=True))
        theirs = judge.measure(pages, dict(zip(pages, images, strict=True)), site.sketches)
        assert (found.removed, found.lost) == pytest.approx((theirs["removed"], theirs["lost"]))
        assert found.lost > 0
