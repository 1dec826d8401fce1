"""Presets: how each turns a job into axes, and what it says of rows; the rows are literal, as such runs gave them."""

from dataclasses import replace
from typing import Any

import pytest

from core import Axis, CompileJob, Environment, Model, Sweep
from core.analysis.dynamo.costs import FrameStart
from core.analysis.interval import Interval
from core.base.machine import BackendEntry, ConfigOption
from core.job.model import OptionValue
from core.report.run import FilledCaches
from core.sweep.presets import PRESETS, Answer, Plan, Question, answer, preset_of
from core.sweep.presets.preset import (
    BackendFact,
    BreakEven,
    CallParts,
    Crossover,
    MemoryFact,
    ModeFact,
    RungFact,
    ShapeFact,
    StanceFact,
)
from core.sweep.runner import new_sweep
from core.sweep.store import SweepCall, SweepRow
from tests.support.sweeps import FASTER, SAME, SLOWER, called, timed

MLP = CompileJob(Model("sample", "mlp"))
TORCH = "2.13.0"
MODES: dict[str, dict[str, OptionValue]] = {
    "default": {},
    "reduce-overhead": {"triton.cudagraphs": True},
    "lite": {"use_dce": False},
}
HERE = Environment(
    torch=TORCH,
    backends=("eager", "tvm", "inductor", "aot_eager", "aot_eager_decomp_partition", "relu_compile_error_TESTING_ONLY"),
    entries=(BackendEntry("eager", ("debug",), "torch/_dynamo/backends/debugging.py:52"),),
    modes=MODES,
    cpus=6,
)


def planned(name: str, base: CompileJob = MLP) -> Plan:
    return PRESETS[name].plan(base, HERE)


def asked(name: str, *rows: SweepRow, base: CompileJob = MLP) -> Answer:
    plan = planned(name, base)
    return answer(Question(new_sweep(plan.base, plan.axes, name), rows, HERE))


@pytest.mark.parametrize("name", list(PRESETS))
def test_every_preset_makes_cells_of_a_job_and_says_nothing_before_one_is_done(name: str) -> None:
    plan = planned(name)
    sweep = new_sweep(plan.base, plan.axes, name)
    rows = tuple(SweepRow(at) for axis in plan.axes for at in ((label,) for label in axis.named()))
    found = answer(Question(sweep, rows, None))
    assert found.sentence == ""
    assert all(len(cells) == len(rows) for cells in found.columns.values())


def test_presets_change_what_they_ask_about() -> None:
    assert {name: planned(name).axes for name in ("backends", "modes", "calls", "dtype", "training", "threads")} == {
        "backends": (
            Axis(
                "backend",
                (
                    *("aot_eager", "aot_eager_decomp_partition", "eager", "inductor", "tvm"),
                    "relu_compile_error_TESTING_ONLY",
                ),
            ),
        ),
        "modes": (Axis("mode", ("default", "reduce-overhead", "lite")),),
        "calls": (Axis("caches", ("cold", "warm")),),
        "dtype": (Axis("dtype", ("float32", "bfloat16", "float16", "float64")),),
        "training": (Axis("training", (False, True), ("inference", "training")),),
        "threads": (Axis("threads", (1, 2, 4, 6)),),
    }
    assert planned("shapes").base.calls == tuple(f"calls(batch={size})" for size in (4, 16, 7, 64))
    given = replace(MLP, calls=("f32[8, 256], i64[8] < 10, 2.0",))
    assert planned("stances", given).base.calls[0] == "f32[2, 256], i64[2] < 10, 2.0"
    differing = replace(MLP, calls=("f32[50, 8], i64[200] < 50", "f32[70, 8], i64[280] < 70"))
    assert planned("shapes", differing).base.calls == differing.calls


BACKEND_ROWS = (
    timed("inductor", kernels=3, stages=("dynamo_output_graph", "aot_inference_graph", "inductor_post_grad_graph")),
    timed("aot_eager", ratio=SAME, compiled_s=0.0018, kernels=0, stages=("dynamo_output_graph", "aot_inference_graph")),
    timed("eager", ratio=SAME, compiled_s=0.0018, kernels=0, stages=("dynamo_output_graph",)),
    SweepRow(
        ("tvm",),
        "tvm",
        "failed",
        "BackendCompilerFailed while call 0: compiled: backend='tvm' raised:\nImportError: Please install apache-tvm "
        "to use the tvm backend.\n\nSet TORCHDYNAMO_VERBOSE=1 for the internal stack trace",
        stages=("dynamo_output_graph",),
    ),
)


