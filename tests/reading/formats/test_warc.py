"""Web archives: what other tools wrote is read whole, and each record says what it should."""

from __future__ import annotations

import gzip
import hashlib
import http.server
import json
import random
import shutil
import subprocess
import sys
import threading
import zlib
from collections import Counter
from typing import TYPE_CHECKING

import brotli
import pytest
from warcio.archiveiterator import ArchiveIterator

import undust
from tests.oracles.blocks import blocks
from tests.reading.formats.archives import (
    ANSWERS,
    HTML,
    RECORDS,
    TIME,
    Answer,
    as_arc,
    by_hand,
    by_warcio,
    packed,
    page,
    read,
    remarks,
    urls,
)
from tests.reading.formats.rendered import rows_of
from undust.reading.formats import bodies
from undust.reading.observations import Statement
from undust.reading.text import sketch

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

# ------------------------------------------------------------------------------- other tools' archives


class Site(http.server.BaseHTTPRequestHandler):
    """A site with pages, copies, a redirect, an image and a missing page."""

    def do_GET(self) -> None:
        """Answer."""
        status, content_type, body = self.answers().get(self.path, (404, HTML, page("nothing here")))
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        if status == 301:
            self.send_header("Location", "/a")
        self.end_headers()
        self.wfile.write(body)

    @staticmethod
    def answers() -> dict[str, tuple[int, str, bytes]]:
        """All there is, by path."""
        links = "".join(
            f'<a href="{path}">x</a>' for path in ("/a", "/b?sid=1", "/old", "/missing", "/i.png")
        )
        return {
            "/": (200, HTML, page(f"start {links}")),
            "/a": (200, HTML, page("the page", "<link rel=canonical href=/a>")),
            "/b?sid=1": (200, HTML, page("the  <b>page</b>")),
            "/old": (301, HTML, b"moved"),
            "/i.png": (200, "image/png", b"\x89PNG"),
            "/robots.txt": (200, "text/plain", b"User-agent: *\nClean-param: sid /b\n"),
        }

    def log_message(self, *_: object) -> None:
        """Be quiet."""


