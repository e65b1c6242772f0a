"""The bound that docs/rules.md states for time and memory holds for rules and URLs made to break it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from time import process_time

import pytest

from tests.rules.hostile import BASE, CYCLING, GROWING, LONGEST, hostile_rules, hostile_urls
from undust.rules import Canonicalizer, RuleSet

SMALL, LARGE = 8 * 1024, 32 * 1024
NAMES = sorted(hostile_urls(SMALL))
STEPS = 256


@pytest.fixture(scope="module")
def canonicalize() -> Canonicalizer:
    """Return the hostile rules, compiled."""
    return hostile_rules().compile()


def seconds_a_step(canonicalize: Canonicalizer, url: str) -> float:
    """Return the processor time of one step, the best of three; every step sees all the rules."""
    steps = len(canonicalize.explain(url).steps) + 1
    times = []
    for _ in range(3):
        started = process_time()
        canonicalize(url)
        times.append(process_time() - started)
    return min(times) / steps


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_time_grows_with_the_url_and_not_with_its_square(canonicalize: Canonicalizer, name: str) -> None:
    """Of a URL four times as long a step takes about four times as long; squared it would be sixteen."""
    small, large = (hostile_urls(size)[name] for size in (SMALL, LARGE))
    floor = 0.0005  # below that a clock says little
    ratio = seconds_a_step(canonicalize, large) / max(seconds_a_step(canonicalize, small), floor)
    assert ratio < 9, f"{ratio:.1f} times the time for four times the bytes"


@pytest.mark.parametrize("size", [LONGEST - 40, LONGEST, 1_000_000])
@pytest.mark.parametrize("name", NAMES)
def test_promises_hold(canonicalize: Canonicalizer, name: str, size: int) -> None:
    """Whatever the URL, there is one answer, it is its own, and what is too long is only normalized."""
    url = hostile_urls(size)[name]
    once = canonicalize(url)
    assert canonicalize(once) == once
    if size > LONGEST + 64:
        assert canonicalize.explain(url).outcome == "skipped"


@pytest.mark.parametrize("name", sorted(GROWING))
def test_growth_ends(name: str) -> None:
    """What only grows is left as it was, after 256 steps or 64 KiB."""
    canonicalize = RuleSet(GROWING[name]).compile()
    for url in (f"{BASE}a?x=1", hostile_urls(LARGE)["parameters"], hostile_urls(LARGE)["dots"]):
        explained = canonicalize.explain(url)
        assert len(explained.steps) <= STEPS
        assert canonicalize(canonicalize(url)) == canonicalize(url)


@pytest.mark.parametrize("name", sorted(CYCLING))
def test_cycles_end(name: str) -> None:
    """A cycle of long URLs ends where it began, and all of it has one result."""
    canonicalize = RuleSet(CYCLING[name]).compile()
    url = f"{BASE}x0/{'b' * LARGE}-c" if name == "many" else f"{BASE}{'b' * LARGE}-c-d"
    explained = canonicalize.explain(url)
    assert len(explained.steps) <= STEPS
    members = [step.url for step in explained.steps][:: max(len(explained.steps) // 8, 1)]
    assert {canonicalize(member) for member in members} == {canonicalize(url)}


@pytest.mark.slow
def test_memory_has_a_ceiling() -> None:
    """An orbit of 256 URLs of 64 KiB is 16 MiB; a few times that, and no more, is ever in use."""

    def peak(name: str, size: int) -> int:
        command = [sys.executable, "-m", "tests.rules.hostile", name, str(size)]
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2]
        )
        return int(done.stdout)

    least = peak("nothing", 0)
    for name in ("segments", "cycles", "parameters"):
        for size in (LONGEST - 40, 1_000_000):
            assert peak(name, size) - least < 5 * STEPS * LONGEST
