"""A rule that drops a parameter, and how it is tried against a server on loopback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

import undust

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.asking.servers import Server
    from undust.asking.outcome import RuleOutcome, Validation

SITE = "evil.test"
HOST = f"www.{SITE}"
DROP = undust.Rule.parse("rewrite {s}://{h}/{p**}?{**:x}&{rest**} -> {s}://{h}/{p}?{rest}", site=SITE)


def listed(paths: Iterable[str], host: str = HOST) -> pa.Table:
    """A list of URLs."""
    return pa.table({"url": pa.array([f"http://{host}{path}" for path in paths], pa.string())})


def tried(server: Server | None, paths: Iterable[str], **options: Any) -> Validation:  # noqa: ANN401
    """Prove that a parameter may be dropped, on these paths of the server."""
    told: dict[str, Any] = {"live": True, "delay": 0.0, "timeout": 3.0, "samples": 20}
    if server is not None:
        told["connect_to"] = [f"{HOST}=127.0.0.1:{server.port}"]
    return undust.validate(undust.RuleSet([DROP]), listed(paths), **{**told, **options})


def outcome(server: Server | None, paths: Iterable[str], **options: Any) -> RuleOutcome:  # noqa: ANN401
    """What becomes of that one rule."""
    return tried(server, paths, **options).outcomes[0]
