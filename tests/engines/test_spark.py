"""The engine of many machines, on a real Spark: the bytes of the local engine, however the rows lie."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import undust
from bench.sites import KINDS, site
from tests.cli.command import Ended, sentence
from tests.engines.test_local import RESULT, rows
from tests.jobs.test_first_look import crawl as quiet_and_loud
from tests.jobs.test_rare_shapes import MOST_ROWS, sampled
from tests.jobs.test_rare_shapes import crawl as with_rare_shapes
from tests.jobs.test_records import assert_same
from tests.jobs.test_records import crawl as many_sites
from tests.reading.formats.archives import Answer, by_hand, page
from undust.cli import main
from undust.engines import SITE, Files, LocalEngine, SparkEngine
from undust.errors import DamagedSource, SourceError
from undust.jobs.combined import learn_combined
from undust.jobs.find_duplicates import write_clusters
from undust.jobs.first_look import QUIET_TEST
from undust.jobs.one_site import learn_rows
from undust.learning.edited import CHECKED_SITES
from undust.reading.observations import SCHEMA as OBSERVATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from click.testing import Result
    from pyspark.sql import SparkSession

    from undust.engines import File, Reader
    from undust.reading.observations import Observations

CRAWLS = Path(__file__).parent.parent / "crawls"
BASE = "https://base.test"
URLS_PER_SITE = 80


@pytest.fixture
def engine(spark: SparkSession) -> Iterator[SparkEngine]:
    """An engine on the session of all tests."""
    with SparkEngine(spark) as made:
        yield made


@pytest.fixture(scope="module")
def crawl() -> pa.Table:
    """What was seen in every test crawl: files of all formats, the shop of examples, all kinds of sites."""
    made = [site(kind, URLS_PER_SITE).observations().cast(OBSERVATIONS) for kind in KINDS]
    return pa.concat_tables([undust.read(CRAWLS, "examples/shop.jsonl.gz", base=BASE).table, *made])


@pytest.fixture(scope="module")
def expected(crawl: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes]:
    """The rules and the clusters of the local engine."""
    return outputs(crawl, None, tmp_path_factory.mktemp("local"))


def outputs(crawl: pa.Table, engine: SparkEngine | None, folder: Path) -> tuple[bytes, bytes]:
    """The bytes of the rules and of the file of clusters."""
    rules = learn_combined(crawl, engine=engine).rules.dumps()
    path = folder / "clusters.parquet"
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
    assert len(json.loads(expected[0])["rules"]) > 10
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

    monkeypatch.setattr("undust.jobs.combined.learn_rows", dying)
    assert learn_combined(crawl, engine=engine).rules.dumps() == expected[0]
    assert marker.exists()


def test_the_verbs_are_those_of_the_local_engine(engine: SparkEngine) -> None:
    """On rows of any type, in the order of the sites; sites that are done are left out."""
    given = pa.Table.from_batches(rows(5000))
    with LocalEngine() as local:
        assert engine.survey(given, 217) == local.survey(given, 217)
        assert engine.collect(engine.map_sites(given, total, RESULT)) == local.collect(
            local.map_sites(given, total, RESULT)
        )
    done = {f"site{number}.test" for number in range(3)} | set(given[SITE].to_pylist()[:4])
    found = [row for some in engine.each_site(given, total, RESULT, done) for row in some.to_pylist()]
    assert {row[SITE] for row in found} == set(given[SITE].to_pylist()) - done
    large = pa.table({SITE: ["a"], "name": pa.array([2**64 - 1], pa.uint64())})
    assert engine.collect(engine.map_rows(large, same, large.schema)) == large
    assert engine.collect(engine.map_sites(large[:0], lambda _, rows: rows, large.schema)).num_rows == 0


def total(site: str, rows: pa.Table) -> pa.Table:
    """A row that tells the site, its rows and their sum."""
    return pa.table({"site": [site], "rows": [len(rows)], "total": [sum(rows["number"].to_pylist())]}, RESULT)


def same(batch: pa.RecordBatch) -> pa.RecordBatch:
    """What comes in."""
    return batch


def in_order(seen: Observations, engine: SparkEngine | None = None) -> list[dict[str, Any]]:
    """The rows in an order of their own."""
    table = engine.collect(seen.table) if engine else seen.table
    return sorted(table.select(OBSERVATIONS.names).to_pylist(), key=repr)


def test_the_same_sites_are_set_aside(engine: SparkEngine) -> None:
    """Both engines read the test of quiet sites alike: the same counts, and the same rows are left."""
    table = quiet_and_loud(200, random.Random(3))
    with LocalEngine(threads=1) as local:
        local_left, local_quiet = local.set_aside(table, QUIET_TEST)
        left, quiet = engine.set_aside(table, QUIET_TEST)
        assert quiet == local_quiet
        assert quiet.sites > 50
        rows_left = [
            sorted(each.collect(some)["url"].to_pylist())
            for each, some in ((local, local_left), (engine, left))
        ]
    assert rows_left[0] == rows_left[1]
    assert len(rows_left[0]) == len(table) - quiet.rows


def test_spark_adds_up_what_sites_say(engine: SparkEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shapes come to the driver, not sites: the rules for all sites are those of the local engine."""
    assert_same(engine)
    monkeypatch.setattr("undust.jobs.combined.COUNTED_TOGETHER", 10)
    table = many_sites()
    expected, found = (learn_combined(table, engine=each, keep_refused=False) for each in (None, engine))
    assert expected.across
    assert found.rules.dumps() == expected.rules.dumps()
    assert found.as_json() == expected.as_json()
    assert found.as_json()["sites_without_rules"] == 9


