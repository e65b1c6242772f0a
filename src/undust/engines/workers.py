"""Processes that work on sites, each on one task at a time, so that a loss is known to be whose.

A process that the system kills takes one task with it. It is replaced, the sites of the task are tried
once more, one by one, and a site that ends a second process is reported.
"""

from __future__ import annotations

import pickle
import signal
from collections import deque
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import pyarrow as pa

from undust.files.temporary import keep_all_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.process import BaseProcess

    from undust.engines.contract import SiteFunction

DONE, RAISED = b"d", b"r"


class TaskPart(NamedTuple):
    """One site of a task, or what came of it; None if it took its process with it."""

    site: str
    rows: bytes | None


class WorkerTask(NamedTuple):
    """Sites that are handed over together."""

    parts: list[TaskPart]
    is_last_try: bool = False


class Worker(NamedTuple):
    """A process, and the line to it."""

    process: BaseProcess
    line: Connection[bytes, bytes]


class Workers:
    """A number of processes; used in a `with` block, they are ended with it, whatever they do.

    An end in the middle of their work leaves their temporary files behind. So these go into a folder of the
    process that ends them, which removes it.
    """

    def __init__(self, count: int, function: SiteFunction, folder: str) -> None:
        self._count = count
        self._folder = folder
        self._function = pickle.dumps(function)
        self._context = get_context("spawn")
        self._idle: list[Worker] = []
        self._busy: dict[Any, tuple[Worker, WorkerTask]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        workers = [*self._idle, *(worker for worker, _ in self._busy.values())]
        for worker in workers:
            worker.line.close()
            worker.process.terminate()
        for worker in workers:
            worker.process.join()
            worker.process.close()

    def results(self, tasks: Iterator[list[TaskPart]]) -> Iterator[TaskPart]:
        """Yield what came of each site, in any order; what the function raises is raised here."""
        again: deque[WorkerTask] = deque()
        # One task is prepared in advance, because making it takes time.
        ready = _next(again, tasks)
        while ready or self._busy:
            while ready and len(self._busy) < self._count:
                self._hand_over(ready)
                ready = _next(again, tasks)
            for line in wait(list(self._busy)):
                yield from self._received(line, again)
            ready = ready or _next(again, tasks)

    def _hand_over(self, task: WorkerTask) -> None:
        worker = self._idle.pop() if self._idle else self._hired()
        self._busy[worker.line] = worker, task
        # If it has ended already, that will be noticed when its answer is missing.
        with suppress(BrokenPipeError):
            worker.line.send_bytes(pickle.dumps(task.parts))

    def _hired(self) -> Worker:
        line, other_end = self._context.Pipe()
        process = self._context.Process(
            target=_work, args=(other_end, self._function, self._folder), daemon=True
        )
        # Ctrl-C reaches a new process before it can say that it ignores it; what is blocked stays blocked.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        other_end.close()
        return Worker(process, line)

    def _received(self, line: Any, again: deque[WorkerTask]) -> Iterator[TaskPart]:  # noqa: ANN401
        worker, task = self._busy.pop(line)
        try:
            answer: bytes = line.recv_bytes()
        except (EOFError, ConnectionResetError):
            line.close()
            worker.process.join()
            worker.process.close()
            if task.is_last_try:
                yield from (TaskPart(part.site, None) for part in task.parts)
            else:
                again.extend(WorkerTask([part], is_last_try=True) for part in task.parts)
            return
        self._idle.append(worker)
        content = pickle.loads(answer[1:])  # noqa: S301 -- written by ourselves, a moment ago
        if answer[:1] == RAISED:
            raise content
        yield from content


def _next(again: deque[WorkerTask], tasks: Iterator[list[TaskPart]]) -> WorkerTask | None:
    if again:
        return again.popleft()
    parts = next(tasks, None)
    return None if parts is None else WorkerTask(parts)


def _work(line: Connection[bytes, bytes], packed_function: bytes, folder: str) -> None:
    """Answer tasks until there are no more."""
    keep_all_in(folder)
    # Ctrl-C is for the process that the person started; it ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pa.set_cpu_count(1)
    function: SiteFunction = pickle.loads(packed_function)  # noqa: S301 -- from the process that started us
    with suppress(EOFError, ConnectionError):
        while True:
            parts: list[TaskPart] = pickle.loads(line.recv_bytes())  # noqa: S301
            try:
                done = [
                    TaskPart(part.site, packed(function(part.site, unpacked(part.rows)))) for part in parts
                ]
                answer = DONE + pickle.dumps(done)
            except Exception as error:  # noqa: BLE001 -- it is raised again in the main process
                answer = RAISED + _pickled(error)
            line.send_bytes(answer)


def _pickled(error: Exception) -> bytes:
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301
    except Exception:  # noqa: BLE001 -- some errors cannot be made anew from what they hold
        return pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
    return pickle.dumps(error)


def packed(table: pa.Table) -> bytes:
    """Return a table as bytes, which another process can take."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def unpacked(data: bytes | None) -> pa.Table:
    """Return the table again."""
    return pa.ipc.open_stream(data).read_all()
