"""Findings of guards, whole calls, kernels and results: where the line is between something and nothing."""

from dataclasses import replace

import pytest

from core.analysis.durations import EqualLayers, equal_layers, seconds_with_regions
from core.analysis.dynamo.recompiles import guard_rows
from core.analysis.kernels.kernel import uneven_repeats
from core.report import (
    Buffer,
    CacheEvent,
    Difference,
    Guard,
    GuardCosts,
    GuardFilter,
    KernelCall,
    KernelTime,
    Load,
    Module,
    Phase,
    RunError,
    Setting,
    SideTimes,
)
from tests.support.reports.findings import FIRES, QUIET, STEADY, call, frame, of, redrawn, timed, twice, with_kernels
from tests.support.reports.timed import GELU, ITEM, LIMITS, MM, REPORT, SCHEDULE, kernel, node


@pytest.mark.parametrize(("warm_us", "fires"), [(49.0, False), (50.0, True), (None, False)])
def test_guards_are_worth_a_thought_from_a_twentieth_of_a_call_on(warm_us: float | None, fires: bool) -> None:
    report = replace(QUIET, compilations=(frame("0/0", guard_warm_us=warm_us, guard_leaves=7),), timing=STEADY)
    found = of(report, "guards")
    assert bool(found) is fires
    if found:
        assert (found[0].each_s, found[0].cost_s) == pytest.approx((50e-6, 0.05))
        assert "5.00 %" in found[0].title
        assert "7 guards" in found[0].reason


def test_a_call_is_slower_only_where_the_interval_says_so_and_the_machine_was_quiet() -> None:
    slow = SideTimes({"eager": (1e-3,) * 12, "compiled": (2e-3,) * 12})
    assert [found.each_s for found in of(replace(QUIET, timing=slow), "slower than eager")] == [1e-3]
    assert of(replace(QUIET, timing=slow), "slower than eager")[0].reason.endswith(
        "is 2.00× slower in the steady state."
    )
    assert (
        "run it eagerly: torch's own kernels are as fast"
        in of(replace(QUIET, timing=slow), "slower than eager")[0].advice
    )
    small = SideTimes({"eager": (1e-5,) * 12, "compiled": (2e-5,) * 12})
    assert "the call is too small to pay off." in of(replace(QUIET, timing=small), "slower than eager")[0].advice
    assert of(replace(QUIET, timing=STEADY), "slower than eager") == []
    busy = replace(slow, load=Load(0.9, 0.9))
    assert of(replace(QUIET, timing=busy), "slower than eager") == []


def test_on_a_gpu_the_clock_of_the_calls_is_named_and_guards_are_compared_with_the_wall_clock() -> None:
    walls: dict[str, tuple[float, ...]] = {"eager": (2e-3,) * 12, "compiled": (3e-3,) * 12}
    sides: dict[str, tuple[float, ...]] = {"eager": (1e-3,) * 12, "compiled": (2e-3,) * 12}
    both = SideTimes(sides, walls=walls, clock="CUDA events")
    (found,) = of(replace(QUIET, timing=both), "slower than eager")
    assert found.reason.endswith("is 2.00× slower in the steady state, timed by CUDA events.")
    (guards,) = of(replace(QUIET, timing=both, compilations=(frame("0/0", guard_warm_us=300.0),)), "guards")
    assert guards.title == "Guards take 300 µs of every call, 10.0 % of it."


@pytest.mark.parametrize(("call_s", "fires"), [(6e-3, False), (8e-3, True)])
def test_time_outside_of_kernels_counts_from_a_quarter_of_a_call_on(call_s: float, fires: bool) -> None:
    report = replace(REPORT, back_to_back_s=(call_s,))
    found = of(report, "outside of kernels")
    # The kernels take 2.2 ms and 3 ms where they stand.
    assert [finding.each_s for finding in found] == ([pytest.approx(call_s - 5.2e-3)] if fires else [])
    assert of(replace(report, kernel_load=Load(0.9, 0.9)), "outside of kernels") == []
    if found:
        assert found[0].title == "35.0 % of a call, 2.80 ms of 8.00 ms, is not spent in kernels."
        assert "take this time for any tensor size: 1 graph, 2 kernel launches." in found[0].reason
        assert found[0].proposal is None
        on_gpu = replace(report, setting=Setting(job={"device": "cuda:0"}))
        (found_there,) = of(on_gpu, "outside of kernels")
        assert found_there.proposal is not None
        assert found_there.proposal.compile == {"mode": "reduce-overhead"}
        assert "CUDA graphs (`mode='reduce-overhead'`) avoid the launches" in found_there.advice


