"""Every reader of strangers' bytes that is Python, fed with its corpus and with what hypothesis makes of it.

`python -m tools.soak` runs the same targets for as long as one likes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.mutation import mutated
from tests.fuzz.targets import CORPUS, TARGETS, Target

if TYPE_CHECKING:
    from random import Random

EXAMPLES = 20
"""Mutations of each target; the soak has millions."""
SLOW = {"report": 4}
"""Targets with fewer, as one of them costs as much as many others."""

each_target = pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)


@each_target
def test_the_corpus_is_taken_or_refused(target: Target, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Samples and old findings do no harm, and at least one sample is what the target reads."""
    folder = tmp_path_factory.mktemp("corpus")
    taken = [target.takes(data, folder) for data in target.seeds()]
    assert any(taken)


@each_target
def test_no_mutation_breaks_a_promise(target: Target, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whatever the bytes: taken, or refused in one sentence."""
    folder, seeds = tmp_path_factory.mktemp("mutated"), target.seeds()

    @settings(max_examples=SLOW.get(target.name, EXAMPLES), suppress_health_check=list(HealthCheck))
    @given(st.randoms(use_true_random=False))
    def promise(chance: Random) -> None:
        target.takes(mutated(seeds, chance), folder)

    promise()


def test_every_corpus_has_a_target() -> None:
    """No sample lies where nobody reads it."""
    assert {folder.name for folder in CORPUS.iterdir()} <= {target.name for target in TARGETS}