def test_backends_say_where_they_stop_which_is_fastest_and_in_torchs_words_why_one_cannot_run() -> None:
    found = asked("backends", *BACKEND_ROWS)
    assert found.sentence == (
        "3 of 4 backends run this model here; 1 cannot; all results are eager's; "
        "inductor is the fastest, 1.82× (1.78–1.86) faster than eager."
    )
    assert [
        (fact.name, fact.stops, fact.runs, fact.reason) for fact in found.facts if isinstance(fact, BackendFact)
    ] == [
        ("inductor", "code generation", True, ""),
        ("aot_eager", "AOTAutograd", True, ""),
        ("eager", "Dynamo", True, ""),
        ("tvm", "Dynamo", False, "ImportError: Please install apache-tvm to use the tvm backend."),
    ]
    eager = found.facts[2]
    assert isinstance(eager, BackendFact)
    assert (eager.tags, eager.place) == (("debug",), "torch/_dynamo/backends/debugging.py:52")
    differs = asked("backends", replace(BACKEND_ROWS[2], results="differs"))
    assert differs.sentence.startswith("1 of 1 backend runs this model here; results differ from eager's with eager;")


def test_modes_say_what_they_set_what_they_changed_and_why_a_cpu_has_no_use_for_cuda_graphs() -> None:
    common: dict[str, Any] = {
        "torch": TORCH,
        "device": "cpu",
        "kernel_names": ("relu", "tanh", "addmm"),
        "passes": ("fold",),
    }
    default = timed("default", made=("kernels", "calls"), generated=2, skips=0, **common)
    overhead = timed("reduce-overhead", made=("kernels", "others"), generated=2, skips=1, **common)
    lite = timed("lite", ratio=SLOWER, compiled_s=0.004, made=("library", "calls"), generated=0, skips=0, **common)
    found = asked("modes", default, overhead, lite)
    assert found.sentence == (
        "No mode is clearly the fastest; reduce-overhead made the same kernels as default; lite made different kernels."
    )
    assert found.columns["sets"] == ("nothing", "triton.cudagraphs=True", "use_dce=False")
    assert found.columns["changed against default"] == (
        "–",
        "no kernel, only the wrapper",
        "0 generated kernels instead of 2",
    )
    assert found.notes == (
        "On a CPU, reduce-overhead changes no kernel. It sets triton.cudagraphs, which replays GPU launches; CPU "
        "kernels are plain function calls. Torch skipped 1 CUDA graph.",
    )
    fact = found.facts[1]
    assert isinstance(fact, ModeFact)
    assert (fact.sets, fact.same, fact.wrapper, fact.skips) == ({"triton.cudagraphs": True}, True, False, 1)
    moved = asked("modes", default, replace(overhead, made=("others", "others")), lite)
    assert moved.notes[0].startswith(
        "On a CPU, reduce-overhead replays nothing. But it sets triton.cudagraphs, and Inductor then "
    )
    assert moved.notes[0].endswith("so the kernels differ. Torch skipped 1 CUDA graph.")
    other = replace(MLP, device="cuda")
    assert asked("modes", default, overhead, lite, base=other).notes == ()


def test_shapes_count_compilations_for_each_way_to_treat_sizes() -> None:
    rows = (
        called("never", 1, 1, 1, 1),
        called("automatic", 1, 1, 0, 0),
        called("always", 1, 0, 0, 0),
        called("mark_dynamic", 1, 0, 0, 0),
    )
    found = asked("shapes", *rows)
    assert found.sentence == (
        "4 sizes need 4 compilations with static shapes, 2 with automatic ones, 1 with dynamic ones and "
        "1 with mark_dynamic."
    )
    assert [fact.compilations for fact in found.facts if isinstance(fact, ShapeFact)] == [4, 2, 1, 1]
    assert found.columns["compilations by call"][1] == "1 + 1 + 0 + 0"


STANCE_ROWS = (
    called("default", 1, 1, 0),
    called("force_eager", 0, 0, 0, how=("eager",) * 3),
    called("eager_on_recompile after the first call", 1, 0, 0, how=("compiled", "eager", "eager")),
    called("fail_on_recompile after the first call", 1, 0, 0, how=("compiled", "raised", "raised")),
    called("eager_then_compile", 0, 1, 0, how=("eager", "compiled", "reused")),
)


