"""`undust serve` under load: decisions a second, a thousand connections at once, clients that hardly send.

    python -m bench.serving
    python -m bench.serving --urls 200000 --connections 2000

The server runs in a process of its own, and its processor time is read from outside.
"""

from __future__ import annotations

import argparse
import http.client
import json
import signal
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from bench.common import machine
from bench.processes import taken
from bench.replay.costs import MadeSites, row_of

if TYPE_CHECKING:
    from collections.abc import Iterator

AT_ONCE = 100
LEAST_A_SECOND = 5_000


@contextmanager
def serving() -> Iterator[tuple[int, int]]:
    """Run the command; yield its process and its port."""
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-m", "undust", "serve", "--state", folder, "--port", "0"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            said = process.stdout.readline() if process.stdout else ""
            try:
                yield process.pid, int(said.rstrip("/\n").rpartition(":")[2])
            finally:
                process.send_signal(signal.SIGTERM)
                process.communicate(timeout=60)


def decisions_a_second(process: int, port: int, urls: int) -> float:
    """Ask in batches, report what is to be fetched, and return decisions per second of processor time."""
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    made = MadeSites(urls // 3, 1)
    page_of = dict(made.shuffled())
    some = list(page_of)
    spent = 0.0
    for start in range(0, len(some), AT_ONCE):
        before = taken(process).processor_seconds
        decisions = _post(client, "/decide", {"urls": some[start : start + AT_ONCE]})["decisions"]
        spent += taken(process).processor_seconds - before
        wanted = [each["url"] for each in decisions if each["action"] == "fetch"]
        if wanted:
            _post(client, "/observe", {"rows": [row_of(url, page_of[url]) for url in wanted]})
    return len(some) / spent


def _post(client: http.client.HTTPConnection, path: str, body: object) -> dict[str, list[dict[str, str]]]:
    client.request("POST", path, json.dumps(body))
    found: dict[str, list[dict[str, str]]] = json.loads(client.getresponse().read())
    return found


def crowd(process: int, port: int, connections: int) -> Counter[str]:
    """Open connections that send half a request, and return what each is told; another one must be served."""
    clients = []
    told: Counter[str] = Counter()
    for _ in range(connections):
        client = socket.create_connection(("127.0.0.1", port), timeout=120)
        clients.append(client)
        with suppress(OSError):
            client.sendall(b"POST /decide HTTP/1.1\r\nHost: 127")
    told["MB of memory"] = taken(process).memory_bytes >> 20
    told["open files"] = sum(1 for _ in Path(f"/proc/{process}/fd").iterdir())
    for client in clients:
        try:
            with client.makefile("rb") as file:
                told[file.read().partition(b"\r\n")[0].decode()] += 1
        except OSError as error:
            told[type(error).__name__] += 1
        client.close()
    client_after = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    answer = _post(client_after, "/decide", {"urls": ["http://a.test/"]})
    told["served afterwards"] = len(answer["decisions"])
    return told


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--urls", type=int, default=60_000)
    parser.add_argument("--connections", type=int, default=1_000)
    options = parser.parse_args()
    print(f"undust serve ({machine()})", file=sys.stderr)
    with serving() as (process, port):
        speed = decisions_a_second(process, port, options.urls)
        print(f"{speed:,.0f} decisions per second of processor time, in batches of {AT_ONCE}", flush=True)
        for what, count in crowd(process, port, options.connections).items():
            print(f"{what}: {count}")
    if speed < LEAST_A_SECOND:
        sys.exit(f"wanted: {LEAST_A_SECOND:,} a second")


if __name__ == "__main__":
    main()
