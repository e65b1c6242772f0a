"""Spark as it is used for long jobs: in processes of its own, on executors that die, with every test crawl.

These start Java again and again, which takes too long for every change.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import undust
from bench.scale_rows import batches, site_name
from bench.sites import KINDS, site
from bench.standalone import cluster
from tests.cli.command import Ended, sentence
from tests.engines.test_spark import BASE, CRAWLS, in_order, shuffled
from undust.cli import main
from undust.engines import SparkEngine
from undust.reading.observations import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.huge

SHOP = Path("examples/shop.jsonl.gz")
SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "4",
}

# The command, in which the executor that gets the site named in KILLED is killed, whenever it does, or once;
# and in which the site named in ENDLESS takes longer than anyone waits.
KILLING = """
import os, sys, time
from pathlib import Path
from undust.cli import main
from undust.engines.spark import engine, session
from undust.jobs import combined
combined.JOURNAL_PATIENCE, engine.AT_A_TIME = 0.0, 0
session.QUIET.update(eval(os.environ["SETTINGS"]))
real, name, once = combined.learn_rows, os.environ["KILLED"], Path(os.environ["ONCE"])
def parent(process):
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
def learn_rows(site, rows, **said):
    if site == name and not once.exists():
        if once.suffix == ".once":
            once.touch()
        executor = parent(os.getppid())
        assert b"CoarseGrainedExecutorBackend" in Path(f"/proc/{executor}/cmdline").read_bytes()
        os.kill(executor, 9)
    if site == os.environ["ENDLESS"]:
        once.touch()
        time.sleep(600)
    return real(site, rows, **said)
combined.learn_rows = learn_rows
main()
"""


def ended(process: subprocess.Popen[bytes]) -> Ended:
    """How a command ended."""
    out, err = process.communicate()
    return Ended(process.returncode, out, err.decode())


def started(*words: object, **said: object) -> subprocess.Popen[bytes]:
    """The command on Spark, as `KILLING` has it."""
    environment = {"SETTINGS": repr(SETTINGS), "KILLED": "", "ENDLESS": "", "ONCE": "never"} | said
    return subprocess.Popen(
        [sys.executable, "-c", KILLING, "learn", "--engine", "spark", *map(str, words)],
        env=os.environ | {name: str(value) for name, value in environment.items()},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_executors_that_are_lost(tmp_path: Path) -> None:
    """Two of a real cluster: once, and nobody notices; again and again, and `--resume` completes the job."""
    crawl, rules = tmp_path / "crawl.parquet", tmp_path / "rules.json"
    pq.write_table(pa.Table.from_batches(batches(8000), SCHEMA), crawl, coerce_timestamps="us")
    expected = undust.learn(undust.read(crawl)).dumps()
    words = ("--master", "local-cluster[2,1,1024]", crawl, "-o", rules, "-q")
    once = ended(started(*words, KILLED="site3.test", ONCE=tmp_path / "killed.once"))
    assert (once.code, once.err) == (0, "")  # not even what Java says when it starts
    assert (tmp_path / "killed.once").exists()
    assert rules.read_bytes() == expected
    rules.unlink()
    told = sentence(ended(started(*words, KILLED="site3.test", ONCE=tmp_path / "never")))
    assert told.startswith("an executor was lost again and again; give the executors more room")
    assert told.endswith("--resume goes on from there")
    assert not rules.exists()
    again = ended(started(*words, "--resume"))
    assert (again.code, again.err) == (0, "")
    assert rules.read_bytes() == expected


def test_a_cluster_of_its_own(tmp_path: Path) -> None:
    """A master and two workers, and half of all rows of one site: the bytes of one machine."""
    crawl, rules = tmp_path / "crawl.parquet", tmp_path / "rules.json"
    seen = pa.Table.from_batches(batches(8000), SCHEMA)
    giant = sum(f"{site_name(0)}/" in url for url in seen["url"].to_pylist())
    assert 0.4 < giant / len(seen) < 0.6
    pq.write_table(seen, crawl, coerce_timestamps="us")
    settings = tmp_path / "conf"
    settings.mkdir()
    said = "".join(f"{name} {value}\n" for name, value in SETTINGS.items())
    (settings / "spark-defaults.conf").write_text(said)
    environment = {"PYSPARK_PYTHON": sys.executable, "SPARK_CONF_DIR": str(settings)}
    with cluster(tmp_path) as address:
        words = ["learn", "--engine", "spark", "--master", address, str(crawl), "-q", "-o", str(rules)]
        done = subprocess.run(
            [sys.executable, "-m", "undust", *words],
            env=os.environ | environment,
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, "")
    assert rules.read_bytes() == undust.learn(undust.read(crawl)).dumps()
    # Both machines had a part in it.
    assert all(list((tmp_path / f"worker{number}").glob("app-*/*")) for number in range(2))


CONNECT = """
import os, sys
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
import pyarrow as pa
from pyspark.sql import SparkSession
from tests.integrations.tables import KEYS, RULES, URLS
from undust.integrations.spark import key
spark = SparkSession.builder.remote("local[1]").getOrCreate()
assert "connect" in type(spark).__module__
rows = key(spark.createDataFrame(pa.table({"url": URLS, "n": range(len(URLS))})), RULES).toArrow()
assert rows.sort_by("n")["key"].to_pylist() == KEYS
spark.stop()
print("done")
"""


def test_rules_through_spark_connect() -> None:
    """Where a session has no broadcast, the rules go with the plan."""
    done = subprocess.run([sys.executable, "-c", CONNECT], capture_output=True, text=True, check=False)
    assert done.stdout == "done\n", done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_leaves_nothing_in_the_folder_for_temporary_files(
    number: signal.Signals, tmp_path: Path
) -> None:
    """Neither ours nor Spark's, and no rules; what Spark is at is not waited for."""
    crawl, tmp, begun = tmp_path / "crawl.parquet", tmp_path / "tmp", tmp_path / "begun"
    tmp.mkdir()
    pq.write_table(pa.Table.from_batches(batches(3000), SCHEMA), crawl, coerce_timestamps="us")
    rules = tmp_path / "rules.json"
    words = ("--master", "local[1]", "--tmp", tmp, "--memory", "1GB", crawl, "-o", rules, "-q")
    process = started(*words, ENDLESS="site1.test", ONCE=begun)
    while process.poll() is None and not begun.exists():
        time.sleep(0.1)
    process.send_signal(number)
    told = sentence(ended(process), 128 + number)
    assert told.startswith(f"stopped by {'Ctrl-C' if number is signal.SIGINT else 'SIGTERM'}")
    assert not rules.exists()
    assert list(tmp.iterdir()) == []