@pytest.mark.parametrize(
    ("asked", "proposed"),
    [
        ({"mode": "reduce-overhead"}, None),
        ({"mode": "max-autotune"}, None),
        ({"options": {"triton.cudagraphs": True}}, None),
        ({"backend": "aot_eager"}, None),
        ({"mode": "max-autotune-no-cudagraphs"}, {"mode": "max-autotune"}),
        ({"options": {"epilogue_fusion": True}}, {"options": {"epilogue_fusion": True, "triton.cudagraphs": True}}),
    ],
)
def test_cuda_graphs_are_proposed_to_a_run_without_them_and_beside_what_it_asks_for(
    asked: dict[str, object], proposed: dict[str, object] | None
) -> None:
    setting = Setting(job={"device": "cuda", "compile": asked})
    (found,) = of(replace(REPORT, back_to_back_s=(8e-3,), setting=setting), "outside of kernels")
    assert (found.proposal and dict(found.proposal.compile)) == proposed
    assert ("CUDA graphs" in found.advice) is (proposed is not None)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, "`torch.compile(model, options={'guard_filter_fn': "),
        ({"mode": "max-autotune"}, "options={**torch._inductor.list_mode_options('max-autotune'), 'guard_filter_fn': "),
        ({"options": {"max_autotune": True}}, "`, added to the options of the job, drops the guards"),
    ],
)
def test_a_filter_of_guards_is_advised_beside_the_mode_and_the_options_of_the_run(
    asked: dict[str, object], words: str
) -> None:
    costly = replace(QUIET, compilations=(frame("0/0", guard_warm_us=500.0),), timing=STEADY)
    (found,) = of(replace(costly, setting=Setting(job={"compile": asked})), "guards")
    assert words in found.advice


@pytest.mark.parametrize(
    ("names", "fires"),
    [
        ({"compile_file": 1.0, "dynamo": 0.9}, False),
        ({"compile_file": 1.1, "dynamo": 0.9}, True),
        ({"compile_file": 0.9, "dynamo": 0.8, "inductor": 0.8}, False),
    ],
)
def test_a_first_call_is_explained_where_it_is_long_and_one_thing_is_most_of_it(
    names: dict[str, float], fires: bool
) -> None:
    at_us, phases = 0.0, []
    for name, seconds in names.items():
        phases.append(Phase(name, "0/0", at_us, at_us + 1e6 * seconds, 0))
        at_us += 1e6 * seconds
    report = replace(QUIET, phases=tuple(phases))
    found = of(report, "first call")
    assert bool(found) is fires
    if found:
        assert "in kernel compilation" in found[0].title
        assert "A warm start saves up to 1.10 s if torch's on-disk caches take the graph" in found[0].advice
        assert "Dynamo tracing (900 ms) runs again." in found[0].advice
        (cached,) = of(replace(report, caches=(CacheEvent("fx_graph", "hit", "0/0"),)), "first call")
        assert "already came from a cache" in cached.advice
        cut = (*report.compilations, frame("1/0", status="not finished"))
        (cancelled,) = of(replace(report, compilations=cut), "first call")
        assert cancelled.advice == "A warm start saves less than this: the run ended while it compiled."
        (elsewhere,) = of(replace(report, setting=Setting(job={"compile": {"backend": "aot_eager"}})), "first call")
        assert "Only Inductor has an on-disk cache" in elsewhere.advice


