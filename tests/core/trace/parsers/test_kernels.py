"""What is known of a kernel: the records of a log, joined into one value."""

from pathlib import Path
from typing import Any, Literal

import pytest

from core import build_report
from core.report import (
    Autotuning,
    Binary,
    Choice,
    Compilation,
    Kernel,
    KernelCall,
    KernelTime,
    KernelTuning,
    Report,
    WrapperTime,
)
from core.views.kernels.ledger import tuning_words
from tests.support.homes import record
from tests.support.places import TRACES

LOG = (TRACES / "training_step" / "trace.log").read_bytes()
IDS = {"frame_id": 0, "frame_compile_id": 0, "attempt": 0}
FORWARD, BACKWARD = "forward", "backward"
CHOICES = [{"name": "XBLOCK: 8", "time_s": 2e-6, "chosen": True}]


def read(folder: Path, *records: bytes) -> Report:
    """The report of the recorded training step with more records."""
    log = folder / "trace.log"
    log.write_bytes(LOG + b"".join(records))
    return build_report(log, strict=True)


def generated(compilation: Compilation, direction: str) -> list[Kernel]:
    return [kernel for kernel in compilation.kernels if kernel.direction == direction and not kernel.extern]


def autotuning(name: str, kind: str) -> bytes:
    return record("compileboard_autotuning", {"schema": 1, "name": name, "kind": kind, "choices": CHOICES})


@pytest.fixture(scope="module")
def recorded() -> Compilation:
    """The compilation as it was recorded."""
    (found,) = build_report(TRACES / "training_step" / "trace.log").compilations
    return found


def test_each_direction_has_kernels_of_its_own_and_nothing_more_is_known(recorded: Compilation) -> None:
    directions = [kernel.direction for kernel in recorded.kernels]
    assert directions == sorted(directions, reverse=True)
    assert set(directions) == {FORWARD, BACKWARD}
    for kernel in recorded.kernels:
        assert kernel.graph == f"inductor_post_grad_graph.{kernel.direction}"
        assert [call.time for call in kernel.calls] == [None] * len(kernel.calls)
        assert {name for call in kernel.calls for name in call.origins} <= set(kernel.origins)
        assert (kernel.binary, kernel.tried, kernel.compile_s) == (None, None, None)


def test_times_are_with_the_lines_that_were_timed(tmp_path: Path, recorded: Compilation) -> None:
    path = LOG.split(b'"inductor_output_code": {"filename": "')[-1].partition(b'"')[0].decode()
    first, second = generated(recorded, BACKWARD)[:2]
    lines = [{"line": line, "calls": 3, "method": "warm"} for line in (*first.call_lines, 100_000)]
    times = {"schema": 1, "path": path, "wrapper_s": [1.0], "calls": 1, "kernels": lines, "reason": ""}
    (found,) = read(tmp_path, record("compileboard_kernel_times", times)).compilations

    kernels = {kernel.id: kernel for kernel in found.kernels}
    assert kernels[first.id].calls == tuple(KernelCall(line, KernelTime(3, method="warm")) for line in first.call_lines)
    assert kernels[second.id].calls == second.calls
    assert {call.time for kernel in found.kernels for call in kernel.calls} == {None, KernelTime(3, method="warm")}
    assert found.wrapper_times == (WrapperTime("backward", (1.0,), 1),)


def test_a_binary_is_of_the_kernel_of_its_name_and_direction(tmp_path: Path, recorded: Compilation) -> None:
    name = generated(recorded, FORWARD)[0].name
    fields: dict[str, Any] = {"schema": 1, "name": name, "graph_id": 0, "heuristic": "pointwise", "configs": []}
    records = [
        record("compileboard_binary", {**fields, "direction": direction, "choice": direction}, **IDS)
        for direction in (FORWARD, BACKWARD)
    ]
    (found,) = read(tmp_path, *records).compilations

    assert [(kernel.name, kernel.direction, kernel.binary) for kernel in found.kernels if kernel.binary] == [
        (kernel.name, kernel.direction, Binary("pointwise", kernel.direction, ()))
        for kernel in recorded.kernels
        if kernel.name == name
    ]


