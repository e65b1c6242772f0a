"""The engine of one machine: in memory, on disk, in one process or several, always the same answer."""

from __future__ import annotations

import gzip
import json
import os
import signal
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple, cast

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from undust.engines import Engine, Files, LocalEngine, engine_named, local, spool
from undust.engines.spool import Budget, Spool, bytes_of
from undust.errors import UndustError
from undust.files.temporary import temporary_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from undust.engines import File, Reader
    from undust.engines.spool import Spooled

SCHEMA = pa.schema([("site", pa.string()), ("number", pa.int64()), ("text", pa.string())])
RESULT = pa.schema([("site", pa.string()), ("rows", pa.int64()), ("total", pa.int64())])
MIB = 1 << 20
LARGER = sorted({n * 7919 % 23 for n in range(5000 % 23)})
"""The sites of which 5000 rows have one more than of the others."""


class Batches(NamedTuple):
    """A reader of files that are called by their number."""

    of_file: tuple[Iterable[pa.RecordBatch], ...]

    def read_files(self, files: Sequence[File], tell: Callable[[object], object]) -> Iterator[pa.RecordBatch]:
        """Yield what each file holds."""
        for file in files:
            yield from self.of_file[int(file.name)]
            tell(f"read {file.name}")


def read(engine: LocalEngine, *files: Iterable[pa.RecordBatch]) -> Spooled:
    """The rows of files, all in one table."""
    told: list[object] = []
    names = [str(number) for number in range(len(files))]
    table = engine.read(Files([names]), cast("Reader", Batches(files)), SCHEMA, told.append)
    assert told == [f"read {name}" for name in names]
    return table


def rows(count: int, sites: int = 23) -> Iterator[pa.RecordBatch]:
    """Rows of some sites, all mixed."""
    for start in range(0, count, 1000):
        numbers = range(start, min(start + 1000, count))
        columns = [
            [f"site-{n * 7919 % sites:03}" for n in numbers],
            list(numbers),
            ["x" * 50 for _ in numbers],
        ]
        yield pa.record_batch([pa.array(column) for column in columns], schema=SCHEMA)


def total(site: str, table: pa.Table) -> pa.Table:
    """One row per site; fails if a row is of another one."""
    assert set(table["site"].to_pylist()) == {site}
    return pa.table(
        {"site": [site], "rows": [len(table)], "total": [sum(table["number"].to_pylist())]}, RESULT
    )


def failing(site: str, table: pa.Table) -> pa.Table:
    """Fails at some site."""
    if site == "site-007":
        message = "no"
        raise UndustError(message)
    return total(site, table)


