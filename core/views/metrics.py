"""Torch's metrics of a run: each record's values by group and unit, configs, and work after compiling."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Any

from core.base import words as fmt
from core.base.decoder import decoded, decoded_object
from core.base.errors import DecodeError
from core.report import MetricsRecord, Payload, Report
from core.views.blocks import Code, Column, Heading, Listing, PageBlock, Picks, Select, Table, paragraph
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, one_line, plain

# Names of selections: a record, and a config of it.
RECORD, CONFIG = "metrics-record", "metrics-config"
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
MOST_RECORDS = 300  #: limit: records of torch's metrics that can be picked
MOST_CONFIGS = 40  #: configs that torch logged with a compilation


def metrics_blocks(metrics: MetricsView, picks: Picks) -> Iterator[PageBlock]:
    """Yield the selected record of torch's metrics, and the work after compiling."""
    yield Heading("Torch's metrics")
    if not metrics.records:
        yield from paragraph(metrics.why_none)
        return
    if metrics.run_time:
        yield from paragraph(metrics.run_time)
        yield Table("run-time", RUN_TIME_COLUMNS, metrics.run_time_work)
    label = picks.text(RECORD)
    yield Select(RECORD, "Record", tuple(metrics.labels))
    yield Table("metrics", METRIC_COLUMNS, metrics.metrics(label))
    yield from paragraph(metrics.without_value(label), "quiet")
    configs = metrics.configs(label)
    if configs:
        yield Select(CONFIG, "Config", tuple(configs), "Configs")
        chosen = picks.text(CONFIG)
        if chosen in configs:
            yield Listing(chosen, Code(configs[chosen](), "json"), is_open=True)


@dataclass(frozen=True, slots=True)
class MetricValue:
    """A metric of torch, with its group and its value as text."""

    group: str
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class RunTimeWork:
    """Work of torch when compiled code first ran."""

    compilation: str
    graph: str
    what: str
    time_s: float


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

    def metrics(self, label: str | None) -> list[MetricValue]:
        """Return the metrics of a record, by default the first, that have a value, by group."""
        groups: dict[str, list[MetricValue]] = {name: [] for name in GROUPS}
        for name, value in self._values(label).items():
            if value is None or name.endswith("_config"):
                continue
            group = next(group for group, pattern in GROUPS.items() if pattern.search(name))
            groups[group].append(MetricValue(group, one_line(name, LONGEST_NAME), _value(name, value)))
        return [metric for metrics in groups.values() for metric in metrics]

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
    def run_time_work(self) -> list[RunTimeWork]:
        """Work after compiling, when the code first ran: autotuning and the recording of CUDA graphs."""
        work: list[RunTimeWork] = []
        for record in self.records:
            if not record.kind.endswith("run time"):
                continue
            values = self._metrics_of(record)
            graph = "backward" if record.kind.startswith("backward") else "forward"
            for name, words in AT_RUN_TIME.items():
                micros = values.get(name)
                if isinstance(micros, int):
                    work.append(RunTimeWork(record.compilation, graph, words, micros / 1e6))
        return work

    @property
    def run_time(self) -> str:
        """Sum of the work after compiling, in a sentence; empty if torch logged none."""
        total_s = sum(work.time_s for work in self.run_time_work)
        run_time = f"{fmt.duration_s(total_s)} when the code first ran, beyond the compile time."
        return run_time if self.run_time_work else ""

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


RUN_TIME_COLUMNS: tuple[Column[RunTimeWork], ...] = (
    Column("compilation", lambda work: work.compilation),
    Column("graph", lambda work: work.graph),
    Column("what", lambda work: work.what),
    Column("time", lambda work: work.time_s, fmt.duration_s),
)
METRIC_COLUMNS: tuple[Column[MetricValue], ...] = (
    Column("group", lambda metric: metric.group, width=75),
    Column("metric", lambda metric: metric.name, width=320),
    Column("value", lambda metric: metric.value),
)
