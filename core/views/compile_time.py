"""Compile time of a run: torch's phases, totals, cache results and metrics; texts are Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Any, ClassVar

from core.analysis import (
    PhaseTotal,
    compile_seconds,
    compile_time_s,
    parallel_totals,
    phase_class,
    phase_totals,
    self_seconds,
)
from core.base import words as fmt
from core.base.decoder import decoded, decoded_object
from core.base.errors import DecodeError
from core.report import FxGraph, MetricsRecord, Payload, Phase, Report, stored
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, code, one_line, plain

__all__ = ["CompileTimeView", "MetricsView"]
NAMED = 3
# Phases in the flame chart.
MOST_SPANS = 20_000
# Phase class → prefix of the stage of the graph that the phase produces.
MAKES = {"dynamo": "dynamo_", "aot_autograd": "aot_", "inductor": "inductor_", "codegen": "inductor_"}
MAKES_KERNELS = ("codegen", "compile")
BELOW_THE_LINE = "Below the dashed line: other threads."
# Group of metrics → how their names are known; the first group that fits counts.
GROUPS = {
    "Frame": re.compile(r"^(co_|frame_key|compile_id|stack_trace|start_time|end_time)"),
    "Failures and restarts": re.compile(r"^(fail_|exception_|restart|recompile_reason|num_graph_breaks|non_compliant)"),
    "Caches": re.compile(r"cache"),
    "Time": re.compile(r"(_us|_s)$"),
    "Graph and guards": re.compile(r"^(graph_|guard_|shape_env|param_|ir_count|compliant|has_guarded|specialize)"),
    "Versions and settings": re.compile(r"version|^is_|^config_|^inline_|^feature"),
    "Other": re.compile(""),
}
# What torch does when compiled code first runs, by the metric with its time.
AT_RUN_TIME = {
    "runtime_triton_autotune_time_us": "Triton autotuning",
    "runtime_cudagraphify_time_us": "CUDA graph recording",
}
MOST_RECORDS = 300
MOST_CONFIGS = 40

# Use of torch's on-disk caches, by the job's condition `caches`.
OF_CACHES = {
    "objects": "The FX graph and AOTAutograd caches were off, so that torch compiled each graph. C++ objects still "
    "came from a cache.",
    "cold": "The FX graph and AOTAutograd caches were on, and empty at the start.",
    "warm": "The FX graph and AOTAutograd caches were on, and an earlier process filled them.",
}
FROM_METRICS = (
    "This log has no Chromium events, so the seconds are those of torch's metrics. They do not say when a phase began, "
    "and leave out the compilation of backward graphs."
)


@dataclass(frozen=True, slots=True)
class PhaseSpan:
    """A phase in the flame chart, in whole microseconds since the chart's first phase.

    `self_us` is the time without nested phases. Rows are counted from the top; phases of parallel threads have
    rows below all others.
    """

    index: int
    name: str
    compilation: str
    start_us: int
    length_us: int
    self_us: int
    row: int
    thread: int

    @property
    def kind(self) -> str:
        """Class of the phase: dynamo, aot_autograd, inductor, codegen, compile, or other."""
        return phase_class(self.name)

    @property
    def label(self) -> str:
        """Name in one line."""
        return one_line(self.name, LONGEST_NAME)

    @property
    def makes_kernels(self) -> bool:
        """True if the phase generates or compiles kernels."""
        return self.kind in MAKES_KERNELS


@dataclass(frozen=True, slots=True)
class PhaseOwner:
    """A compilation in the flame chart: id, function, seconds, and flags for recorded graphs and kernels."""

    id: str
    function: str
    seconds: float
    has_graph: bool
    has_kernels: bool


@dataclass(frozen=True)
class CompileTimeView:
    """The phases of a run, or of one compilation of it; an empty id means the whole run."""

    column_help: ClassVar[Mapping[str, str]] = {
        "total": "Time in which at least one span of the phase ran",
        "self": "Time without the phases inside it",
        "in threads": "Sum over all threads, more than wall time",
    }

    report: Report
    compile_id: str = ""

    @property
    def title(self) -> str:
        """Compile time of the run and its most expensive phase, or a note that no phase was recorded."""
        if self.why_none:
            return "No phase was recorded."
        slowest = next(iter(phase_totals(self.report)), None)
        most = (
            f"; {plain(slowest.name, LONGEST_NAME)} took the most self time: {fmt.duration_s(slowest.self_s)}."
            if slowest
            else "."
        )
        return f"{fmt.duration_s(compile_time_s(self.report))} of compile time{most}"

    @property
    def why_none(self) -> str:
        """Reason why there is no phase; empty if there are some."""
        if compile_seconds(self.report):
            return ""
        return "Torch logs its phases as chromium events; this log has none."

    @property
    def compile_ids(self) -> list[str]:
        """Compilations with phases."""
        return sorted(filter(None, compile_seconds(self.report)))

    @property
    def chart_note(self) -> str:
        """Work outside the compiling thread, and phases that the chart omits."""
        unfinished, beside = (
            _unfinished_and_beside([phase for _, phase in self.report.phases_of(self.compile_id)])
            if self.compile_id
            else _run_unfinished_and_beside(self.report)
        )
        notes = [parallel_words(self._totals, beside), self._origin_note]
        if unfinished:
            notes.append(f"{fmt.count(unfinished, 'phase')} never ended and cannot be drawn.")
        return " ".join(filter(None, notes))

    @property
    def _origin_note(self) -> str:
        """A note on phases that are from torch's metrics; empty if torch logged Chromium events."""
        if not self.report.kinds.get("compilation_metrics") or self.report.kinds.get("chromium_event"):
            return ""
        return FROM_METRICS

    @property
    def rows(self) -> list[dict[str, object]]:
        """Totals by name of phase.

        Seconds of parallel threads are not wall-clock seconds, so they have a separate column.
        """
        return [
            {
                "phase": one_line(total.name, LONGEST_LINE),
                "count": total.count,
                "total": total.total_s,
                "self": total.self_s,
                "in threads": _threads(total),
            }
            for total in self._totals
        ]

    @property
    def rows_note(self) -> str:
        """Sum of the self times."""
        seconds = compile_seconds(self.report)
        if not self.compile_id:
            return f"The self times add up to {fmt.duration_s(sum(seconds.values()))}, the compile time of the run."
        self_time = fmt.duration_s(seconds.get(self.compile_id, 0.0))
        return f"The self times add up to {self_time}, the compile time of [{plain(self.compile_id)}]."

    def metrics(self, read: Callable[[Payload], str]) -> MetricsView:
        """Return torch's metrics; `read` returns a part of the log."""
        return MetricsView(self.report, self.compile_id, read)

    @property
    def cache_rows(self) -> list[dict[str, object]]:
        """Results of the caches, in log order."""
        return [
            {
                "cache": event.cache,
                "result": event.outcome,
                "reason": one_line(event.reason),
                "compilation": event.compilation,
                "key": event.key,
            }
            for event in self.report.caches
        ]

    @property
    def cache_notes(self) -> tuple[str, ...]:
        """Notes on the use of the caches and on bypasses; empty for an imported log without a bypass."""
        conditions = (self.report.setting.job or {}).get("conditions") or {}
        used = OF_CACHES.get(str(conditions.get("caches", "objects"))) if self.report.setting.job else ""
        reasons = [event for event in self.report.caches if event.outcome == "bypass" and event.reason]
        bypassed = dict.fromkeys(f"`{event.cache}` was bypassed: {one_line(event.reason)}" for event in reasons)
        return tuple(filter(None, (*bypassed, used)))

    @property
    def spans(self) -> tuple[PhaseSpan, ...]:
        """The ended phases in the order of their start; the longest `MOST_SPANS` if there are more."""
        return (
            _spans(self.report, self.report.phases_of(self.compile_id)) if self.compile_id else _run_spans(self.report)
        )

    def owner(self, compile_id: str) -> PhaseOwner:
        """Return a compilation by id; an unrecorded compilation has no function, graph or kernels."""
        return _owners(self.report).get(compile_id) or PhaseOwner(
            one_line(compile_id, LONGEST_NAME),
            "",
            compile_seconds(self.report).get(compile_id, 0.0),
            has_graph=False,
            has_kernels=False,
        )

    def graph_of(self, compile_id: str, index: str) -> FxGraph | None:
        """Return the graph that a phase of a compilation produces; None without a recorded graph."""
        phase = next((phase for at, phase in self.report.phases_of(compile_id) if str(at) == index), None)
        stage = MAKES.get(phase_class(phase.name), "") if phase else ""
        compilation = self.report.compilation(compile_id)
        graphs = compilation.graphs if compilation and stage else ()
        return next((graph for graph in graphs if graph.stage.startswith(stage)), None)

    @cached_property
    def _totals(self) -> tuple[PhaseTotal, ...]:
        return phase_totals(self.report, self.compile_id)


