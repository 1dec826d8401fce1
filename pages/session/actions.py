"""Actions of the visitor, which change the store; each action first checks the visitor's rights.

Pages change the store only through these actions. `attempt` executes an action that may fail, so that pages
need not catch exceptions. The fields for the audience of a run or a sweep are here, too.
"""

from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import BinaryIO, ParamSpec, TypeVar

import streamlit as st

from core import CompileboardError, CompileJob, RecordedSweep, Run, Store, Sweep
from core.views import comments, sharing
from core.views import runs as lists
from core.views.kernels import KernelTool
from pages.gate.people import the_people
from pages.gate.rules import Visitor
from pages.gate.visitor import Who, maker_of, who
from pages.look.text import LONGEST_TEXT, plain, prose
from pages.session import server
from pages.session.runs import run_lists
from pages.session.url import state_of

AUDIENCES = {"private": "only me", "link": "whoever has its address", "all": "all in their lists"}
Made = TypeVar("Made")
Given = ParamSpec("Given")


def logged(action: Callable[Given, Made]) -> Callable[Given, Made]:
    """Decorate an action: the server's audit log records it if the visitor has signed in."""

    @wraps(action)
    def log(*args: Given.args, **kwargs: Given.kwargs) -> Made:
        values = (*args, *kwargs.values())
        visitor = next((value for value in values if isinstance(value, Who)), None) or who()
        if not visitor.is_person:
            return action(*args, **kwargs)
        with server.the_runner().store.audited(visitor.name, action.__name__.strip("_")) as subject:
            subject.extend(filter(None, map(_subject, values)))
            result = action(*args, **kwargs)
            if isinstance(result, (Run, Sweep)):
                subject.append(result.id)
        return result

    return log


def _subject(value: object) -> str:
    """Return the name of an action's argument in the audit log; empty for an argument without a name."""
    match value:
        case Run() | Sweep():
            return value.id
        case KernelTool():
            return value.run.id
        case CompileJob():
            return value.title()
        case str() | Path():
            return str(value)
    return ""


@logged
def submit(job: CompileJob) -> Run:
    """Queue a job; raises CompileboardError."""
    visitor = who()
    visitor.require_change()
    return server.runner().submit(job, visitor.name)


@logged
def run_for_agent(job: CompileJob, visitor: Who) -> Run:
    """Queue a job of a visitor's agent, which is permitted; raises CompileboardError."""
    visitor.require_change()
    return server.the_runner().admit(job, visitor.name)


def try_fixes(run: Run, together: bool = False) -> None:
    """Try the fixes of a run, or apply all together, and show a refusal, as a button's callback."""
    attempt(lambda: _try_fixes(run, together), toasted)


@logged
def _try_fixes(run: Run, together: bool) -> None:
    visitor = who()
    visitor.require_code()
    visitor.require_own(run)
    server.runner().try_fixes(run, together)


def stop_trials(run: Run) -> None:
    """Stop the trials of a run and show a refusal, as a button's callback."""
    attempt(lambda: _stop_trials(run), toasted)


@logged
def _stop_trials(run: Run) -> None:
    who().require_own(run)
    server.runner().stop_trials(run)


@logged
def start_tool(tool: KernelTool) -> Run:
    """Start a tool about a kernel of a run; raises CompileboardError."""
    visitor = who()
    visitor.require_change()
    return server.runner().start_tool(tool.run, tool.request, visitor.name)


@logged
def add_log(name: str, file: BinaryIO, visitor: Who | None = None) -> Run:
    """Store an imported log for `visitor`, by default the page's visitor; raises CompileboardError."""
    visitor = visitor or who()
    visitor.require_change()
    return server.the_runner().add_log(name, file, visitor.name)


@logged
def add_profile(run_id: str, file: BinaryIO, visitor: Who | None = None) -> Run:
    """Store a profile beside the log of a run that `visitor` owns; raises CompileboardError."""
    visitor = visitor or who()
    run = server.the_runner().store.open(run_id)
    visitor.require_own(run)
    return server.the_runner().add_profile(run, file, visitor.name)


@logged
def add_log_at(path: Path) -> Run:
    """Store the logs of a file or a directory of this machine; raises CompileboardError."""
    visitor = who()
    visitor.require_code()
    return server.the_runner().add_path(path, visitor.name)


@logged
def follow_at(path: Path) -> Run:
    """Follow the logs that are written at a path of this machine; raises CompileboardError."""
    visitor = who()
    visitor.require_code()
    return server.the_runner().follow_path(path, visitor.name)


@logged
def start_sweep(sweep: Sweep) -> Sweep:
    """Store a sweep and start it; raises CompileboardError."""
    visitor = who()
    visitor.require_change()
    return server.sweeps().start(sweep, visitor.name)


@logged
def open_recorded_sweep(recorded: RecordedSweep) -> Sweep:
    """Store a recorded sweep, and return it; raises CompileboardError."""
    visitor = who()
    visitor.require_change()
    return server.sweeps().add_recorded(recorded, visitor.name)


@logged
def resume_sweep(sweep_id: str, again: bool = False) -> Sweep:
    """Resume a sweep, with its failed cells too if `again`; raises CompileboardError."""
    _require_own_sweep(sweep_id)
    return server.sweeps().resume(sweep_id, again)


@logged
def cancel_sweep(sweep_id: str) -> None:
    """Cancel a sweep; raises CompileboardError."""
    _require_own_sweep(sweep_id)
    server.sweeps().cancel(sweep_id)


