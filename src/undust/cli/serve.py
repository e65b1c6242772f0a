"""`undust serve`: the learner of a crawl over HTTP and JSON, for crawlers in other languages."""

from __future__ import annotations

import os
import secrets
import signal
from contextlib import suppress

import click

from undust.cli import options

_PORTS = 65535
_LOOPBACKS = {"127.0.0.1", "localhost"}
_TOKEN_BYTES = 24


@click.command("serve")
@click.option(
    "--state", metavar="DIR", type=click.Path(file_okay=False), required=True, help="Where the crawl is kept."
)
@click.option("--rules", metavar="RULES", type=click.Path(), help="Rules to start with.")
@click.option("--host", metavar="HOST", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option(
    "--port", metavar="N", type=click.IntRange(0, _PORTS), default=0, help="Instead of any port that is free."
)
@click.option("--socket", metavar="PATH", type=click.Path(), help="A Unix socket instead of host and port.")
@click.option("--seed", metavar="N", type=int, default=0, help="Another number tests rules on other URLs.")
@click.option("--skip-traps", is_flag=True, help="Skip places where new URLs bring no new pages.")
@options.quiet
def command(  # noqa: PLR0913 -- one argument per option
    *,
    state: str,
    rules: str | None,
    host: str,
    port: int,
    socket: str | None,
    seed: int,
    skip_traps: bool,
    quiet: bool,
) -> None:
    """Learn while a crawl runs, and decide for its crawler which URLs to fetch.

    POST /decide, /observe and /returned take and give JSON; GET /rules, /metrics and /openapi.json.
    The state in DIR survives a kill. Without a loopback address a token is asked for: that of the
    environment variable UNDUST_TOKEN, or a new one, which is printed.

    \b
    Examples:
      undust serve --state state --port 8787
      curl -d '{"urls": ["http://shop.test/a"]}' 127.0.0.1:8787/decide
    """  # noqa: D301 -- click keeps the lines after a \b
    from undust.jobs.serve import crawl_server  # noqa: PLC0415 -- slow to load, and not for --help

    token = os.environ.get("UNDUST_TOKEN") or None
    if socket is None and host not in _LOOPBACKS and token is None:
        token = secrets.token_urlsafe(_TOKEN_BYTES)
    address = socket or (host, port)
    with crawl_server(state, address, token=token, rules=rules, seed=seed, skip_traps=skip_traps) as server:
        place = f"unix:{socket}" if socket else f"http://{host}:{server.server_address[1]}"
        signal.signal(signal.SIGTERM, _stop)
        if not quiet:
            click.echo(f"serving {state} at {place}" + (f" with the token {token}" if token else ""))
        with suppress(KeyboardInterrupt):
            server.serve_forever()


def _stop(*_: object) -> None:
    raise KeyboardInterrupt