@pytest.fixture
def site() -> Iterator[str]:
    """The address of a running site."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_archive_that_wget_wrote(site: str, tmp_path: Path) -> None:
    """`wget --warc-file`: every response is a row, and every other record is counted."""
    wget = shutil.which("wget")
    if wget is None:
        pytest.skip("wget is not installed")
    command = [
        wget,
        "-q",
        "-r",
        "-l2",
        "--delete-after",
        "--warc-file=crawl",
        "--max-redirect=0",
        "--no-proxy",
    ]
    subprocess.run([*command, f"{site}/"], cwd=tmp_path, check=False, timeout=200)
    path = tmp_path / "crawl.warc.gz"
    with path.open("rb") as file:
        expected = [
            (record.rec_type, record.rec_headers.get_header("WARC-Target-URI"))
            for record in ArchiveIterator(file)
        ]
    kinds = Counter(kind for kind, _ in expected)
    assert kinds["response"] >= 6
    seen = undust.read(path)
    assert urls(seen) == [str(url).strip("<>") for kind, url in expected if kind == "response"]
    counts = remarks(seen)
    assert counts["request record"] == kinds["request"]
    assert counts["warcinfo record"] == kinds["warcinfo"]
    assert sum(counts.values()) + len(seen) == len(expected)
    assert seen.counts()["skipped"] == seen.counts()["lost"] == 0
    rows = {row["url"].removeprefix(site): row for row in seen.table.to_pylist()}
    assert rows["/a"]["digest"] == rows["/b?sid=1"]["digest"] == hashlib.md5(b"the page").hexdigest()  # noqa: S324
    assert rows["/a"]["canonical"] == f"{site}/a"
    assert (rows["/old"]["status"], rows["/old"]["redirect"]) == (301, f"{site}/a")
    assert rows["/i.png"]["digest"] == hashlib.md5(b"\x89PNG").hexdigest()  # noqa: S324
    assert rows["/missing"]["status"] == 404
    assert seen.statements == (Statement(f"{site}/robots.txt", "Clean-param", "Clean-param: sid /b"),)


def test_archive_that_warcio_wrote(tmp_path: Path) -> None:
    """Requests and the like are counted, responses are rows, packed or not."""
    for is_packed in (True, False):
        data = by_warcio(ANSWERS, is_packed=is_packed, with_requests=True)
        seen = read(tmp_path / "crawl", data)
        assert urls(seen) == [answer.url for answer in ANSWERS]
        assert remarks(seen) == {"warcinfo record": 1, "request record": len(ANSWERS)}
        assert seen.counts() == {"skipped": 0, "passed over": len(ANSWERS) + 1, "lost": 0}


def test_real_archive(needs_data: Callable[[str], Path]) -> None:
    """An archive of Heritrix: as many rows as another reader counts responses over HTTP."""
    path = needs_data("warc/fixture_aut_example.warc.gz")
    with path.open("rb") as file:
        expected = Counter(
            (record.rec_type, record.rec_headers.get_header("WARC-Target-URI", "").partition(":")[0])
            for record in ArchiveIterator(file)
        )
    seen = undust.read(path)
    assert len(seen) == expected["response", "http"] + expected["response", "https"] == 261
    assert len(seen) + seen.counts()["passed over"] == sum(expected.values())
    assert seen.counts()["skipped"] == seen.counts()["lost"] == 0
    html = [row for row in seen.table.to_pylist() if row["sketch"]]
    assert len(html) > 80


# --------------------------------------------------------------------------------- one crawl, many ways

WAYS: dict[str, Callable[[Sequence[bytes]], bytes]] = {
    "plain.warc": b"".join,
    "members.warc.gz": packed,
    "whole.warc.gz": lambda records: gzip.compress(b"".join(records)),
    "blocks.warc.gz": lambda records: b"".join(
        gzip.compress(b"".join(records)[at : at + 777]) for at in range(0, len(b"".join(records)), 777)
    ),
    "twice.warc.gz.gz": lambda records: gzip.compress(packed(records)),
    "members.warc.zst": lambda records: b"".join(map(zstd.compress, records)),
    "whole.warc.zst": lambda records: zstd.compress(b"".join(records)),
    "line-ends.warc": lambda records: b"".join(records).replace(b"\r\n\r\nWARC", b"\r\n\r\n\r\n\r\nWARC"),
}


def expected_rows(answers: Sequence[Answer]) -> list[dict[str, object]]:
    """The rows that a crawl of `shop` pages has, worked out without reading an archive."""
    rows = []
    for answer in answers:
        text = " ".join(answer.body.decode().partition("<p>")[2].partition("</p>")[0].split())
        made = sketch(text)
        assert made is not None
        rows.append(
            {
                "url": answer.url,
                "status": 200,
                "size": len(answer.body),
                "digest": hashlib.md5(text.encode()).hexdigest(),  # noqa: S324
                "sketch": made.tolist(),
                "time": TIME,
                "blocks": blocks([text]),
                "page_title": "t",
            }
        )
    return rows


@pytest.mark.parametrize("name", WAYS)
def test_one_crawl_in_every_packing_is_the_crawl_as_json(name: str, tmp_path: Path) -> None:
    """WARC in any packing, ARC and JSON lines give the same observations."""
    lines = "".join(json.dumps(row) + "\n" for row in expected_rows(ANSWERS))
    expected = rows_of(read(tmp_path / "crawl.jsonl", lines.encode()))
    for path in (tmp_path / name, tmp_path / "download"):
        seen = read(path, WAYS[name](RECORDS))
        assert seen.files[0].format == "warc"
        assert rows_of(seen) == expected
        assert not any(seen.counts().values())


@pytest.mark.parametrize("is_packed", ["members", "no", "whole"])
def test_arc_is_the_same_crawl(is_packed: str, tmp_path: Path) -> None:
    """ARC, packed record by record, not at all, or as a whole."""
    data = as_arc(ANSWERS, is_packed=is_packed == "members")
    seen = read(tmp_path / "crawl.arc", gzip.compress(data) if is_packed == "whole" else data)
    assert seen.files[0].format == "arc"
    assert rows_of(seen) == rows_of(read(tmp_path / "crawl.warc", b"".join(RECORDS)))
    assert remarks(seen) == {"arc_header record": 1}


def test_archive_from_a_pipe(tmp_path: Path) -> None:
    """Standard input cannot be taken back, and need not be."""
    script = "import undust; print(len(undust.read('-')))"
    done = subprocess.run(
        [sys.executable, "-c", script], input=packed(RECORDS), capture_output=True, check=True
    )
    assert done.stdout.split() == [b"30"]
    assert tmp_path.exists()


# -------------------------------------------------------------------------------------------- encodings

TEXT = "a page worth packing " * 40
BODY = page(TEXT)


def chunked(data: bytes) -> bytes:
    """As sent with `Transfer-Encoding: chunked`."""
    pieces = [data[at : at + 100] for at in range(0, len(data), 100)]
    return b"".join(b"%x;ext=1\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def bare_deflate(data: bytes) -> bytes:
    """What many servers send for `deflate`."""
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


ENCODED = {
    "gzip": ([("Content-Encoding", "gzip")], gzip.compress(BODY)),
    "x-gzip": ([("content-encoding", "X-GZIP")], gzip.compress(BODY)),
    "deflate": ([("Content-Encoding", "deflate")], zlib.compress(BODY)),
    "bare deflate": ([("Content-Encoding", "deflate")], bare_deflate(BODY)),
    "br": ([("Content-Encoding", "br")], brotli.compress(BODY)),
    "zstd": ([("Content-Encoding", "zstd")], zstd.compress(BODY)),
    "chunked": ([("Transfer-Encoding", "chunked")], chunked(BODY)),
    "both": ([("Transfer-Encoding", "chunked"), ("Content-Encoding", "gzip")], chunked(gzip.compress(BODY))),
    "in one": ([("Transfer-Encoding", "gzip, chunked")], chunked(gzip.compress(BODY))),
    "two members": ([("Content-Encoding", "gzip")], gzip.compress(BODY[:99]) + gzip.compress(BODY[99:])),
    "two": ([("Content-Encoding", "br, gzip")], gzip.compress(brotli.compress(BODY))),
    "lie: gzip": ([("Content-Encoding", "gzip")], BODY),
    "lie: br": ([("Content-Encoding", "br")], BODY),
    "lie: zstd": ([("Content-Encoding", "zstd")], BODY),
    "lie: deflate": ([("Content-Encoding", "deflate")], BODY),
    "lie: chunked": ([("Transfer-Encoding", "chunked")], BODY),
    "identity": ([("Content-Encoding", "identity")], BODY),
}


@pytest.mark.parametrize("name", ENCODED)
def test_body_is_unpacked(name: str, tmp_path: Path) -> None:
    """Whatever the headers say, true or not, the text is the text."""
    headers, body = ENCODED[name]
    answer = Answer("http://shop.test/", body, headers=[("Content-Type", HTML), *headers])
    for data in (by_hand(answer), packed([by_hand(answer)]), as_arc([answer])):
        seen = read(tmp_path / "crawl", data)
        (row,) = seen.table.to_pylist()
        assert row["digest"] == hashlib.md5(TEXT.strip().encode()).hexdigest()  # noqa: S324
        assert row["size"] == len(BODY)
        assert seen.counts()["lost"] == 0


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd", "chunked"])
def test_body_damaged_inside_its_encoding_keeps_its_row(name: str, tmp_path: Path) -> None:
    """The record is in order and its body is not: no digest, and it is counted."""
    headers, _ = ENCODED[name]
    chance = random.Random(name)
    long = chance.randbytes(300_000).hex().encode()
    whole = {"gzip": gzip.compress, "deflate": zlib.compress, "br": brotli.compress, "zstd": zstd.compress}
    data = whole[name](long) if name in whole else chunked(long)
    answer = Answer(
        "http://shop.test/", data[: len(data) * 2 // 3], headers=[("Content-Type", HTML), *headers]
    )
    seen = read(tmp_path / "crawl", by_hand(answer) + RECORDS[0])
    assert len(seen) == 2
    assert seen.table["digest"][0].as_py() is None
    assert remarks(seen) == {bodies.DAMAGED: 1}


def test_unknown_encoding_is_taken_as_it_stands(tmp_path: Path) -> None:
    """And said."""
    answer = Answer(
        "http://shop.test/", BODY, headers=[("Content-Type", HTML), ("Content-Encoding", "rot13")]
    )
    seen = read(tmp_path / "crawl", by_hand(answer))
    assert remarks(seen) == {bodies.UNKNOWN_ENCODING: 1}
    assert seen.table["digest"][0].as_py() is not None


def test_encodings_are_bounded(tmp_path: Path) -> None:
    """A body in two thousand encodings has no digest, and the next record is read."""
    many = [("Content-Type", HTML), ("Content-Encoding", ", ".join(["gzip"] * 2000))]
    seen = read(tmp_path / "crawl", by_hand(Answer("http://shop.test/", BODY, headers=many)) + RECORDS[0])
    assert len(seen) == 2
    assert seen.table["digest"][0].as_py() is None
    assert remarks(seen) == {bodies.MANY_ENCODINGS: 1}


# ---------------------------------------------------------------------------------- redirects, revisits


def test_redirects(tmp_path: Path) -> None:
    """Location of a 3xx, relative or odd, and an immediate refresh; a 304 is none."""
    moved = [("Content-Type", HTML), ("Location", "../new?x=1")]
    answers = [
        Answer("http://shop.test/a/b", status="301 Moved", headers=moved),
        Answer("http://shop.test/a", page("go", "<meta http-equiv=refresh content='0;url=/there'>")),
        Answer("http://shop.test/c", status="304 Not Modified", headers=moved),
        Answer("http://shop.test/d", status="302 Found", headers=[]),
        Answer("http://shop.test/e", page("x"), headers=moved),
    ]
    seen = read(tmp_path / "crawl", b"".join(map(by_hand, answers)))
    assert seen.table["redirect"].to_pylist() == [
        *("http://shop.test/new?x=1", "http://shop.test/there", None, None, None),
    ]
    assert seen.table["status"].to_pylist() == [301, 200, 304, 302, 200]
    assert seen.table["sketch"][1].as_py() is None


def test_location_that_is_no_utf8(tmp_path: Path) -> None:
    """Bytes become percent triplets, as browsers send them."""
    answer = Answer("http://shop.test/", status="301 Moved", headers=[("Location", "/caf#")])
    seen = read(tmp_path / "crawl", by_hand(answer).replace(b"#", b"\xe9"))
    assert seen.table["redirect"].to_pylist() == ["http://shop.test/caf%E9"]


def revisit(url: str, digest: str, status: str = "200 OK") -> bytes:
    """A record that says: as before."""
    profile = "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"
    more = f"WARC-Profile: {profile}\r\nWARC-Payload-Digest: {digest}\r\n"
    return by_hand(Answer(url, status=status), "revisit", more)


def test_revisit_has_the_digest_of_what_it_refers_to(tmp_path: Path) -> None:
    """Seen before, in this file or an earlier one; else the archive's digest, in a namespace of its own."""
    with_digest = by_hand(ANSWERS[0], more="WARC-Payload-Digest: sha1:AAAA\r\n")
    same, unknown = revisit("http://shop.test/same", "sha1:AAAA"), revisit("http://shop.test/x", "sha1:BBBB")
    (tmp_path / "1.warc").write_bytes(with_digest + same + unknown)
    (tmp_path / "2.warc.gz").write_bytes(packed([same, unknown]))
    seen = undust.read(tmp_path)
    text = expected_rows(ANSWERS[:1])[0]
    assert seen.table["digest"].to_pylist() == [
        *(text["digest"], text["digest"], "payload:sha1:BBBB"),
        *(text["digest"], "payload:sha1:BBBB"),
    ]
    assert seen.table["size"].to_pylist() == [text["size"], text["size"], None, text["size"], None]


