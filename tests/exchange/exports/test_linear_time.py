"""No exported expression backtracks: time grows with the length of a URL, also of one made to hurt."""

from __future__ import annotations

import ctypes
import json
import re
import subprocess
from ctypes.util import find_library
from itertools import pairwise
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from tests.exchange.exports import shop
from tests.exchange.exports.applied import program
from undust.exchange.exports import export

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Timing = tuple[bool, float]
    """Whether an expression was found, and the processor time of looking for it."""
    Case = tuple[str, str, tuple[str, str, str]]
    """A shape of rule, what is measured (an expression, a site), and a hostile kind of URL."""

SIZES = (2_500, 5_000, 10_000, 20_000)
JUDGED = 10_000
MOST_GROWTH = 2.5
MOST_ABOVE_A_MATCH = 50
ATTEMPTS = 40
"""How often a suspect is measured; its least times count, for other work on the machine only adds time."""
ROUNDS, LEAST = 3, 0.001
"""How often a search is timed at a time, and for how many seconds: what looks slow is timed again. Java has
longer (`Timed.java`), for it compiles while it searches."""

NO_SHORT_CUT = 0x10000
"""`PCRE2_NO_START_OPTIMIZE`; PCRE2 refuses a short text without a letter of the expression at once."""
TARGETS = {"python": "regex", "pcre2": "regex", "perl": "regex", "java": "nutch"}
"""The dialects of exported expressions that engines with backtracking read, and a target of each."""
NAMES = "abcdefgj"
SHAPES = {
    "any, with hyphens": ("{%s}", "-", "a"),
    "words, with hyphens": ("{%s:word}", "-", "a"),
    "any, with two characters": ("{%s}", "-p", "a"),
    "hexadecimal, with a digit": ("{%s:hex}", "2", "b"),
}
"""A capture, what stands between two, and what a capture takes."""


def rule_text(shape: str, count: int) -> str:
    """A rule with so many captures in one segment."""
    capture, between, _ = SHAPES[shape]
    segment = between.join(capture % name for name in NAMES[:count])
    return f"rewrite {{s}}://{{h}}/z/{segment}.html?{{rest**}} → {{s}}://{{h}}/y/{{a}}x?{{rest}}"


