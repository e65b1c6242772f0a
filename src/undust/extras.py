"""What a machine may lack: packages that come with an extra of undust, and signals of other systems.

An integration whose package is missing reports in one sentence what to install; not by a traceback, and
not in the middle of a crawl.
"""

from __future__ import annotations

import signal
import sys

from undust.errors import MissingExtra

POLITE = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that ask a program to end, and leave it time to clean up; Windows has no SIGHUP."""
HAS_TIMER = hasattr(signal, "setitimer")
"""Whether a signal can be sent to oneself after a while."""

LEARN = "learn"
"""The extra that brings everything but applying rules."""
_OF_LEARN = frozenset(
    (
        *("duckdb", "fastwarc", "h2", "httpcore", "jinja2", "numpy", "protego", "pyarrow", "resiliparse"),
        *("rich", "warcio"),
    )
)
"""The modules of the packages that `undust[learn]` asks for."""


def missing_extra(error: ModuleNotFoundError) -> MissingExtra | None:
    """Return what to install if the module that is missing comes with `undust[learn]`, else None.

    >>> print(missing_extra(ModuleNotFoundError(name="pyarrow.compute")))
    pyarrow is not installed; pip install 'undust[learn]'
    """
    name = (error.name or "").partition(".")[0]
    if name not in _OF_LEARN:
        return None
    return MissingExtra(f"{name} is not installed; pip install 'undust[{LEARN}]'", name=name)


class _WithoutPandas:
    """Makes pandas look as if it were not installed."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name == "pandas":
            message = "no command of undust uses it"
            raise ModuleNotFoundError(message, name=name)


def leave_out_pandas() -> None:
    """Let this process, which is undust's own, run without pandas.

    Where pandas is installed, pyarrow loads it for the first array that it makes of a list, which takes
    longer than most commands.
    """
    if not is_pandas_left_out():
        sys.meta_path.insert(0, _WithoutPandas)


def is_pandas_left_out() -> bool:
    """Return whether this process runs without pandas; those that it starts may then, too."""
    return _WithoutPandas in sys.meta_path


def require(package: str, oldest: str, extra: str | None = None) -> None:
    """Raise unless a package is installed in the version `oldest` or a later one.

    `extra` is the extra of undust that brings it; what comes with undust itself has none.
    """
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 -- slow to load

    mend = f"pip install '{f'undust[{extra}]' if extra else f'{package}>={oldest}'}'"
    try:
        installed = version(package)
    except PackageNotFoundError:
        message = f"{package} is not installed; {mend}"
        raise MissingExtra(message, name=package) from None
    if _numbers(installed) < _numbers(oldest):
        message = f"{package} {installed} is older than {oldest}, which undust needs; {mend}"
        raise MissingExtra(message, name=package)


def _numbers(text: str) -> tuple[int, ...]:
    """Return the numbers with which a version starts.

    >>> _numbers("2.14.0rc1"), _numbers("2.9")
    ((2, 14, 0), (2, 9))
    """
    import re  # noqa: PLC0415 -- slow to load

    start = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(map(int, start[0].split("."))) if start else ()
