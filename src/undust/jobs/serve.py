"""The learner of a crawl as a server, for crawlers in other languages."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from undust.crawling import CrawlLearner
from undust.crawling.server import CrawlServer
from undust.errors import UndustError, file_sentence
from undust.rules import load

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def crawl_server(  # noqa: PLR0913 -- options of one verb, all named
    state: str,
    address: str | tuple[str, int],
    *,
    token: str | None = None,
    rules: str | None = None,
    seed: int = 0,
    skip_traps: bool = False,
) -> Iterator[CrawlServer]:
    """Give a server of the crawl in the folder `state`; at the end the state is written and closed.

    Args:
        state: The folder of the crawl.
        address: The path of a Unix socket, or host and port.
        token: What each request has to bring, if anything.
        rules: A file of rules to start with.
        seed: Another number tests rules on other URLs.
        skip_traps: Whether to skip places where new URLs bring no new pages.

    """
    start = load(rules) if rules else None
    learner = CrawlLearner(state, rules=start, seed=seed, skip_traps=skip_traps, background=True)
    try:
        server = CrawlServer(learner, address, token)
    except OSError as error:
        learner.close()
        place = address if isinstance(address, str) else ":".join(map(str, address))
        message = f"{place}: {file_sentence(error)}"
        raise UndustError(message) from None
    try:
        yield server
    finally:
        server.server_close()
        learner.close()