def test_a_first_call_that_is_mostly_tracing_names_similar_layers_or_many_compilations() -> None:
    report = replace(QUIET, phases=(Phase("dynamo", "0/0", 0.0, 3e6, 0),))
    layers = {f"op{i}": Module(f"L['self'].layers.{i % 4}", "Layer") for i in range(20)}
    model = frame("0/0", modules={"pre_grad": layers})
    (found,) = of(replace(report, compilations=(model,)), "first call")
    assert found.advice == (
        "4 layers like `Layer` are compiled one by one. Before the first call, `Layer.forward = "
        "torch.compiler.nested_compile_region(Layer.forward)` compiles those with equal shapes once. Estimated from "
        "this run, compiling then takes 3.00 s (2.10 s–4.12 s). Not tried: compare the compile time of a run with it."
    )
    (several,) = of(replace(report, compilations=(model, frame("1/0"))), "first call")
    assert several.advice.startswith("Dynamo traces each of the 2 compilations: fewer")
    three = {name: module for name, module in layers.items() if not module.path.endswith("3")}
    small = dict(list(layers.items())[:16])
    for too_few in (three, small):
        (few,) = of(replace(report, compilations=(frame("0/0", modules={"pre_grad": too_few}),)), "first call")
        assert "nested_compile_region" not in few.advice


def test_layers_are_equal_if_all_their_modules_have_the_same_ops() -> None:
    parts = {"query": "q", "key": "k", "softmax": "", "linear": "out"}
    nodes = {
        f"{name}_{layer}" if layer else name: Module(f"L['self'].encoder.layer.{layer}.{part}", "Part")
        for layer in range(5)
        for name, part in parts.items()
    }
    model = frame("0/0", modules={"pre_grad": {**nodes, "tanh": Module("L['self'].pooler", "Pooler")}})
    (layers,) = equal_layers(model)
    assert layers == EqualLayers("L['self'].encoder.layer.0", "", 5, 4, 16 / 21)
    odd = {**nodes, "relu": Module("L['self'].encoder.layer.4.out", "Part")}
    (fewer,) = equal_layers(frame("0/0", modules={"pre_grad": odd}))
    assert fewer.number == 4


def test_phases_that_shrink_with_their_nodes_are_estimated_for_layers_compiled_once() -> None:
    spans = (("dynamo", 0.0, 1.0), ("inductor_compile", 1.0, 3.0), ("compile_file", 3.0, 7.0))
    phases = tuple(Phase(name, "0/0", 1e6 * start, 1e6 * end, 0) for name, start, end in spans)
    layers = {f"op{i}": Module(f"L['self'].layers.{i % 5}.inner", "Inner") for i in range(25)}
    report = replace(QUIET, phases=phases, compilations=(frame("0/0", modules={"pre_grad": layers}),))
    estimate = seconds_with_regions(report)
    assert estimate is not None
    assert estimate.middle == pytest.approx(7 - 0.8 * (2 * 0.77 + 4 * 0.1))
    assert estimate.low < estimate.middle < estimate.high
    assert seconds_with_regions(replace(report, compilations=(frame("0/0"),))) is None


def test_products_at_the_roofline_leave_a_smaller_dtype() -> None:
    known = replace(SCHEDULE, before=(*SCHEDULE.before, node("op1", MM, ("mm",))))
    report = replace(REPORT, compilations=(replace(ITEM, schedules=(known,)),))
    rule = "products at the roofline"
    (found,) = of(report, rule)
    # 2 GFLOP at 1 TFLOP/s take 2 ms, of 2.5 ms; the rest of the kernels takes 2 ms.
    assert found.title == "Library matmuls take 55.6 % of kernel time and run at 80.0 % of the roofline."
    assert found.each_s == pytest.approx(0.5e-3)
    assert found.proposal is not None
    assert found.proposal.job == {"dtype": "bfloat16"}
    attention = timed("torch.ops.aten._flash_attention.default", 0.1e-3, ("_flash_attention",), extern=True)
    (beside,) = of(
        replace(report, compilations=(replace(ITEM, schedules=(known,), kernels=(GELU, MM, attention)),)), rule
    )
    assert beside.proposal == found.proposal
    slow = replace(MM, calls=(KernelCall(20, KernelTime(1, (3.5e-3, 3.5e-3), 1, (3.5e-3,), "warm")),))
    assert of(with_kernels(GELU, slow), "products at the roofline") == []
    assert of(replace(REPORT, kernel_load=Load(0.9, 0.9)), "products at the roofline") == []
    (asked,) = of(replace(report, setting=Setting(job={"dtype": "bfloat16"})), "products at the roofline")
    assert asked.proposal is None
    for half, proposed in ((2e12, True), (0.5e12, False)):
        limits = replace(LIMITS, flops_s={"float32": 1e12, "bfloat16": half})
        (judged,) = of(replace(report, roofline=limits), rule)
        assert (judged.proposal is not None, "no faster" in judged.advice) == (proposed, not proposed)


