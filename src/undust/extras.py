"""What a machine may lack: packages that come with an extra of undust.

An integration whose package is missing reports in one sentence what to install; not by a traceback, and
not in the middle of a crawl.
"""

from __future__ import annotations

from undust.errors import MissingExtra

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
