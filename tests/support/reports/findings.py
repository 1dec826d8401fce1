"""Reports that make a finding's rule fire, one for each rule."""

from dataclasses import replace
from typing import Any

from core.analysis.findings import Finding, findings
from core.report import (
    CacheEvent,
    Call,
    Compilation,
    Counters,
    Difference,
    EntryPoint,
    Execution,
    Frame,
    FusionRound,
    FxGraph,
    GraphBreak,
    Guard,
    Kernel,
    KernelCall,
    KernelTime,
    Payload,
    Phase,
    Place,
    RemarkKind,
    RepeatedLine,
    Report,
    RunError,
    Schedule,
    SchedulerNode,
    Script,
    Setting,
    SideTimes,
    Source,
    SourceRemark,
    Stage,
)
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.reports.timed import GELU, ITEM, MM, REPORT, SCHEDULE, kernel, node

QUIET = Report(Setting(job={}))


def frame(number: str, name: str = "forward", status: str = "ok", **fields: Any) -> Compilation:
    made = {"attempts": 1, "error": "", "graphs": (), "guards": (), "guard_latency_us": None, "symbols": ()}
    made |= {"schedules": (), "kernels": (), "stack": ()}
    return Compilation(id=number, frame=Frame("m.py", 3, name), status=status, **{**made, **fields})  # type: ignore[arg-type]


def compiling(**seconds: float) -> tuple[Phase, ...]:
    """Phases one after the other: `a0_1` is compilation 0/1."""
    found, at_us = [], 0.0
    for name, taken in seconds.items():
        end_us = at_us + 1e6 * taken
        found.append(Phase("compile_file", name.removeprefix("a").replace("_", "/"), at_us, end_us, 0))
        at_us = end_us
    return tuple(found)


def of(report: Report, rule: str) -> list[Finding]:
    return [finding for finding in findings(report) if finding.rule.partition(":")[0] == rule]


STEADY = SideTimes({"eager": (2e-3,) * 12, "compiled": (1e-3,) * 12})


def timed(name: str, seconds: float, ops: tuple[str, ...], *, extern: bool = False, **fields: Any) -> Any:
    call = KernelCall(40 + len(name), KernelTime(1, (seconds, seconds), 1, (seconds,), "warm"))
    return kernel(name, call, origins=ops, extern=extern, **fields)


def with_kernels(*kernels: Any, **job: Any) -> Report:
    return replace(REPORT, compilations=(replace(ITEM, kernels=kernels),), setting=Setting(job=job), timing=None)


def call(*differences: Difference) -> tuple[Call, ...]:
    return (Call(0, "f32[2]", 1.0, 1.0, differences, {"output": 1}),)


def failing(error_type: str, error: str) -> Report:
    lost = frame("0/0", status="failed", error=error, error_type=error_type, error_place=Place("m.py", 7))
    broken = GraphBreak("no", "", (), "", "", Place("m.py", 7), "", (), ("0/0",))
    return replace(QUIET, compilations=(lost,), graph_breaks=(broken,))


def in_float64() -> Report:
    buffers = tuple(replace(buffer, dtype="float64") for buffer in SCHEDULE.buffers)
    item = replace(ITEM, schedules=(replace(SCHEDULE, buffers=buffers),), kernels=(GELU,))
    return replace(REPORT, compilations=(item,))


def unfused(
    reason: str, shared: int = 100, origins: tuple[str, ...] = ("slice_1",), sizes: tuple[int, int] = (90, 100)
) -> Report:
    """Two kernels that read one buffer, which torch tried together and refused."""
    reads = (("a", shared),)
    one, other = (
        SchedulerNode(
            name, "SchedulerNode", (name,), ("Pointwise",), reads, (), origins, None, "cpu", owner, iterations=size
        )
        for name, owner, size in zip(("op0", "op1"), (GELU.id, "other"), sizes, strict=True)
    )
    wide = replace(one, name="op2", nodes=("op2",), reads=(("b", 1_000),))
    nodes = (one, other, wide)
    schedule = Schedule(
        0, "inference", nodes, nodes, (FusionRound((), (("op0", "op1", reason),)),), (), {}, one_count=True
    )
    return replace(QUIET, compilations=(frame("0/0", schedules=(schedule,), kernels=(GELU,)),))


def with_tf32(precision: str = "highest", has_tf32: bool = True) -> Report:
    """A product of float32 on a device with TF32."""
    schedule = replace(SCHEDULE, before=(*SCHEDULE.before, node("op1", MM, ("mm",))))
    counters = Counters({}, {}, float32_matmul_precision=precision, has_tf32=has_tf32)
    return replace(REPORT, compilations=(replace(ITEM, schedules=(schedule,)),), counters=counters)


def asking(kind: RemarkKind = "asks whether it is compiled", line: int = 5) -> Source:
    """The model's own file, with a line that matters."""
    remark = SourceRemark(kind, Frame("m.py", line, text="if torch.compiler.is_compiling():"))
    return Source("m.py", Payload(0, 0), (remark,))


