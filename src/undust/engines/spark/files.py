"""Files on the file systems that Spark knows: HDFS, S3, Azure, Google, and folders that all machines see."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from undust.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import SparkSession

LARGEST = (1 << 31) - (1 << 20)
"""Bytes of a file that Spark hands over in one piece."""
_HIDDEN = (".", "_")
"""How names start that are not data: `_SUCCESS`, and what is still being written."""


def found(spark: SparkSession, paths: Sequence[str]) -> dict[str, bool]:
    """Return the files that addresses, folders and patterns mean, and whether a person named each."""
    files: dict[str, bool] = {}
    for path in paths:
        for name, is_named in _files_of(spark, path):
            files[name] = files.get(name, False) or is_named
    return dict(sorted(files.items()))


def _files_of(spark: SparkSession, path: str) -> Iterator[tuple[str, bool]]:
    place, system = _system(spark, path)
    matches = system.globStatus(place)
    if not matches:
        message = f"{path}: there is no such file, or none fits this pattern; check the name"
        raise SourceError(message)
    for match in matches:
        name = match.getPath().toString()
        if match.isDirectory():
            yield from ((below, False) for below in _files_below(system, match.getPath()))
        else:
            yield name, name.endswith(path.split("://", 1)[-1])


def _files_below(system: Any, folder: Any) -> Iterator[str]:  # noqa: ANN401 -- objects of Java
    for status in system.listStatus(folder):
        if status.getPath().getName().startswith(_HIDDEN):
            continue
        if status.isDirectory():
            yield from _files_below(system, status.getPath())
        else:
            yield status.getPath().toString()


def literal(path: str) -> str:
    """Return an address in which nothing is a pattern."""
    return re.sub(r"[\\\[\]{}*?]", r"\\\g<0>", path)


def require_small(spark: SparkSession, path: str) -> None:
    """Raise if Spark cannot hand over a file in one piece."""
    place, system = _system(spark, path)
    size = system.getFileStatus(place).getLen()
    if size > LARGEST:
        message = (
            f"{path}: {size:,} bytes are more than Spark hands over in one piece; cut it, or store Parquet"
        )
        raise SourceError(message)


def _system(spark: SparkSession, path: str) -> tuple[Any, Any]:
    """Return a path and its file system, as Hadoop has them."""
    context = spark.sparkContext
    place = context._jvm.org.apache.hadoop.fs.Path(path)  # type: ignore[union-attr]  # noqa: SLF001 -- no other way
    return place, place.getFileSystem(context._jsc.hadoopConfiguration())  # noqa: SLF001