def test_revisit_of_nothing_merges_with_nothing(tmp_path: Path) -> None:
    """The digest of an empty payload, a 304 and a revisit without digest are no evidence."""
    empty = revisit("http://shop.test/a", "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ")
    unmodified = revisit("http://shop.test/b", "sha1:CCCC", "304 Not Modified")
    bare = by_hand(Answer("http://shop.test/c"), "revisit")
    seen = read(tmp_path / "crawl", empty + unmodified + bare)
    assert seen.table["digest"].to_pylist() == [None, None, None]
    assert seen.table["status"].to_pylist() == [200, 304, 200]


def test_records_that_are_no_sighting_are_counted(tmp_path: Path) -> None:
    """Requests, metadata, conversions, DNS answers: passed over by their kind."""
    kinds = ["request", "metadata", "conversion", "continuation", "of-my-own"]
    data = b"".join(by_hand(ANSWERS[0], kind) for kind in kinds)
    dns = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: dns:shop.test\r\nWARC-Date: {TIME}\r\n"
        "Content-Type: text/dns\r\nContent-Length: 4\r\n\r\nhost\r\n\r\n"
    ).encode()
    seen = read(tmp_path / "crawl", data + dns + RECORDS[1])
    assert urls(seen) == [ANSWERS[1].url]
    assert remarks(seen) == {
        "request record": 1,
        "metadata record": 1,
        "conversion record": 1,
        "continuation record": 1,
        "unknown record": 1,
        "not an http or https URL": 1,
    }


