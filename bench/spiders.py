"""Spiders run as people run them: by `scrapy runspider`, each in its process, on a site on loopback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from bench.sites.server import LOOPBACK, serving

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from bench.sites.server import Request, Served

ADDON = {"undust.integrations.scrapy.Addon": 500}
QUICK = {"DOWNLOAD_DELAY": 0, "CONCURRENT_REQUESTS_PER_DOMAIN": 16, "TELNETCONSOLE_ENABLED": 0}
"""What a loopback stands and a site would not."""


class Ended(NamedTuple):
    """How a spider ended."""

    code: int
    log: str
    requests: list[Request]
    """As the server saw them, robots.txt left out."""

    @property
    def urls(self) -> list[str]:
        """The URLs that were asked for, in order."""
        return [request.url for request in self.requests]


def run_spider(
    spider: Path, served: Served, settings: Mapping[str, Any], arguments: Mapping[str, str] | None = None
) -> Ended:
    """Run the spider of a file, with the add-on of undust, on a site that is served meanwhile."""
    words = ["runspider", str(spider)]
    for name, value in (arguments or {}).items():
        words += ["-a", f"{name}={value}"]
    for name, value in ({"ADDONS": ADDON, "LOG_LEVEL": "INFO"} | QUICK | dict(settings)).items():
        words += ["-s", f"{name}={json.dumps(value) if isinstance(value, dict) else value}"]
    with serving(served) as server:
        proxy = {"http_proxy": f"http://{LOOPBACK}:{server.port}", "no_proxy": ""}
        code, log = in_process(words, proxy)
        requests = [request for request in server.requests if not request.url.endswith("/robots.txt")]
    return Ended(code, log.decode(), requests)


def in_process(words: list[str], environment: dict[str, str]) -> tuple[int, bytes]:
    """Return how `scrapy` ended, run with these words, and what it printed."""
    command = [sys.executable, "-m", "scrapy", *words]
    done = subprocess.run(
        command, env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    return done.returncode, done.stdout
