"""The faults that `make mutation` tries: which are made, always the same ones, and who is excused."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tools.mutate import COUNT, FOLDERS
from tools.mutation.core_mutants import CORE_MUTANTS
from tools.mutation.journal import equivalent
from tools.mutation.mutants import mutants_in, mutants_of, sample, written_in

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = '''\
"""A docstring with 1 < 2 in it."""

from __future__ import annotations


def least(values: list[int], most: int = 3) -> int | None:
    """Return 1."""
    assert values
    if len(values) > most and values:
        return min(values) + 1
    for one, other in zip(values, values, strict=True):
        print(one, other)
    return None
'''


def test_what_is_made() -> None:
    """Comparisons, operators, constants, results and statements; no docstring, type, check or `None`."""
    made = {(mutant.kind, mutant.old, mutant.new) for mutant in mutants_in("x.py", SOURCE)}
    assert made == {
        ("constant", "3", "4"),
        ("constant", "3", "2"),
        ("boolean", "len(values) > most and values", "((len(values) > most) or (values))"),
        ("comparison", "len(values) > most", "(len(values) >= most)"),
        ("comparison", "len(values) > most", "(len(values) <= most)"),
        ("result", "return min(values) + 1", "return None"),
        ("arithmetic", "min(values) + 1", "((min(values)) - (1))"),
        ("constant", "1", "2"),
        ("constant", "1", "0"),
        ("statement", "print(one, other)", "pass"),
    }


def test_a_mutant_is_the_file_with_one_fault() -> None:
    """Everything but the place stays as it is."""
    for mutant in mutants_in("x.py", SOURCE):
        text = mutant.text_of(SOURCE)
        assert text != SOURCE
        assert text.startswith(SOURCE[: mutant.start])
        assert text.endswith(SOURCE[mutant.end :])


def test_a_sample_is_the_same_each_time(repository: Path) -> None:
    """All different, by the seed alone."""
    everything = mutants_of(repository, ["src/undust/proposing/papers/selection"])
    chosen = sample(everything, 40, 15)
    assert chosen == sample(everything, 40, 15)
    assert chosen != sample(everything, 40, 16)
    assert len(set(chosen)) == 40


def test_a_change_of_the_code_exchanges_little_of_the_sample() -> None:
    """What is tried stays what it was, but for the places that were written anew."""
    sources = [f"def area_{n}(a: int, b: int) -> int:\n    return a * {n + 2} + b\n" for n in range(40)]
    before = {mutant.key for mutant in sample([*mutants_in("x.py", "\n".join(sources))], 60, 15)}
    sources[7] = "def perimeter(a: int, b: int) -> int:\n    return 2 * (a + b)\n"
    after = {mutant.key for mutant in sample([*mutants_in("x.py", "\n".join(sources))], 60, 15)}
    assert len(before) == len(after) == 60
    assert len(before & after) >= 50


def test_equal_lines_are_told_apart() -> None:
    """Two mutants that read alike are two."""
    source = "def one(a: int) -> int:\n    return a + 1\n\n\ndef two(a: int) -> int:\n    return a + 1\n"
    keys = [mutant.key for mutant in mutants_in("x.py", source)]
    assert len(set(keys)) == len(keys) == 8
    assert sum(key.endswith(" #2") for key in keys) == 4


def test_whoever_is_excused_exists_and_has_a_reason(repository: Path) -> None:
    """A line that fits no mutant, or that nobody explained, hides nothing for long."""
    excused = equivalent()
    assert 0 < len(excused) < COUNT / 10
    everything = {mutant.key for mutant in CORE_MUTANTS}
    for path in sorted({key.split(" | ")[0] for key in excused if key.startswith(FOLDERS)}):
        source = (repository / path).read_text(encoding="utf-8")
        everything |= {mutant.key for mutant in written_in(path, source)}
    for key, reason in excused.items():
        assert re.sub(r" #\d+$", "", key) in everything, key
        assert len(reason) > 20, key


def test_faults_of_the_core_fit_its_files(repository: Path) -> None:
    """Each stands in its file exactly once."""
    assert len({mutant.key for mutant in CORE_MUTANTS}) == len(CORE_MUTANTS) >= 20
    for mutant in CORE_MUTANTS:
        assert (repository / "cpp" / mutant.file).read_text(encoding="utf-8").count(mutant.old) == 1, mutant