def test_stances_show_the_outcome_of_each_call() -> None:
    found = asked("stances", *STANCE_ROWS)
    assert found.sentence == (
        "3 calls of other sizes compile twice with default; once with eager_on_recompile, fail_on_recompile and "
        "eager_then_compile; nothing with force_eager; fail_on_recompile raises."
    )
    assert [fact.compilations for fact in found.facts if isinstance(fact, StanceFact)] == [
        (1, 2, 2),
        (0, 0, 0),
        (1, 1, 1),
        (1, 1, 1),
        (0, 1, 1),
    ]
    assert found.columns["call 1"] == ("compiled", "eager", "eager", "raised", "compiled")


def batches(*ratios: Interval, **more: Any) -> tuple[SweepRow, ...]:
    return tuple(timed(str(2**power), ratio=ratio, **more) for power, ratio in enumerate(ratios))


@pytest.mark.parametrize(
    ("rows", "sentence", "fact"),
    [
        (
            batches(SLOWER, SAME, FASTER, FASTER),
            "Compiled becomes faster at a batch between 2 and 4; slower at 1.",
            Crossover("batch", 2, 4),
        ),
        (
            batches(FASTER, FASTER),
            "Compiled is faster than eager at every batch from 1 to 2.",
            Crossover("batch", None, 1),
        ),
        (
            batches(SAME, SLOWER),
            "Compiled is not clearly faster than eager at any batch from 1 to 2; slower at 2.",
            Crossover("batch", 2, None),
        ),
        (
            (*batches(SLOWER), *(replace(timed(size), ratio=None, claim="") for size in ("2", "4"))),
            "Compiled is not clearly faster than eager at batch 1; slower at 1; no measurement at 2 and 4.",
            Crossover("batch", 1, None),
        ),
        (
            batches(FASTER, SAME, FASTER),
            "Compiled becomes faster at a batch between 2 and 4; also faster at 1.",
            Crossover("batch", 2, 4, back=True),
        ),
        (
            batches(FASTER, SAME),
            "Compiled is faster at 1, but not at the largest batch, 2.",
            Crossover("batch", 2, None, back=True),
        ),
        (
            batches(SAME, FASTER, disturbed="the machine was busy while it was measured"),
            "Compiled becomes faster at a batch between 1 and 2; all measured on a busy machine.",
            Crossover("batch", 1, 2),
        ),
    ],
)
def test_the_crossover_lies_between_two_sizes_that_were_measured(
    rows: tuple[SweepRow, ...], sentence: str, fact: Crossover
) -> None:
    found = asked("batch", *rows)
    assert (found.sentence, found.facts) == (sentence, (fact,))


def test_small_sizes_are_explained_by_what_does_not_grow_with_them() -> None:
    parts = {"kernels": 2e-6, "wrapper": 6e-6, "outside": 4e-6}
    small = timed("1", ratio=SLOWER, compiled_s=12e-6, parts_s=parts, guards_us=1.0)
    large = timed("2", ratio=FASTER, compiled_s=200e-6, parts_s={**parts, "kernels": 190e-6}, guards_us=1.0)
    found = asked("batch", small, large)
    assert found.notes == (
        "Parts of a compiled call: at batch 1, kernels 2.00 µs (16.7 %), wrapper 6.00 µs (50.0 %), "
        "Dynamo's and autograd's runtime 3.00 µs (25.0 %), guards 1.00 µs (8.33 %) of 12.0 µs; at batch 2, kernels "
        "190 µs (95.0 %), wrapper 6.00 µs (3.00 %), Dynamo's and autograd's runtime 3.00 µs (1.50 %), guards 1.00 µs "
        "(0.500 %) of 200 µs.",
    )
    (apart,) = [fact for fact in found.facts if isinstance(fact, CallParts) and fact.label == "1"]
    assert sum(apart.parts_s.values()) == pytest.approx(apart.compiled_s)
    too_slow = timed("4", ratio=FASTER, compiled_s=200e-6, parts_s={**parts, "kernels": 300e-6}, guards_us=1.0)
    assert asked("batch", small, large, too_slow).notes == found.notes


