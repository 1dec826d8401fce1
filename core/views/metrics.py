"""Torch's metrics of each compilation: all values of a record, grouped and with units, and the configs it logged."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from core.base import words as fmt
from core.base.decoder import decoded, decoded_object
from core.base.errors import DecodeError
from core.report import MetricsRecord, Payload, Report
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, one_line, plain

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


@dataclass(frozen=True, slots=True)
class MetricsGroup:
    """Metrics that belong together, as rows of a table."""

    name: str
    rows: list[dict[str, str]]


@dataclass(frozen=True)
class MetricsView:
    """Torch's metrics of a run, or of one compilation of it; `read_text` returns a part of the log."""

    report: Report
    compile_id: str
    read_text: Callable[[Payload], str]

    why_none = "Torch's metrics were not recorded."

    @cached_property
    def records(self) -> tuple[MetricsRecord, ...]:
        """Records of the compilation, or the first of the run."""
        fitting = (record for record in self.report.metrics if self.compile_id in ("", record.compilation))
        return tuple(fitting)[:MOST_RECORDS]

    @property
    def labels(self) -> list[str]:
        """Label of each record: its number, compilation and kind."""
        return [
            f"{number}: [{one_line(record.compilation or '-', LONGEST_NAME)}] {record.kind}"
            for number, record in enumerate(self.records, 1)
        ]

    def groups(self, label: str | None) -> list[MetricsGroup]:
        """Return all metrics of a record that have a value, grouped; of the first record if none has the label."""
        groups: dict[str, list[dict[str, str]]] = {name: [] for name in GROUPS}
        for name, value in self._values(label).items():
            if value is None or name.endswith("_config"):
                continue
            group = next(group for group, pattern in GROUPS.items() if pattern.search(name))
            groups[group].append({"metric": one_line(name, LONGEST_NAME), "value": _value(name, value)})
        return [MetricsGroup(name, rows) for name, rows in groups.items() if rows]

    def without_value(self, label: str | None) -> str:
        """Return the number of metrics without a value; empty for none."""
        count = sum(value is None for value in self._values(label).values())
        return f"{fmt.count(count, 'metric')} without a value." if count else ""

    def configs(self, label: str | None) -> dict[str, str]:
        """Return the configs that torch logged with a record, by name, as readable JSON."""
        values = self._values(label)
        texts = {name: value for name, value in values.items() if name.endswith("_config") and isinstance(value, str)}
        record = self._record(label)
        mine = [config for config in self.report.configs if record and config.compilation == record.compilation]
        texts |= {config.name: self.read_text(config.text) for config in mine[:MOST_CONFIGS]}
        return {one_line(name, LONGEST_NAME): _pretty(text) for name, text in texts.items()}

    @cached_property
    def run_time_rows(self) -> list[dict[str, object]]:
        """Work after compiling, when the code first ran: autotuning and the recording of CUDA graphs."""
        rows: list[dict[str, object]] = []
        for record in self.records:
            if not record.kind.endswith("run time"):
                continue
            values = _metrics(self.read_text(record.line))
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

    def _values(self, label: str | None) -> Mapping[str, Any]:
        record = self._record(label)
        return _metrics(self.read_text(record.line)) if record else {}


def _metrics(line: str) -> dict[str, Any]:
    """Return the metrics of a header line, `V1121 … file.py:7] {"compilation_metrics": {…}, "frame_id": 0 …}`."""
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


__all__ = ["MetricsView"]
