"""The benches of archived pages: what they count, and that a crawl of a real server can be judged."""

from __future__ import annotations

import random
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from bench.raw.alike import ArchivedPage, difference, pairs_alike
from bench.raw.changes import words
from bench.raw.judge import removed_and_lost, share_joined
from bench.raw.sites import LabelledArchive
from bench.raw.visits import Visits, page_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


ITEMS = 12


def test_removed_and_lost_are_counted_by_key() -> None:
    """A group with two pages loses one of them, and what it hides is not removed."""
    assert removed_and_lost([("a", "x"), ("a", "x"), ("b", "y")]) == (1.0, 0.0)
    assert removed_and_lost([("a", "x"), ("a", "x"), ("b", "x")]) == (1.0, 0.5)
    assert removed_and_lost([("a", "x"), ("a", "z"), ("b", "y")]) == (0.0, 0.0)


def test_recall_and_precision_count_links_to_the_first_url() -> None:
    """A page with three URLs has two links."""
    page = {"u1": "a", "u2": "a", "u3": "a", "u4": "b"}
    cluster = {"u1": "1", "u2": "1", "u3": "2", "u4": "2"}
    assert share_joined(page, cluster) == 0.5
    assert share_joined(cluster, page) == 0.5
    assert share_joined({"u1": "a"}, cluster) == 1.0


def test_a_page_is_what_both_fetches_show() -> None:
    """A counter does not make another page; a price does."""
    assert page_name(b"<p>cup 3 EUR seen 1", b"<p>cup 3 EUR seen 2") == page_name(
        b"<p>cup 3 EUR seen 8", b"<p>cup 3 EUR seen 9"
    )
    assert page_name(b"<p>cup 3 EUR", b"<p>cup 3 EUR") != page_name(b"<p>cup 4 EUR", b"<p>cup 4 EUR")


def test_forms_look_alike_without_what_stands_in_them() -> None:
    """Two edit forms of different texts are such a pair, two articles are not."""

    def page(name: str, body: str) -> ArchivedPage:
        shown = body.partition("<textarea>")[0].removeprefix("<p>")
        return ArchivedPage(name, body.encode(), shown.encode())

    long = words(random.Random(1), 40)
    pages = {
        "one": page("/1", f"<p>{long}<textarea>tea"),
        "two": page("/2", f"<p>{long}<textarea>pot"),
        "three": page("/3", f"<p>{words(random.Random(2), 40)}"),
    }
    assert pairs_alike(pages) == {("one", "two")}
    assert pages["one"].is_edit_form
    assert not pages["three"].is_edit_form
    assert not page("/4", "<p>a reply: <textarea rows=3> </textarea>").is_edit_form
    assert difference(pages["one"].body, pages["two"].body) == "-tea +pot"


@contextmanager
def counting_shop() -> Iterator[str]:
    """A shop on loopback that counts the views of its items, each at two URLs."""
    views = count(1)

    class Shop(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            item = parse_qs(urlsplit(self.path).query).get("id", [""])[0]
            links = "".join(
                f"<a href='/item?id={at}'>x</a><a href='/item?id={at}&amp;from=list'>y</a>"
                for at in range(ITEMS)
            )
            text = words(random.Random(item), 60) if item else links
            body = f"<title>Item {item}</title><p>{text}<p>viewed {next(views)} times".encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Shop) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def test_a_server_is_crawled_twice_into_an_archive_with_labels(tmp_path: Path) -> None:
    """Every URL is there with two fetches, and the two URLs of an item have one label."""
    with counting_shop() as address:
        visits = Visits(address, 100)
        visits.crawl()
    visits.write(tmp_path / "shop.warc.gz")
    archive = LabelledArchive(tmp_path / "shop.warc.gz")
    assert len(archive.pages) == 1 + 2 * ITEMS
    assert len(set(archive.pages.values())) == 1 + ITEMS
    assert archive.pages[f"{address}item?id=3"] == archive.pages[f"{address}item?id=3&from=list"]
    assert archive.seen.num_rows == 2 * len(archive.pages)
    seen, judged = archive.half(0)
    assert seen.num_rows + 2 * len(judged) == archive.seen.num_rows


def test_a_crawl_has_an_end() -> None:
    """No more URLs are fetched than were asked for."""
    with counting_shop() as address:
        visits = Visits(address, 5)
        visits.crawl()
    assert len(visits.fetched) == 5
    assert all(len(fetches) == 2 for fetches in visits.fetched.values())