def test_compiling_pays_after_as_many_calls_as_make_up_for_the_first_ones() -> None:
    def cell(at: str, first_s: float) -> SweepRow:
        exact = Interval(2, 2, 2)
        return timed(at, ratio=exact, calls=(SweepCall("f32[1]", 0.002, first_s + 0.001),))

    found = asked("calls", cell("cold", 2.0), cell("warm", 0.1))
    assert found.sentence == (
        "Break-even: after about 2,000 calls with cold caches, after about 100 calls with warm caches."
    )
    assert [fact.label for fact in found.facts if isinstance(fact, BreakEven)] == ["cold", "warm"]
    none = asked("calls", timed("cold", ratio=SAME, calls=(SweepCall("f32[1]", 0.002, 1.0),)))
    assert none.sentence == ("Compiled is not clearly faster, so compiling does not pay off.")


def test_a_second_start_names_what_is_still_compiled_and_the_change_that_stops_it() -> None:
    def cell(at: str, phases_s: dict[str, float], bundle_bytes: int = 0, **more: Any) -> SweepRow:
        frame = FrameStart("0/0", "Net.forward", phases_s, **{"outcomes": {"fx_graph": "hit"}, **more})
        filled = FilledCaches(took_s=9.0, exit_code=0, bundle_bytes=bundle_bytes)
        return replace(timed(at), compile_s=frame.seconds, frames=(frame,), filled=filled)

    cold = cell("cold", {"dynamo": 1.0, "compile": 9.0})
    warm = cell("warm", {"dynamo": 1.0, "compile": 0.2})
    bundle = cell("bundle", {"dynamo": 1.0, "compile": 9.0}, 500_000)
    with_dynamo = cell("warm with Dynamo's code", {"compile": 0.2})
    found = asked("start", cold, warm, bundle, with_dynamo)
    assert found.sentence == (
        "A second process compiles for 1.20 s with the caches kept, instead of 10.0 s with empty caches; 10.0 s with a "
        "bundle of 500 kB and 200 ms with the caches and Dynamo's code kept."
    )
    assert found.notes == (
        "Warm: most of what is left is Dynamo tracing (1.00 s of 1.20 s). `torch._dynamo.config.caching_precompile = "
        "True` saves Dynamo's code, too; torch calls it experimental.",
        "Bundle: most of what is left is kernel compilation (9.00 s of 10.0 s). The bundle has no compiled C++. Set "
        "`TORCHINDUCTOR_CACHE_DIR` to a folder that outlives the process.",
        "Warm with Dynamo's code: most of what is left is kernel compilation (200 ms of 200 ms). It loads what the "
        "caches have.",
    )
    assert found.columns["bundle"] == ("", "", "500 kB", "")
    assert found.columns["still compiled"][1] == "Net.forward: Dynamo tracing 1.00 s, kernel compilation 200 ms"
    assert "torch.compiler.load_cache_artifacts" in found.code
    bypassed = cell("warm", {"dynamo": 1.0, "compile": 3.0}, outcomes={"aotautograd": "bypass"}, reasons=("no key",))
    missed = cell("warm", {"dynamo": 1.0, "compile": 3.0}, outcomes={"fx_graph": "miss"})
    assert asked("start", cold, bypassed).notes[1] == (
        "warm: a cache was bypassed for `Net.forward` [0/0], 3.00 s at every start: no key"
    )
    assert "1 graph missed the cache: its key differs between processes." in asked("start", cold, missed).notes[0]


def test_memory_and_conditions_say_both_sides() -> None:
    row = replace(timed("inference"), eager_peak_bytes=4_000_000, compiled_peak_bytes=1_000_000)
    found = asked("memory", row)
    assert found.sentence == "At its peak, inference needs 1.00 MB compiled and 4.00 MB eagerly, 75.0 % less."
    assert found.facts == (MemoryFact("inference", 4_000_000, 1_000_000),)
    assert asked("dtype", timed("float32", ratio=SAME, compiled_s=0.002), timed("bfloat16")).sentence == (
        "Compiled is quickest with bfloat16, 1.00 ms; float32: no difference seen (0.970–1.05×); bfloat16: "
        "1.82× (1.78–1.86) faster than eager."
    )
    assert asked(
        "threads", timed("1", ratio=FASTER, compiled_s=0.002), timed("2", ratio=FASTER, compiled_s=0.001)
    ).sentence == (
        "From 1 to 2 threads eager takes 0.500× its time, compiled 0.500×; eager over compiled: "
        "1.82× (1.78–1.86) with 1, 1.82× (1.78–1.86) with 2."
    )


