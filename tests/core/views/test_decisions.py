"""Inductor's decisions for each op, as rows and sentences."""

from dataclasses import replace

import pytest

from core import Report
from core.report import Autotuning, Choice, Counters
from core.views.decisions import NO_CUDA_GRAPH, DecisionsView
from tests.support.logs import recorded_side
from tests.support.places import TRACES
from tests.support.tables import texts


def view_of(name: str) -> DecisionsView:
    side = recorded_side(TRACES / name / "trace.log")
    compilation = side.report.compilations[0]
    nodes = {node.name: node for graph in compilation.lowered_graphs for node in side.nodes(compilation, graph)}
    return DecisionsView(side.report, compilation, nodes, side.text)


def test_a_library_call_has_its_choices_and_what_follows_is_generated() -> None:
    view = view_of("autotuned")
    first, second = texts(view.table)
    assert (first["node"], first["computed"], first["memory"]) == ("bmm", "library", "allocated")
    assert first["choices"].startswith("bmm 32.9 µs, cpp_CppMicroGemmFP32Vec_0 49.5 µs")
    assert first["options"] == "max_autotune_gemm, max_autotune_gemm_backends"
    assert second["result"] == "f32[8, 64, 64][4096, 64, 1]"
    assert second["choices"] == ""
    assert view.title == "2 ops: 1 generated, but not fused by the scheduler; 1 by library calls"


def test_every_scheduler_node_that_computes_is_a_row() -> None:
    view = view_of("transformer_block")
    (schedule,) = view.compilation.schedules
    assert len(view.decisions) == len([node for node in schedule.before if "MultiOutput" not in node.ops])
    fused = [decision for decision in view.decisions if decision.fused_with]
    after = {node.name: len(node.nodes) for node in schedule.after if len(node.nodes) > 1}
    assert len(fused) == sum(after.values())


@pytest.mark.parametrize(
    ("skip", "counts", "words"),
    [
        ("mutated inputs", {}, "Not a CUDA graph: mutated inputs."),
        (
            "",
            {"warm_ups": 1, "recordings": 2, "replays": 30},
            "CUDA graphs of this run: 1 warm-up run, 2 recordings, 30 replays.",
        ),
        ("", {}, ""),
    ],
)
def test_cuda_graphs_are_counted_or_skipped_with_torchs_reason(skip: str, counts: dict[str, int], words: str) -> None:
    view = view_of("autotuned")
    compilation = replace(view.compilation, cudagraph_skip=skip)
    report: Report = replace(view.report, counters=Counters({}, {}, cudagraphs=counts))
    assert replace(view, report=report, compilation=compilation).cudagraphs == words


@pytest.mark.parametrize("compile_options", [{"mode": "reduce-overhead"}, {"options": {"triton.cudagraphs": True}}])
def test_cuda_graphs_that_a_job_enables_and_does_not_get_are_decisions(compile_options: dict[str, object]) -> None:
    view = view_of("autotuned")
    setting = replace(view.report.setting, job={"compile": compile_options})
    assert replace(view, report=replace(view.report, setting=setting)).cudagraphs == NO_CUDA_GRAPH


def test_a_choice_that_failed_has_no_time() -> None:
    view = view_of("autotuned")
    tuning = Autotuning("bmm", "choices", (Choice("cpp", None), Choice("bmm", 1e-6, True)))
    changed = replace(view, report=replace(view.report, autotuned=(tuning,)))
    assert changed.chosen == ["`bmm`: bmm 1.00 µs, cpp failed"]


def test_ops_are_counted_by_how_they_are_computed() -> None:
    title = "26 ops: 16 in fused kernels; 4 generated, but not fused by the scheduler; 6 by library calls"
    assert view_of("training_step").title == title
    assert view_of("transformer_block").title == (
        "15 ops: 8 in fused kernels; 2 generated, but not fused by the scheduler; 4 by library calls; "
        "1 by fallbacks to ATen"
    )


def test_the_caption_says_when_unfused_ops_share_a_launch() -> None:
    view = view_of("control_flow")
    assert {decision.kernel for decision in view.decisions if decision.node in ("mean", "gt")} == {
        "cpp_fused_gt_mean_0"
    }
    assert view.caption == (
        "0 of 6 stored results reuse memory; code generation put several ops into one kernel, although the scheduler "
        "had not fused them."
    )
    assert "code generation" not in view_of("transformer_block").caption
    twice = tuple(replace(kernel, calls=kernel.calls * 2) for kernel in view.compilation.kernels)
    assert "code generation" not in replace(view, compilation=replace(view.compilation, kernels=twice)).caption