@pytest.mark.parametrize(("seconds", "fires"), [(0.4e-3, True), (0.2e-3, False)])
def test_fallbacks_and_copies_count_from_a_twentieth_of_the_kernels_time_on(seconds: float, fires: bool) -> None:
    fallback = timed("aten.cummax", seconds, ("cummax",), extern=True)
    found = of(with_kernels(GELU, MM, fallback), "fallbacks")
    assert [finding.each_s for finding in found] == ([pytest.approx(seconds)] if fires else [])
    copy = timed("cpp_fused_clone_3", seconds, ("clone", "view"))
    found = of(with_kernels(GELU, MM, copy), "copies")
    assert [finding.each_s for finding in found] == ([pytest.approx(seconds)] if fires else [])


def test_a_custom_op_is_no_fallback_to_aten() -> None:
    custom = timed("torch.ops.mine.lookup.default", 1e-3, ("lookup",), extern=True)
    (found,) = of(with_kernels(GELU, MM, custom), "fallbacks")
    assert found.title.startswith("1 kernel launch is of a custom op: ")
    assert "`torch.ops.mine.lookup.default`" in found.reason
    aten = timed("torch.ops.aten.cummax.default", 1e-3, ("cummax",), extern=True)
    assert [found.title.partition(":")[0] for found in of(with_kernels(GELU, MM, custom, aten), "fallbacks")] == [
        "1 kernel launch falls back to ATen",
        "1 kernel launch is of a custom op",
    ]


def test_attention_with_a_mask_is_a_librarys_choice_and_no_fallback() -> None:
    name = "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default"
    masked = timed(name, 1.0, ("_scaled_dot_product_flash_attention_for_cpu", "where", "ge"), extern=True)
    assert of(with_kernels(GELU, masked), "fallbacks") == []


def test_a_librarys_own_products_are_no_fallbacks_and_a_kernel_that_computes_is_no_copy() -> None:
    attention = timed("torch.ops.aten._flash_attention.default", 2e-3, ("_flash_attention",), extern=True)
    convolution = timed("torch.ops.mkldnn._convolution_pointwise", 2e-3, ("_convolution_pointwise",), extern=True)
    library = timed("extern_kernels.convolution", 2e-3, ("convolution",), extern=True)
    report = with_kernels(GELU, MM, attention, convolution, library)
    assert of(report, "fallbacks") == of(report, "copies") == []


@pytest.mark.parametrize("op", ["convert_element_type", "cat", "full", "constant_pad_nd", "relu"])
def test_a_kernel_that_casts_joins_fills_or_pads_is_no_copy(op: str) -> None:
    assert of(with_kernels(GELU, MM, timed("cpp_fused_3", 2e-3, (op, "view"))), "copies") == []


def test_float64_is_a_finding_where_nobody_asked_for_it() -> None:
    (found,) = of(FIRES["float64"], "float64")
    assert found.title == "1 kernel computes in float64: 100 % of kernel time."
    assert of(replace(FIRES["float64"], setting=Setting(job={"dtype": "float64"})), "float64") == []
    assert of(REPORT, "float64") == []


def test_a_finding_about_several_kernels_names_the_longest() -> None:
    copies = (
        timed("cpp_fused_1", 2e-3, ("copy",)),
        timed("cpp_fused_2", 4e-3, ("copy",)),
        timed("cpp_fused_3", 1e-3, ("copy",)),
    )
    (found,) = of(with_kernels(*copies), "copies")
    assert found.item.endswith("cpp_fused_2")
    assert "4.00 ms" in found.reason


