"""What came back for a URL, as evidence; and the journal of everything that was asked and answered.

An `Answer` is the evidence of one response, small enough to be kept for ever. A line of the journal is a JSON
object: an `answer`, a `pair` of URLs with its verdict, a `verdict` on a rule, and at the end
`done`. However the program ends, no answer is requested twice: the next run reads the answers
from here and comes, by the same way, to the place where the last one was ended.

`RecordedAnswers` is the offline twin: it answers from what a crawl has kept, instead of from the network.
"""

from __future__ import annotations

import json
import os
import threading
import zlib
from base64 import b64decode, b64encode
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pyarrow.compute as pc

from undust.errors import DamagedSource, UndustError
from undust.files.replacing import lock
from undust.urls import normalize

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    import pyarrow as pa
    from numpy.typing import NDArray


Why = Literal["sample", "redirect", "retry", "second look", "robots"]
"""What a request was made for."""
WHYS: tuple[Why, ...] = get_args(Why)

OK, NON_AUTHORITATIVE = 200, 203
FIRST_REDIRECT, _NOT_MODIFIED, FIRST_ERROR, FIRST_FAILURE = 300, 304, 400, 500
BUSY = frozenset({429, 503})
"""Too many requests; unavailable for now."""


@dataclass(frozen=True)
class Answer:
    """One answer to one request; `turn` is how often the URL was asked for before."""

    url: str
    turn: int = 0
    why: Why = "sample"
    time: float = 0.0
    """Seconds since 1970, when it was there."""
    status: int | None = None
    redirect: str | None = None
    """Where it sends on, absolute."""
    size: int | None = None
    digest: str | None = None
    sketch: NDArray[np.uint32] | None = None
    text: bytes | None = None
    """Of the first pages of a site, from which its template is learned; and of robots.txt."""
    retry_after_s: float | None = None
    problem: str | None = None
    """Why there is no page to compare, in words."""

    @property
    def is_page(self) -> bool:
        """Whether it shows something that can be compared."""
        return self.problem is None and self.status in {OK, NON_AUTHORITATIVE} and self.digest is not None

    @property
    def is_redirect(self) -> bool:
        """Whether it sends on."""
        is_3xx = self.status is not None and FIRST_REDIRECT <= self.status < FIRST_ERROR
        return is_3xx and self.redirect is not None

    def with_sketch(self, sketch: NDArray[np.uint32] | None) -> Answer:
        """Return the same answer with its sketch, and without the text that is no longer needed."""
        return replace(self, sketch=sketch, text=None)

    def to_json(self) -> dict[str, Any]:
        """Return it as an object; unknown fields are omitted."""
        said = {
            "url": self.url,
            "turn": self.turn,
            "why": self.why,
            "time": round(self.time, 3),
            "status": self.status,
            "redirect": self.redirect,
            "size": self.size,
            "digest": self.digest,
            "sketch": sketch_text(self.sketch),
            "text": None if self.text is None else b64encode(zlib.compress(self.text)).decode("ascii"),
            "retry_after": self.retry_after_s,
            "problem": self.problem,
        }
        return {name: value for name, value in said.items() if value is not None}

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Answer:
        """Return the answer of a JSON object; raise KeyError, TypeError or ValueError if it is not one."""
        sketch, text = said.get("sketch"), said.get("text")
        why = said["why"]
        if why not in WHYS:
            raise ValueError(why)
        return cls(
            url=str(said["url"]),
            turn=int(said["turn"]),
            why=why,
            time=float(said["time"]),
            status=said.get("status"),
            redirect=said.get("redirect"),
            size=said.get("size"),
            digest=said.get("digest"),
            sketch=None if sketch is None else np.frombuffer(b64decode(sketch, validate=True), np.uint32),
            text=None if text is None else zlib.decompress(b64decode(text, validate=True)),
            retry_after_s=said.get("retry_after"),
            problem=said.get("problem"),
        )


def sketch_text(sketch: NDArray[np.uint32] | None) -> str | None:
    """Return a sketch as text: base64 of its minima."""
    return None if sketch is None else b64encode(sketch.tobytes()).decode("ascii")


NOT_THERE = "the archive does not hold it"


class RecordedAnswers:
    """Observations that answer like a site: the first sighting of a URL first, then the next one."""

    is_live = False

    def __init__(self, seen: pa.Table) -> None:
        urls = normalize(seen.column("url").combine_chunks())
        kept = seen.select(["status", "size", "digest", "sketch", "redirect", "time"]).append_column(
            "url", urls
        )
        # Sightings without a time come in the order in which they were read.
        kept = kept.append_column("row", [np.arange(len(kept))])
        order = pc.sort_indices(kept, [("url", "ascending"), ("time", "ascending"), ("row", "ascending")])
        self._rows = kept.take(order).combine_chunks()
        self._urls = self._rows.column("url").combine_chunks()

    def fetch(self, url: str, turn: int, why: Why) -> Answer:
        """Return what was seen of a URL when it was visited for the `turn`-th time after the first."""
        key = self._urls.__getitem__
        rows = range(len(self._urls))
        place = bisect_left(rows, url, key=lambda row: key(row).as_py()) + turn
        if place >= bisect_right(rows, url, key=lambda row: key(row).as_py()):
            return Answer(url, turn, why, problem=NOT_THERE)
        row = {name: self._rows.column(name)[place].as_py() for name in self._rows.column_names}
        status = row["status"]
        is_moved = status is not None and FIRST_REDIRECT <= status < FIRST_ERROR
        sketch = row["sketch"]
        return Answer(
            url,
            turn,
            why,
            time=row["time"].timestamp() if row["time"] else 0.0,
            status=status,
            redirect=normalize(row["redirect"]) if is_moved and row["redirect"] else None,
            size=row["size"],
            digest=row["digest"],
            sketch=None if sketch is None else np.array(sketch, np.uint32),
        )

    def close(self) -> None:
        """Do nothing; the tables are in memory."""


