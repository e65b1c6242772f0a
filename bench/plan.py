"""What a crawl costs on a cluster, on paper: from measured processor time to machines, hours and money.

    python -m bench.plan                                   measures small and large sites here, then plans
    python -m bench.plan small.json large.json             plans from what `undust learn --json` printed
    python -m bench.plan small.json large.json --hours 12 --price 0.02 --json
    python -m bench.plan --crawls $UNDUST_DATA/crawls      a quarter and the whole of real crawls

Two runs are needed, or more: many small sites, and few large ones. Each stage is taken to cost so much a URL
and so much a site, which the runs tell apart (least squares). How each stage grows from the run with fewest
URLs to the one with most is printed as an exponent: 1 is in proportion. What a stage costs beyond that, on a
cluster, is in `EFFICIENCY`.

The driver holds sums, and the rules, packed; what it knows of sites with rules is on its disk.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench.common import machine
from bench.sites import KINDS, site
from undust.jobs.combined import learn_combined
from undust.jobs.learn_result import Stages
from undust.jobs.one_site import LearningTask, learn_rows
from undust.jobs.read import read, with_site
from undust.learning import Requirements

if TYPE_CHECKING:
    from collections.abc import Sequence

ON_DRIVER = ("across sites", "writing")
"""Stages that one process does; all others are spread over the cluster."""
OF_DUPLICATES = ("clustering", "learning", "giant sites")
"""Stages that sites without duplicates never reach."""
EFFICIENCY = 0.6
"""Of the processor time of a cluster that is our work: the rest is Java's, the network's, and waiting."""
ROW_BYTES = 180
"""An observation with a digest, as Spark shuffles it: packed with LZ4, most of it the URL."""
DRIVER_BYTES, RULE_BYTES = 4e8, 2000
"""What the driver holds however large the crawl is, and for each site with rules (five or six), packed."""
QUARTER = 4
SMALL, LARGE = (80, 100), (1000, 8)
"""URLs of a site and sites, in the two runs that are made here."""


class Crawl(NamedTuple):
    """A job to plan for."""

    name: str
    urls: float
    sites: float


CRAWLS = (
    Crawl("1 billion URLs", 1e9, 20e6),
    Crawl("one Common Crawl crawl", 3e9, 38e6),
    Crawl("10 billion URLs", 10e9, 80e6),
    Crawl("100 billion URLs", 100e9, 200e6),
)
"""A crawl of Common Crawl has some 38 million registered domains; the sites of the others are estimates."""


class Cost(NamedTuple):
    """Processor seconds of a stage."""

    of_a_million_urls: float
    of_a_thousand_sites: float

    def hours(self, crawl: Crawl) -> float:
        """Return the core-hours of a crawl, if nothing is lost."""
        urls, sites = crawl.urls / 1e6, crawl.sites / 1e3
        return (urls * self.of_a_million_urls + sites * self.of_a_thousand_sites) / 3600


def costs(runs: Sequence[dict[str, Any]]) -> dict[str, Cost]:
    """Return what each stage costs a URL and a site: the plane that fits the runs best, not below zero."""
    sizes = np.array([(run["urls"] / 1e6, run["sites"] / 1e3) for run in runs])
    found = {}
    for stage in runs[0]["stages"]:
        seconds = np.array([run["stages"].get(stage, 0.0) for run in runs])
        both = np.linalg.lstsq(sizes, seconds, rcond=None)[0]
        if both.min() < 0:
            # All of it by the one that alone explains more.
            alone = sizes.T @ seconds / (sizes**2).sum(axis=0)
            left = ((seconds[:, None] - sizes * alone) ** 2).sum(axis=0)
            both = np.where(left == left.min(), alone, 0.0)
        found[stage] = Cost(*map(float, both))
    return found


def exponents(runs: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return how each stage grows with the URLs, from the smallest run to the largest."""
    in_order = sorted(runs, key=lambda run: float(run["urls"]))
    least, most = in_order[0], in_order[-1]
    if least["urls"] == most["urls"]:
        return {}
    growth = math.log(most["urls"] / least["urls"])
    pairs = {stage: (least["stages"].get(stage, 0.0), seconds) for stage, seconds in most["stages"].items()}
    return {stage: math.log(b / a) / growth for stage, (a, b) in pairs.items() if a > 0 and b > 0}


def plan(  # noqa: PLR0913 -- one for each thing that a person may say
    crawl: Crawl,
    found: dict[str, Cost],
    *,
    hours: float,
    price: float,
    site_bytes: float,
    ruled: float = 1.0,
    measured_ruled: float = 1.0,
) -> dict[str, Any]:
    """Return the cluster, the time and the money for a crawl.

    Args:
        crawl: What to plan for.
        found: The costs of stages.
        hours: How long the cluster may work.
        price: Of a core and an hour.
        site_bytes: What a site sends to the driver.
        ruled: The share of its sites that have rules …
        measured_ruled: … and of the sites that were measured.

    """
    learned = ruled / measured_ruled if measured_ruled else 1.0
    spread = {
        stage: cost.hours(crawl) * (learned if stage in OF_DUPLICATES else 1.0)
        for stage, cost in found.items()
        if stage not in ON_DRIVER
    }
    alone = learned * sum(found[stage].hours(crawl) for stage in ON_DRIVER)
    core_hours = sum(spread.values()) / EFFICIENCY
    cores = math.ceil(core_hours / hours)
    return {
        "crawl": crawl.name,
        "core_hours": core_hours,
        "cores": cores,
        "hours": hours + alone,
        "money": core_hours * price,
        "bottleneck": max(spread, key=spread.__getitem__),
        "bottleneck_share": max(spread.values()) / (sum(spread.values()) or 1.0),
        "shuffle_tb": crawl.urls * ROW_BYTES / 1e12,
        "driver_gb": (DRIVER_BYTES + crawl.sites * ruled * RULE_BYTES) / 1e9,
        "driver_disk_gb": 2 * crawl.sites * ruled * site_bytes / 1e9,
        "driver_hours": alone,
    }


