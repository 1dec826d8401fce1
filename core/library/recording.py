"""Recordings of a user's process, by `with record() as run: …` or `@record()` on a function.

Importing this module does not import torch; recording does. A recording has assertions. The message of a
failed assertion has torch's reasons, the user's lines, and a link to the run.
"""

from __future__ import annotations

import html
import inspect
import os
import threading
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar
from urllib.parse import urlencode

from core.analysis.dynamo.recompiles import recompiled
from core.analysis.memory import graph_plans
from core.analysis.verdict import verdict
from core.base.errors import StoreError
from core.base.files import in_words, one_line
from core.base.words import count, number
from core.report import Compilation, GraphBreak, Kernel, Place, Recompile, Report
from core.report.run import NOT_RECORDED as NO_PROFILE
from core.runs.store import Run, Store
from core.runs.stored import open_report, profile_path
from core.trace.parsers.build import GrowingReport, load_text
from core.trace.ranks import stored_name
from core.views.verdict import sentence

MOST_CHARS = 400  #: a line of a failed assertion
MOST_LISTED = 20  #: lines of a failed assertion
NOTHING_COMPILED = "torch.compile compiled nothing, so there is nothing to check"
NO_PLAN = "the bytes of Inductor's buffers are unknown: it generated no code, or sizes are symbolic"


class Checks(ABC):
    """Assertions about the report of a recording.

    They are hidden from tracebacks (`__tracebackhide__`), so that pytest shows the line of the test.
    """

    @property
    @abstractmethod
    def report(self) -> Report:
        """The report so far."""

    @property
    @abstractmethod
    def where(self) -> str:
        """Address of the run, or a command that prints the run."""

    @property
    @abstractmethod
    def planned_bytes(self) -> int | None:
        """Peak bytes of the buffers, the maximum over all output codes; None if unknown."""

    @property
    def recompiles(self) -> tuple[Recompile, ...]:
        """Compilations after a guard failure, each with torch's first reason.

        The first reason is the guard that failed in the newest compiled code. At the recompile limit nothing is
        compiled.
        """
        first = {found.compilation: found for found in reversed(self.report.recompiles)}
        return tuple(first[compilation] for compilation in recompiled(self.report))

    def assert_no_graph_breaks(self) -> None:
        """Raise AssertionError for a graph break or a failed compilation, or if nothing was compiled."""
        __tracebackhide__ = True
        self._assert_compiled()
        stops = [_break_words(found) for found in self.report.graph_breaks]
        failures = [_failure_words(found) for found in self.report.compilations if found.status == "failed"]
        self._refuse("no graph break", count(len(stops), "graph break"), stops, bool(stops))
        self._refuse("no failed compilation", count(len(failures), "failure"), failures, bool(failures))

    def assert_recompiles(self, *, at_most: int) -> None:
        """Raise AssertionError if guard failures caused more than `at_most` compilations."""
        __tracebackhide__ = True
        compilations = {found.id: found for found in self.report.compilations}
        lines = [_recompile_words(found, compilations.get(found.compilation)) for found in self.recompiles]
        self._refuse(_expected(at_most, "recompile"), count(len(lines), "recompile"), lines, len(lines) > at_most)

    def assert_no_recompiles(self) -> None:
        """Raise AssertionError if anything was compiled after a guard failure."""
        __tracebackhide__ = True
        self.assert_recompiles(at_most=0)

    def assert_no_compilations(self) -> None:
        """Raise AssertionError if anything was compiled, for the first time or again."""
        __tracebackhide__ = True
        compilations = self.report.compilations
        lines = [f"[{found.id}] {found.frame}" for found in compilations]
        self._refuse("no compilation", count(len(lines), "compilation"), lines, bool(lines))

    def assert_kernels(self, *, at_most: int) -> None:
        """Raise AssertionError for more than `at_most` generated kernels, or if nothing was compiled."""
        __tracebackhide__ = True
        self._assert_compiled()
        kernels = [
            f"[{compilation.id}] {kernel.name}"
            for compilation in self.report.compilations
            for kernel in compilation.kernels
            if not kernel.extern
        ]
        self._refuse(_expected(at_most, "kernel"), count(len(kernels), "kernel"), kernels, len(kernels) > at_most)

    def assert_planned_bytes(self, *, at_most: int) -> None:
        """Raise AssertionError if an output code has more than `at_most` bytes of buffers at any time.

        Also raised if nothing was compiled or the bytes are unknown. The bytes are Inductor's plan, read from its
        code, not a measurement. Inputs, parameters and workspaces of libraries are not included.
        """
        __tracebackhide__ = True
        self._assert_compiled()
        planned = self.planned_bytes
        if planned is None:
            raise AssertionError(f"{NO_PLAN}\n{self._link()}")
        if planned > at_most:
            raise AssertionError(
                f"expected at most {number(at_most)} bytes of buffers, Inductor plans {number(planned)}\n{self._link()}"
            )

    def _assert_compiled(self) -> None:
        __tracebackhide__ = True
        if not self.report.compilations:
            raise AssertionError(f"{NOTHING_COMPILED}\n{self._link()}")

    def _refuse(self, expected: str, actual: str, lines: Sequence[str], fails: bool) -> None:
        __tracebackhide__ = True
        if fails:
            raise AssertionError("\n".join([f"expected {expected}, got {actual}:", *_listed(lines), self._link()]))

    def _link(self) -> str:
        return f"run: {self.where}"


