"""The engine of many machines, on a real Spark: the bytes of the local engine, however the rows lie."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import undust
from bench.sites import KINDS, site
from undust.engines import LocalEngine
from undust.pipeline import learn_combined, write_clusters
from undust.pipeline.one_site import learn_rows

pytest.importorskip("pyspark")

from undust.engines.spark import SparkEngine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

CRAWLS = Path(__file__).parent.parent / "crawls"
URLS_PER_SITE = 150


@pytest.fixture
def engine(spark: SparkSession) -> Iterator[SparkEngine]:
    """An engine on the session of all tests."""
    with SparkEngine(spark) as made:
        yield made


@pytest.fixture(scope="module")
def crawl() -> pa.Table:
    """What was seen of one site of each kind, and of the shop of the examples."""
    shop = undust.read("examples/shop.jsonl.gz").table
    return pa.concat_tables(
        [shop, *(site(kind, URLS_PER_SITE).observations().cast(shop.schema) for kind in KINDS)]
    )


@pytest.fixture(scope="module")
def expected(crawl: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes]:
    """The rules and the clusters of the local engine."""
    return outputs(crawl, None, tmp_path_factory.mktemp("local"))


def outputs(crawl: pa.Table, engine: SparkEngine | None, folder: Path) -> tuple[bytes, bytes]:
    """The bytes of the rules and of the file of clusters."""
    rules = learn_combined(crawl, engine=engine).rules.dumps()
    path = folder / "clusters.jsonl"
    with LocalEngine() as local:
        write_clusters(crawl, str(path), engine or local)
    return rules, path.read_bytes()


def shuffled(table: pa.Table, seed: int) -> pa.Table:
    """The rows in another order."""
    order = list(range(len(table)))
    random.Random(seed).shuffle(order)
    return table.take(order)


@pytest.mark.parametrize("partitions", [1, 2, 7])
def test_the_bytes_are_those_of_the_local_engine(
    engine: SparkEngine, crawl: pa.Table, expected: tuple[bytes, bytes], partitions: int, tmp_path: Path
) -> None:
    """However many partitions there are, and in whichever order the rows come."""
    assert len(json.loads(expected[0])["rules"]) > 20
    engine.spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
    assert outputs(shuffled(crawl, partitions), engine, tmp_path) == expected


def test_a_task_that_dies_is_run_again(
    engine: SparkEngine,
    crawl: pa.Table,
    expected: tuple[bytes, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its Python process is gone in the middle of a site; the bytes are the same."""
    marker = tmp_path / "died"

    def dying(site: str, rows: pa.Table, **said: Any) -> pa.Table:  # noqa: ANN401
        learned = learn_rows(site, rows, **said)
        if site == "forum0.test" and not marker.exists():
            marker.touch()
            os._exit(1)
        return learned

    monkeypatch.setattr("undust.pipeline.combined.learn_rows", dying)
    assert learn_combined(crawl, engine=engine).rules.dumps() == expected[0]
    assert marker.exists()
