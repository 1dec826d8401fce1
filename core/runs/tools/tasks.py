"""Directory of a request and its result, inside the run's directory; itself a run directory.

<run>/tools/<digest>/task.json     all input of the tool: the request and the texts it refers to
                    /status.json   its status, as for any run
                    /output.txt    its printed output
                    /answer.json   the result
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import msgspec

from core.base.decoder import decoded_as
from core.base.errors import DecodeError, StoreError
from core.base.files import in_words, read, remove, write_atomically
from core.base.words import duration_s
from core.job import GIB
from core.runs.rates import note_deleted
from core.runs.status import Status
from core.runs.store import Run
from core.runs.tools.requests import Answer, Request, Trouble, digest

TIME_LIMIT_S = 120.0
MEMORY_LIMIT_BYTES = 6 * GIB


@dataclass(frozen=True, slots=True)
class Task:
    """A request with all texts that it needs, so that the worker reads no log.

    `definition` is the statement of the output code that defines the kernel, `script` the script that reproduces it.
    The other fields are the limits, like a job's.
    """

    request: Request
    name: str = ""
    definition: str = ""
    script: str = ""
    device: str = "cpu"
    time_limit_s: float = TIME_LIMIT_S
    memory_limit_bytes: int = MEMORY_LIMIT_BYTES


def tool_run(run: Run, request: Request) -> Run:
    """Return the directory of a request, whether it exists or not."""
    name = digest(request, run.rank)
    return Run(f"{run.id}/{name}", run.path / "tools" / name, run.liveness)


def create(run: Run, task: Task, by: str = "") -> bool:
    """Create the directory of a queued task atomically; False if it already exists. Raises StoreError."""
    tool = tool_run(run, task.request)
    fresh = Run(tool.id, tool.path.with_name(f".{tool.path.name}.{secrets.token_hex(4)}"))
    kind = type(task.request).__name__
    queued = Status("queued", time.time(), handle=run.liveness.local_handle(), title=kind, by=by)
    try:
        with in_words(run.path):
            fresh.path.mkdir(parents=True)
            write_atomically(fresh.path / "task.json", msgspec.json.encode(task))
            fresh.write_status(queued)
            return _took_place(fresh.path, tool.path)
    finally:
        shutil.rmtree(fresh.path, ignore_errors=True)


def _took_place(fresh: Path, path: Path) -> bool:
    """Move a directory to its final name; False if that name exists."""
    try:
        fresh.rename(path)
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
            return False
        raise
    return True


def forget(run: Run, request: Request) -> None:
    """Remove a result, so that the request can be repeated; raises StoreError while the tool is running."""
    tool = tool_run(run, request)
    if tool.standing().live:
        raise StoreError("the tool is still at work; cancel it first")
    note_deleted(run.path.parent.parent, tool.standing(), is_run=False)
    with in_words(tool.path):
        remove(tool.path)


def read_task(tool: Run) -> Task | None:
    """Return the task of a directory; None if it is an ordinary run's."""
    path = tool.path / "task.json"
    return decoded_as(read(path), Task) if path.exists() else None


def has_answer(tool: Run) -> bool:
    """Return True if there is a result."""
    return (tool.path / "answer.json").exists()


def write_answer(tool: Run, answer: Answer) -> None:
    """Store the result."""
    write_atomically(tool.path / "answer.json", msgspec.json.encode(answer))


def result(run: Run, request: Request) -> Answer | None:
    """Return the stored result: Trouble if the tool ended without one, None if it was not requested or is running."""
    tool = tool_run(run, request)
    if not os.path.lexists(tool.path):
        return None
    status = tool.standing()
    if status.live:
        return None
    try:
        answer: Answer = decoded_as(read(tool.path / "answer.json"), Answer)
        return answer
    except FileNotFoundError:
        return Trouble(_why(status), tool.output_tail(4_000))
    except OSError as error:
        return Trouble(f"the stored answer cannot be read: {error.strerror}")
    except DecodeError as error:
        return Trouble(f"the stored answer cannot be read: {error}")


def _why(status: Status) -> str:
    """Return why there is no result."""
    if status.state == "timed out" and status.took_s is not None:
        passed = duration_s(status.took_s)
        return f"it was not done after {passed} and was ended: the kernel may be too large for the compiler"
    return f"the tool ended without an answer: {status.state}, {status.reason}"
