"""What a process knows of itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

STATM = Path("/proc/self/statm")
PROGRAM = """
from pathlib import Path
from undust.files.temporary import give_back_memory

def held():
    return int(Path("/proc/self/statm").read_text().split()[1])

blocks = [bytes(1000) for _ in range(100_000)]
last = bytes(1000)  # above them on the heap, which cannot shrink
full = held()
del blocks
give_back_memory()
assert held() < full * 0.6, (held(), full)
"""


@pytest.mark.skipif(not STATM.exists(), reason="the system does not report the memory of a process")
def test_memory_that_is_free_goes_back_to_the_system() -> None:
    """Freed below something that is still held."""
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