def test_what_autotuning_tried_is_with_its_kernel_or_in_the_reports_list(tmp_path: Path, recorded: Compilation) -> None:
    kernel, *_ = generated(recorded, FORWARD)
    others: list[tuple[str, Literal["configs", "choices"]]] = [
        ("mm", "choices"),
        (kernel.name, "choices"),
        ("elsewhere", "configs"),
    ]
    report = read(tmp_path, *(autotuning(*names) for names in [*others, (kernel.name, "configs")]))

    tried = (Choice("XBLOCK: 8", 2e-6, True),)
    (found,) = report.compilations
    assert {item.tried for item in found.kernels if item.name == kernel.name} == {
        Autotuning(kernel.name, "configs", tried)
    }
    assert {item.tried for item in found.kernels if item.name != kernel.name} == {None}
    assert report.autotuned == tuple(Autotuning(name, kind, tried) for name, kind in others)


def test_a_kernel_has_the_time_of_triton_from_torchs_metrics(tmp_path: Path, recorded: Compilation) -> None:
    kernel, *_ = generated(recorded, FORWARD)
    told = rb'"triton_kernel_compile_times_us": "[[\"%s\", 250000], [\"other\", 1]]"' % kernel.name.encode()
    log = tmp_path / "trace.log"
    log.write_bytes(LOG.replace(b'"triton_kernel_compile_times_us": null', told))
    (found,) = build_report(log, strict=True).compilations

    assert {item.name: item.compile_s for item in found.kernels if item.compile_s} == {kernel.name: 0.25}


DESCENT = [["R0_BLOCK", 2048], ["XBLOCK", 1], ["num_warps", 16], ["num_stages", 1]]


@pytest.mark.parametrize(
    ("info", "tuning", "words"),
    [
        ({"autotune_cache_state": "miss", "num_configs": 3}, KernelTuning("miss", 3), "3 configs to time"),
        (
            {"autotune_cache_state": "only 1 config", "only_config": [["XBLOCK", 1], ["num_warps", 4]]},
            KernelTuning("only 1 config", None, "XBLOCK: 1, num_warps: 4"),
            "only one config",
        ),
        (
            {"autotune_cache_state": "hit", "best_config": [["XBLOCK", 256]]},
            KernelTuning("hit", None, "XBLOCK: 256"),
            "cached choice",
        ),
        (
            {
                "autotune_cache_state": "miss",
                "num_configs": 1,
                "coordesc_tuning": True,
                "coordesc_tuning_start_config": DESCENT,
            },
            KernelTuning("miss", 1, "R0_BLOCK: 2048, XBLOCK: 1, num_warps: 16, num_stages: 1", True),
            "1 config to time, coordinate descent",
        ),
        ({}, None, ""),
    ],
)
def test_a_triton_kernel_knows_how_torch_chooses_its_config(
    tmp_path: Path, recorded: Compilation, info: dict[str, Any], tuning: KernelTuning | None, words: str
) -> None:
    kernel, *others = generated(recorded, BACKWARD)
    content = {kernel.name: {**info, "compile_time_us": 811_163}, "no kernel of this graph": info, others[0].name: 3}
    report = read(tmp_path, record("triton_kernel_info", content, **IDS))
    told = {item.id: (item.tuning, item.compile_s) for item in report.compilations[0].kernels}
    assert told.pop(kernel.id) == (tuning, 0.811163)
    assert set(told.values()) == {(None, None)}
    assert (tuning_words(tuning) if tuning else "") == words


def test_the_nodes_of_a_triton_kernel_come_from_an_older_torchs_map(tmp_path: Path, recorded: Compilation) -> None:
    kernel, *_ = generated(recorded, BACKWARD)
    report = read(tmp_path, record("inductor_triton_kernel_to_post_grad_nodes", {kernel.name: ["mul", "sum_1"]}, **IDS))
    origins = {item.id: item.origins for item in report.compilations[0].kernels}
    assert origins.pop(kernel.id) == ("mul", "sum_1")
    assert origins == {item.id: item.origins for item in recorded.kernels if item.id != kernel.id}
