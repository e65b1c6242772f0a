"""What a person said about asking sites: who is asked, how often, how long.

What fetches is loaded when something is asked, so that a command can take these options without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from undust.errors import WrongUsage
from undust.urls import Url, normalize

if TYPE_CHECKING:
    from undust.asking.limits import Manners

STAGES = 3
"""Stages of an answer that may each take their time: to be reached, to begin, to go on."""


@dataclass(frozen=True)
class AskingChoice:
    """What a person said about asking sites."""

    samples: int
    epsilon: float
    delay: float
    max_fetches: int
    max_fetches_per_host: int | None
    timeout: float
    contact: str | None
    ask_hosts: tuple[str, ...] = ()
    connect_to: tuple[str, ...] = ()
    allow_private: bool = False
    journal: str | None = None

    @property
    def agent(self) -> str:
        """The name that requests give."""
        from undust.asking.fetching import user_agent  # noqa: PLC0415 -- slow to load

        return user_agent(self.contact)

    def named_hosts(self, base: str | None) -> frozenset[str]:
        """Return the hosts that the person named in whatever way."""
        from undust.asking.limits import connection_from  # noqa: PLC0415 -- slow to load

        texts = [base or "", *(f"http://{host.removeprefix('*.')}/" for host in self.ask_hosts)]
        parsed = [Url.parse(normalize(text)) for text in texts]
        hosts = {url.host for url in parsed[:1] if url is not None}
        for said, url in zip(self.ask_hosts, parsed[1:], strict=True):
            if url is None or url.path != "/" or url.query is not None:
                message = f"--ask-host {said} is not a host; give a name such as www.shop.test"
                raise WrongUsage(message)
            hosts.add(f"*.{url.host}" if said.startswith("*.") else url.host)
        return frozenset(hosts | {connection_from(text)[0][0] for text in self.connect_to})

    def required_hosts(self, base: str | None) -> frozenset[str]:
        """Return the hosts that may be fetched from; raise if the person named none."""
        hosts = self.named_hosts(base)
        if not hosts:
            message = (
                "no host was named to fetch from, and a log or a list may name hosts of others; "
                "name them with --ask-host www.your.site, or with --base https://www.your.site"
            )
            raise WrongUsage(message)
        return hosts

    def manners(self, hosts: frozenset[str] | None) -> Manners:
        """Return how these hosts are asked; without them, any host."""
        from undust.asking.limits import Manners, connection_from  # noqa: PLC0415 -- slow to load

        return Manners(
            delay_s=self.delay,
            max_fetches=self.max_fetches,
            max_fetches_per_host=self.max_fetches_per_host,
            contact=self.contact,
            allow_private=self.allow_private,
            ask_hosts=hosts,
            connect_to=dict(map(connection_from, self.connect_to)),
            answer_timeout_s=self.timeout,
            stage_timeout_s=self.timeout / STAGES,
        )

    def facts(self) -> dict[str, Any]:
        """Return what decides which rules are confirmed."""
        return {"samples": self.samples, "epsilon": self.epsilon, "hosts": sorted(self.ask_hosts)}
