"""Which files are meant, how they are packed, and what a damaged one costs."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import undust
from undust.errors import DamagedSource, SourceError, UnknownFormat
from undust.reading.formats.files import find_files
from undust.reading.observations import SCHEMA

if TYPE_CHECKING:
    from pathlib import Path

    from undust.reading.observations import Observations

LINES = b"".join(b"http://shop.test/%d\n" % number for number in range(50_000))


def urls(seen: Observations) -> list[str]:
    """The URLs that were read."""
    return seen.table["url"].to_pylist()  # type: ignore[no-any-return]


def test_folders_patterns_and_files_are_read_once_and_in_order(tmp_path: Path) -> None:
    """However files are named, each is read once, sorted; hidden ones in folders are not."""
    for name in ("b.txt", "a.txt", "deep/er/c.txt", ".hidden/d.txt", "deep/.hidden.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"http://shop.test/{name}\n")
    expected = [f"http://shop.test/{name}" for name in ("a.txt", "b.txt", "deep/er/c.txt")]
    assert urls(undust.read(tmp_path)) == expected
    assert urls(undust.read(tmp_path / "b.txt", tmp_path)) == expected
    assert urls(undust.read(f"{tmp_path}/*.txt", f"{tmp_path}/**/c.txt")) == expected
    assert urls(undust.read(tmp_path / ".hidden" / "d.txt")) == ["http://shop.test/.hidden/d.txt"]


def test_pattern_without_files_is_one_sentence(tmp_path: Path) -> None:
    """Nothing fits: said, with what to check."""
    with pytest.raises(SourceError, match="no file fits this pattern; check it"):
        undust.read(f"{tmp_path}/*.log")


def test_file_whose_name_looks_like_a_pattern_is_itself(tmp_path: Path) -> None:
    """A name with brackets means the file of that name if there is one."""
    path = tmp_path / "a[1].txt"
    path.write_text("http://shop.test/\n")
    assert [file.path for file in find_files([str(path)])] == [str(path)]


def test_missing_file_is_named(tmp_path: Path) -> None:
    """A file that is not there is an `OSError` that names it, before anything is read."""
    with pytest.raises(FileNotFoundError, match="missing"):
        undust.read(tmp_path / "missing.log")


def test_unknown_file_in_a_folder_is_reported_and_a_named_one_refused(tmp_path: Path) -> None:
    """A README in a folder does not end the job; the same file by name does."""
    (tmp_path / "README").write_text("Logs of last week.\nAsk Anna.\n")
    (tmp_path / "urls").write_text("http://shop.test/\n")
    seen = undust.read(tmp_path)
    assert urls(seen) == ["http://shop.test/"]
    assert "its format is not known to undust; say what it is with --format" in seen.report()
    with pytest.raises(UnknownFormat, match=r"README: its format is not known to undust; say .* --format"):
        undust.read(tmp_path / "README")
    with pytest.raises(UnknownFormat):
        undust.read(tmp_path, strict=True)


def test_text_in_utf16_is_named_as_such(tmp_path: Path) -> None:
    """What a spreadsheet saved as Unicode text is told how to mend."""
    (tmp_path / "pages.csv").write_text("url\nhttp://shop.test/\n", encoding="utf-16")
    with pytest.raises(UnknownFormat, match=r"UTF-16.*iconv"):
        undust.read(tmp_path / "pages.csv")


def test_format_that_does_not_exist_is_refused_first() -> None:
    """A misspelt format is said before files are looked for."""
    with pytest.raises(UnknownFormat, match="there is no format 'excel'; undust reads access-log, arc, cdx"):
        undust.read("nowhere", format="excel")


def test_empty_file_has_no_rows(tmp_path: Path) -> None:
    """A log that was rotated a moment ago is no problem."""
    (tmp_path / "access.log").write_bytes(b"")
    seen = undust.read(tmp_path / "access.log")
    assert len(seen) == 0
    assert seen.table.schema == SCHEMA
    assert seen.files[0].format == "nothing"


@pytest.mark.parametrize("times", [1, 2, 3])
def test_packed_files_are_unpacked_as_often_as_they_were_packed(times: int, tmp_path: Path) -> None:
    """Gzip inside gzip, which download scripts make, is read, under any name."""
    data = LINES
    for _ in range(times):
        data = gzip.compress(data)
    (tmp_path / "download").write_bytes(data)
    assert len(undust.read(tmp_path / "download")) == 50_000


def test_file_that_is_packed_too_often_is_refused(tmp_path: Path) -> None:
    """A file that unpacks to itself and on would never end."""
    data = LINES
    for _ in range(9):
        data = gzip.compress(data)
    (tmp_path / "matryoshka.gz").write_bytes(data)
    with pytest.raises(UnknownFormat, match="packed more than 4 times over"):
        undust.read(tmp_path / "matryoshka.gz")


def test_truncated_gzip_keeps_what_came_before(tmp_path: Path) -> None:
    """The rows before the break are there, the break is counted; `strict` objects."""
    packed = gzip.compress(LINES, 1)
    (tmp_path / "cut.gz").write_bytes(packed[: len(packed) // 2])
    seen = undust.read(tmp_path / "cut.gz")
    assert 10_000 < len(seen) < 40_000
    assert urls(seen)[:10_000] == LINES.decode().splitlines()[:10_000]
    assert "packed data is damaged; the rest of the file is lost" in seen.report()
    with pytest.raises(DamagedSource, match=r"cut\.gz: .*ends at byte"):
        undust.read(tmp_path / "cut.gz", strict=True)


def test_gzip_by_name_only_is_refused(tmp_path: Path) -> None:
    """A plain file called .gz is one sentence."""
    (tmp_path / "urls.gz").write_bytes(LINES)
    with pytest.raises(DamagedSource, match="not gzip data in spite of its name"):
        undust.read(tmp_path / "urls.gz")


def test_truncated_parquet_is_one_sentence(tmp_path: Path) -> None:
    """Without its end, nothing in a Parquet file can be found."""
    (tmp_path / "crawl.parquet").write_bytes(b"PAR1" + bytes(1000))
    with pytest.raises(DamagedSource, match=r"crawl\.parquet: no whole Parquet file, for .*; get it again"):
        undust.read(tmp_path / "crawl.parquet")


def test_standard_input_is_read_whatever_it_holds(tmp_path: Path) -> None:
    """`-` is standard input: lines, packed lines, and Parquet, which has to be read from its end."""
    import pyarrow.parquet as pq  # noqa: PLC0415

    parquet = io.BytesIO()
    (tmp_path / "urls").write_bytes(LINES)
    pq.write_table(undust.read(tmp_path / "urls").table, parquet)
    program = "import undust; seen = undust.read('-'); print(len(seen), seen.files[0].name)"
    for data in (LINES, gzip.compress(LINES, 1), parquet.getvalue(), gzip.compress(parquet.getvalue(), 1)):
        done = subprocess.run([sys.executable, "-c", program], input=data, capture_output=True, check=True)
        assert done.stdout.split() == [b"50000", b"standard", b"input"]


def test_watch_hears_of_every_byte(tmp_path: Path) -> None:
    """The bytes that were read add up to the file, and the total is known from the start."""
    (tmp_path / "urls.gz").write_bytes(gzip.compress(LINES, 1))
    heard: list[tuple[int, int | None]] = []
    undust.read(tmp_path, watch=lambda done, total: heard.append((done, total)))
    size = (tmp_path / "urls.gz").stat().st_size
    assert heard[-1] == (size, size)
    assert [done for done, _ in heard] == sorted(done for done, _ in heard)


def test_observations_are_an_arrow_stream_with_a_report(tmp_path: Path) -> None:
    """Any Arrow library can take them; people can read them."""
    import pyarrow as pa  # noqa: PLC0415

    (tmp_path / "urls").write_text("http://shop.test/\n\x1b[31mred\nhttp://shop.test/b\n")
    seen = undust.read(tmp_path / "urls")
    assert pa.table(seen).equals(seen.table)
    assert repr(seen) == "<Observations: 2 from 1 file, 1 skipped>"
    assert seen.report() == (
        f"{seen!r}\n{tmp_path}/urls: 2 rows of urls\n  1 skipped: url is not a URL\n    line 2: \\x1b[31mred"
    )


def test_order_of_paths_does_not_matter(tmp_path: Path) -> None:
    """The same files give the same table, whatever the order in which they are named."""
    for number in range(3):
        (tmp_path / f"{number}.jsonl").write_text(json.dumps({"url": f"http://shop.test/{number}"}))
    paths = [tmp_path / f"{number}.jsonl" for number in range(3)]
    assert undust.read(*paths).table.equals(undust.read(*reversed(paths)).table)
