"""Findings of what torch was left to do, and what it would not: TF32, fusions that it refused, CUDA graphs."""

from dataclasses import replace
from pathlib import Path

import pytest

from core import build_report
from core.analysis.findings import findings
from core.report import Counters
from tests.support.homes import line
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.reports.findings import FIRES, QUIET, frame, of, unfused, with_tf32
from tests.support.reports.timed import GELU, LIMITS, MM


@pytest.mark.parametrize(
    ("precision", "has_tf32", "fires"),
    [
        ("highest", True, True),
        ("high", True, False),
        ("medium", True, False),
        ("highest", False, False),
        ("", True, False),
    ],
)
def test_tf32_is_a_finding_where_the_device_has_it_and_torch_was_left_without(
    precision: str, has_tf32: bool, fires: bool
) -> None:
    found = of(with_tf32(precision, has_tf32), "TF32 off")
    assert bool(found) is fires
    if found:
        assert found[0].title == "TF32 is off, and float32 matmuls take 55.6 % of kernel time."
        assert found[0].item.endswith("extern_kernels.mm#20")


def test_convolutions_use_tf32_by_default_and_are_no_finding() -> None:
    report = with_tf32()
    item = report.compilations[0]
    convolution = replace(MM, origins=("convolution",))
    assert of(replace(report, compilations=(replace(item, kernels=(GELU, convolution)),)), "TF32 off") == []


def test_without_a_product_of_float32_tf32_is_nothing_to_know() -> None:
    report = with_tf32()
    item = report.compilations[0]
    pointwise = replace(item, kernels=item.kernels[:1])
    assert of(replace(report, compilations=(pointwise,)), "TF32 off") == []


@pytest.mark.parametrize(
    ("reason", "shared", "fires"),
    [
        ("numel/rnumel mismatch (reduce) (64, 1), (10, 64)", 100, True),
        ("what nobody has seen before", 100, True),
        ("numel/rnumel mismatch (reduce) (64, 1), (10, 64)", 50, False),
        ("intermediate nodes between node1 & node2", 100, False),
        ("no shared data", 100, False),
    ],
)
def test_a_refused_fusion_is_a_finding_where_it_was_a_choice_and_the_two_share_much(
    reason: str, shared: int, fires: bool
) -> None:
    found = of(unfused(reason, shared), "missed fusion")
    assert bool(found) is fires
    if found:
        assert found[0].title == (
            "Two kernels share 100 B and were not fused: 8.33 % of the memory traffic of the inference graph."
        )
        assert found[0].reason == f"torch refused `cpp_fused_gelu_0` and `op1`: `{reason}`."
        assert (found[0].page, found[0].weight, found[0].each_s) == ("fusion", "note", 0.0)


@pytest.mark.parametrize(
    ("reason", "origins", "sizes", "advice"),
    [
        ("numel/rnumel mismatch (non-reduce) (90, 100), (1, 1)", ("slice_1",), (90, 100), "slice last"),
        ("nodes numel incompatibility", ("constant_pad_nd",), (100, 90), "slice last"),
        ("numel/rnumel mismatch (non-reduce) (100, 200), (1, 1)", ("slice_1",), (100, 200), ""),
        ("numel/rnumel mismatch (reduce) (20, 10), (5, 10)", ("slice_1",), (100, 100), ""),
        ("numel/rnumel mismatch (non-reduce) (90, 100), (1, 1)", ("relu",), (90, 100), ""),
        ("memory deps did not match", ("permute_2", "relu"), (100, 100), "one layout"),
        ("tiling mismatch (1, 2, 3)", ("t",), (100, 100), "one layout"),
        ("memory deps did not match", ("_low_memory_max_pool_with_offsets",), (100, 100), ""),
    ],
)
def test_a_refused_fusion_is_a_finding_only_where_a_change_of_the_model_allows_it(
    reason: str, origins: tuple[str, ...], sizes: tuple[int, int], advice: str
) -> None:
    found = of(unfused(reason, 100, origins, sizes), "missed fusion")
    assert len(found) == bool(advice)
    assert all(advice in item.advice for item in found)