def test_resource_is_a_page_without_a_status(tmp_path: Path) -> None:
    """As browsers' archives have them: no HTTP, the type in the record's own header."""
    body = page("a resource")
    data = (
        f"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: <http://shop.test/r>\r\nWARC-Date: {TIME}\r\n"
        f"Content-Type: {HTML}\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()
    (row,) = read(tmp_path / "crawl", data + body + b"\r\n\r\n").table.to_pylist()
    assert (row["url"], row["status"], row["size"]) == ("http://shop.test/r", None, len(body))
    assert row["digest"] == hashlib.md5(b"a resource").hexdigest()  # noqa: S324


def test_body_that_the_crawler_cut_has_no_digest(tmp_path: Path) -> None:
    """Two long pages may begin alike. It is no damage of the file, so strict reading goes on."""
    path = tmp_path / "crawl"
    path.write_bytes(by_hand(ANSWERS[0], more="WARC-Truncated: length\r\n"))
    seen = undust.read(path, strict=True)
    (row,) = seen.table.to_pylist()
    assert (row["digest"], row["size"]) == (None, None)
    assert row["sketch"]
    assert list(remarks(seen)) == ["body that the crawler cut short; it has no digest and no size"]


def test_canonicals_that_contradict_each_other_are_reported(tmp_path: Path) -> None:
    """With the place and the page."""
    head = "<link rel=canonical href=/a><link rel=canonical href=/b>"
    seen = read(tmp_path / "crawl", by_hand(Answer("http://shop.test/x", page("x", head))))
    assert seen.table["canonical"].to_pylist() == [None]
    assert (
        "several rel=canonical that differ; none is used\n    offset 0: http://shop.test/x" in seen.report()
    )


def test_what_sites_declare_is_carried_along(tmp_path: Path) -> None:
    """No-Vary-Search of a page, without its query; each once."""
    headers = [("Content-Type", HTML), ("No-Vary-Search", 'params=("sid")')]
    data = b"".join(
        by_hand(Answer(f"http://shop.test/p?sid={n}", page("x"), headers=headers)) for n in range(3)
    )
    seen = read(tmp_path / "crawl", data)
    assert seen.statements == (Statement("http://shop.test/p", "No-Vary-Search", 'params=("sid")'),)


def test_what_sites_declare_is_evidence(tmp_path: Path) -> None:
    """Pages that differ in what robots.txt declares not to matter are one, if their text does not object."""
    answers = [
        Answer(
            "http://shop.test/robots.txt", b"Clean-param: sid /p", headers=[("Content-Type", "text/plain")]
        ),
        *(Answer(f"http://shop.test/p?sid={number}", page("")) for number in range(3)),
        Answer("http://shop.test/q?sid=1", page("another one")),
    ]
    seen = read(tmp_path / "crawl", b"".join(map(by_hand, answers)))
    found = undust.find_duplicates(seen).table().to_pylist()
    joined = [row["url"] for row in found if row["evidence"] == "declared"]
    assert joined == [f"http://shop.test/p?sid={number}" for number in range(3)]


def test_statements_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A site that declares something on each of a million pages is not kept a million times."""
    monkeypatch.setattr("undust.reading.formats.warc.MOST_STATEMENTS", 2)
    headers = [("Content-Type", HTML), ("No-Vary-Search", "key-order")]
    data = b"".join(by_hand(Answer(f"http://shop.test/{n}", page("x"), headers=headers)) for n in range(5))
    seen = read(tmp_path / "crawl", data)
    assert len(seen.statements) == 2
    assert sum(remarks(seen).values()) == 3


@pytest.mark.parametrize(("words", "size"), [(10, 4), (3, 64)])
def test_sketches_of_other_widths_and_sizes(words: int, size: int, tmp_path: Path) -> None:
    """Ten words and four minima as published, or whatever one wants."""
    path = tmp_path / "crawl.warc"
    path.write_bytes(RECORDS[0])
    (made,) = undust.read(path, shingle_words=words, sketch_size=size).table["sketch"].to_pylist()
    text = expected_rows(ANSWERS[:1])[0]
    assert text["sketch"]
    expected = sketch(
        " ".join(ANSWERS[0].body.decode().split("<p>")[1].split("</p>")[0].split()), words, size
    )
    assert expected is not None
    assert made == expected.tolist()


def test_response_without_a_status_is_damaged(tmp_path: Path) -> None:
    """And costs itself alone."""
    broken = RECORDS[0].replace(b"HTTP/1.1 200 OK", b"HTTP/1.1 OK OK")
    seen = read(tmp_path / "crawl", broken + RECORDS[1])
    assert urls(seen) == [ANSWERS[1].url]
    assert remarks(seen) == {"response without an HTTP status": 1}


def test_pages_of_a_site_with_a_long_menu_do_not_look_alike(tmp_path: Path) -> None:
    """Templates are removed while archives are read, over all files of a job."""
    menu = " ".join(f"entry{number}" for number in range(200))
    answers = [
        Answer(f"http://shop.test/{n}", page(f"{menu} text{n} words{n} only{n} here{n} now{n}"))
        for n in range(40)
    ]
    (tmp_path / "1.warc").write_bytes(b"".join(map(by_hand, answers)))
    (tmp_path / "2.warc").write_bytes(by_hand(answers[3]))
    made = undust.read(tmp_path).table["sketch"].to_pylist()
    assert made[3] == made[40]
    agree = sum(left == right for left, right in zip(made[0], made[1], strict=True))
    assert agree < 8


def test_module_is_loaded_without_the_readers() -> None:
    """Whoever reads no archive does not wait for what reads them."""
    script = "import undust.jobs, sys; print({'fastwarc', 'resiliparse', 'warcio'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    assert done.stdout == "set()\n"