def test_the_knee_of_memory_against_time_and_points_that_are_not_monotonic() -> None:
    def cell(budget: str, peak: int, step_s: float, recomputed: int) -> SweepRow:
        return replace(timed(budget, compiled_s=step_s), compiled_peak_bytes=peak, saved=(peak // 2, recomputed))

    default = cell("1.0", 1_000_000, 0.010, 0)
    rows = (default, cell("0.8", 600_000, 0.0105, 5), cell("0.6", 640_000, 0.011, 9), cell("0.4", 500_000, 0.020, 20))
    found = asked("budget", *rows)
    assert found.sentence == (
        "The knee is at budget 0.8: a peak of 600 kB instead of 1.00 MB, 40.0 % less, for 10.5 ms a step instead of "
        "10.0 ms."
    )
    assert found.notes == ("Budget 0.6 needs more memory than 0.8.",)
    assert found.columns["mark"] == ("", "knee", "needs more memory than 0.8", "")
    assert found.code.endswith("activation_memory_budget = 0.8\n")
    flat = asked("budget", default, cell("0.8", 999_000, 0.010, 2))
    assert flat.sentence == "No budget lowers the peak of 1.00 MB: it is not that of saved activations."


def test_an_axis_of_ones_own_asks_what_the_preset_of_its_field_asks() -> None:
    def sweep(*axes: Axis) -> Sweep:
        return new_sweep(MLP, axes)

    assert preset_of(sweep(Axis("inputs.0.1", (1, 2)))).name == "batch"
    assert preset_of(sweep(Axis("backend", ("eager",)))).name == "backends"
    assert preset_of(sweep(Axis("seed", (1, 2)))).name == "own"
    two = sweep(Axis("backend", ("eager", "inductor")), Axis("seed", (1, 2)))
    rows = (
        replace(timed("eager", ratio=SAME), at=("eager", "1")),
        replace(timed("inductor", compiled_s=0.0001), at=("inductor", "1")),
        SweepRow(("inductor", "2"), "x", "failed", "no"),
    )
    assert answer(Question(two, rows)).sentence == (
        "Compiled is faster in 1 of 2 cells, slower in 0; the quickest is inductor, 1 with 100 µs, "
        "1.82× (1.78–1.86) faster than eager; 1 cell failed."
    )


OPTIONS: dict[str, OptionValue] = {"epilogue_fusion": False}
RUNGS = ("eager", "aot_eager", "aot_eager_decomp_partition", "inductor")


def rung(name: str, results: str = "same", error: str = "") -> SweepRow:
    return SweepRow((name,), "run", "failed" if error else "done", error=error, results="" if error else results)


def test_a_ladder_has_a_rung_for_each_part_and_the_jobs_options_on_the_last() -> None:
    (axis,) = planned("ladder", replace(MLP, compile=replace(MLP.compile, options=OPTIONS))).axes
    assert axis.named() == RUNGS
    assert axis.values[-2:] == (
        {"backend": "aot_eager_decomp_partition"},
        {"backend": "inductor", "options.epilogue_fusion": False},
    )
    (axis,) = planned("ladder", replace(MLP, compile=replace(MLP.compile, mode="max-autotune"))).axes
    assert axis.values[-1] == {"backend": "inductor", "mode": "max-autotune"}
    (axis,) = planned("ladder", replace(MLP, compile=replace(MLP.compile, backend="aot_eager"))).axes
    assert axis.named() == ("eager", "aot_eager")


def test_a_ladder_has_no_rung_that_a_visitor_may_not_use() -> None:
    plan = PRESETS["ladder"].plan(MLP, Environment(backends=("aot_eager", "eager", "inductor")))
    assert plan.axes[0].named() == ("eager", "aot_eager", "inductor")


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (
            (rung("eager"), rung("aot_eager"), rung("aot_eager_decomp_partition"), rung("inductor", "differs")),
            "`inductor` is the first rung that gives other results than eager; eager, aot_eager and "
            "aot_eager_decomp_partition give eager's results. The cause is in Inductor's passes, lowerings, fusion or "
            "generated code.",
        ),
        (
            (rung("eager"), rung("aot_eager", error="RuntimeError: no"), *map(rung, RUNGS[2:])),
            "`aot_eager` is the first rung that fails; eager gives eager's results. The cause is in AOTAutograd, which "
            "functionalizes the graphs and traces the backward.",
        ),
        (
            tuple(rung(name, error="ValueError: no") for name in RUNGS),
            "Every rung fails in the same way: the cause is in the model itself, or in Dynamo, which captures the "
            "graphs.",
        ),
        (
            (rung("eager", error="a"), *(rung(name, error="b") for name in RUNGS[1:])),
            "`eager` is the first rung that fails. The cause is in Dynamo, which captures the graphs.",
        ),
        (
            (rung("eager"), *(SweepRow((name,)) for name in RUNGS[1:])),
            "No rung fails so far with these inputs: eager gives eager's results.",
        ),
        (
            (*map(rung, RUNGS),),
            "No rung fails with these inputs: eager, aot_eager, aot_eager_decomp_partition and inductor give eager's "
            "results.",
        ),
    ],
)
def test_the_first_rung_that_fails_names_the_part(rows: tuple[SweepRow, ...], sentence: str) -> None:
    found = asked("ladder", *rows)
    assert found.sentence == sentence
    assert [isinstance(fact, RungFact) and fact.bad for fact in found.facts] == [
        bool(row.error) or row.results == "differs" for row in rows
    ]