def test_results_that_differ_are_wrong_and_random_ones_can_be_made_to_agree() -> None:
    assert [found.weight for found in of(FIRES["results differ"], "results differ")] == ["wrong"]
    (found,) = of(FIRES["random numbers"], "random numbers")
    assert found.proposal is not None
    assert found.proposal.compile == {"options": {"fallback_random": True}, "mode": None}
    asked = Setting(job={"compile": {"options": {"fallback_random": True}}})
    assert of(replace(FIRES["random numbers"], setting=asked), "random numbers") == []


def test_numpy_random_numbers_have_a_setting_of_dynamo_and_no_option_of_inductor() -> None:
    reason = "the call draws NumPy's random numbers; with torch._dynamo.config.use_numpy_random_stream=True both agree"
    drawn = replace(FIRES["random numbers"], calls=call(Difference("output", None, reason=reason)))
    for backend in ("inductor", "eager"):
        (found,) = of(replace(drawn, setting=Setting(job={"compile": {"backend": backend}})), "random numbers")
        assert found.proposal is not None
        assert (dict(found.proposal.compile), dict(found.proposal.dynamo)) == ({}, {"use_numpy_random_stream": True})


def test_a_bypassed_cache_has_torchs_reason_and_no_seconds_saved_by_a_warm_start() -> None:
    report = replace(FIRES["cache bypassed"], phases=FIRES["first call"].phases)
    (found,) = of(report, "cache bypassed")
    assert (found.title, found.reason) == (
        "The cache of AOTAutograd was bypassed for 1 graph.",
        "torch's reason: Unsupported call_function target _enter_autocast.",
    )
    assert found.advice.startswith("Enter `torch.autocast` around the compiled call, not inside")
    (first,) = of(report, "first call")
    assert first.advice == "A warm start saves less than this: AOTAutograd's cache was bypassed."


@pytest.mark.parametrize(
    ("backward", "fires"),
    [
        ({"torch.ops.aten.rand.default": 1}, True),
        ({"torch.ops.prims.inductor_random.default": 1}, False),
        ({"torch.ops.aten.mul.Tensor": 2}, False),
        ({}, False),
    ],
)
def test_backward_draws_if_it_has_random_ops_without_forwards_seed(backward: dict[str, int], fires: bool) -> None:
    found = of(redrawn(backward), "backward draws")
    assert [finding.title for finding in found] == [
        "Backward draws its own random numbers: 1 random op of forward is recomputed."
    ] * fires
    assert all(finding.weight == "wrong" for finding in found)


@pytest.mark.parametrize(
    ("message", "title"),
    [
        ("You marked batch as dynamic but your code specialized it to be a constant (1).", "`batch` has size 1"),
        (
            "export 0/1 specialized due to hint of 0 for dimension inputs['x'].shape[0].",
            "`inputs['x'].shape[0]` has size 0",
        ),
        ("You marked batch as dynamic but your code specialized it to be a constant (8).", ""),
    ],
)
def test_a_sample_of_size_one_is_why_a_dynamic_dimension_is_a_constant(message: str, title: str) -> None:
    error = RunError("export", "UserError", "", message, (), "")
    found = of(replace(QUIET, error=error), "sample size")
    assert [title in finding.title for finding in found] == [True] * bool(title)


def test_the_advised_guard_filter_is_the_one_that_saved_most() -> None:
    filters = (
        GuardFilter("skip_guard_on_inbuilt_nn_modules_unsafe", 9, 9, 10.0),
        GuardFilter("keep_tensor_guards_unsafe", 3, 9, 4.0),
        GuardFilter("skip_all_guards_unsafe", 0, 9, 3.8),
    )
    for check_us, words in (
        (10.0, "torch.compiler.keep_tensor_guards_unsafe}"),
        (3.9, "None of torch's filters saved"),
    ):
        costs = GuardCosts(check_us, {}, filters)
        slow = frame("0/0", guard_warm_us=90.0, guard_leaves=7, guard_costs=costs)
        (found,) = of(replace(QUIET, compilations=(slow,), timing=STEADY), "guards")
        assert words in found.advice