def taken_apart() -> Report:
    """A call of attention that AOTAutograd has made products and a softmax of."""
    products = {"torch.ops.aten.bmm.default": 2, "torch.ops.aten.exp.default": 1}
    stages: dict[Stage, dict[str, int]] = {
        "dynamo_output_graph": {"torch._C._nn.scaled_dot_product_attention": 1},
        "aot_inference_graph": products,
    }
    graphs = tuple(
        FxGraph(stage, stage, "inference", 0, Payload(0, 0), {"call_function": 3}, targets)
        for stage, targets in stages.items()
    )
    return replace(QUIET, compilations=(frame("0/0", graphs=graphs),))


FALLS_BACK = "`conv` is falling back to its reference implementation because `fast` is not installed: 10 times slower"
# What the run of a report printed.
OUTPUTS = {"printed": f"{FALLS_BACK}\n{FALLS_BACK}\n"}
DOUBLES = (
    "check_tensor(___from_numpy(L['x']), Tensor, Keys(CPU), torch.float64, device=None, size=[{}, 2], stride=[2, 1])"
)
SOURCES = {
    "compiler reset": "torch._dynamo.reset()",
    "first call timed": "fast = torch.compile(f)\nstart = time.time()\nfast(x)\nprint(time.time() - start)\n",
    "results may differ": "def f(x):\n    with autocast('cpu', enabled=False):\n        return x @ w\n"
    "with autocast('cpu'):\n    y = f(x)\ny.backward()\n",
}


def twice(*seconds: float) -> Kernel:
    """One kernel with several calls, each of which took so long."""
    calls = (KernelCall(10 + at, KernelTime(1, (one, one), 1, (one,), "warm")) for at, one in enumerate(seconds))
    return replace(GELU, calls=tuple(calls))


def redrawn(backward: dict[str, int]) -> Report:
    """A trained model with dropout, whose backward has these random ops."""
    seeded = {"torch.ops.prims.inductor_seeds.default": 1, "torch.ops.prims.inductor_random.default": 1}
    stages = (
        ("joint", {"torch.ops.aten.rand.default": 1}),
        ("forward", seeded),
        ("backward", backward),
    )
    graphs = tuple(
        FxGraph(f"aot_{name}_graph", f"aot_{name}_graph", name, 0, Payload(0, 0), {}, targets)  # type: ignore[arg-type]
        for name, targets in stages
    )
    return replace(QUIET, compilations=(frame("0/0", graphs=graphs),))


def converted() -> Report:
    """A kernel that writes a weight of int8 in float32."""
    guard = Guard("TENSOR_MATCH", "", f"check_tensor({WEIGHT}, Tensor, DispatchKeySet(CPU), torch.int8, {SIZE})", 0)
    written = replace(node("op0", GELU, ("convert_element_type", "erf")), reads=(("arg0", 1_000),))
    buffers = (replace(SCHEDULE.buffers[0], dtype="int8"), SCHEDULE.buffers[1])
    schedule = replace(SCHEDULE, after=(written,), buffers=buffers)
    return replace(REPORT, compilations=(replace(ITEM, guards=(guard,), schedules=(schedule,)),))