def crawls(folder: Path) -> Iterator[Path]:
    """Every crawl of the tests, each as a file; those that are made are mixed."""
    yield from sorted(path for path in CRAWLS.iterdir() if path.is_file())
    yield SHOP
    for number, kind in enumerate(KINDS):
        path = folder / f"{kind}.parquet"
        rows = site(kind, 300).observations().cast(SCHEMA)
        pq.write_table(shuffled(rows, number), path, coerce_timestamps="us")
        yield path


@pytest.mark.parametrize("partitions", [1, 2, 7])
def test_every_crawl_by_itself(spark: SparkSession, tmp_path: Path, partitions: int) -> None:
    """The command gives the same bytes on both engines: rules, clusters in each format, and what it says."""
    spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
    tried = 0
    for crawl in crawls(tmp_path):
        for command, name in (("learn", "rules.json"), ("cluster", "c.parquet"), ("cluster", "c.csv")):
            told = []
            for engine in ("local", "spark"):
                output = tmp_path / f"{engine}-{name}"
                words = [command, str(crawl), "--base", BASE, "--engine", engine, "-o", str(output)]
                done = CliRunner().invoke(main, [*words, "--json"])
                told.append((done.exit_code, _without_times(done.stdout), output.read_bytes()))
            assert told[0] == told[1], (crawl, command)
            tried += 1
    assert tried > 100


def _without_times(text: str) -> dict[str, object]:
    said = json.loads(text)
    return {
        name: said[name] for name in said if name not in {"output", "peak_memory_bytes", "seconds", "stages"}
    }


def test_files_of_every_format_are_read_by_tasks(spark: SparkSession) -> None:
    """In a folder that all machines see, and at addresses of a file system: the same rows and remarks."""
    expected = undust.read(CRAWLS, base=BASE)
    with SparkEngine(spark) as engine:
        near = undust.read(CRAWLS, base=BASE, engine=engine)
        assert in_order(near, engine) == in_order(expected)
        assert near.files == expected.files
        assert near.statements == expected.statements
        far = undust.read(f"file://{CRAWLS}/*", base=BASE, engine=engine)
        assert in_order(far, engine) == in_order(expected)
        assert [file.rows for file in far.files] == [file.rows for file in expected.files]


def test_spark_submit(tmp_path: Path) -> None:
    """The real one, with the file that it takes; the options are those of `undust learn`."""
    program = Path(str(pytest.importorskip("pyspark").__file__)).parent / "bin" / "spark-submit"
    entry = subprocess.run(
        [sys.executable, "-m", "undust.cli.spark_submit"], capture_output=True, text=True, check=True
    ).stdout.strip()
    settings = ["spark.ui.enabled=false", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1"]
    settings += ["spark.sql.shuffle.partitions=3", "spark.driver.host=127.0.0.1", "spark.log.level=OFF"]
    output = tmp_path / "rules.json"
    done = subprocess.run(
        [
            *(program, "--master", "local[2]"),
            *(word for setting in settings for word in ("--conf", setting)),
            *(entry, Path("examples/shop.jsonl.gz").resolve(), "-o", output, "--json"),
        ],
        cwd=tmp_path,
        env=os.environ | {"PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["output"] == str(output)
    assert output.read_bytes() == undust.learn(undust.read("examples/shop.jsonl.gz")).dumps()
