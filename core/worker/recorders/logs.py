"""Recorders of torch's logs (TORCH_LOGS), debug files (TORCH_COMPILE_DEBUG) and Dynamo's profile."""

from __future__ import annotations

import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import torch
import torch._dynamo.config
import torch._logging._internal as torch_logging
from torch._guards import CompileContext, compile_context
from torch._inductor.debug import DebugContext, DebugFormatter
from torch._logging import trace_structured
from torch.fx import GraphModule

from core.base.errors import JobError
from core.base.words import bytes_, number
from core.report.records import Emit
from core.report.records.compilation import NoteRecord
from core.report.run import DynamoProfile, TracedFunction
from core.worker.config import nearest
from core.worker.record import emit

VARIABLE = "TORCH_LOGS"
# The log that `all` stands for, as in TORCH_LOGS.
ROOT = "torch"
LEVELS = {"+": logging.DEBUG, "-": logging.ERROR, "": logging.INFO}
# A record has this many bytes at most, or messages of this many seconds.
MAX_RECORD_BYTES = 64 * 1024  #: bytes of torch's log in one record
MAX_RECORD_S = 0.25  #: seconds until messages of torch's log reach the run's log
MAX_LOG_BYTES = 64 * 2**20  #: limit: torch's log in a run; later messages are omitted, with a note
LEFT_OUT = "The log has the first {size} of torch's log messages; later ones are left out."


def log_names() -> dict[str, str]:
    """Return torch's description of every name that TORCH_LOGS takes, from torch's registry."""
    registry = torch_logging.log_registry
    logs = {name: ", ".join(loggers) for name, loggers in registry.log_alias_to_log_qnames.items()}
    return {**logs, **{name: registry.artifact_descriptions.get(name, "") for name in registry.artifact_names}}


@contextmanager
def watching_logs(settings: Sequence[str]) -> Iterator[None]:
    """Record what TORCH_LOGS would print for these settings, each a name, `+name` or `-name`.

    Raises JobError with the nearest names if a name is unknown. Warnings are still printed as well.
    """
    if not settings:
        yield
        return
    variable = os.environ.pop(VARIABLE, None)
    recorder = LogRecorder()
    loggers = []
    try:
        torch._logging.set_logs(modules=_levels(settings))
        loggers = [*map(logging.getLogger, torch_logging.log_registry.get_log_qnames()), *_apart()]
        for logger in loggers:
            for handler in logger.handlers:
                if torch_logging._is_torch_handler(handler) and logger is not torch_logging.trace_log:
                    handler.setLevel(logging.WARNING)
            logger.addHandler(recorder)
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(recorder)
        recorder.write()
        if variable is not None:
            os.environ[VARIABLE] = variable
        torch_logging._init_logs()


def _levels(settings: Sequence[str]) -> dict[str, Any]:
    """Return the `modules` argument of `torch._logging.set_logs`; raises JobError for an unknown name."""
    registry, levels = torch_logging.log_registry, dict[str, Any]()
    for setting in settings:
        sign, name = (setting[0], setting[1:]) if setting[:1] in ("+", "-") else ("", setting)
        name = ROOT if name == "all" else name
        known = registry.is_artifact(name) or registry.is_log(name) or torch_logging._is_valid_module(name)
        if not known:
            near = nearest(name, log_names())
            closest = f"; nearest: {', '.join(near)}" if near else ""
            raise JobError("logs", f"torch {torch.__version__} has no log `{name[:100]}`{closest}")
        levels[name] = sign != "-" if registry.is_artifact(name) else LEVELS[sign]
    return levels


def _apart() -> list[logging.Logger]:
    """Return the loggers of chosen artifacts that don't propagate their messages."""
    loggers = map(logging.getLogger, torch_logging.log_registry.get_artifact_log_qnames())
    return [logger for logger in loggers if logger.level and not logger.propagate]