WEIGHT, SIZE = "L['self']._modules['up']._buffers['weight']", "device=None, size=[10, 100], stride=[100, 1]"
FIRES: dict[str, Report] = {
    "weights converted": converted(),
    "backward draws": redrawn(
        {"torch.ops.prims.inductor_seeds.default": 1, "torch.ops.prims.inductor_random.default": 1}
    ),
    "not compiled: failed": failing("BackendCompilerFailed", "backend='broken' raised"),
    "not compiled: over the limit": failing("RecompileLimitExceeded", "hit config.recompile_limit (8)"),
    "not compiled: given up": failing("Unsupported", "what Dynamo cannot trace"),
    "results differ": replace(QUIET, calls=call(Difference("output", False, actual="off"))),
    "near the recompile limit": replace(
        QUIET,
        compilations=tuple(frame(f"0/{index}") for index in range(7)),
        counters=Counters({}, {}, recompile_limit=8),
    ),
    "graph breaks": recorded_report(TRACES / "error" / "trace.log"),
    "recompiles": recorded_report(TRACES / "recompile_zoo" / "trace.log"),
    "slower than eager": replace(QUIET, timing=SideTimes({"eager": (1e-3,) * 12, "compiled": (2e-3,) * 12})),
    "outside of kernels": replace(REPORT, back_to_back_s=(20e-3,)),
    "guards": replace(QUIET, compilations=(frame("0/0", guard_warm_us=500.0),), timing=STEADY),
    "products at the roofline": REPORT,
    "times not reliable": with_kernels(twice(1e-3, 4e-3)),
    "fallbacks": with_kernels(GELU, timed("aten.cummax", 1e-3, ("cummax",), extern=True)),
    "copies": with_kernels(GELU, timed("cpp_fused_clone_3", 1e-3, ("clone",))),
    "float64": in_float64(),
    "TF32 off": with_tf32(),
    "missed fusion": unfused("numel/rnumel mismatch (reduce) (64, 1), (10, 64)"),
    "first call": replace(QUIET, phases=compiling(a0_0=5.0)),
    "not called": replace(
        QUIET,
        compilations=(),
        script=Script((), 0, 1.0, entries=(EntryPoint("Flow", Place("m.py", 7), "inductor"),), calls=(0,)),
    ),
    "empty first call": replace(QUIET, compilations=(frame("0/0", status="empty"),), calls=2 * call()),
    "nothing compiled": replace(
        QUIET,
        compilations=(),
        script=Script((), 0, 1.0, entries=(EntryPoint("Flow", Place("m.py", 7), "inductor"),), calls=(1,)),
        calls=(Call(0, "f32[2]", None, 1.0, (), stance="force_eager"),),
    ),
    "results may differ": replace(
        QUIET,
        compilations=(
            frame(
                "0/0",
                graphs=(
                    FxGraph(
                        "0/0",
                        "dynamo_output_graph",
                        "forward",
                        0,
                        Payload(0, 0),
                        {},
                        targets={"torch.amp._enter_autocast": 1},
                    ),
                ),
            ),
        ),
        script=Script((), 0, 1.0, entries=(EntryPoint("f", Place("m.py", 1), "inductor"),), calls=(1,)),
    ),
    "first call timed": replace(
        QUIET,
        compilations=(frame("0/0"),),
        phases=compiling(a0_0=1.5),
        script=Script((), 0, 2.0, entries=(EntryPoint("f", Place("m.py", 1), "eager"),), calls=(1,)),
    ),
    "float64 inputs": replace(
        QUIET, compilations=(frame("0/0", guards=(Guard("TENSOR_MATCH", "L['x']", DOUBLES.format(40000), 1),)),)
    ),
    "raised in a script": replace(
        QUIET,
        compilations=(),
        script=Script((), 1, 1.0, entries=(), calls=()),
        error=RunError("running the script", "ValueError", "", "4 is odd", (Frame("m.py", 9),), ""),
    ),
    "raised at run time": replace(
        QUIET,
        compilations=(frame("0/0"),),
        error=RunError("call 0: compiled", "AssertionError", "", "wrong stride\nError in op: torch.ops.mine", (), ""),
    ),
    "raised in eager": replace(QUIET, error=RunError("call 0: eager", "IndexError", "", "out of bounds", (), "")),
    "backend raised": replace(
        QUIET, executions=(Execution("0/0", 0, 0, 1e-3, (), (), "raised TypeError: run() takes 1 positional argument"),)
    ),
    "sample size": replace(
        QUIET,
        error=RunError(
            "export",
            "UserError",
            "",
            "You marked batch as dynamic but your code specialized it to be a constant (1).",
            (),
            "",
        ),
    ),
    "compiler reset": replace(
        QUIET, compilations=(frame("0/0"), frame("2:0/0"), frame("3:0/0")), phases=compiling(a0_0=1.0)
    ),
    "unrolled loop": replace(
        QUIET,
        compilations=(
            frame(
                "0/0",
                graphs=(
                    FxGraph(
                        "dynamo_output_graph",
                        "dynamo_output_graph",
                        "",
                        0,
                        Payload(0, 0),
                        {"call_function": 100},
                        repeated=RepeatedLine(Place("m.py", 7, "step"), 16, 64),
                    ),
                ),
            ),
        ),
        phases=compiling(a0_0=5.0),
    ),
    "backward captured again": replace(
        QUIET, compilations=(frame("!0"), frame("!1")), phases=compiling(**{"!0": 1.0, "!1": 2.0})
    ),
    "cache bypassed": replace(
        QUIET,
        caches=(CacheEvent("aotautograd", "bypass", "0/0", "", "Unsupported call_function target _enter_autocast"),),
    ),
    "asks whether it is compiled": replace(QUIET, sources=(asking(),)),
    "TORCH_LOGS set too late": replace(QUIET, sources=(asking("sets TORCH_LOGS"),)),
    "attention decomposed": taken_apart(),
    "printed": QUIET,
    "other strides": replace(
        QUIET, calls=call(Difference("output", True), Difference("output", False, "strides", "[4, 1]", "[1, 2]"))
    ),
    "rounds otherwise": replace(
        QUIET,
        setting=Setting(job={"compile": {"backend": "inductor"}}),
        calls=call(Difference("output", True, actual="off by 0.03", reason="eager is about as far", dtype="bfloat16")),
    ),
    "random numbers": replace(QUIET, calls=call(Difference("output", None, reason="the call draws random numbers"))),
    "CUDA graphs skipped": replace(QUIET, counters=Counters({"inductor": {"cudagraph_skips": 2}}, {})),
}