def test_a_refused_fusion_costs_what_its_bytes_take_where_the_memory_was_measured() -> None:
    (found,) = of(replace(FIRES["missed fusion"], roofline=LIMITS), "missed fusion")
    assert (found.weight, found.each_s) == ("cost", 100 / 100e9)


@pytest.mark.parametrize(
    ("reason", "advice"),
    [
        ("skipping cudagraphs due to cpu device (arg0_1). Found from : \n line 3", "must run on the GPU"),
        ("skipping cudagraphs due to mutated inputs (1 instances)", "cannot mutate an input"),
        ("graph with symbolic shapes inputs and config.triton.cudagraph_skip_dynamic_graphs=True.", "few sizes"),
        ("disabling cudagraphs due to incompatible op aten.nonzero.default", "move it out"),
        ("what nobody has seen before", "torch._logging.set_logs(cudagraphs=True)"),
    ],
)
def test_cuda_graphs_that_were_skipped_have_torchs_reason(reason: str, advice: str) -> None:
    (found,) = of(replace(QUIET, compilations=(frame("0/0", cudagraph_skip=reason),)), "CUDA graphs skipped")
    assert found.title == "1 graph did not become a CUDA graph."
    assert found.reason == f"torch's reason: {reason.partition(chr(10))[0].rstrip('. ')}."
    assert advice in found.advice
    assert found.compilation == "0/0"


def test_where_none_was_skipped_nothing_is_reported_and_a_count_alone_is_reported() -> None:
    assert of(replace(QUIET, counters=Counters({"inductor": {"cudagraph_skips": 0}}, {})), "CUDA graphs skipped") == []
    (found,) = of(FIRES["CUDA graphs skipped"], "CUDA graphs skipped")
    assert (found.title, found.reason) == (
        "2 graphs did not become CUDA graphs.",
        "The log does not contain torch's reason.",
    )


@pytest.mark.parametrize("kind", ["compilation_metrics", "bwd_compilation_metrics"])
def test_torchs_reason_is_read_from_the_metrics_of_forward_and_backward(tmp_path: Path, kind: str) -> None:
    head = {"frame_id": 0, "frame_compile_id": 0, "attempt": 0}
    log = tmp_path / "trace.log"
    log.write_bytes(line({kind: {"co_name": "f", "cudagraph_skip_reason": "mutated inputs"}, **head}, ""))
    assert [found.cudagraph_skip for found in build_report(log, strict=True).compilations] == ["mutated inputs"]


# What depends on how long the machine took.
TIMED = {"first call", "products at the roofline"}
GALLERY = {
    "autotuned": [],
    "compiled_itself": [],
    "control_flow": [],
    "dynamic_batch": [],
    "eager_backend": [],
    "error": ["raised in eager", "graph breaks"],
    "foreign": ["graph breaks", "graph breaks"],
    "graph_break_zoo": ["graph breaks"] * 5 + [],
    "measured": [],
    "recompile_zoo": ["not compiled: over the limit"] + ["recompiles"] * 6,
    "refused": ["not compiled: failed"],
    "target_h100": [],
    "training_step": [],
    "transformer_block": [],
}


@pytest.mark.parametrize("scenario", GALLERY)
def test_each_recorded_run_has_the_findings_that_were_read_and_found_true(scenario: str) -> None:
    report = recorded_report(TRACES / scenario / "trace.log")
    rules = [found.rule for found in findings(report)]
    assert [rule for rule in rules if rule not in TIMED] == GALLERY[scenario]


def test_tf32_halves_the_time_of_the_matmuls() -> None:
    (found,) = of(with_tf32(), "TF32 off")
    assert found.each_s == pytest.approx(2.5e-3 / 2)