def test_conditions_on_floats_are_numbers_and_have_a_setting_where_they_take_longest() -> None:
    conditions = "\n".join(f"not math.isnan(L['self'].layers[{index}].gain)" for index in range(80))
    last = Guard("LAMBDA_GUARD", "", conditions, 0)
    for numbers_us, fires in ((4.0, True), (1.0, False)):
        costs = GuardCosts(10.0, {"number": numbers_us, "module": 3.0})
        slow = frame("0/0", guard_warm_us=90.0, guard_leaves=7, guard_costs=costs, guards=(last,))
        report = replace(QUIET, compilations=(slow,), timing=STEADY)
        (found,) = of(report, "guards")
        assert (
            found.advice.startswith(
                "80 conditions on floats take 4.00 µs. `torch._dynamo.config.specialize_float = True`"
            )
            is fires
        )
        assert (found.proposal is not None) is fires
    (row,) = guard_rows(report, slow)
    assert (row.family, row.protects) == (
        "number",
        "numbers satisfy the conditions of the compiled code, such as not being NaN",
    )


USES_TIMES = ("products at the roofline", "fallbacks", "copies", "float64", "TF32 off", "outside of kernels")


@pytest.mark.parametrize("rule", USES_TIMES)
def test_no_finding_uses_times_of_a_busy_machine_or_that_equal_kernels_contradict(rule: str) -> None:
    report = FIRES[rule]
    assert of(report, rule) != []
    assert of(replace(report, kernel_load=Load(0.9, 0.9)), rule) == []
    (first, *others) = report.compilations
    contradicted = replace(first, kernels=(*first.kernels, twice(1e-3, 20e-3)))
    found = replace(report, compilations=(contradicted, *others))
    assert of(found, rule) == []
    (unlike,) = of(found, "times not reliable")
    assert unlike.title == (
        "Kernel times are not reliable: `cpp_fused_gelu_0` took 20.0 ms and 1.00 ms for the same shapes."
    )


@pytest.mark.parametrize(
    ("slow_s", "rows", "fires"),
    [(3.0e-3, "10", False), (3.1e-3, "10", True), (9e-3, "20", False), (9e-3, "s0", False)],
)
def test_equal_library_calls_are_those_of_the_same_shapes(slow_s: float, rows: str, fires: bool) -> None:
    name = "torch.ops.aten._grouped_mm.default"
    time = KernelTime(1, (1e-3, 1e-3), 1, (1e-3,), "warm")
    fast = kernel(name, KernelCall(30, time), extern=True)
    slow = kernel(name, KernelCall(31, replace(time, samples_s=(slow_s,), in_place_s=(slow_s,))), extern=True)
    buffers = tuple(Buffer(f"b{size}", "float32", (size, "8"), ("8", "1"), False, False) for size in ("10", rows))
    nodes = (
        replace(node("op1", fast, ()), reads=(("b10", 320),), writes=()),
        replace(node("op2", slow, ()), reads=((f"b{rows}", 320),), writes=()),
    )
    schedule = replace(SCHEDULE, before=nodes, buffers=buffers)
    report = replace(REPORT, compilations=(replace(ITEM, kernels=(fast, slow), schedules=(schedule,)),))
    assert bool(uneven_repeats(report)) is fires


def test_twins_that_took_less_than_a_twentieth_too_long_change_nothing() -> None:
    assert uneven_repeats(with_kernels(MM, twice(1e-6, 90e-6))) is None
    assert uneven_repeats(with_kernels(MM, twice(50e-6, 151e-6))) is None
    assert uneven_repeats(with_kernels(MM, twice(1e-6, 200e-6))) is not None


def test_fallbacks_of_the_mode_lite_are_the_modes() -> None:
    report = FIRES["fallbacks"]
    (lite,) = of(replace(report, setting=Setting(job={"compile": {"mode": "lite"}})), "fallbacks")
    assert lite.advice.endswith("leave the mode out.")
    assert lite.proposal is not None
    assert lite.proposal.compile == {"mode": None}
    (plain,) = of(report, "fallbacks")
    assert plain.proposal is None
