"""Where each node runs, and what is another from one run of the accelerator's to the next."""

from dataclasses import replace

from core.analysis.pipeline import (
    PipelineChange,
    PipelineFigures,
    PipelineStop,
    entries_by_node,
    moved_ops,
    node_segments,
    pipeline_changes,
    pipeline_figures,
    pipeline_stops,
    refusal_counts,
    switchable_ops,
)
from core.report import Compilation, Frame, FxNode, Pipeline, PipelineSegment, RefusedNode, Report, Setting, SideTimes
from tests.core.analysis.test_pipeline import CROSSING, PIPELINE, REPORT, SEGMENT

BROKEN = PipelineSegment("segment_1", ("exp",), 8, 8, problem="a size that no input tells")
DIVIDED = replace(PIPELINE, segments=(SEGMENT, BROKEN), order=("segment_0", "cumsum", "segment_1"))


def of(*pipelines: Pipeline) -> Report:
    compilation = Compilation("0/0", Frame("m.py", 1, "f"), (), 1, "ok", "", (), (), None, (), (), ())
    return Report(Setting(), (replace(compilation, pipelines=pipelines),))


def test_each_node_is_reported_by_its_segment_or_by_why_torch_runs_it() -> None:
    assert node_segments(DIVIDED) == {
        "mm": "segment_0",
        "relu": "segment_0",
        "exp": "torch: a size that no input tells",
        "cumsum": "torch: no kernel for aten.cumsum.default",
    }


def test_what_runs_is_reported_in_order() -> None:
    assert pipeline_stops(DIVIDED) == (
        PipelineStop("segment_0", SEGMENT),
        PipelineStop("cumsum", None, "no kernel for aten.cumsum.default"),
        PipelineStop("segment_1", BROKEN, "a size that no input tells"),
    )


def test_a_node_is_found_in_the_first_instruction_that_names_it() -> None:
    assert entries_by_node(SEGMENT) == {"x": 0, "mm": 1, "relu": 1, "result": 2}


def test_ops_that_can_be_switched_off_are_those_in_segments_the_most_frequent_first() -> None:
    names = {
        "mm": "aten.mm.default",
        "relu": "aten.relu.default",
        "exp": "aten.relu.default",
        "cumsum": "aten.cumsum.default",
    }
    nodes = [FxNode(name, "call_function", f"torch.ops.{op}", "", (), None, 1) for name, op in names.items()]
    item = FxNode("mm", "call_function", "operator.getitem", "", (), None, 1)
    assert switchable_ops(DIVIDED, [*nodes, item]) == ("relu", "mm")


def test_refusals_are_counted_by_reason_the_most_frequent_first() -> None:
    refused = tuple(
        RefusedNode(name, "aten.x.default", why) for name, why in (("a", "one"), ("b", "two"), ("c", "two"))
    )
    assert refusal_counts(replace(PIPELINE, refusals=refused)) == {"two": ("b", "c"), "one": ("a",)}


def test_a_run_is_reported_in_numbers_without_what_torch_runs() -> None:
    timing = SideTimes({"eager": (0.002,) * 12, "compiled": (0.001,) * 12})
    assert pipeline_figures(replace(REPORT, timing=timing)) == PipelineFigures(
        ops=3,
        taken=2,
        segments=1,
        entries=3,
        across_bytes=104,
        file_bytes=1216,
        constant_bytes=0,
        temporary_bytes=256,
        arena_bytes=128,
        written_bytes=24,
        all_written_bytes=32,
        calls=4,
        fallbacks={"too many sizes": 1},
        runtime_s=0.001,
        call_s=0.00125,
        compiled_s=0.001,
    )
    assert pipeline_figures(of(DIVIDED)) == PipelineFigures(3, 2, 1, 3, 104, 1216, 0, 256, 128, 24, 32)


def test_without_a_plan_each_temporary_has_memory_of_its_own() -> None:
    unplanned = replace(PIPELINE, segments=(replace(SEGMENT, arena_bytes=0),))
    assert pipeline_figures(of(unplanned)).arena_bytes == 256


def test_two_runs_are_set_side_by_side_and_no_difference_of_times_is_claimed() -> None:
    after = replace(
        of(replace(PIPELINE, segments=(replace(SEGMENT, nodes=("mm",), output_bytes=48),))),
        crossings=(replace(CROSSING, runtime_s=0.008),),
    )
    assert pipeline_changes(REPORT, after)[:6] == (
        PipelineChange("ops on the accelerator", "2", "1", "−1 (50.0 %)"),
        PipelineChange("ops in all", "3", "3", ""),
        PipelineChange("segments", "1", "1", ""),
        PipelineChange("program entries", "3", "3", ""),
        PipelineChange("into and out of segments", "104 B", "128 B", "+24 B (23.1 %)"),
        PipelineChange("files", "1.22 kB", "1.22 kB", ""),
    )
    assert pipeline_changes(REPORT, after)[-3:] == (
        PipelineChange("in the runtime, each segment once", "1.00 ms", "2.00 ms", ""),
        PipelineChange("calls of the segments, each once", "1.25 ms", "1.25 ms", ""),
        PipelineChange("compiled call, steady state", "not recorded", "not recorded", ""),
    )


def test_ops_that_went_to_torch_or_came_from_it_are_counted() -> None:
    relu = RefusedNode("relu", "aten.relu.default", "switched off")
    assert moved_ops(REPORT, of(replace(PIPELINE, refusals=(*PIPELINE.refusals, relu)))) == {"relu": (0, 1)}
    assert moved_ops(REPORT, of(replace(PIPELINE, refusals=()))) == {"cumsum": (1, 0)}
    assert moved_ops(REPORT, REPORT) == {}
