"""The ways in which answers come: HTTP/1.1 and HTTP/2, packed in four ways, kept connections."""

from __future__ import annotations

import datetime as dt
import gzip
import ipaddress
import socket
import ssl
import threading
import zlib
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import brotli
import h2.config
import h2.connection
import h2.events
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.asking.rules import HOST
from tests.asking.servers import page, serving
from undust.asking.fetching import Fetcher
from undust.asking.limits import HostAndPort, Manners, connection_from, is_public
from undust.files.streams import packing_of_name
from undust.reading.page import text_digest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.asking.servers import Connection, Request

TEXT = b"<p>one page, however it is packed</p>"
DIGEST = text_digest(b"one page, however it is packed")


def fetcher_to(port: int, context: ssl.SSLContext | None = None) -> Fetcher:
    """A fetcher that finds the host on loopback."""
    return Fetcher(Manners(connect_to={HostAndPort(HOST): HostAndPort("127.0.0.1", port)}), context)


def zstd(data: bytes) -> bytes:
    """Pack with zstd."""
    packing = packing_of_name("a.zst")
    assert packing
    packer = packing.new_packer()
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize(
    ("name", "packed"),
    [
        ("identity", TEXT),
        ("gzip", gzip.compress(TEXT, mtime=0)),
        ("deflate", zlib.compress(TEXT)),
        ("br", brotli.compress(TEXT)),
        ("zstd", zstd(TEXT)),
        ("gzip, br", brotli.compress(gzip.compress(TEXT, mtime=0))),
    ],
)
def test_packed_bodies(name: str, packed: bytes) -> None:
    """The digest is that of the text, whichever way it came."""
    with serving({"/a": lambda c, _: c.reply(packed, Content_Encoding=name)}) as server:
        fetcher = fetcher_to(server.port)
        answer = fetcher.fetch(f"http://{HOST}/a", 0, "sample")
        fetcher.close()
    assert (answer.problem, answer.status, answer.digest) == (None, 200, DIGEST)


def test_one_connection_is_kept() -> None:
    """Ten pages of a host come through one connection."""
    connections = set()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            connections.add(self.client_address)
            self.send_response(200)
            self.send_header("Content-Length", str(len(TEXT)))
            self.end_headers()
            self.wfile.write(TEXT)

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    fetcher = fetcher_to(server.server_address[1])
    answers = [fetcher.fetch(f"http://{HOST}/{number}", 0, "sample") for number in range(10)]
    fetcher.close()
    server.shutdown()
    server.server_close()
    thread.join()
    assert {answer.status for answer in answers} == {200}
    assert len(connections) == 1


def certificate(folder: Path) -> Path:
    """A key and a certificate for the host, good for a day."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName(HOST), x509.IPAddress(ipaddress.ip_address("::1"))]),
            critical=False,
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "host.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return path


@contextmanager
def serving_http2(path: Path) -> Iterator[tuple[int, list[dict[str, str]]]]:
    """A server that speaks HTTP/2 over TLS; gives its port and the requests it sees."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    context.set_alpn_protocols(["h2"])
    seen: list[dict[str, str]] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                accepted, _ = listener.accept()
                with context.wrap_socket(accepted, server_side=True) as secure:
                    _speak_http2(secure, seen)
            except OSError:
                if listener.fileno() < 0:
                    return

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield listener.getsockname()[1], seen
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(5)


def _speak_http2(secure: ssl.SSLSocket, seen: list[dict[str, str]]) -> None:
    http = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
    http.initiate_connection()
    secure.sendall(http.data_to_send())
    while data := secure.recv(65536):
        for event in http.receive_data(data):
            if isinstance(event, h2.events.RequestReceived):
                seen.append({str(name): str(value) for name, value in event.headers or []})
                headers = [(":status", "200"), ("content-type", "text/html"), ("content-encoding", "gzip")]
                stream: Any = event.stream_id
                http.send_headers(stream, headers)
                http.send_data(stream, gzip.compress(TEXT), end_stream=True)
        secure.sendall(http.data_to_send())


