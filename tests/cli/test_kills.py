"""Long jobs ended at random moments: what is left is whole, and going on leads to the same bytes.

`python -m tools.faults.kills --kills 1000` does it a thousand times; docs/reliability.md has what was seen.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

KILLS = 50


@pytest.mark.slow
@pytest.mark.timeout(3600)  # beside a dozen other jobs on two cores it takes a quarter of an hour
def test_old_or_new_and_the_same_bytes_in_the_end(repository: Path, pytestconfig: pytest.Config) -> None:
    """SIGTERM, SIGINT and SIGKILL, at moments that the seed of the run draws."""
    seed = str(pytestconfig.getoption("randomly_seed", 0))
    words = [sys.executable, "-m", "tools.faults.kills", "--kills", str(KILLS), "--seed", seed]
    done = subprocess.run(
        [*words, "--fresh", "0.04"], cwd=repository, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{' '.join(words[1:])}\n{done.stdout}\n{done.stderr}"
    told = json.loads(done.stdout)
    assert told["kills"] >= KILLS
    assert told["losses"] == []
    assert set(told["jobs"]) == {"learn", "validate", "apply", "cluster", "export"}
