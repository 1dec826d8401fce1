"""The visitor's actions. Every change to the store goes through here; each function checks the
visitor's rights first.
"""

from __future__ import annotations

import errno
from pathlib import Path
from typing import BinaryIO

from core import CompileJob, RecordedSweep, Run, StoreError, Sweep
from core.runs.tools import Request, tool_run
from core.runs.tools import forget as forget_answer
from pages.gate.rules import Visitor
from pages.gate.visitor import Who, maker_of, who
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


def start_sweep(sweep: Sweep) -> Sweep:
    """Store a sweep and go through it; raises CompileboardError."""
    visitor = who()
    visitor.require_change()
    return server.sweeps().start(sweep, visitor.name)


def open_recorded_sweep(recorded: RecordedSweep) -> Sweep:
    """A recorded sweep in the store; raises CompileboardError."""
    visitor = who()
    visitor.require_change()
    return server.sweeps().add_recorded(recorded, visitor.name)


def resume_sweep(sweep_id: str, again: bool = False) -> Sweep:
    """Go on with a sweep, with its failed cells anew if they are wanted `again`; raises CompileboardError."""
    _require_own_sweep(sweep_id)
    return server.sweeps().resume(sweep_id, again)


def cancel_sweep(sweep_id: str) -> None:
    """Stop going through a sweep; raises CompileboardError."""
    _require_own_sweep(sweep_id)
    server.sweeps().cancel(sweep_id)


def rename_sweep(sweep_id: str, name: str) -> None:
    """Call a sweep by another name; raises CompileboardError."""
    _require_own_sweep(sweep_id)
    server.sweeps().store.rename(sweep_id, name)


def delete_sweep(sweep_id: str, with_runs: bool = False) -> None:
    """Remove a sweep for good, and the runs that it made if that is wanted; raises CompileboardError."""
    _require_own_sweep(sweep_id)
    server.sweeps().store.delete(sweep_id, with_runs)


def _require_own_sweep(sweep_id: str) -> None:
    """Require that the visitor owns the sweep; only the owner of the server may change a damaged one."""
    visitor, store = who(), server.sweeps().store
    visitor.require_change()
    if sweep_id in store.damaged() and visitor.kind is Visitor.OWNER:
        return
    visitor.require_own(store.open(sweep_id))


def open_recording(name: str) -> Run:
    """A recorded run in the store; raises CompileboardError."""
    visitor = who()
    visitor.require_change()
    return server.runner().add_recording(name, visitor.name)


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
    """Remove an answer of one's own, or to a run of one's own, so that it can be asked again; raises
    CompileboardError.
    """
    visitor, answer = who(), tool_run(run, request)
    visitor.require_own(answer if visitor.owns(maker_of(answer)) else run)
    forget_answer(run, request)
