"""The npm package in a browser, in an edge worker, and in a crawl with Crawlee."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from contextlib import contextmanager, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, ClassVar
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from tests.conftest import REPOSITORY
from tests.js.package import PACKAGE, built, run
from tests.servers import free_port
from undust.rules import Rule, RuleSet, load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from http.client import HTTPResponse
    from pathlib import Path

    from tests.browsing import Open

RULES = REPOSITORY / "examples" / "rules.json"
URLS = (
    "http://www.teapots.test/p/blue-cup/117?sid=9",
    "HTTP://Bücher.test:80/a/../ü",
    "no URL",
    "http://a.test/\ud800",
)
PAGE = """<!doctype html><link rel="icon" href="data:,"><body>loaded<script type="module">
import { load, normalize } from "./browser.js";
window.answer = (rules, urls) => {
  const loaded = load(rules);
  return urls.map((url) => [normalize(url), loaded.canonical(url), loaded.key(url)]);
};
document.body.dataset.ready = "";
</script>"""


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder and says nothing."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving(handler: Callable[..., BaseHTTPRequestHandler]) -> Iterator[str]:
    """Give the address of a server on loopback."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_in_a_browser(opened: Open, tmp_path: Path) -> None:
    """A page that loads the package, and nothing but its files, gets the answers of Python."""
    for name in json.loads((built() / "package.json").read_text(encoding="utf-8"))["files"]:
        (tmp_path / name).write_bytes((PACKAGE / name).read_bytes())
    (tmp_path / "index.html").write_text(PAGE, encoding="utf-8")
    canonicalize = load(RULES).compile()
    with (
        serving(partial(Quiet, directory=str(tmp_path))) as address,
        opened(f"{address}/index.html") as page,
    ):
        # As text: half of a surrogate pair does not survive the way into the page.
        asked = f"answer({json.dumps(RULES.read_text(encoding='utf-8'))}, {json.dumps(URLS)})"
        found = page.evaluate(f"JSON.stringify({asked})")
    normal = RuleSet().compile()
    assert json.loads(found) == [[normal(url), canonicalize(url), canonicalize.key(url)] for url in URLS]


WORKER = """
import { load, normalize } from "./edge.js";
export default {
  async fetch(request) {
    const { rules, urls } = await request.json();
    const loaded = load(rules);
    return Response.json(urls.map((url) => [normalize(url), loaded.canonical(url), loaded.key(url)]));
  },
};
"""
WORKER_CONFIG = """using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:{port}", http = (), service = "main")]
);
const worker :Workerd.Worker = (modules = [{modules}], compatibilityDate = "2024-09-01");
"""


def modules_of(folder: Path) -> str:
    """Return the files of a folder as modules of a worker."""
    kinds = {".js": "esModule", ".wasm": "wasm"}
    files = sorted(folder.glob("*"), key=lambda path: path.name != "worker.js")
    return ", ".join(
        f'(name = "{path.name}", {kinds[path.suffix]} = embed "{path.name}")'
        for path in files
        if path.suffix in kinds
    )


def test_in_an_edge_worker(tmp_path: Path) -> None:
    """In workerd, which imports the compiled module and lets nobody compile one."""
    found = sorted((PACKAGE / "node_modules").glob("@cloudflare/workerd-*/bin/workerd"))
    if not found:
        pytest.skip("workerd is not installed; npm install --prefix js --no-save workerd")
    for name in (
        "api.js",
        "core.js",
        "edge.js",
        "errors.js",
        "identity.js",
        "needs.js",
        "rules.js",
        "suffixes.js",
    ):
        (tmp_path / name).write_bytes((built() / name).read_bytes())
    (tmp_path / "undust.wasm").write_bytes((PACKAGE / "undust.wasm").read_bytes())
    (tmp_path / "worker.js").write_text(WORKER, encoding="utf-8")
    port = free_port()
    config = WORKER_CONFIG.format(port=port, modules=modules_of(tmp_path))
    (tmp_path / "config.capnp").write_text(config, encoding="utf-8")
    urls = [url for url in URLS if url.isprintable()]
    asked = json.dumps({"rules": RULES.read_text(encoding="utf-8"), "urls": urls}).encode()
    worker = subprocess.Popen([found[0], "serve", tmp_path / "config.capnp"], stderr=subprocess.DEVNULL)
    try:
        with posted(f"http://127.0.0.1:{port}/", asked, worker) as answer:
            said = json.loads(answer.read())
    finally:
        worker.terminate()
        worker.wait(30)
    canonicalize, normal = load(RULES).compile(), RuleSet().compile()
    assert said == [[normal(url), canonicalize(url), canonicalize.key(url)] for url in urls]


def posted(address: str, data: bytes, server: subprocess.Popen[bytes]) -> HTTPResponse:
    """Return the answer of a server that is starting."""
    for _ in range(1200):
        assert server.poll() is None, "the worker did not start"
        with suppress(URLError):
            answer: HTTPResponse = urlopen(address, data=data, timeout=200)  # noqa: S310 -- loopback
            return answer
        time.sleep(0.05)
    pytest.fail("the worker does not answer")


class Shop(BaseHTTPRequestHandler):
    """Ten articles, each under three URLs; every page links to all of them."""

    asked: ClassVar[list[str]] = []
    links = "".join(f'<a href="/p/{n}?sid={sid}">' for n in range(10) for sid in ("a", "b", "c"))

    def do_GET(self) -> None:
        """Answer with the page."""
        self.asked.append(self.path)
        body = f"<html><body>{self.path.partition('?')[0]} {self.links}".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_the_crawl_with_crawlee(tmp_path: Path) -> None:
    """The example fetches each article once; Crawlee alone would fetch it three times."""
    installed = PACKAGE / "node_modules"
    if not (installed / "@crawlee" / "http").exists():
        pytest.skip("Crawlee is not installed; npm install --prefix js --no-save @crawlee/http")
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "undust").symlink_to(built())
    (tmp_path / "node_modules" / "@crawlee").symlink_to(installed / "@crawlee")
    script = tmp_path / "crawlee.mjs"
    script.write_bytes((PACKAGE / "examples" / "crawlee.mjs").read_bytes())
    rule = Rule.parse("rewrite {s}://{h}/{p**}?sid={*}&{rest**} → {s}://{h}/{p}?{rest}", site="127.0.0.1")
    RuleSet([rule]).save(tmp_path / "rules.json")
    Shop.asked.clear()
    with serving(Shop) as address:
        run("node", script, "rules.json", f"{address}/", folder=tmp_path)
    fetched = [path for path in Shop.asked if path.startswith("/p/")]
    assert sorted({path.partition("?")[0] for path in fetched}) == [f"/p/{n}" for n in range(10)]
    assert len(fetched) == 10