def share_with_rules(run: dict[str, Any]) -> float:
    """Return the share of sites that leave a row on the driver: all but those that were only counted."""
    counted = run.get("sites_without_duplicates", 0) + run.get("sites_without_rules", 0)
    return 1 - counted / run["sites"] if run["sites"] else 1.0


def crawl_of(urls: int, sites: int) -> pa.Table:
    """Return observations of sites of all kinds, each of so many URLs."""
    kinds = list(KINDS)
    tables = [site(kinds[n % len(kinds)], urls, seed=n).observations() for n in range(sites)]
    return pa.concat_tables(tables, promote_options="permissive")


def measured(urls: int, sites: int) -> dict[str, Any]:
    """Return the figures of a run in this process."""
    stages = Stages()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "seen.parquet"
        pq.write_table(crawl_of(urls, sites), path)
        with stages.timed("reading"):
            seen = read(path)
        outcome = learn_combined(seen, stages=stages)
        with stages.timed("writing"):
            outcome.rules.save(Path(folder) / "rules.json")
    return outcome.as_json() | {"stages": stages.as_json()}


def real_runs(folder: Path) -> list[dict[str, Any]]:
    """Return the figures of real crawls: of a quarter of the rows of each, and of all of them."""
    runs = []
    for path in sorted(folder.glob("*.jsonl.gz")):
        for part in (QUARTER, 1):
            stages = Stages()
            with tempfile.TemporaryDirectory() as place:
                with stages.timed("reading"):
                    rows = read(path).table
                some = rows.take(np.arange(0, len(rows), part))
                outcome = learn_combined(some, stages=stages)
                with stages.timed("writing"):
                    outcome.rules.save(Path(place) / "rules.json")
            told = outcome.as_json() | {"stages": stages.as_json()}
            # Rows are read whole either way.
            told["stages"]["reading"] /= part
            runs.append(told | {"urls": len(some)})
    return runs


def bytes_of_a_site() -> float:
    """Return how long the text is that a small site sends to the driver."""
    task = LearningTask(Requirements(), keeps_refused=False)
    small = (site(kind, SMALL[0]) for kind in KINDS)
    rows = [learn_rows(each.domain, with_site(each.observations()), task) for each in small]
    return sum(len(row["learned"][0].as_py()) for row in rows) / len(rows)


def main() -> None:
    """Measure if asked to, plan, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="*", type=Path, help="what `undust learn --json` printed, twice")
    parser.add_argument("--crawls", type=Path, help="a folder of real crawls to measure")
    parser.add_argument("--hours", type=float, default=6.0, help="how long the cluster may work")
    parser.add_argument("--price", type=float, default=0.04, help="dollars for a core and an hour")
    parser.add_argument(
        "--site-bytes", type=float, help="what a site sends to the driver; measured if left out"
    )
    parser.add_argument(
        "--ruled", type=float, metavar="SHARE", help="of sites with rules; as in the first run, if left out"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    if len(options.runs) == 1:
        parser.error("give the figures of two runs or more, or none to measure here")
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in options.runs]
    runs += real_runs(options.crawls) if options.crawls else []
    runs = runs or [measured(*shape) for shape in (SMALL, LARGE)]
    found = costs(runs)
    growth = exponents(runs)
    site_bytes = options.site_bytes or bytes_of_a_site()
    measured_ruled = share_with_rules(runs[0])
    ruled = measured_ruled if options.ruled is None else options.ruled
    bounds = {"hours": options.hours, "price": options.price, "site_bytes": site_bytes, "ruled": ruled}
    bounds |= {"measured_ruled": measured_ruled}
    plans = [plan(crawl, found, **bounds) for crawl in CRAWLS]
    if options.json:
        by_stage = {stage: cost._asdict() for stage, cost in found.items()}
        print(
            json.dumps(
                {
                    "machine": machine(),
                    "costs": by_stage,
                    "exponents": growth,
                    "site_bytes": site_bytes,
                    "ruled": ruled,
                    "plans": plans,
                }
            )
        )
        return
    print(f"processor seconds ({machine()})")
    print(f"{'stage':<16}{'a million URLs':>16}{'a thousand sites':>18}{'exponent':>10}")
    for stage, cost in found.items():
        grows = f"{growth[stage]:>10.2f}" if stage in growth else ""
        print(f"{stage:<16}{cost.of_a_million_urls:>16.1f}{cost.of_a_thousand_sites:>18.1f}{grows}")
    for each in plans:
        print(
            f"\n{each['crawl']}: {each['core_hours']:,.0f} core-hours; {each['cores']:,} cores for "
            f"{each['hours']:.1f} hours; {each['money']:,.0f} dollars\n"
            f"  {each['bottleneck_share']:.0%} of it is {each['bottleneck']}; {each['shuffle_tb']:,.2f} TB "
            f"are shuffled; the driver holds {each['driver_gb']:,.1f} GB, "
            f"{each['driver_disk_gb']:,.0f} GB of its disk, and decides for "
            f"{each['driver_hours']:.1f} hours"
        )


if __name__ == "__main__":
    main()
