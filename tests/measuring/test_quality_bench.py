"""The benchmark of quality runs, and sees what its sites were made to show."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def test_one_kind_of_site(repository: Path) -> None:
    """A learner finds rules of a generated blog without losing a page, and a careless method loses many."""
    asked = (
        "--generated --kinds blog --urls 1500 --noise 0 --coverage 1 --methods drop-query substring --json"
    )
    done = subprocess.run(
        [sys.executable, "-m", "bench.quality", *asked.split()],
        cwd=repository,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=800,
    )
    careless, learned = map(json.loads, done.stdout.splitlines())
    assert (careless["method"], learned["method"]) == ("drop-query", "substring")
    assert careless["lost"] > 0.1
    assert learned["removed"] > 0.3
    assert learned["lost"] < 0.01
    assert 0 < learned["valid"] <= learned["candidates"]
