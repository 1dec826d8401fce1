"""What a visitor may set off. Every change to the store goes through here, and each door asks who is there first."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import BinaryIO

from core import CompileJob, Run, StoreError
from core.tools import Request
from core.tools import forget as forget_answer
from pages.gate.visitor import Who, who
from pages.session import server
from pages.session.attempt import attempt, toasted


def submit(job: CompileJob) -> Run:
    """Queue a job; raises CompileboardError."""
    visitor = who()
    visitor.require_change()
    return server.runner().submit(job, visitor.name)


def start_tool(run: Run, request: Request) -> Run:
    """Ask about a kernel of a run; raises CompileboardError."""
    visitor = who()
    visitor.require_change()
    return server.runner().start_tool(run, request, visitor.name)


def add_log(name: str, file: BinaryIO, visitor: Who | None = None) -> Run:
    """Store a log from elsewhere, for who visits the page or is named; raises CompileboardError."""
    visitor = visitor or who()
    visitor.require_change()
    return server.the_runner().add_log(name, file, visitor.name)


def add_log_at(path: Path) -> Run:
    """Store a log that is a file of this machine; raises CompileboardError."""
    try:
        # A pipe would be waited for, and a device has no end.
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "it is no file")
        with path.open("rb") as file:
            return add_log(path.name, file)
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} cannot be read: {getattr(error, 'strerror', error)}") from None


def cancel(run: Run) -> None:
    """End a run, as the callback of a button: says itself why not."""
    attempt(lambda: _cancel(run), toasted)


def _cancel(run: Run) -> None:
    who().require_own(run)
    server.runner().cancel(run)


def rename(run: Run, name: str) -> None:
    """Call a run by another name; raises CompileboardError."""
    who().require_own(run)
    server.runner().store.rename(run, name)


def annotate(run: Run, note: str) -> None:
    """Note something of a run; raises CompileboardError."""
    who().require_own(run)
    server.runner().store.annotate(run, note)


def delete(*runs: Run) -> int:
    """Remove runs for good, and count them; raises CompileboardError."""
    for run in runs:
        who().require_own(run)
        server.runner().store.delete(run)
    return len(runs)


def forget(run: Run, request: Request) -> None:
    """Remove an answer, so that it can be asked again; raises CompileboardError."""
    who().require_change()
    forget_answer(run, request)