def repeated(start: str, unit: str, end: str, size: int) -> str:
    """A URL of such a length."""
    return start + unit * ((size - len(start) - len(end)) // len(unit)) + end


def hostile(shape: str) -> list[tuple[str, str, str]]:
    """Beginnings, units and ends of URLs that almost match, in as many ways as possible."""
    _, between, text = SHAPES[shape]
    start = "http://shop.test/z/"
    return [
        (start, between, ".htm"),
        (start, text + between, ";.html"),
        (start, between + text, ".html/"),
        (start, between * 2 + text, "%"),
    ]


def matching(shape: str, size: int) -> str:
    """A URL of such a length that matches."""
    _, between, text = SHAPES[shape]
    return repeated("http://shop.test/z/", text + between, f"{text}.html", size)


def patterns_of(text: str, target: str) -> list[str]:
    """The expressions that a rule becomes."""
    exported = export(shop.rules_of(text), target)
    assert len(exported.rules) == 1, [str(refusal) for refusal in exported.refused]
    if target == "regex":
        content = json.loads(exported.text)
        return [content["standard_form"], *(pair["pattern"] for pair in content["pairs"])]
    return [element.text or "" for element in ET.fromstring(exported.text).iter("pattern")]  # noqa: S314 -- our own


def by_python(rows: Sequence[tuple[str, str]]) -> Iterator[Timing]:
    """With Python's `re`."""
    for text, url in rows:
        pattern = re.compile(text)
        best, found = float("inf"), None
        for _ in range(ROUNDS):
            count, start, spent = 0, process_time(), 0.0
            while spent < LEAST:
                found = pattern.search(url)
                count += 1
                spent = process_time() - start
            best = min(best, spent / count)
        yield found is not None, best


def by_pcre2(rows: Sequence[tuple[str, str]]) -> Iterator[Timing]:
    """With the library that nginx and Apache use."""
    name = find_library("pcre2-8")
    if name is None:
        pytest.skip("PCRE2 is not installed")
    library = ctypes.CDLL(name)
    library.pcre2_compile_8.restype = library.pcre2_match_data_create_8.restype = ctypes.c_void_p
    group = ctypes.c_void_p(library.pcre2_match_data_create_8(40, None))
    problem, place = ctypes.c_int(), ctypes.c_size_t()
    for pattern, url in rows:
        text, subject = pattern.encode(), url.encode()
        compiled = library.pcre2_compile_8(
            text, ctypes.c_size_t(len(text)), NO_SHORT_CUT, ctypes.byref(problem), ctypes.byref(place), None
        )
        assert compiled, f"error {problem.value} at {place.value}: {pattern}"
        words = (ctypes.c_void_p(compiled), subject, ctypes.c_size_t(len(subject)), ctypes.c_size_t(0))
        best, found = float("inf"), 0
        for _ in range(ROUNDS):
            count, start, spent = 0, process_time(), 0.0
            while spent < LEAST:
                found = library.pcre2_match_8(*words, 0, group, None)
                count += 1
                spent = process_time() - start
            best = min(best, spent / count)
        assert found >= -1, f"PCRE2 gave up with {found}: {pattern}"
        library.pcre2_code_free_8(ctypes.c_void_p(compiled))
        yield found > 0, best
    library.pcre2_match_data_free_8(group)


def by_program(command: list[str]) -> Callable[[Sequence[tuple[str, str]]], list[Timing]]:
    """With a program that reads patterns and URLs."""

    def timed(rows: Sequence[tuple[str, str]]) -> list[Timing]:
        lines = "".join(f"{pattern}\t{url}\n" for pattern, url in rows)
        done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        found = (line.split() for line in done.stdout.splitlines())
        return [(is_found == "1", float(spent)) for is_found, spent in found]

    return timed


def timer(dialect: str) -> Callable[[Sequence[tuple[str, str]]], list[Timing]]:
    """What measures a dialect; without its program the test is skipped."""
    here = Path(__file__)
    if dialect == "python":
        return lambda rows: list(by_python(rows))
    if dialect == "pcre2":
        return lambda rows: list(by_pcre2(rows))
    if dialect == "perl":
        return by_program([program("perl"), str(here.with_name("timed.pl")), str(ROUNDS), str(LEAST)])
    program("javac")
    return by_program([program("java"), "-XX:TieredStopAtLevel=1", str(here.with_name("Timed.java"))])


def grows_too_fast(times: Sequence[float]) -> str:
    """What is wrong with the times of the sizes, and of a match at last; nothing if they grow as they may."""
    *sizes, match = times
    for first, second in pairwise(sizes):
        if second > MOST_GROWTH * first:
            return f"{second / first:.1f} times as long for twice the length"
    ratio = sizes[SIZES.index(JUDGED)] / match
    return f"{ratio:.0f} times as long as a match" if ratio > MOST_ABOVE_A_MATCH else ""


def least_times(
    cases: Sequence[Case],
    timed: Callable[[Sequence[Case]], Sequence[Sequence[float]]],
    is_suspect: Callable[[Sequence[float]], object],
) -> dict[Case, tuple[float, ...]]:
    """The times of the sizes and of a match for each case.

    The least of all attempts counts for each of them, and only suspects are measured again.
    """
    best = dict.fromkeys(cases, (float("inf"),) * (len(SIZES) + 1))
    waiting = cases
    for _ in range(ATTEMPTS):
        for case, times in zip(waiting, timed(waiting), strict=True):
            best[case] = tuple(map(min, best[case], times))
        waiting = [case for case in waiting if is_suspect(best[case])]
        if not waiting:
            break
    return best


def too_slow(
    cases: Sequence[Case], timed: Callable[[Sequence[Case]], Sequence[Sequence[float]]]
) -> list[tuple[str, Case]]:
    """The cases whose time grows too fast, and how."""
    best = least_times(cases, timed, grows_too_fast)
    return [(problem, case) for case, times in best.items() if (problem := grows_too_fast(times))]


@pytest.mark.parametrize("shape", SHAPES)
def test_short_hostile_urls_take_no_time(shape: str) -> None:
    """Two hundred characters are enough to see whether an engine tries all ways to split them."""
    for pattern in patterns_of(rule_text(shape, 4), "regex"):
        for start, unit, end in hostile(shape):
            rows = [(pattern, repeated(start, unit, end, size)) for size in (120, 240)]
            short, long = (spent for _, spent in by_python(rows))
            assert long < 5 * short, (pattern, unit)


def hostile_cases(dialect: str) -> list[Case]:
    """Every expression of rules with 4, 6 and 8 captures in a segment, with every hostile kind of URL."""
    return [
        (shape, pattern, kind)
        for shape in SHAPES
        for count in (4, 6, 8)
        for pattern in patterns_of(rule_text(shape, count), TARGETS[dialect])
        for kind in hostile(shape)
    ]


def timed_cases(dialect: str) -> Callable[[Sequence[Case]], list[list[float]]]:
    """What gives for each case the times of the sizes and of a match in a dialect."""
    measure = timer(dialect)

    def timed(waiting: Sequence[Case]) -> list[list[float]]:
        rows = []
        for shape, pattern, (start, unit, end) in waiting:
            rows += [(pattern, repeated(start, unit, end, size)) for size in SIZES]
            rows.append((pattern, matching(shape, JUDGED)))
        times = [spent for _, spent in measure(rows)]
        each = len(SIZES) + 1
        return [times[place : place + each] for place in range(0, len(times), each)]

    return timed


@pytest.mark.slow
@pytest.mark.parametrize("dialect", TARGETS)
def test_time_grows_with_the_length(dialect: str) -> None:
    """Twice the length takes at most 2.5 times as long, and failing is hardly slower than matching."""
    slow = too_slow(hostile_cases(dialect), timed_cases(dialect))
    assert not slow, f"{len(slow)} expressions: {slow[:3]}"


CONDITIONS = {
    "when a parameter": "when ?a",
    "unless a value": "unless ?z=p-{*}-{*}-q",
    "unless a path": "unless /{**}/{*:word}-{*:word}/x",
}


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("start", ["http://", "http://shop.test/"])
def test_conditions_do_not_backtrack(condition: str, start: str) -> None:
    """A condition that names no host reads a host of any length once, and a path of any length, too."""
    text = f"{shop.ESSENTIAL['drop one parameter']} {CONDITIONS[condition]}"
    for pattern in patterns_of(text, "regex"):
        for unit, end in (("a", ""), ("a", "/?sid=1"), ("-", "/x"), ("/a-a", ""), ("&z=p-", "")):
            best = [float("inf")] * 2
            for _ in range(ATTEMPTS):
                rows = [(pattern, repeated(start, unit, end, size)) for size in (5_000, 20_000)]
                best = [min(one, spent) for one, (_, spent) in zip(best, by_python(rows), strict=True)]
                if best[1] < 4 * MOST_GROWTH / 2 * best[0]:
                    break
            else:
                pytest.fail(f"{best[1] / best[0]:.1f} times as long for four times the length: {unit}{end}")
