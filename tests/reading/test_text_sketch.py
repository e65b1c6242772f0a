"""Sketches: equal to their plain twin, and as good an estimate of resemblance as theory allows."""

from __future__ import annotations

import math
import random
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import sketch as oracle
from undust.reading.text import SIZE, common_shingles, resemblance, shingles, sketch

ODD_TEXTS = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from(
            "aAzZ09 .,-_\n\t\u00a0\u00e9\u00df\u0e01\u4e00\u3042\u30fb\u3000\uff21\uff0c\u00d7\U00020000"
        ),
    ),
    max_size=120,
)


@given(ODD_TEXTS, st.integers(1, 12), st.integers(1, 40))
def test_minima_equal_the_plain_twin(text: str, width: int, size: int) -> None:
    """The core and the twin agree on every text, in any script."""
    expected = oracle.shingles(text, width)
    assert shingles(text, width).tolist() == sorted(expected)
    made = sketch(text, width, size)
    assert (None if made is None else made.tolist()) == oracle.minima(expected, size)


@given(ODD_TEXTS, ODD_TEXTS)
def test_ignored_shingles_leave_no_trace(text: str, template: str) -> None:
    """A sketch without some shingles is the sketch of the others."""
    ignored = shingles(template, 2)
    made = sketch(text, 2, SIZE, ignored)
    left = oracle.shingles(text, 2) - oracle.shingles(template, 2)
    assert (None if made is None else made.tolist()) == oracle.minima(left, SIZE)


def test_seeds_are_fixed_for_ever() -> None:
    """Sketches made years ago can be compared with those of today."""
    made = sketch("The quick brown fox jumps over the lazy dog", 5, 4)
    assert made is not None
    assert made.tolist() == [522019988, 158809025, 1511741923, 960647036]


def test_words_decide_not_case_or_signs() -> None:
    """What a reader would not notice makes no difference."""
    left, right = sketch("One, two: THREE four -- five six!"), sketch("one two three four five six")
    assert left is not None
    assert right is not None
    assert resemblance(left, right) == 1.0
    assert sketch("") is None
    assert sketch(" ... ") is None


def pairs_of_texts(count: int) -> list[tuple[str, str, float]]:
    """Two texts that share some of their shingles, and the resemblance that they truly have."""
    chance = random.Random(2026)
    pairs = []
    for number in range(count):
        # Words that occur once: then each text has as many shingles as words, and they are easy to count.
        common = [f"c{number}x{place}" for place in range(chance.randint(0, 120))]
        own = [f"a{number}x{place}" for place in range(chance.randint(1, 60))]
        other = [f"b{number}x{place}" for place in range(chance.randint(1, 60))]
        left, right = set(common) | set(own), set(common) | set(other)
        pairs.append((" ".join(sorted(left)), " ".join(sorted(right)), len(left & right) / len(left | right)))
    return pairs


def test_estimates_are_within_the_binomial_error() -> None:
    """Over 10,000 pairs the errors have mean 0 and the spread of 32 fair coins."""
    scores = []
    for left, right, truth in pairs_of_texts(10_000):
        first, second = sketch(left, 1), sketch(right, 1)
        assert first is not None
        assert second is not None
        if 0 < truth < 1:
            error = math.sqrt(truth * (1 - truth) / SIZE)
            scores.append((resemblance(first, second) - truth) / error)
    assert len(scores) > 9_900
    # The mean of n scores has the spread 1/sqrt(n), their own spread the error 1/sqrt(2n).
    assert abs(statistics.fmean(scores)) < 4 / math.sqrt(len(scores))
    assert abs(statistics.stdev(scores) - 1) < 4 / math.sqrt(2 * len(scores))


def test_each_place_agrees_as_often_as_the_next() -> None:
    """All hash functions are equally good: none is stuck, none repeats another."""
    agreements = np.zeros(SIZE)
    pairs = pairs_of_texts(2_000)
    for left, right, _ in pairs:
        agreements += np.asarray(sketch(left, 1)) == np.asarray(sketch(right, 1))
    truth = statistics.fmean(pair[2] for pair in pairs)
    assert np.abs(agreements / len(pairs) - truth).max() < 0.05
    columns = np.array([sketch(left, 1) for left, _, _ in pairs])
    assert len({tuple(column) for column in columns.T.tolist()}) == SIZE


def test_datasketch_estimates_the_same() -> None:
    """Another library's minima, over the same words, are off by no less."""
    from datasketch import MinHash  # noqa: PLC0415 -- with scipy, which no other test needs

    ours, theirs = [], []
    for left, right, truth in pairs_of_texts(400):
        first, second = sketch(left, 1), sketch(right, 1)
        assert first is not None
        assert second is not None
        ours.append(abs(resemblance(first, second) - truth))
        sketches = []
        for text in (left, right):
            made = MinHash(num_perm=SIZE, seed=1)
            made.update_batch([word.encode() for word in text.split()])
            sketches.append(made)
        theirs.append(abs(sketches[0].jaccard(sketches[1]) - truth))
    assert statistics.fmean(ours) == pytest.approx(statistics.fmean(theirs), abs=0.01)


def test_published_size_and_width() -> None:
    """Ten words and four minima, as DustBuster has it: all four agree with probability r to the fourth."""
    agree = []
    for left, right, truth in pairs_of_texts(3_000):
        first, second = sketch(left, 1, 4), sketch(right, 1, 4)
        assert first is not None
        agree.append((bool((first == second).all()), truth**4))
    expected = sum(chance for _, chance in agree)
    assert sum(same for same, _ in agree) == pytest.approx(expected, abs=4 * math.sqrt(expected))
    ten = sketch("a b c d e f g h i j k", 10, 4)
    assert ten is not None
    assert len(ten) == 4


def test_common_shingles_are_those_of_the_template() -> None:
    """What half of the pages repeat, and ten at least, is common; nothing is on fewer pages."""
    pages = [f"menu home about contact {number} text{number} end" for number in range(20)]
    common = set(common_shingles(pages, 3).tolist())
    assert common == set(shingles("menu home about contact", 3).tolist())
    assert len(common_shingles(pages[:9], 3)) == 0
    assert len(common_shingles([], 3)) == 0
