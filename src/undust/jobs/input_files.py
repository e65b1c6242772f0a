"""What a person gave to read, and said about it: read at once, kept by an engine, or added up as traffic.

A command builds on this what a terminal shows. Everything that takes long to load is loaded when files are
read, so that a command can say what its options are without it.

`AskingChoice` has what a person said about asking sites: who is asked, how often, how long. What fetches is
loaded when something is asked.
"""

from __future__ import annotations

import logging
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from undust.errors import UndustError, WrongUsage
from undust.files.streams import STANDARD
from undust.urls import Url, normalize

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    import pyarrow as pa

    from undust.asking.limits import Manners
    from undust.engines import Engine
    from undust.reading.observations import Observations

    WatchBytes = Callable[[int, int | None], object]
    """Takes the bytes read and the bytes in total, if known."""


@dataclass(frozen=True)
class InputFiles:
    """Files, and how they are read."""

    paths: tuple[str, ...]
    format: str | None
    base: str | None
    columns: dict[str, str]
    log_format: str | None
    strict: bool
    shingle_words: int = 5
    sketch_size: int = 32
    threads: int = 1
    memory: int | None = None
    tmp: str | None = None

    def facts(self) -> dict[str, Any]:
        """Return what was said that decides which rows are read, but for the paths."""
        where = {"paths", "threads", "memory", "tmp"}
        return {name: value for name, value in asdict(self).items() if name not in where}

    def has(self, path: str) -> bool:
        """Return whether a file is among those that are read."""
        from undust.jobs.read import is_input  # noqa: PLC0415 -- slow to load

        return is_input(path, self.paths, format=self.format, log_format=self.log_format)

    def read(self, *, quiet: bool = False, engine: Engine | None = None) -> Observations:
        """Return the observations; show how far reading is, and report what could not be read.

        An engine keeps what does not fit on disk. Without one all rows are held; where the memory is
        bounded, more of them than fit are refused before they are loaded.
        """
        if engine is None and self.memory is not None:
            from undust.engines import SITE, LocalEngine  # noqa: PLC0415 -- slow to load

            with LocalEngine(self.memory, self.threads, self.tmp) as gathering:
                seen = self.read(quiet=quiet, engine=gathering)
                require_room(len(seen), self.memory, "this command")
                return replace(seen, table=gathering.collect(seen.table).drop_columns([SITE]))
        import pyarrow as pa  # noqa: PLC0415 -- slow to load

        from undust.jobs.read import read  # noqa: PLC0415

        pa.set_cpu_count(self.threads)
        with self.watching(quiet=quiet) as watch:
            observations = read(
                *self.paths,
                format=self.format,
                base=self.base,
                columns=self.columns,
                log_format=self.log_format,
                strict=self.strict,
                shingle_words=self.shingle_words,
                sketch_size=self.sketch_size,
                watch=watch,
                engine=engine,
            )
        if not quiet and any(observations.counts().values()):
            self.tell(observations.report())
        return observations

    def watching(self, *, quiet: bool) -> AbstractContextManager[WatchBytes | None]:  # noqa: ARG002 -- for those who show it
        """Give a function that takes how far reading is, if a command shows it; this class does not."""
        return nullcontext()

    def tell(self, report: str) -> None:
        """Report what could not be read; a command prints it."""

    def traffic(self) -> pa.Table:
        """Return the requests of the logs among the files, added up by URL, day and who asked."""
        from undust.jobs.read import traffic_of  # noqa: PLC0415 -- slow to load

        paths = [path for path in self.paths if path != STANDARD]
        return traffic_of(
            paths, base=self.base, columns=self.columns, log_format=self.log_format, format=self.format
        )

    def engine(self, name: str, master: str | None) -> Engine:
        """Return the engine of that name that is given these resources, to be used in a `with` block."""
        from undust.engines import engine_named  # noqa: PLC0415 -- slow to load

        if not logging.getLogger().handlers:
            # What talks to Java logs the traceback of a Ctrl-C; a command ends in one sentence.
            logging.getLogger().addHandler(logging.NullHandler())
        return engine_named(name, memory=self.memory, threads=self.threads, folder=self.tmp, master=master)


def memory_of(text: str) -> int:
    """Return the bytes that a person allows; raise if the text is not a size, or too small."""
    from undust.engines.spool import bytes_of  # noqa: PLC0415 -- slow to load, and seldom needed

    try:
        return bytes_of(text)
    except ValueError as error:
        raise WrongUsage(str(error)) from None


def require_room(rows: int, memory: int | None, what: str) -> None:
    """Raise if this many observations do not fit, in commands that need all of them at once."""
    from undust.engines.spool import ROW_BYTES  # noqa: PLC0415 -- slow to load

    needed = rows * ROW_BYTES
    if memory is not None and needed > memory:
        message = (
            f"{what} holds all of its input, and {rows:,} rows take about {needed / 1e9:.1f} GB; "
            "allow more --memory, or give it a part of the input"
        )
        raise UndustError(message)


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
