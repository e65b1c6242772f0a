"""Tables keep up with the core; `bench.tables` measures it, and here is room for a busy machine."""

from __future__ import annotations

import pytest

from bench.tables import REACHING, ratios, speeds


@pytest.fixture(scope="module")
def seconds() -> dict[str, dict[str, tuple[float, float]]]:
    """Measure once; what is slow by a row of Python objects would be ten times slower."""
    return speeds(30_000, rounds=3, threads=2, different=5_000)


@pytest.mark.parametrize("contender", REACHING)
def test_no_row_becomes_a_python_object(
    seconds: dict[str, dict[str, tuple[float, float]]], contender: str
) -> None:
    """At least a third of the core's speed, in processor time, even where the core has hardly any work."""
    for name, measured in seconds.items():
        assert ratios(measured)[contender][1] > 0.33, name
