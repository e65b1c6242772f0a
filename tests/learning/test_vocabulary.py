"""Bounded work: rows that anybody can send cost no more than a few times what ordinary rows cost."""

from __future__ import annotations

from functools import cache
from random import Random
from time import process_time
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import undust
from bench.vocabulary import KINDS
from undust.learning import Requirements, learn_site
from undust.learning.proposals import drops
from undust.learning.texts import USUAL_NAMES, UrlForms
from undust.proposing.idle_parts import USUAL_PARTS

if TYPE_CHECKING:
    from undust.pages.clustering import SiteClusters

ROWS = 1200
ORDINARY = 8000
"""Ordinary rows to compare with: fewer are learned without the published learners and their fixed cost."""
MOST = 3.0


def clusters(kind: str, rows: int = ROWS) -> SiteClusters:
    """Some rows of a kind of the bench."""
    urls, digests = zip(*KINDS[kind](rows, Random(7)), strict=True)
    return undust.find_duplicates(pa.table({"url": urls, "digest": digests})).sites[0]


def seconds(kind: str, rows: int = ROWS) -> float:
    """Processor time that learning takes."""
    found = clusters(kind, rows)
    started = process_time()
    learn_site(found, Requirements())
    return process_time() - started


@cache
def usual_seconds() -> float:
    """Processor time that ordinary rows take: the best of two, for the first one loads modules."""
    return min(seconds("ordinary", ORDINARY) for _ in range(2))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in {"ordinary", "parameters"}])
def test_learning_from_hostile_rows_is_bounded(kind: str) -> None:
    """In processor time; measured again only if the first time is too long."""
    most = MOST * usual_seconds()
    assert any(seconds(kind) <= most for _ in range(2))


def test_the_text_that_is_learned_from_is_bounded() -> None:
    """Of long URLs fewer are looked at, and whole pages still."""
    found = clusters("parameters", 400)
    learned = learn_site(found, Requirements(most_bytes=200_000))
    assert 0 < learned.sampled < 200


def test_usual_forms_have_a_bounded_vocabulary() -> None:
    """Rare names and very long URLs are left out; forms without them are the same object."""
    plain = [f"http://a.test/p?id={number}" for number in range(300)]
    rare = [f"http://a.test/p?id=1&name{number}=1" for number in range(300)]
    long = [
        "http://a.test/" + "/".join("x" * (USUAL_PARTS + 1)),
        "http://a.test/?" + "&".join(f"id={number}" for number in range(USUAL_PARTS + 1)),
    ]
    forms = UrlForms("a.test", [*plain, *rare, *long], list(range(602)))
    assert set(plain) <= set(forms.usual.urls)
    assert len(forms.usual.names) <= USUAL_NAMES
    assert not set(long) & set(forms.usual.urls)
    few = UrlForms("a.test", plain, list(range(300)))
    assert few.usual is few


def test_pairs_of_names_are_proposed_from_usual_forms() -> None:
    """200 parameters would make 20,000 pairs of each URL."""
    wide = ["http://a.test/?" + "&".join(f"n{name}=1" for name in range(200))] * 5
    plain = [f"http://a.test/?a={number}&b={number}" for number in range(5)]
    texts = {str(rule) for rule in drops(UrlForms("a.test", [*wide, *plain], list(range(10))))}
    assert any("?a={**}&b={**}&" in text for text in texts)
    assert not any("?n0={**}&n1={**}&" in text for text in texts)