@logged
def rename_sweep(sweep_id: str, name: str) -> None:
    """Rename a sweep; raises CompileboardError."""
    _require_own_sweep(sweep_id)
    server.sweeps().store.rename(sweep_id, name)


@logged
def delete_sweep(sweep_id: str, with_runs: bool = False) -> None:
    """Delete a sweep, and on request its runs; raises CompileboardError."""
    _require_own_sweep(sweep_id)
    server.sweeps().store.delete(sweep_id, with_runs)


def _require_own_sweep(sweep_id: str) -> None:
    """Raise CompileboardError unless the visitor owns the sweep, or the server if it is damaged."""
    visitor, store = who(), server.sweeps().store
    visitor.require_change()
    if sweep_id in store.damaged() and visitor.kind is Visitor.OWNER:
        return
    visitor.require_own(store.open(sweep_id))


@logged
def open_recording(name: str) -> Run:
    """Store a recorded run, and return it; raises CompileboardError."""
    visitor = who()
    visitor.require_change()
    return server.runner().add_recording(name, visitor.name)


def cancel(run: Run) -> None:
    """Cancel a run and show a refusal, as a button's callback."""
    attempt(lambda: _cancel(run), toasted)


@logged
def _cancel(run: Run) -> None:
    who().require_own(run)
    server.runner().cancel(run)


@logged
def rename(run: Run, name: str) -> None:
    """Rename a run; raises CompileboardError."""
    _change(run, lambda store: store.rename(run, name))


@logged
def annotate(run: Run, note: str) -> None:
    """Add a note to a run; raises CompileboardError."""
    _change(run, lambda store: store.annotate(run, note))


@logged
def tag(run: Run, tags: str) -> None:
    """Set a run's tags, which are the words of a text; raises CompileboardError."""
    _change(run, lambda _: run_lists().tag(run, tags))


@logged
def pin(run: Run, pinned: bool) -> None:
    """Pin a run, which protects it from deletion, or unpin it; raises CompileboardError."""
    _change(run, lambda _: run_lists().pin(run, pinned))


def _change(run: Run, change: Callable[[Store], None]) -> None:
    """Change the files of a run that the visitor owns, and its entry in the index."""
    who().require_own(run)
    change(server.runner().store)
    server.runner().index.update([run.path.name])


@logged
def comment(run: Run, what: str, change: Callable[[comments.Author], object]) -> None:
    """Change a run's comments and pins, with `what` in the audit log; raises CompileboardError."""
    server.open_run(run.id)
    change(who().author())
    server.runner().index.update([run.path.name])


@logged
def set_audience(run: Run, audience: str) -> None:
    """Set who may see a run; raises CompileboardError."""
    _change(run, lambda store: store.set_audience(run, audience))


@logged
def set_sweep_audience(sweep_id: str, audience: str) -> None:
    """Set who may see a sweep and the runs of its cells; raises CompileboardError."""
    _require_own_sweep(sweep_id)
    server.sweeps().store.set_audience(sweep_id, audience)


@logged
def set_preview(run: Run, allowed: bool) -> None:
    """Create the token of a run's preview link, or delete the token; raises CompileboardError.

    Everybody with the link sees the preview, unless the run is private.
    """
    _change(run, lambda _: sharing.set_preview(run, allowed))


@logged
def delete(*runs: Run) -> int:
    """Delete runs, and return their number; raises CompileboardError."""
    for run in runs:
        who().require_own(run)
        server.runner().stop_trials(run)
        server.runner().store.delete(run)
    return len(runs)


@logged
def forget(tool: KernelTool) -> None:
    """Delete a tool's result, which the visitor must own, or its run; raises CompileboardError."""
    visitor, directory = who(), tool.directory
    visitor.require_own(directory if visitor.owns(maker_of(directory)) else tool.run)
    tool.forget()
    server.runner().index.update([tool.run.path.name])


def refused(words: str) -> None:
    """Show on the page why an action was refused."""
    st.error(prose(words, LONGEST_TEXT), icon=":material/error:")


def passed_over(words: str) -> None:
    """Ignore a refusal: the page shows something else instead."""


def toasted(words: str) -> None:
    """Show in a toast why an action was refused; a callback has no place on the page."""
    st.toast(plain(words, LONGEST_TEXT))


def attempt(action: Callable[[], Made], say: Callable[[str], object] = refused) -> Made | None:
    """Return the action's result; on CompileboardError, pass its message to `say` and return None."""
    try:
        return action()
    except CompileboardError as error:
        say(str(error))
        return None


def run_audience(run: Run) -> None:
    """Draw the choice of a run's audience; until the author chooses, it is everybody."""
    _audience_picker(run.id, run.audience(), "run", lambda audience: set_audience(run, audience))


def sweep_audience(sweep: Sweep) -> None:
    """Draw the choice of a sweep's audience, which its runs share."""
    change = partial(set_sweep_audience, sweep.id)
    _audience_picker(sweep.id, sweep.audience, "sweep", change, "Seen by: ")


def _audience_picker(name: str, current: str, what: str, choose: Callable[[str], None], inline_label: str = "") -> None:
    if the_people() is None:
        return
    key = f"audience-{name}"
    st.selectbox(
        "Seen by",
        list(AUDIENCES),
        list(AUDIENCES).index(current or "all"),
        key=key,
        format_func=lambda audience: f"{inline_label}{AUDIENCES[audience]}",
        width=300 if inline_label else 220,
        help=lists.audience_help(what),
        label_visibility="collapsed" if inline_label else "visible",
        on_change=lambda: attempt(lambda: choose(state_of(key)), toasted),
    )
