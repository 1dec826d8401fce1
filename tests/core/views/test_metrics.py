"""Torch's metrics in groups and with units, on records in torch's form."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core import build_report
from core.report import Payload, Report, Setting
from core.trace.parsers.build import load_text
from core.views.metrics import MetricsView, MetricValue, RunTimeWork
from tests.support.logs import record

METRICS: dict[str, Any] = {
    "compile_id": "0/0",
    "co_name": "forward",
    "fail_type": None,
    "cache_size": 0,
    "graph_op_count": 1234,
    "entire_frame_compile_time_s": 4.58,
    "duration_us": 4579121,
    "start_time_us": 1795677269605016,
    "end_time_us": 1e300,
    "param_bytes": 662_000,
    "restart_reasons": [],
    "is_forward": True,
    "dynamo_config": '{"b": 1, "a": 2}',
    "unheard_of": "x",
}
TUNED = {"runtime_triton_autotune_time_us": 4_979_930, "is_runtime": True}
RECORDED = {"runtime_cudagraphify_time_us": 4_298}


def metrics_of(folder: Path, compile_id: str = "") -> MetricsView:
    log = folder / "trace.log"
    ids = {"frame_id": 0, "frame_compile_id": 0}
    other = {"frame_id": 1, "frame_compile_id": 0}
    config = {"artifact": {"name": "torch._functorch.config", "encoding": "string"}, **ids}
    log.write_bytes(
        record({"compilation_metrics": METRICS, **ids})
        + record(config, json.dumps({"cse": True}))
        + record({"compilation_metrics_runtime": TUNED, **ids})
        + record({"bwd_compilation_metrics_runtime": RECORDED, **other})
        + record({"bwd_compilation_metrics": {}, **other})
    )
    report = build_report(log, strict=True)
    assert report.unparsed == {}
    return MetricsView(report, compile_id, lambda payload: load_text(log, payload))


def test_every_metric_with_a_value_is_in_a_group_with_its_unit(tmp_path: Path) -> None:
    view = metrics_of(tmp_path)
    groups: dict[str, dict[str, str]] = {}
    for metric in view.metrics(None):
        groups.setdefault(metric.group, {})[metric.name] = metric.value
    assert groups == {
        "Frame": {
            "compile_id": "0/0",
            "co_name": "forward",
            "start_time_us": "2026-11-26 07:14:29 UTC",
            "end_time_us": "1.00e294",
        },
        "Failures and restarts": {"restart_reasons": "[]"},
        "Caches": {"cache_size": "0"},
        "Time": {"entire_frame_compile_time_s": "4.58 s", "duration_us": "4.58 s"},
        "Graph and guards": {"graph_op_count": "1,234", "param_bytes": "662 kB"},
        "Versions and settings": {"is_forward": "yes"},
        "Other": {"unheard_of": "x"},
    }
    assert view.without_value(None) == "1 metric without a value."
    assert {name: text() for name, text in view.configs(None).items()} == {
        "dynamo_config": '{\n "a": 2,\n "b": 1\n}',
        "torch._functorch.config": '{\n "cse": true\n}',
    }


def test_each_record_can_be_picked_and_a_compilation_has_its_own(tmp_path: Path) -> None:
    view = metrics_of(tmp_path)
    assert view.labels == [
        "1: [0/0] compilation",
        "2: [0/0] run time",
        "3: [1/0] backward at run time",
        "4: [1/0] backward",
    ]
    picked = view.metrics("2: [0/0] run time")
    assert picked[0] == MetricValue("Time", "runtime_triton_autotune_time_us", "4.98 s")
    assert view.metrics("4: [1/0] backward") == []
    assert metrics_of(tmp_path, "1/0").labels == ["1: [1/0] backward at run time", "2: [1/0] backward"]


def test_a_record_is_read_once_and_a_config_when_it_is_picked(tmp_path: Path) -> None:
    view = metrics_of(tmp_path)
    reads: list[Payload] = []

    def read(text: Payload) -> str:
        reads.append(text)
        return view.read_text(text)

    counted = replace(view, read_text=read)
    _, _, configs = counted.metrics(None), counted.without_value(None), counted.configs(None)
    assert reads == [counted.records[0].line]
    configs["torch._functorch.config"]()
    assert reads[1:] == [counted.report.configs[0].text]


@pytest.mark.parametrize(
    ("compile_id", "sentence"),
    [
        ("", "4.98 s when the code first ran, beyond the compile time."),
        ("1/0", "4.30 ms when the code first ran, beyond the compile time."),
        ("7/0", ""),
    ],
)
def test_work_after_compiling_has_its_time(tmp_path: Path, compile_id: str, sentence: str) -> None:
    assert metrics_of(tmp_path, compile_id).run_time == sentence


def test_the_work_after_compiling_is_a_table(tmp_path: Path) -> None:
    assert metrics_of(tmp_path).run_time_work == [
        RunTimeWork("0/0", "forward", "Triton autotuning", 4.97993),
        RunTimeWork("1/0", "backward", "CUDA graph recording", 0.004298),
    ]


def test_without_metrics_there_is_nothing_to_pick() -> None:
    view = MetricsView(Report(Setting()), "", lambda payload: "")
    assert (view.records, view.labels, view.metrics(None), view.configs(None), view.run_time) == ((), [], [], {}, "")