def test_the_same_sites_are_checked(engine: SparkEngine) -> None:
    """Of many sites both engines draw the same sample, and state the same of the others."""
    rows = [
        {"url": f"http://s{n}.test/p/{page}{form}", "digest": f"{n} {page}"}
        for n in range(3 * CHECKED_SITES // 2)
        for page in range(12)
        for form in ("", f"?sid={7919 * page + n}")
    ]
    table = pa.Table.from_pylist(rows)
    expected, found = (learn_combined(table, engine=each) for each in (None, engine))
    assert expected.checked.pages > 0 < expected.checked.unchecked
    assert found.by_site() == expected.by_site()
    assert found.rules.dumps() == expected.rules.dumps()


def test_spark_draws_rare_shapes_of_a_giant(engine: SparkEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sample of a giant is that of the local engine."""
    monkeypatch.setattr("undust.engines.spool.SITE_ROWS", MOST_ROWS)
    table = with_rare_shapes()
    with LocalEngine() as local:
        assert sampled(engine, table) == sampled(local, table)


def test_the_common_crawl_index_is_read_by_its_own_names(engine: SparkEngine, tmp_path: Path) -> None:
    """Only the columns that are needed, of all files of a folder together; damage is told."""
    index = pa_csv.read_csv(CRAWLS / "common_crawl_columns.csv")
    folder = tmp_path / "subset=warc"
    folder.mkdir()
    pq.write_table(index[:2], folder / "part-0.parquet", coerce_timestamps="us")
    pq.write_table(index[2:], folder / "part-1 [a].parquet", row_group_size=1, coerce_timestamps="us")
    (folder / "_SUCCESS").touch()
    expected = undust.read(*sorted(folder.glob("*.parquet")))
    for named in (str(folder / "*.parquet"), f"file://{folder}"):
        seen = undust.read(named, engine=engine)
        assert in_order(seen, engine) == in_order(expected)
        assert sum(file.rows for file in seen.files) == len(seen)
        assert seen.counts() == expected.counts()
    (folder / "part-1 [a].parquet").write_bytes((folder / "part-0.parquet").read_bytes()[:-9])
    with pytest.raises(SourceError, match=r"part-1 \[a\]\.parquet: it .* get it again, or leave it out"):
        undust.read(f"file://{folder}", engine=engine)


def test_a_file_system_of_hadoop(engine: SparkEngine, tmp_path: Path) -> None:
    """One that is not this machine's: what its mount table calls /crawls lies elsewhere."""
    settings = engine.spark.sparkContext._jsc.hadoopConfiguration()  # noqa: SLF001 -- no other way
    settings.set("fs.viewfs.mounttable.archive.link./crawls", f"file://{tmp_path}")
    shutil.copy("examples/shop.jsonl.gz", tmp_path / "shop.jsonl.gz")
    seen = undust.read("examples/shop.jsonl.gz")
    (tmp_path / "parts" / "day=1").mkdir(parents=True)
    pq.write_table(seen.table[:200], tmp_path / "parts" / "0.parquet")
    pq.write_table(seen.table[200:], tmp_path / "parts" / "day=1" / "1.parquet")
    for named in ("shop.jsonl.gz", "sh?p.*", "parts", "parts/{0,day=1/1}.parquet"):
        far = undust.read(f"viewfs://archive/crawls/{named}", engine=engine)
        assert in_order(far, engine) == in_order(seen)
        assert all(file.name.startswith("viewfs://archive/crawls/") for file in far.files)
    rules = tmp_path / "rules.json"
    done = run("viewfs://archive/crawls/parts", "-o", rules, "-q")
    assert (done.exit_code, done.output) == (0, "")
    assert rules.read_bytes() == undust.learn(seen).dumps()
    with pytest.raises(SourceError, match="viewfs://archive/crawls/no: there is no such file, or none fits"):
        undust.read("viewfs://archive/crawls/no", engine=engine)


def test_paths_are_those_of_the_driver(
    engine: SparkEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From where the person is, not from where Spark was started."""
    (tmp_path / "urls.txt").write_text("https://a.test/\n")
    monkeypatch.chdir(tmp_path)
    seen = undust.read("urls.txt", engine=engine)
    assert [(file.name, file.rows) for file in seen.files] == [("urls.txt", 1)]
    assert len(seen) == 1


def test_what_is_wrong_with_a_file_is_told_as_ever(engine: SparkEngine, tmp_path: Path) -> None:
    """The task is not tried again, and the sentence is the one of the local engine."""
    damaged = CRAWLS / "jsonl_with_mixed_types_and_damage.jsonl"
    with pytest.raises(DamagedSource) as here:
        undust.read(damaged, strict=True)
    with pytest.raises(DamagedSource) as there:
        undust.read(damaged, strict=True, engine=engine)
    assert str(there.value) == str(here.value)
    with pytest.raises(SourceError, match=r"nothing.*: there is no such file, or none fits"):
        undust.read(f"file://{tmp_path}/nothing.jsonl", engine=engine)
    with pytest.raises(SourceError, match="Spark knows no file system 'x'; add the package"):
        undust.read("x://bucket/file", engine=engine)
    archive = tmp_path / "misnamed.data"
    archive.write_bytes(b"".join(map(by_hand, [Answer("http://a.test/", page("text"))])))
    with pytest.raises(SourceError, match=r"misnamed\.data: it is an archive and its name does not show it"):
        undust.read(archive, engine=engine)
    with pytest.raises(SourceError, match="standard input comes to this machine alone"):
        undust.read("-", engine=engine)


def test_a_site_with_half_of_all_urls(engine: SparkEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """No task gets all of it; what is learned from a sample is held against all, byte for byte as locally."""
    monkeypatch.setattr("undust.engines.spool.SITE_ROWS", 250)
    giant = site("shop", 500)
    others = [site(kind, 60).observations().cast(giant.observations().schema) for kind in ("cms", "blog")]
    crawl = pa.concat_tables([giant.observations(), *others])
    here, there = learn_combined(crawl), learn_combined(shuffled(crawl, 1), engine=engine)
    assert list(there.as_json()["sampled"]) == [giant.domain]
    assert there.rules.dumps() == here.rules.dumps()
    assert there.as_json() == here.as_json()
    assert any(rule.site == giant.domain for rule in there.rules)


def run(*arguments: object) -> Result:
    """The command, in this process, where Spark runs already."""
    return CliRunner().invoke(
        main, ["learn", "--engine", "spark", "--master", "local[2]", *map(str, arguments)]
    )


def test_the_command_learns_on_spark(spark: SparkSession, tmp_path: Path) -> None:
    """The file is the one of the local engine; where a part cannot be read, there is none."""
    here, there = tmp_path / "here.json", tmp_path / "there.json"
    undust.learn(undust.read("examples/shop.jsonl.gz")).save(here)
    seen = undust.read("examples/shop.jsonl.gz").table
    folder = tmp_path / "crawl"
    folder.mkdir()
    pq.write_table(seen[:300], folder / "0.parquet")
    pq.write_table(seen[300:], folder / "1.parquet")
    done = run(f"file://{folder}", "-o", there, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["rules"] == len(undust.load(here))
    assert there.read_bytes() == here.read_bytes()
    there.unlink()
    whole = (folder / "1.parquet").read_bytes()
    (folder / "1.parquet").write_bytes(b"PAR1 and no more PAR1")
    failed = run(f"file://{folder}", "-o", there)
    assert failed.exit_code == 1
    assert failed.stderr.startswith("undust: file:/")
    assert failed.stderr.endswith("get it again, or leave it out\n")
    assert not there.exists()
    (folder / "1.parquet").write_bytes(whole)
    assert run(f"file://{folder}", "-o", there, "--resume", "-q").exit_code == 0
    assert there.read_bytes() == here.read_bytes()
    assert spark.range(3).count() == 3  # it stays the caller's


@contextmanager
def files_of_java_are_small(spark: SparkSession) -> Iterator[None]:
    """Let Java write no file of more than a block, as on a disk that is full."""
    spark.range(1).mapInArrow(lambda batches: batches, "id long").count()  # Python's workers are not Java
    java = spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid()  # type: ignore[union-attr]  # noqa: SLF001
    before = resource.prlimit(java, resource.RLIMIT_FSIZE)
    resource.prlimit(java, resource.RLIMIT_FSIZE, (512, before[1]))
    try:
        yield
    finally:
        resource.prlimit(java, resource.RLIMIT_FSIZE, before)


@pytest.mark.slow
def test_a_disk_without_room_is_told(spark: SparkSession, tmp_path: Path) -> None:
    """The shuffle finds none: one sentence with the mend, no rules, and all of them when there is room."""
    rules = tmp_path / "rules.json"
    with files_of_java_are_small(spark):
        failed = run("examples/shop.jsonl.gz", "-o", rules, "-q")
    assert sentence(Ended(failed.exit_code, b"", failed.stderr)) == (
        "a machine of the cluster has no space left on its disk; free some, or name another disk with "
        "spark.local.dir"
    )
    assert list(tmp_path.iterdir()) == []
    assert run("examples/shop.jsonl.gz", "-o", rules, "--resume", "-q").exit_code == 0
    assert rules.read_bytes() == undust.learn(undust.read("examples/shop.jsonl.gz")).dumps()


def test_a_job_that_was_ended_goes_on(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process is lost again and again: one sentence, no rules; later, only what was not done is learned."""
    monkeypatch.setattr("undust.jobs.combined.JOURNAL_PATIENCE", 0.0)
    monkeypatch.setattr("undust.engines.spark.engine.AT_A_TIME", 0)  # one partition after the other
    spark.conf.set("spark.sql.shuffle.partitions", "3")
    rules, notes, mended = tmp_path / "rules.json", tmp_path / "notes", tmp_path / "mended"
    crawl = tmp_path / "crawl.jsonl"
    urls = [f"http://s{n % 9}.test/{n // 18}{'?sid=7' if n // 9 % 2 else ''}" for n in range(9 * 16)]
    crawl.write_text("".join(f'{{"url": "{url}", "digest": "{url.partition("?")[0]}"}}\n' for url in urls))

    def dying(site: str, rows: pa.Table, **said: Any) -> pa.Table:  # noqa: ANN401
        if site == "s5.test" and not mended.exists():
            os._exit(1)
        with notes.open("a") as file:
            file.write(f"{site}\n")
        return learn_rows(site, rows, **said)

    monkeypatch.setattr("undust.jobs.combined.learn_rows", dying)
    failed = run(crawl, "-o", rules, "-q")
    told = sentence(Ended(failed.exit_code, b"", failed.stderr))
    assert told.startswith("a Python process of an executor was lost again and again, most likely for want")
    assert "spark.executor.memory" in told
    assert told.endswith("the sites that are done are kept, and --resume goes on from there")
    assert not rules.exists()
    lines = (tmp_path / ".rules.json.journal").read_text(encoding="utf-8").splitlines()[1:]
    kept = {json.loads(line.partition(" ")[2])[0] for line in lines}
    assert kept
    mended.touch()
    notes.unlink()
    assert run(crawl, "-o", rules, "-q", "--resume").exit_code == 0
    assert not kept & set(notes.read_text().split())
    assert rules.read_bytes() == undust.learn(undust.read(crawl)).dumps()
    assert not (tmp_path / ".rules.json.journal").exists()


class Places(NamedTuple):
    """A reader that tells where its files lie."""

    def read_files(self, files: Sequence[File], tell: Callable[[object], object]) -> Iterator[pa.RecordBatch]:
        """Yield nothing."""
        for file in files:
            tell((file.name, file.path, Path(file.path).read_text(encoding="utf-8")))
        yield from ()


def test_what_is_fetched_lies_with_the_files_of_spark(engine: SparkEngine, tmp_path: Path) -> None:
    """Where room was made for it, and where it goes with the rest, however Spark ends."""
    (tmp_path / "urls.txt").write_text("https://a.test/\n")
    address = f"file:{tmp_path}/urls.txt"
    told: list[tuple[str, str, str]] = []
    engine.read(Files([], [address]), cast("Reader", Places()), RESULT, told.append)
    ((name, path, text),) = told
    assert (name, text) == (address, "https://a.test/\n")
    assert path.startswith(str(engine.spark.conf.get("spark.local.dir")))
    assert not Path(path).exists()
