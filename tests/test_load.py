"""The canonicalizer asked from several threads of several processes at once: the same answers.

`python -m tools.load` does it for ten minutes and watches the memory; docs/reliability.md tells what it saw.
"""

from __future__ import annotations

from tools.load import under_load


def test_every_thread_of_every_process_gets_the_same_answers() -> None:
    """Whoever else asks meanwhile."""
    loads = under_load(seconds=1.0, processes=2, threads=8)
    assert [load.wrong for load in loads] == [0, 0]
    assert all(load.answers > 0 for load in loads)