@stored
def _run_unfinished_and_beside(report: Report) -> tuple[int, bool]:
    return _unfinished_and_beside(report.phases)


def _unfinished_and_beside(phases: Sequence[Phase]) -> tuple[int, bool]:
    """Return the number of phases that never ended, and True if any phase ran in another thread."""
    return sum(phase.end_us is None for phase in phases), any(phase.thread for phase in phases)


@stored
def _run_spans(report: Report) -> tuple[PhaseSpan, ...]:
    return _spans(report, enumerate(report.phases))


def _spans(report: Report, phases: Iterable[tuple[int, Phase]]) -> tuple[PhaseSpan, ...]:
    self_s = self_seconds(report)
    ended = [(index, phase) for index, phase in phases if phase.end_us is not None]
    longest = sorted(ended, key=lambda entry: -(entry[1].duration_s or 0.0))[:MOST_SPANS]
    drawn = sorted(longest, key=lambda entry: (entry[1].start_us, entry[1].depth))
    start_us = min((phase.start_us for _, phase in drawn), default=0.0)
    top = min((phase.depth for _, phase in drawn), default=0)
    rows = 1 + max((phase.depth - top for _, phase in drawn if not phase.thread), default=-1)
    return tuple(
        PhaseSpan(
            index,
            phase.name,
            phase.compilation,
            start_us=round(phase.start_us - start_us),
            length_us=round((phase.end_us or 0.0) - phase.start_us),
            self_us=round(self_s[index] * 1e6),
            row=rows + phase.thread - 1 if phase.thread else phase.depth - top,
            thread=phase.thread,
        )
        for index, phase in drawn
    )


