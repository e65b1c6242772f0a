"""The experiment of Soon and Lee on real sites, with the published figures beside ours.

    python -m bench.signatures                     the crawls and the mirrors; seconds

Signatures are the digests of the crawls (the visible text), truth are their labels. The mirrors have digests
of the text without the lines that all pages of a site share. `UNDUST_DATA` names the folder of real sites.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from bench.common import machine
from bench.quality import Case, real
from undust.jobs.signatures import SIGNATURE_STEPS, run_experiment
from undust.measuring.measures import Contingency
from undust.reading.observations import Observations

RATES = ("sensitivity", "specificity", "precision", "accuracy")
PUBLISHED: dict[str, tuple[float, ...]] = {
    "standard": (0.0320, 0.1001, 1.0, 1.0, 0.7126),
    "body_text": (0.3614, 1.0, 0.9343, 0.8772, 0.9553),
    "body_text_and_size": (0.2741, 0.7183, 0.9343, 0.8369, 0.8653),
}
"""Of regular URLs, then the rates: 5 sites, 5,257 regular URLs (Soon and Lee, tables 4 to 10). The removed
share of the last one is that of its contingency table, 1,206 + 235 of 5,257."""


def labelled(case: Case) -> Observations:
    """Return what a crawl saw, with the true page of each URL."""
    page = dict(zip(case.labels["url"].to_pylist(), case.labels["cluster"].to_pylist(), strict=True))
    column = pa.array([page.get(url) for url in case.seen["url"].to_pylist()], pa.string())
    at = case.seen.schema.get_field_index("cluster")
    return Observations(case.seen.set_column(at, case.seen.schema.field(at), column))


def rows_of(group: str) -> list[dict[str, Any]]:
    """Return one row a step: what all sites of a group add up to."""
    found = [run_experiment(labelled(case)) for case in real([group])]
    rows = []
    for step in SIGNATURE_STEPS:
        tables = [each.tables[step] for each in found if step in each.tables]
        if not tables:
            continue
        total = Contingency(
            *(
                sum(getattr(table, name) for table in tables)
                for name in ("true_positives", "false_negatives", "false_positives", "true_negatives")
            )
        )
        regular = sum(each.regular for each in found)
        reduction = 1 - sum(each.urls(step) for each in found) / regular
        rows.append({"step": step, "regular": regular, "reduction": reduction, "table": total})
    return rows


def main() -> None:
    """Print a table for each group of sites."""
    print(machine())
    print(f"{'':38}{'removed':>9}" + "".join(f"{rate:>13}" for rate in RATES))
    for group in ("crawls", "mirrors"):
        for row in rows_of(group):
            name = f"{group}, {SIGNATURE_STEPS[row['step']]}"
            rates = "".join(f"{getattr(row['table'], rate):>13.2%}" for rate in RATES)
            print(f"{name:38}{row['reduction']:>9.2%}{rates}", flush=True)
    for step, figures in PUBLISHED.items():
        shown = "".join(f"{each:>13.2%}" for each in figures[1:])
        print(f"{'published, ' + SIGNATURE_STEPS[step]:38}{figures[0]:>9.2%}{shown}")


if __name__ == "__main__":
    main()