class LogRecorder(logging.Handler):
    """Handler that writes messages to the run's log, in records of one compilation each."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.setFormatter(torch_logging.TorchLogsFormatter())
        self._texts: list[str] = []
        self._names: Counter[str] = Counter()
        self._compile_id: Any = None
        self._bytes = self._total = 0
        self._begun = 0.0

    def emit(self, record: logging.LogRecord) -> None:
        """Add a message (required by logging.Handler)."""
        compile_id = torch._guards.CompileContext.current_compile_id()
        text = self.format(record)
        size = len(text.encode("utf-8", "replace"))
        if self._total + size > MAX_LOG_BYTES:
            if self._total <= MAX_LOG_BYTES:
                self._total = MAX_LOG_BYTES + 1
                emit(NoteRecord(text=LEFT_OUT.format(size=bytes_(MAX_LOG_BYTES))))
            return
        old = self._texts and time.monotonic() - self._begun > MAX_RECORD_S
        if old or compile_id != self._compile_id or self._bytes + size > MAX_RECORD_BYTES:
            self.write()
        if not self._texts:
            self._begun, self._compile_id = time.monotonic(), compile_id
        self._texts.append(text)
        self._bytes += size
        self._total += size
        self._names[_name(record)] += 1
        if record.levelno >= logging.WARNING:
            self.write()

    def write(self) -> None:
        """Write the messages so far to the log."""
        if not self._texts:
            return
        text, names = "\n\n".join(self._texts), dict(self._names)
        self._texts, self._names, self._bytes = [], Counter(), 0
        # Torch writes the id of the compilation that is current, which may be the next one.
        with compile_context(CompileContext(self._compile_id)):
            trace_structured(
                "artifact",
                metadata_fn=lambda: {"name": "torch_logs", "encoding": "string", "messages": names},
                payload_fn=lambda: text,
                suppress_context=self._compile_id is None,
                expect_trace_id=False,
            )


def _name(record: logging.LogRecord) -> str:
    """Return the artifact of a message, or its logger."""
    artifact = getattr(logging.getLogger(record.name), "artifact_name", None)
    return str(artifact or record.name)


MAX_FILE_CHARS = 8_000_000  #: characters of a debug file in the log


@contextmanager
def watching_debug_files(enabled: bool) -> Iterator[None]:
    """Write each debug file to the log.

    Does nothing unless enabled, since creating the files adds to the compile time.
    """
    if not enabled:
        yield
        return
    original = DebugContext.__getattr__

    def method(context: DebugContext, name: str) -> Callable[..., Any] | None:
        write = WRITERS.get(name)
        return write if write is not None else original(context, name)

    DebugContext.__getattr__ = method  # type: ignore[method-assign]
    try:
        yield
    finally:
        DebugContext.__getattr__ = original  # type: ignore[method-assign]


def _graph(file: str) -> Callable[..., None]:
    def write(graph: GraphModule, *_: Any, **__: Any) -> None:
        _log(file, graph.print_readable(print_output=False))

    return write


def _ir(file: str) -> Callable[..., None]:
    def write(nodes: Any, *_: Any, **__: Any) -> None:
        _log(file, DebugFormatter._write_ir(nodes))

    return write


def _log(file: str, text: str) -> None:
    if len(text) > MAX_FILE_CHARS:
        text = f"{text[:MAX_FILE_CHARS]}\n… {number(len(text) - MAX_FILE_CHARS)} characters after this are left out\n"
    trace_structured(
        "artifact",
        metadata_fn=lambda: {"name": "debug_file", "encoding": "string", "file": file},
        payload_fn=lambda: text,
        expect_trace_id=False,
    )


# Methods of torch's DebugFormatter, and what they do here.
WRITERS = {
    "fx_graph": _graph("fx_graph_readable.py"),
    "fx_graph_transformed": _graph("fx_graph_transformed.py"),
    "ir_pre_fusion": _ir("ir_pre_fusion.txt"),
    "ir_post_fusion": _ir("ir_post_fusion.txt"),
}


PROFILER, OPTION = "torch._dynamo.dynamo_profiler", "dynamo_profiler"
MOST_FUNCTIONS = 2_000  #: limit: functions in Dynamo's profile of a compilation, by their callers


@contextmanager
def watching_tracing(emit: Emit) -> Iterator[None]:
    """Record the seconds that Dynamo traced each function; torch has this profile from 2.13 on.

    A profile that the user's code requests is left as it is.
    """
    if find_spec(PROFILER) is None or getattr(torch._dynamo.config, OPTION):
        yield
        return
    from torch._dynamo.dynamo_profiler import DynamoProfilerState
    from torch._dynamo.output_graph import OutputGraph

    original, stop = DynamoProfilerState.dump_stats, OutputGraph.mark_bytecode_tracing_stop

    def record(state: DynamoProfilerState, *_: Any, **__: Any) -> None:
        functions = tuple(_functions(state.timings))
        if functions:
            emit(DynamoProfile(functions=functions))

    def stop_tracing(graph: OutputGraph) -> None:
        # At a graph break, torch 2.13 has no root translator any more, whose code its profiler would read.
        if graph.root_tx is None:
            graph.profiler_state = None
        stop(graph)

    # Torch prints the profile at the end of each attempt.
    DynamoProfilerState.dump_stats = record  # type: ignore[method-assign]
    OutputGraph.mark_bytecode_tracing_stop = stop_tracing  # type: ignore[method-assign]
    try:
        with torch._dynamo.config.patch(OPTION, True):
            yield
    finally:
        DynamoProfilerState.dump_stats = original  # type: ignore[method-assign]
        OutputGraph.mark_bytecode_tracing_stop = stop  # type: ignore[method-assign]


def _functions(timings: Sequence[Any]) -> Iterator[TracedFunction]:
    """Yield torch's timings as a tree: equal functions with equal callers are one."""
    totals: dict[tuple[Any, ...], list[float]] = {}
    for timing in timings:
        place = (*timing.call_stack, (timing.func_name, timing.filename, timing.firstlineno))
        total = totals.setdefault(place, [0, 0.0, 0.0])
        for index, more in enumerate((1, timing.cumtime_ns / 1e9, timing.tottime_ns / 1e9)):
            total[index] += more
    # A caller ends after the functions that it calls; a function whose trace failed has no time.
    places: dict[tuple[Any, ...], int] = {}
    for place in sorted(totals, key=len)[:MOST_FUNCTIONS]:
        above = next((place[:size] for size in range(len(place) - 1, 0, -1) if place[:size] in places), ())
        parent = places.get(above)
        places[place] = len(places)
        (name, file, line), (calls, total_s, self_s) = place[-1], totals[place]
        yield TracedFunction(name, file, line, parent, int(calls), total_s, self_s)