@stored
def _owners(report: Report) -> dict[str, PhaseOwner]:
    """Return the compilations of the report by their ids."""
    seconds = compile_seconds(report)
    return {
        compilation.id: PhaseOwner(
            one_line(compilation.id, LONGEST_NAME),
            one_line(compilation.frame.name, LONGEST_NAME),
            seconds.get(compilation.id, 0.0),
            has_graph=bool(compilation.graphs),
            has_kernels=bool(compilation.kernels),
        )
        for compilation in report.compilations
    }


def _threads(total: PhaseTotal) -> str:
    if total.threads < 2:
        return ""
    return f"{fmt.duration_s(total.threads_s)} in {fmt.count(total.threads, 'thread')}"


def parallel_words(totals: Sequence[PhaseTotal], beside: bool) -> str:
    """Describe the work outside the compiling thread; empty without such work.

    Name the phases whose threads together took more than the wall-clock time. `beside` is True if phases ran in other
    threads.
    """
    parallel = parallel_totals(totals)
    texts = [
        f"{code(total.name, LONGEST_NAME)} in up to {fmt.count(total.threads, 'thread')}, "
        f"{fmt.duration_s(total.threads_s)} of thread time in {fmt.duration_s(total.total_s)} of wall time"
        for total in parallel[:NAMED]
    ]
    more = f"; and {fmt.count(len(parallel) - NAMED, 'more phase')}" if len(parallel) > NAMED else ""
    sentence = f"In parallel: {'; '.join(texts)}{more}. " if texts else ""
    return sentence + (BELOW_THE_LINE if beside else "")


