"""Logs that real nginx and Apache write in their stock formats: as many sightings as requests were sent."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import time
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

import pytest

import undust
from tests.servers import IS_ROOT, apache_modules, serving
from undust.reading.formats.values import text_from_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.servers import Server

NGINX_CONFIG = """
daemon off; master_process off; {user} pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log {folder}/combined.log;
  log_format vhost '$host:$server_port $remote_addr - $remote_user [$time_local] '
                   '"$request" $status $body_bytes_sent';
  access_log {folder}/vhost.log vhost;
  log_format custom '$msec|$scheme|$http_host|$request_method|$request_uri|'
                    '$status|$body_bytes_sent|$sent_http_location';
  access_log {folder}/custom.log custom;
  log_format json escape=json '{{"uri":"$request_uri","status":"$status","agent":"$http_user_agent"}}';
  access_log {folder}/json.log json;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  server {{ listen 127.0.0.1:{port}; server_name shop.test; root {folder}/www; if_modified_since before;
            location = /old {{ return 301 /new; }} }}
}}
"""
NGINX_CUSTOM = (
    "$msec|$scheme|$http_host|$request_method|$request_uri|$status|$body_bytes_sent|$sent_http_location"
)
NGINX_JSON = '{"uri":"$request_uri","status":"$status","agent":"$http_user_agent"}'

APACHE_CONFIG = r"""
ServerRoot {folder}
ServerName shop.test
Listen 127.0.0.1:{port}
PidFile {folder}/apache.pid
ErrorLog {folder}/error.log
Mutex file:{folder}
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule alias_module {modules}/mod_alias.so
<IfModule !logio_module>
LoadModule logio_module {modules}/mod_logio.so
</IfModule>
{user}
LogFormat "%v:%p %h %l %u %t \"%r\" %>s %O \"%{{Referer}}i\" \"%{{User-Agent}}i\"" vhost_combined
LogFormat "%h %l %u %t \"%r\" %>s %O \"%{{Referer}}i\" \"%{{User-Agent}}i\"" combined
LogFormat "%h %l %u %t \"%r\" %>s %b" common
LogFormat "%{{usec}}t %{{Host}}i %m %U%q %>s %B %{{Location}}o" custom
CustomLog {folder}/vhost.log vhost_combined
CustomLog {folder}/combined.log combined
CustomLog {folder}/common.log common
CustomLog {folder}/custom.log custom
DocumentRoot {folder}/www
Redirect 301 /old /new
"""
APACHE_CUSTOM = "%{usec}t %{Host}i %m %U%q %>s %B %{Location}o"

TARGETS = (
    b"/",
    b"/page.html",
    b"/page.html?a=1&b=2",
    b'/page.html?q="quoted"',
    b"/page.html?back\\slash",
    b"/page.html?caf\xc3\xa9",
    b"/page.html?latin1-\xe9-\xff",
    b"/page.html?%22%5c%e2%82%ac",
    b"/page.html?[brackets]{and}|more|",
    b"/page.html?'single'$%",
    b"//page.html",
    b"/a/../page.html",
    b"/missing",
    b"/old",
    b"http://shop.test/page.html?absolute",
)
"""What is asked for, in the bytes that go over the wire."""


def configured(name: str, folder: Path, port: int) -> str:
    """The configuration of a server, whose pages are laid into its folder."""
    (folder / "www").mkdir()
    (folder / "www" / "page.html").write_text("<p>A page of the shop.</p>" * 20)
    os.utime(folder / "www" / "page.html", (1_600_000_000, 1_600_000_000))
    (folder / "www" / "index.html").write_text("<p>The shop.</p>")
    if name == "nginx":
        return NGINX_CONFIG.format(folder=folder, port=port, user="user root;" if IS_ROOT else "")
    user = "User nobody\nGroup nogroup" if IS_ROOT else ""
    return APACHE_CONFIG.format(folder=folder, port=port, modules=apache_modules(), user=user)


@pytest.fixture(scope="module", params=["nginx", "apache2"])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """Each server in turn, with its own folder, configuration and port."""
    with serving(request.param, partial(configured, request.param)) as up:
        send_all(up)
        yield up


def send(port: int, data: bytes) -> bytes:
    """What the server says to some bytes, until it hangs up."""
    with socket.create_connection(("127.0.0.1", port), timeout=200) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        with contextlib.suppress(ConnectionError):
            while block := connection.recv(65536):
                answer += block
        return answer


def send_all(server: Server) -> None:
    """Every target with GET and HEAD, some with POST, a range, a condition, and what is no HTTP at all."""
    head = b' HTTP/1.1\r\nHost: shop.test\r\nUser-Agent: "quoted" agent\\\r\nConnection: close\r\n'
    for target in TARGETS:
        for method in (b"GET ", b"HEAD "):
            send(server.port, method + target + head + b"\r\n")
    send(server.port, b"POST /page.html" + head + b"Content-Length: 3\r\n\r\na=1")
    send(server.port, b"OPTIONS *" + head + b"\r\n")
    send(server.port, b"GET /page.html" + head + b"Range: bytes=0-9\r\n\r\n")
    later = b"If-Modified-Since: Fri, 01 Jan 2021 00:00:00 GMT\r\n\r\n"
    send(server.port, b"GET /page.html" + head + later)
    send(server.port, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
    send(server.port, b"\r\n\r\nnonsense\r\n\r\n")
    time.sleep(0.3)


def lines_of(path: Path) -> list[bytes]:
    """The lines of a log."""
    return path.read_bytes().split(b"\n")[:-1]


STOCK = {"nginx": ("combined", "vhost"), "apache2": ("combined", "vhost", "common")}
"""The logs of each server that need no format to be given."""


def test_stock_logs_are_read_without_loss(server: Server) -> None:
    """Rows and counts equal an independent count of the lines; each line is one or the other."""
    for log in STOCK[server.name]:
        path = server.folder / f"{log}.log"
        lines = lines_of(path)
        assert len(lines) >= 2 * len(TARGETS) + 4
        seen = undust.read(path, base=None if log == "vhost" else "http://shop.test")
        assert seen.files[0].format == "access-log"
        counts = seen.counts()
        assert (counts["skipped"], counts["lost"]) == (0, 0), seen.report()
        sightings = [line for line in lines if re.search(rb'\] "(GET|HEAD) ', line)]
        assert len(seen) == len(sightings) >= 2 * len(TARGETS) + 2
        assert counts["passed over"] == len(lines) - len(sightings) >= 2
        statuses = Counter(int(found[1]) for line in sightings if (found := re.search(rb'" (\d{3}) ', line)))
        assert Counter(seen.table["status"].to_pylist()) == statuses


def test_urls_are_those_that_were_sent(server: Server) -> None:
    """What the server escaped for its log comes out as the bytes of the request, or as their triplets."""
    seen = undust.read(server.folder / "combined.log", base="http://shop.test")
    urls = set(seen.table["url"].to_pylist())
    sent = {text_from_bytes(target) for target in TARGETS}
    assert {url if url.startswith("http") else f"http://shop.test{url}" for url in sent} <= urls


def test_sizes_are_those_of_whole_pages(server: Server) -> None:
    """A page's size is known from GET requests that were answered with all of it, and from no others."""
    rows = undust.read(server.folder / "combined.log", base="http://shop.test").table.to_pylist()
    page = [row for row in rows if row["url"] == "http://shop.test/page.html"]
    assert sorted(row["status"] for row in page) == [200, 200, 206, 304]
    sizes = [row["size"] for row in page if row["size"] is not None]
    assert len(sizes) == 1
    assert sizes[0] >= (server.folder / "www" / "page.html").stat().st_size


def test_own_formats_of_real_servers(server: Server) -> None:
    """The format string out of the configuration reads the log: host, redirect and time included."""
    log_format = NGINX_CUSTOM if server.name == "nginx" else APACHE_CUSTOM
    seen = undust.read(server.folder / "custom.log", log_format=log_format)
    rows = [row for row in seen.table.to_pylist() if row["url"] == "http://shop.test/old"]
    assert [row["status"] for row in rows] == [301, 301]
    # Both servers make a whole URL of it, and nginx adds the port that it listens on.
    assert {row["redirect"].replace(f":{server.port}", "") for row in rows} == {"http://shop.test/new"}
    assert all(abs(row["time"].timestamp() - time.time()) < 3600 for row in rows)


@pytest.mark.parametrize("server", ["nginx"], indirect=True)
def test_json_log_of_nginx(server: Server) -> None:
    """With its format given, a log that nginx writes as JSON is read like any other."""
    seen = undust.read(server.folder / "json.log", log_format=NGINX_JSON, base="http://shop.test")
    assert seen.counts()["skipped"] == 0
    assert 'http://shop.test/page.html?q="quoted"' in seen.table["url"].to_pylist()