def engine_of(kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> LocalEngine:
    """An engine that holds its rows in memory, or on disk, or hands them to other processes."""
    monkeypatch.setattr(local, "WORTH_PROCESSES", 0 if kind == "processes" else 1 << 60)
    monkeypatch.setattr(spool, "WORKER_BYTES", 300 << 20 if kind == "processes" else 1 << 60)
    monkeypatch.setattr(local, "TASK_ROWS", 3000)
    monkeypatch.setattr(local, "SLOW_TASK_ROWS", 3000)
    monkeypatch.setattr(spool, "HELD_SHARE", 0.125 if kind == "memory" else 1e-6)
    return LocalEngine("384MB" if kind != "processes" else "2GB", threads=2, folder=str(folder))


@pytest.mark.parametrize("kind", ["memory", "disk", "processes"])
def test_every_way_gives_the_same(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sites in order, each complete, called once; and no file is left."""
    expected = [
        {"site": f"site-{site:03}", "rows": len(own), "total": sum(own)}
        for site in range(23)
        if (own := [n for n in range(20_000) if n * 7919 % 23 == site])
    ]
    with engine_of(kind, tmp_path, monkeypatch) as engine:
        table = read(engine, islice(rows(20_000), 9), islice(rows(20_000), 9, None))
        assert (table.path is None) == (kind == "memory")
        assert table.num_rows == 20_000
        result = engine.map_sites(table, total, RESULT)
        assert engine.collect(result).to_pylist() == expected
        assert pa.table(result).to_pylist() == expected
        assert any(tmp_path.iterdir()) == (kind != "memory")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["disk", "processes"])
def test_an_error_passes_and_leaves_nothing(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What goes wrong at a site ends the job with that error; the files are gone."""
    with pytest.raises(UndustError, match="no"), engine_of(kind, tmp_path, monkeypatch) as engine:
        engine.map_sites(read(engine, rows(20_000)), failing, RESULT)
    assert list(tmp_path.iterdir()) == []


def killed(site: str, table: pa.Table) -> pa.Table:  # noqa: ARG001 -- as the engine calls it
    """Ends its process as the system does when there is no memory left."""
    os.kill(os.getpid(), signal.SIGKILL)
    return RESULT.empty_table()


def test_a_worker_that_dies_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence that says what to try."""
    with (
        engine_of("processes", tmp_path, monkeypatch) as engine,
        pytest.raises(UndustError, match="fewer --threads"),
    ):
        engine.map_sites(read(engine, rows(20_000)), killed, RESULT)


def killed_in_a_folder(site: str, table: pa.Table) -> pa.Table:
    """Two sites end their process while it has a folder, in one that is named or in that of the system."""
    if site not in {"site-007", "site-012"}:
        return total(site, table)
    with temporary_folder("undust-", os.environ["NAMED"] if site == "site-007" else None):
        return killed(site, table)


@pytest.mark.slow
def test_workers_that_die_leave_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Theirs lie in that of the job, which ends them in the middle of their work too."""
    folders = {name: tmp_path / name for name in ("job", "NAMED", "TMPDIR")}
    for name, folder in folders.items():
        folder.mkdir()
        monkeypatch.setenv(name, str(folder))
    with engine_of("processes", folders["job"], monkeypatch) as engine:
        table = read(engine, rows(20_000))
        came = list(
            engine.each_site(table, killed_in_a_folder, RESULT, excuse=lambda *_: RESULT.empty_table())
        )
    assert len(came) == 23
    assert [name for name, folder in folders.items() if list(folder.iterdir())] == []


def test_a_damaged_temporary_file_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence with the file and the reason."""
    with engine_of("disk", tmp_path, monkeypatch) as engine:
        table = read(engine, rows(5000))
        assert table.path is not None
        table.path.write_bytes(b"not parquet at all")
        with pytest.raises(UndustError, match=r"a temporary file was damaged .* check its disk"):
            engine.map_sites(table, total, RESULT)


def test_a_sort_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What DuckDB says, and what to do about it."""
    with engine_of("disk", tmp_path, monkeypatch) as engine:
        table = read(engine, rows(5000))
        monkeypatch.setattr(spool, "SORT_SHARE", 1e-9)
        with pytest.raises(UndustError, match=f"sorting by site failed .* or make room in {tmp_path}"):
            engine.map_sites(table, total, RESULT)


def test_files_go_when_the_engine_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a `with` block the folder lives as long as the engine."""
    engine = engine_of("disk", tmp_path, monkeypatch)
    table = read(engine, rows(5000))
    assert table.path is not None
    assert table.path.exists()
    del engine
    assert list(tmp_path.iterdir()) == []


def test_tables_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any Arrow table can be mapped, written and collected; what cannot travel stays in this process."""
    monkeypatch.setattr(local, "WORTH_PROCESSES", 0)
    table = pa.Table.from_batches(rows(100, sites=3), SCHEMA)
    engine: Engine = LocalEngine(threads=2)

    def cannot_travel(site: str, own: pa.Table) -> pa.Table:
        return total(site, own)

    result = engine.map_sites(table, cannot_travel, RESULT)
    assert engine.collect(result)["rows"].to_pylist() == [34, 33, 33]
    assert engine.collect(table) is not None
    empty = engine.map_sites(SCHEMA.empty_table(), total, RESULT)
    assert engine.collect(empty).equals(RESULT.empty_table())
    engine.write(table, str(tmp_path / "rows.parquet"))
    assert pq.read_table(tmp_path / "rows.parquet").equals(table)


def test_formats_by_name_and_by_word(tmp_path: Path) -> None:
    """Parquet, JSON lines and CSV, packed if the name says so."""
    table = pa.table({"site": ["a", "b"], "url": ['http://a/"x",y', "http://b/é"], "why": [None, "digest"]})
    engine = LocalEngine()
    for name in ("t.parquet", "t.jsonl", "t.csv", "t.ndjson.gz"):
        engine.write(table, str(tmp_path / name))
    engine.write(table, str(tmp_path / "t.txt"), "csv")
    assert pq.read_table(tmp_path / "t.parquet").equals(table)
    lines = (tmp_path / "t.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == table.to_pylist()
    assert gzip.decompress((tmp_path / "t.ndjson.gz").read_bytes()).decode().splitlines() == lines
    strings = pa_csv.ConvertOptions(strings_can_be_null=True)
    for name in ("t.csv", "t.txt"):
        assert pa_csv.read_csv(tmp_path / name, convert_options=strings).equals(table)
    with pytest.raises(UndustError, match=r"t\.xls: its name shows no format; end it in \.parquet"):
        engine.write(table, str(tmp_path / "t.xls"))
    assert not (tmp_path / "t.xls").exists()


def test_engines_by_name() -> None:
    """A name that is none, and what an engine cannot take, are told in a sentence."""
    with engine_named("local", memory=1 << 30, threads=3) as engine:
        assert isinstance(engine, LocalEngine)
        assert engine.budget == Budget(1 << 30, 3)
    with pytest.raises(UndustError, match=r"there is no engine 'abacus'; use local"):
        engine_named("abacus")
    with pytest.raises(UndustError, match="has no master"):
        engine_named("local", master="yarn")


def test_a_survey_counts_rows_by_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of tables in memory and on disk; what is no URL has no site."""
    nameless = pa.table({"site": ["", ""], "number": [1, 2], "text": ["", ""]}, SCHEMA).to_batches()
    for kind in ("memory", "disk"):
        with engine_of(kind, tmp_path, monkeypatch) as engine:
            table = read(engine, chain(rows(5000), nameless))
            assert engine.survey(table, 217) == (23, 5002, {f"site-{n:03}": 218 for n in LARGER})
            longer = engine.map_rows(table, lambda batch: batch.slice(1), SCHEMA)
            assert longer.num_rows == 5002 - sum(1 for _ in table.batches())


@pytest.mark.parametrize(
    ("text", "size"),
    [("4GB", 4 << 30), ("512 MiB", 512 * MIB), ("1.5g", 3 << 29), (str(1 << 30), 1 << 30), ("1tb", 1 << 40)],
)
def test_sizes_as_people_write_them(text: str, size: int) -> None:
    """With or without B, in either case."""
    assert bytes_of(text) == size


@pytest.mark.parametrize("text", ["", "GB", "4 apples", "-1GB", "1KB", "256MB"])
def test_sizes_that_are_none(text: str) -> None:
    """One sentence that says how to write it."""
    with pytest.raises(ValueError, match="is not a size of at least"):
        bytes_of(text)


def test_a_spool_keeps_what_fits_in_memory(tmp_path: Path) -> None:
    """Up to its limit in memory, from then on in a file, and the rows are the same."""
    whole = pa.Table.from_batches(rows(5000), SCHEMA)
    small, large = Spool(1 << 30, str(tmp_path)), Spool(1000, str(tmp_path))
    assert small.keep(rows(5000), SCHEMA).table().equals(whole)
    assert list(tmp_path.iterdir()) == []
    kept = large.keep(rows(5000), SCHEMA)
    assert kept.table().equals(whole)
    assert kept.table().equals(whole)
    large.scratch.close()
    assert list(tmp_path.iterdir()) == []


def test_the_largest_sites_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In memory and on disk; those of one size by name, and without those that are done."""
    names = [*("b" * 3), *("a" * 3), *("c" * 9), "d", *("e" * 5)]
    table = pa.table({"site": names, "number": range(len(names)), "text": ["x"] * len(names)}, SCHEMA)
    for kind in ("memory", "disk"):
        with engine_of(kind, tmp_path, monkeypatch) as engine:
            kept = engine.map_rows(table, lambda batch: batch, SCHEMA)
            assert (kept.path is None) == (kind == "memory")
            came = list(engine.each_site(kept, total, RESULT, done={"e"}))
            assert [each["site"][0].as_py() for each in came] == ["c", "a", "b", "d"]
            assert engine.collect(engine.map_sites(kept, total, RESULT))["site"].to_pylist() == [*"abcde"]


def killed_at_seven(site: str, table: pa.Table) -> pa.Table:
    """One site that takes every process with it."""
    return killed(site, table) if site == "site-007" else total(site, table)


@pytest.mark.slow
def test_the_others_complete_when_one_site_kills_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its task is tried again, site by site; then it is excused by name, and nobody else is."""

    def excuse(site: str, reason: str) -> pa.Table:
        assert "killed twice" in reason
        return pa.table({"site": [site], "rows": [-1], "total": [0]}, RESULT)

    with engine_of("processes", tmp_path, monkeypatch) as engine:
        table = read(engine, rows(20_000))
        expected = {each["site"][0].as_py(): each for each in engine.each_site(table, total, RESULT)}
        came = list(engine.each_site(table, killed_at_seven, RESULT, excuse=excuse))
    found = {each["site"][0].as_py(): each for each in came}
    assert len(found) == len(came) == 23
    assert found.pop("site-007")["rows"].to_pylist() == [-1]
    expected.pop("site-007")
    assert found == expected