@dataclass(frozen=True)
class MetricsView:
    """Torch's metrics of a run, or of one compilation of it; `read_text` returns a part of the log."""

    report: Report
    compile_id: str
    read_text: Callable[[Payload], str]

    why_none = "Torch's metrics were not recorded."

    @cached_property
    def records(self) -> tuple[MetricsRecord, ...]:
        """First `MOST_RECORDS` records of the compilation, or of the run for an empty id."""
        fitting = (record for record in self.report.metrics if self.compile_id in ("", record.compilation))
        return tuple(fitting)[:MOST_RECORDS]

    @property
    def labels(self) -> list[str]:
        """Label of each record: its number, compilation and kind."""
        return [
            f"{number}: [{one_line(record.compilation or '-', LONGEST_NAME)}] {record.kind}"
            for number, record in enumerate(self.records, 1)
        ]

    def rows(self, label: str | None) -> list[dict[str, str]]:
        """Return the metrics of a record that have a value, by group, without configs.

        `label` selects the record; the first record for an unknown label.
        """
        groups: dict[str, list[dict[str, str]]] = {name: [] for name in GROUPS}
        for name, value in self._values(label).items():
            if value is None or name.endswith("_config"):
                continue
            group = next(group for group, pattern in GROUPS.items() if pattern.search(name))
            row = {"group": group, "metric": one_line(name, LONGEST_NAME), "value": _value(name, value)}
            groups[group].append(row)
        return [row for rows in groups.values() for row in rows]

    def without_value(self, label: str | None) -> str:
        """Return the number of metrics without a value; empty for none."""
        count = sum(value is None for value in self._values(label).values())
        return f"{fmt.count(count, 'metric')} without a value." if count else ""

    def configs(self, label: str | None) -> dict[str, Callable[[], str]]:
        """Return config name → function that returns readable JSON, for the configs logged with a record."""
        values = self._values(label)
        texts = {name: value for name, value in values.items() if name.endswith("_config") and isinstance(value, str)}
        record = self._record(label)
        mine = [config for config in self.report.configs if record and config.compilation == record.compilation]
        made: dict[str, Callable[[], str]] = {name: partial(_pretty, text) for name, text in texts.items()}
        made |= {config.name: partial(self._config, config.text) for config in mine[:MOST_CONFIGS]}
        return {one_line(name, LONGEST_NAME): make for name, make in made.items()}

    @cached_property
    def run_time_rows(self) -> list[dict[str, object]]:
        """Work after compiling, when the code first ran: autotuning and the recording of CUDA graphs."""
        rows: list[dict[str, object]] = []
        for record in self.records:
            if not record.kind.endswith("run time"):
                continue
            values = self._metrics_of(record)
            for name, words in AT_RUN_TIME.items():
                micros = values.get(name)
                if isinstance(micros, int):
                    graph = "backward" if record.kind.startswith("backward") else "forward"
                    row = {"compilation": record.compilation, "graph": graph, "what": words, "time": micros / 1e6}
                    rows.append(row)
        return rows

    @property
    def run_time(self) -> str:
        """Sum of the work after compiling, in a sentence; empty if torch logged none."""
        times = [float(str(row["time"])) for row in self.run_time_rows]
        return f"{fmt.duration_s(sum(times))} when the code first ran, beyond the compile time." if times else ""

    def _record(self, label: str | None) -> MetricsRecord | None:
        named = dict(zip(self.labels, self.records, strict=True))
        return named.get(label or "") or next(iter(self.records), None)

    def _config(self, text: Payload) -> str:
        return _pretty(self.read_text(text))

    def _values(self, label: str | None) -> Mapping[str, Any]:
        record = self._record(label)
        return self._metrics_of(record) if record else {}

    def _metrics_of(self, record: MetricsRecord) -> Mapping[str, Any]:
        """Return the metrics of a record; each record is decoded once."""
        if record.line not in self._decoded:
            self._decoded[record.line] = _metrics(self.read_text(record.line))
        return self._decoded[record.line]

    @cached_property
    def _decoded(self) -> dict[Payload, Mapping[str, Any]]:
        return {}


def _metrics(line: str) -> dict[str, Any]:
    """Return the metrics of a header line; empty if it has none.

    The line has the form `V1121 … file.py:7] {"compilation_metrics": {…}, "frame_id": 0 …}`.
    """
    header = decoded_object(line[line.find("] {") + 2 :])
    return next((value for name, value in header.items() if "metrics" in name and isinstance(value, dict)), {})


def _value(name: str, value: Any) -> str:
    """Return a metric in words, by the unit at the end of its name."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, (int, float)):
        return one_line(value if isinstance(value, str) else json.dumps(value), LONGEST_LINE)
    if name.startswith(("start_time", "end_time")):
        return _moment(value / 1e6 if name.endswith("_us") else value)
    if name.endswith("_us"):
        return fmt.duration_s(value / 1e6)
    if name.endswith("_s"):
        return fmt.duration_s(float(value))
    return fmt.bytes_(value) if name.endswith("_bytes") and isinstance(value, int) else fmt.number(value)


def _moment(seconds: float) -> str:
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, OSError, ValueError):
        return fmt.number(seconds)


def _pretty(text: str) -> str:
    try:
        return json.dumps(decoded(text), indent=1, sort_keys=True)
    except DecodeError:
        return plain(text)