_FORMAT, _VERSION = "undust-journal", 1
SYNCED_EVERY_S = 1.0
"""A machine that fails loses no more than this; a program that is ended loses nothing."""


class AnswerJournal:
    """A journal that is kept in memory only."""

    def __init__(self) -> None:
        self._answers: dict[tuple[str, int], Answer] = {}

    def recorded(self, url: str, turn: int) -> Answer | None:
        """Return what was answered in an earlier run."""
        return self._answers.get((url, turn))

    def add(self, kind: str, said: dict[str, Any]) -> None:
        """Write one more entry."""

    def close(self) -> None:
        """End writing."""


class JournalFile(AnswerJournal):
    """A journal in a file that only one program writes."""

    def __init__(self, path: str | PathLike[str], job: str, *, resume: bool) -> None:
        """Begin a journal, or go on with one of the same `job`."""
        super().__init__()
        self.path = Path(path)
        self._lock = threading.Lock()
        self._written: set[str] = set()
        self._synced = monotonic()
        if not resume:
            _set_aside(self.path)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
        self._file = os.open(self.path, flags, 0o644)
        try:
            self._claim()
            self._load(job)
        except BaseException:
            os.close(self._file)
            raise

    def _claim(self) -> None:
        try:
            lock(self._file)
        except OSError:
            message = f"{self.path}: another undust writes this journal; wait for it, or name another one"
            raise UndustError(message) from None

    def _load(self, job: str) -> None:
        data = self.path.read_bytes()
        whole, _, torn = data.rpartition(b"\n")
        if torn:
            # The line that was being written when the program was ended.
            os.ftruncate(self._file, len(data) - len(torn))
        lines = whole.split(b"\n") if whole else []
        if not lines:
            self.add("job", {"format": _FORMAT, "version": _VERSION, "job": job})
            return
        self._require_job(lines[0], job)
        for number, line in enumerate(lines[1:], 2):
            try:
                ((kind, said),) = json.loads(line).items()
                if kind == "answer":
                    answer = Answer.from_json(said)
                    self._answers[answer.url, answer.turn] = answer
                elif kind != "done":
                    self._written.add(_key(kind, said))
            except (ArithmeticError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
                message = (
                    f"{self.path}:{number}: not a line of a journal; remove it, or begin without --resume"
                )
                raise DamagedSource(message) from None

    def _require_job(self, line: bytes, job: str) -> None:
        try:
            said = json.loads(line)["job"]
            format_, version, old = said["format"], said["version"], said["job"]
        except (ValueError, TypeError, KeyError, RecursionError):
            format_ = version = old = None
        if format_ != _FORMAT or version != _VERSION:
            message = f"{self.path}: not a journal of undust; name another file with --journal"
            raise DamagedSource(message)
        if old != job:
            message = f"{self.path}: written for other rules or samples; begin anew without --resume"
            raise UndustError(message)

    def add(self, kind: str, said: dict[str, Any]) -> None:
        """Write one more entry, unless an earlier run has written it."""
        with self._lock:
            if kind not in {"answer", "job", "done"}:
                if _key(kind, said) in self._written:
                    return
                self._written.add(_key(kind, said))
            line = json.dumps({kind: said}, ensure_ascii=True, separators=(",", ":")) + "\n"
            os.write(self._file, line.encode("ascii"))
            if kind == "done" or monotonic() - self._synced > SYNCED_EVERY_S:
                os.fsync(self._file)
                self._synced = monotonic()

    def close(self) -> None:
        """Let others have the file."""
        os.close(self._file)


def _key(kind: str, said: dict[str, Any]) -> str:
    return "\n".join([kind, said["rule"], said.get("from", ""), said.get("to", "")])


def _set_aside(path: Path) -> None:
    """Keep the journal of a job that came to its end under another name; refuse to lose any other."""
    if not path.exists():
        return
    with path.open("rb") as file:
        has_answers = len(list(islice(file, 2))) > 1
        file.seek(max(0, path.stat().st_size - 256))
        is_done = b'{"done":' in file.read()
    if not has_answers:
        path.unlink()
        return
    if not is_done:
        message = (
            f"{path}: a run that was not ended has left its answers here; go on with --resume, "
            "or name another file with --journal"
        )
        raise UndustError(message)
    number = 1
    while path.with_name(f"{path.name}.{number}").exists():
        number += 1
    path.rename(path.with_name(f"{path.name}.{number}"))