def test_http2(tmp_path: Path) -> None:
    """Where a host speaks HTTP/2, so do we, and verify who it is."""
    path = certificate(tmp_path)
    with serving_http2(path) as (port, seen):
        trusting = ssl.create_default_context(cafile=path)
        fetcher = fetcher_to(port, trusting)
        answers = [fetcher.fetch(f"https://{HOST}/{number}?q=1", 0, "sample") for number in range(3)]
        fetcher.close()
        stranger = fetcher_to(port)
        refused = stranger.fetch(f"https://{HOST}/", 0, "sample")
        stranger.close()
    assert [(answer.problem, answer.status, answer.digest) for answer in answers] == [(None, 200, DIGEST)] * 3
    assert [request[":path"] for request in seen] == ["/0?q=1", "/1?q=1", "/2?q=1"]
    assert seen[0]["user-agent"].startswith("undust/")
    assert "certificate verify failed" in (refused.problem or "")


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("/a%20b?q=%C3%A9", "/a%20b?q=%C3%A9"),
        ("/?", "/?"),
        ("//double//slash", "//double//slash"),
    ],
)
def test_the_url_that_is_sent(url: str, path: str) -> None:
    """What is asked for is the URL, byte by byte."""
    with serving({"/": page("x")}) as server:
        fetcher = fetcher_to(server.port)
        fetcher.fetch(f"http://{HOST}{url}", 0, "sample")
        fetcher.close()
    assert server.log[0].path == path


def stacked(connection: Connection, _request: Request) -> None:
    """A body that is said to be packed two thousand times over."""
    connection.reply(b"<p>x</p>", Content_Encoding=", ".join(["gzip"] * 2000))


def test_encodings_are_bounded() -> None:
    """Two thousand encodings around a body are not undone one inside the other, and the next URL is asked."""
    with serving({"/a": stacked, "/b": page("b")}) as server:
        fetcher = fetcher_to(server.port)
        answers = [fetcher.fetch(f"http://{HOST}/{name}", 0, "sample") for name in "ab"]
        fetcher.close()
    assert answers[0].problem == "body in more than 5 encodings, which is not read"
    assert answers[1].problem is None


PUBLIC = ("8.8.8.8", "2606:4700:4700::1111", "::ffff:8.8.8.8", "2002:0808:0808::1")
NOT_PUBLIC = (
    *("127.0.0.1", "127.9.9.9", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"),
    *("224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "ff02::1"),
    *("::ffff:127.0.0.1", "::ffff:169.254.169.254", "2002:7f00:0001::1", "64:ff9b::7f00:1", "nonsense", ""),
)


def test_public_addresses() -> None:
    """Whatever leads inside is refused, also when it is wrapped in an address of the new kind."""
    assert [is_public(address) for address in PUBLIC] == [True] * len(PUBLIC)
    assert {address for address in NOT_PUBLIC if is_public(address)} == set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.test=127.0.0.1:80", (HostAndPort("a.test"), HostAndPort("127.0.0.1", 80))),
        ("A.test:8080=[::1]:9", (HostAndPort("a.test", 8080), HostAndPort("::1", 9))),
        ("a.test=127.0.0.1", None),
        ("a.test", None),
        ("=127.0.0.1:80", None),
        ("a.test=127.0.0.1:99999", None),
        (f"a.test=127.0.0.1:{'9' * 5000}", None),
        (f"a.test:{'9' * 5000}=127.0.0.1:80", None),
        ("a.test:x=127.0.0.1:80", None),
    ],
)
def test_connect_to(text: str, expected: tuple[HostAndPort, HostAndPort] | None) -> None:
    """As curl has it, with an equals sign."""
    if expected is not None:
        assert connection_from(text) == expected
        return
    with pytest.raises(Exception, match="is not HOST"):
        connection_from(text)