def mitigated(name: str, results: str = "same", error: str = "", ratio: Interval | None = None) -> SweepRow:
    row = rung(name, results, error)
    return timed(name, ratio=ratio, results=results) if ratio else row


def test_mitigations_are_those_of_the_installed_torch_and_of_the_device() -> None:
    (axis,) = planned("mitigations", MLP).axes
    assert axis.named()[0] == "as it is"
    assert axis.values[0] == {}
    assert "no vector code" in axis.named()
    assert "no CUDA graphs" not in axis.named()
    (axis,) = planned("mitigations", replace(MLP, device="cuda")).axes
    assert ("no CUDA graphs" in axis.named(), "no vector code" in axis.named()) == (True, False)
    known = ConfigOption("inductor", "fallback_random", "False")
    here = Environment(backends=("inductor", "aot_eager"), options=(known,))
    (axis,) = PRESETS["mitigations"].plan(MLP, here).axes
    assert axis.named() == ("as it is", "fallback_random", "aot_eager")


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ((SweepRow(("as it is",)),), ""),
        ((mitigated("as it is", "differs"),), "As it is, the model gives other results than eager."),
        (
            (mitigated("as it is"), mitigated("eager")),
            "The model neither fails nor differs as it is: no mitigation is needed.",
        ),
        (
            (mitigated("as it is", error="ValueError: no"), mitigated("eager", "differs")),
            "As it is, the model fails; none of 1 mitigation gives eager's results.",
        ),
        (
            (
                mitigated("as it is", "differs", ratio=FASTER),
                mitigated("no fusion", "differs", ratio=SAME),
                mitigated("no vector code", ratio=SLOWER),
                mitigated("eager"),
            ),
            "As it is, the model gives other results than eager; it gives eager's results with no vector code and "
            "eager. With no vector code: 2.00× (2.00–2.00) slower than eager; as it is: 1.82× (1.78–1.86) faster than "
            "eager.",
        ),
    ],
)
def test_the_mitigations_that_work_are_named_with_the_cost_of_the_first(
    rows: tuple[SweepRow, ...], sentence: str
) -> None:
    assert asked("mitigations", *rows).sentence == sentence
    assert asked("mitigations", *rows[1:]).sentence == ""


def test_one_mode_is_no_fastest_one() -> None:
    common: dict[str, Any] = {"torch": TORCH, "device": "cpu", "kernel_names": ("relu",), "made": ("kernels", "calls")}
    alone = asked("modes", timed("default", ratio=FASTER, **common))
    assert alone.sentence == "No mode is clearly the fastest."
    slow = timed("default", ratio=SAME, compiled_s=0.002, compiled_quartiles_s=(0.0019, 0.0021), **common)
    fast = timed("lite", compiled_s=0.001, compiled_quartiles_s=(0.0009, 0.0011), **common)
    both = asked("modes", slow, fast)
    assert both.sentence.startswith("lite is the fastest mode")