def _expected(at_most: int, noun: str) -> str:
    return f"at most {count(at_most, noun)}" if at_most else f"no {noun}"


def _listed(lines: Sequence[str]) -> Iterable[str]:
    yield from (f"  {line}" for line in lines[:MOST_LISTED])
    if len(lines) > MOST_LISTED:
        yield f"  and {number(len(lines) - MOST_LISTED)} more"


def _short(text: str) -> str:
    return one_line(text, MOST_CHARS)


def _break_words(graph_break: GraphBreak) -> str:
    hint = f" Hint: {graph_break.hints[0]}" if graph_break.hints else ""
    return _short(f"{graph_break.place}: {graph_break.reason.rstrip('.')}.{hint}")


def _failure_words(failed: Compilation) -> str:
    return _short(f"{failed.error_place or failed.frame}: {failed.error_type}: {failed.error}")


def _recompile_words(recompile: Recompile, compilation: Compilation | None) -> str:
    place = f" {compilation.frame}" if compilation is not None else ""
    labels = ", ".join(compilation.user_contexts) if compilation is not None else ""
    line = f" ({recompile.location})" if recompile.location is not None else ""
    return _short(f"[{recompile.compilation}]{place}{f' at {labels}' if labels else ''}: {recompile.reason}{line}")


if TYPE_CHECKING:
    from core.worker.own_process import OwnProfile, ProcessLog

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
MOST_LABEL_CHARS = 200  #: the label of a recording
MOST_NAMED = 5  #: functions named as compiled before the recording
ORIGIN = "Recorded by compileboard.record() in {process}{rank}."
NO_END = "The end of record() is not recorded: the process is still in it, or ended there."
NOT_RECORDED = (
    "Recorded in a user's own process. Not recorded: eager results and times, speedup, memory, kernel times, the "
    "scheduler's nodes and fusion decisions, pass changes, torch's counters."
)
BEFORE = (
    "Before recording, {functions} already had compiled code ({places}). Calls that reuse it are not in the log; "
    "`record(reset=True)` or `torch.compiler.reset()` compiles again."
)
NOTHING = "torch.compile compiled nothing while `{label}` was recorded. {before}"
UNUSED = "No compiled function was called."
RAISED = "record() was left by {error}."
GENERATOR = "record() ends when a function returns, before a coroutine or generator runs: use `with record():` inside"


class RecordWarning(UserWarning):
    """Warning that a recording is empty or incomplete, with the reason."""


