"""Exports carried out by real servers: nginx and Apache on loopback, and where their redirects lead."""

from __future__ import annotations

import http.client
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tests.servers import IS_ROOT, apache_modules, serving

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MOST_REDIRECTS = 40


NGINX_CONFIG = """
daemon off; master_process off; {user} pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log off; keepalive_requests 1000000; server_tokens off; large_client_header_buffers 8 64k;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  include {folder}/undust.conf;
  server {{
    listen 127.0.0.1:{port};
    if ($undust_to) {{ return 301 $undust_to; }}
    location / {{ return 200 "here"; }}
  }}
}}
"""

APACHE_CONFIG = """
ServerRoot {folder}
ServerName localhost
Listen 127.0.0.1:{port}
PidFile {folder}/apache.pid
ErrorLog {folder}/error.log
Mutex file:{folder}
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule rewrite_module {modules}/mod_rewrite.so
{user}
DocumentRoot {folder}
StartServers 1
ServerLimit 1
ThreadsPerChild 4
MaxRequestWorkers 4
KeepAlive On
MaxKeepAliveRequests 0
LimitRequestLine 65536
AllowEncodedSlashes NoDecode
Include {folder}/undust.conf
"""


def configured(name: str, text: str, folder: Path, port: int) -> str:
    """The configuration of a server; the scheme comes from a header, as behind a proxy that ends TLS."""
    told, sent = {
        "nginx": ("$scheme", "$http_x_forwarded_proto"),
        "apache2": ("%{REQUEST_SCHEME}", "%{HTTP:X-Forwarded-Proto}"),
    }[name]
    (folder / "undust.conf").write_text(text.replace(told, sent), encoding="utf-8")
    if name == "nginx":
        return NGINX_CONFIG.format(folder=folder, port=port, user="user root;" if IS_ROOT else "")
    user = "User nobody\nGroup nogroup" if IS_ROOT else ""
    return APACHE_CONFIG.format(folder=folder, port=port, modules=apache_modules(), user=user)


def by_server(name: str, text: str, urls: Sequence[str]) -> list[str]:
    """Where an export sends each URL in nginx or apache2; skipped where that is not installed."""
    with serving(name, partial(configured, name, text)) as server:
        return arrivals(server.port, urls)


def arrivals(port: int, urls: Sequence[str]) -> list[str]:
    """Where redirects lead from each URL."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=200)) as connection:
        return [_arrival(connection, url) for url in urls]


def _arrival(connection: http.client.HTTPConnection, url: str) -> str:
    for _ in range(MOST_REDIRECTS):
        location = _redirect(connection, url)
        if location is None:
            return url
        url = location
    return f"still under way at {url}"


def _redirect(connection: http.client.HTTPConnection, url: str) -> str | None:
    parts = urlsplit(url)
    target = url.removeprefix(f"{parts.scheme}://{parts.netloc}")
    connection.putrequest("GET", target, skip_host=True, skip_accept_encoding=True)
    connection.putheader("Host", parts.netloc)
    connection.putheader("X-Forwarded-Proto", parts.scheme)
    connection.endheaders()
    answer = connection.getresponse()
    answer.read()
    assert answer.status in {200, 301, 404}, (url, answer.status)
    return answer.getheader("Location") if answer.status == 301 else None