class record:
    """A context manager and decorator that records all compilations of this process as a run.

    `label` is the run's title. With `reset`, all compiled code is forgotten first, so that it is compiled again
    in the recording. The run's store is `home`, otherwise `COMPILEBOARD_HOME`, otherwise `~/.compileboard`. With
    `warn`, an empty or incomplete recording causes a RecordWarning. With `profile`, torch.profiler runs during
    the recording, and its profile is stored beside the log. `begun` is called with each recording when the
    recording begins.

    Recordings may be nested, and may overlap in several threads. Each recording has all compilations of the
    process, from any thread, while the recording is open. A TORCH_TRACE log still gets its records. Raises
    StoreError if the store cannot be written.
    """

    def __init__(
        self,
        label: str = "",
        *,
        reset: bool = False,
        home: str | os.PathLike[str] | None = None,
        warn: bool = True,
        profile: bool = False,
        begun: Callable[[RecordedRun], object] = lambda run: None,
    ) -> None:
        self._label, self._reset, self._home, self._warn, self._begun = label, reset, home, warn, begun
        self._profile = profile
        self._open = threading.local()

    def __enter__(self) -> RecordedRun:
        """Begin a recording."""
        recording = RecordedRun.begin(self._label, self._reset, Path(self._home) if self._home is not None else None)
        if self._profile:
            recording.begin_profile()
        self._opened.append(recording)
        self._begun(recording)
        return recording

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End the recording, and warn if it is empty or incomplete. An exception is not suppressed."""
        recording = self._opened.pop()
        recording.end(error)
        if self._warn and error is None and (problem := recording.problem):
            warnings.warn(problem, RecordWarning, stacklevel=2)

    def __call__(self, function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        """Return the function with each call recorded as a run; TypeError for coroutines and generators."""
        if any(test(function) for test in (inspect.iscoroutinefunction, inspect.isgeneratorfunction)):
            raise TypeError(GENERATOR)

        @wraps(function)
        def recorded(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            label = self._label or function.__qualname__
            with record(
                label,
                reset=self._reset,
                home=self._home,
                warn=self._warn,
                profile=self._profile,
                begun=self._begun,
            ):
                return function(*args, **kwargs)

        return recorded

    @property
    def _opened(self) -> list[RecordedRun]:
        """The open recordings of this object in this thread, the innermost last."""
        if not hasattr(self._open, "recordings"):
            self._open.recordings = []
        opened: list[RecordedRun] = self._open.recordings
        return opened


def forget_compiled_code() -> None:
    """Forget all compiled code of this process, as `torch.compiler.reset` does."""
    from core.worker import own_process

    own_process.reset()


class RecordedRun(Checks):
    """A run of the store that this process records or has recorded; made by `record`.

    `compiled_before` lists the functions that had compiled code when the recording began. During the recording,
    `report` and the values derived from it cover the records so far.
    """

    def __init__(self, store: Store, run: Run, log: ProcessLog, label: str, before: tuple[Place, ...]) -> None:
        self.run, self.label, self.compiled_before = run, label, before
        self._store, self._log = store, log
        self._growing: GrowingReport | None = GrowingReport(log.path, rests_s=0.0, appended=True)
        self._report: Report | None = None
        self._profile: OwnProfile | None = None
        self._mark = ""

    @classmethod
    def begin(cls, label: str, reset: bool, home: Path | None) -> RecordedRun:
        """Start a recording and return it; raises StoreError."""
        from core.worker import own_process

        if reset:
            forget_compiled_code()
        rank, store = own_process.rank(), Store(home)
        label = one_line(label, MOST_LABEL_CHARS) or "record"
        suffix = f" (rank {rank})" if rank is not None else ""
        origin = ORIGIN.format(process=own_process.process_words(), rank=suffix)
        run = store.add_in_process(label + suffix, f"{origin} {NO_END}")
        with in_words(run.path):
            log = own_process.ProcessLog(run.trace_dir / stored_name(rank))
        recording = cls(store, run, log, label, own_process.compiled_before())
        log.begin(run.id, lambda: recording._mark)
        log.note(NOT_RECORDED)
        if recording.compiled_before:
            log.note(recording._before_words)
        return recording

    def begin_profile(self) -> None:
        """Start torch.profiler, which runs until the recording ends."""
        from core.worker.own_process import OwnProfile

        self._profile = OwnProfile()
        self._log.compiled = self._profile.add_kernels

    def end(self, error: BaseException | None = None) -> None:
        """End the recording; a forked process only stops recording, since its parent writes the log."""
        self._log.detach()
        if self._log.is_forked:
            return
        if self._profile is not None:
            self._profile.write(profile_path(self.run))
            if self._profile.problem:
                self._log.note(f"{NO_PROFILE}{one_line(self._profile.problem, MOST_LABEL_CHARS)}")
        if error is not None:
            words = one_line(f"{type(error).__name__}: {error}".removesuffix(": "), MOST_LABEL_CHARS)
            self._log.note(RAISED.format(error=words))
        self._log.end("done" if error is None else "failed")
        self._growing = None
        try:
            self._write_end()
        except StoreError as lost:
            self._log.problem = self._log.problem or str(lost)

    def _write_end(self) -> None:
        written = self.run.written_status()
        origin, problem = written.origin.removesuffix(f" {NO_END}"), self._log.problem
        reason = f"the log ended early: {problem}" if problem else ""
        ended = replace(written, state="done", ended_s=time.time(), handle="", origin=origin, reason=reason)
        self.run.write_status(ended)

    def mark(self, **labels: object) -> None:
        """Label the current step, as in `mark(step=412)`; later compilations have this label."""
        self._mark = one_line(", ".join(f"{name}={value}" for name, value in labels.items()), MOST_LABEL_CHARS)

    @property
    def report(self) -> Report:
        """The report. It covers the records so far during the recording, and the whole log afterwards."""
        if self._growing is not None:
            report = self._growing.look()
            while self._growing.is_behind:
                report = self._growing.look()
            return report
        if self._report is None:
            self._report = open_report(self.run)
        return self._report

    @property
    def problem(self) -> str:
        """Reason why the recording is empty or incomplete; an empty text if it is neither."""
        if self._log.problem:
            return f"`{self.label}` was recorded in part: the log ended early: {self._log.problem}"
        if self._log.has_compilations:
            return ""
        return NOTHING.format(label=self.label, before=self._before_words if self.compiled_before else UNUSED)

    @property
    def compilations(self) -> tuple[Compilation, ...]:
        """Compilations of frames."""
        return self.report.compilations

    @property
    def graph_breaks(self) -> tuple[GraphBreak, ...]:
        """Graph breaks: places where Dynamo stopped."""
        return self.report.graph_breaks

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """Generated kernels, without library calls."""
        found = (kernel for compilation in self.compilations for kernel in compilation.kernels)
        return tuple(kernel for kernel in found if not kernel.extern)

    @property
    def planned_bytes(self) -> int | None:
        """Peak bytes of the buffers, the maximum over all output codes, read from the code.

        Inputs, parameters, and allocations of libraries are not included. None if Inductor generated no code, if
        sizes are symbolic, or if the log is gone.
        """
        log = self.run.log_path()
        if log is None:
            return None
        texts = partial(load_text, log)
        plans = [found.plan for each in self.compilations for found in graph_plans(each, texts) if found.plan.steps]
        if any(memory.bytes is None and memory.origin != "library" for plan in plans for memory in plan.memories):
            return None
        return max((step.live_bytes for plan in plans for step in plan.steps), default=None)

    @property
    def url(self) -> str:
        """Address of the run in a dashboard that serves this store; empty if no dashboard does."""
        address = self._store.dashboard()
        return f"{address}/overview?{urlencode({'run': self.run.id})}" if address else ""

    def _repr_html_(self) -> str:
        """Return the run's HTML page in an iframe, for a notebook."""
        return cell(self.run)

    def __repr__(self) -> str:
        return f"<{self.label}: {sentence(verdict(self.report))} {self.where}>"

    @property
    def where(self) -> str:
        """Address of the run in a dashboard, otherwise a command that prints the run."""
        return self.url or f"`python -m core report {self.run.id}`"

    @property
    def _before_words(self) -> str:
        places = self.compiled_before
        named = ", ".join(map(str, places[:MOST_NAMED])) + (", …" if len(places) > MOST_NAMED else "")
        return BEFORE.format(functions=count(len(places), "function"), places=named)


HEIGHT_PX = 720
# The file has a policy of its own; the frame gives it no access to the notebook either.
FRAME = (
    '<iframe srcdoc="{page}" sandbox="allow-scripts allow-popups" title="{title}" '
    'style="width: 100%; height: {height}px; border: 0"></iframe>'
)


def cell(run: Run) -> str:
    """Return a run's HTML page in an iframe, for a notebook cell; raises StoreError, TraceError."""
    from core.views.html import as_html

    return FRAME.format(page=html.escape(as_html(run)), title=html.escape(run.status().title), height=HEIGHT_PX)


def show(model: Callable[..., Any], *inputs: Any, label: str = "", **keywords: Any) -> RecordedRun:
    """Compile a callable, call it once with the inputs, and return the recording.

    A notebook displays the recording. All compiled code of the process is forgotten first, so that this call
    compiles. An exception of the call is not suppressed. Raises StoreError if the store cannot be written.
    """
    from core.worker import own_process

    name = getattr(model, "__qualname__", type(model).__name__)
    with record(label or name, reset=True) as run:
        own_process.compiled(model)(*inputs, **keywords)
    return run
