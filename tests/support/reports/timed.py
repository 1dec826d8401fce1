"""A compilation of two timed kernels, gelu and a matrix product, with the ceilings of a CPU."""

from dataclasses import replace

from core.report import (
    Bandwidth,
    Buffer,
    Compilation,
    Frame,
    Kernel,
    KernelCall,
    KernelTime,
    Module,
    Payload,
    Report,
    Roofline,
    Schedule,
    SchedulerNode,
    Setting,
    SideTimes,
    WrapperTime,
)

LIMITS = Roofline(
    device="a CPU",
    source="measured",
    bandwidths=(Bandwidth("L3 cache", 1_000_000, 100e9), Bandwidth("memory", None, 10e9)),
    flops_s={"float32": 1e12},
    how="by hand",
)
LINE = Frame("model.py", 7, "forward", "y = x @ w")


def kernel(name: str, *calls: KernelCall, extern: bool = False, **fields: object) -> Kernel:
    suffix = f"#{calls[0].line}" if extern else ""
    return Kernel(
        id=f"0/0.inference.{name}{suffix}",
        name=name,
        direction="inference",
        language="extern" if extern else "cpp",
        extern=extern,
        category="extern" if extern else "C++ loops",
        graph="inductor_post_grad_graph.inference",
        nodes=(),
        lines=(1, 2),
        calls=calls,
        stacks=(LINE,),
        output_code=Payload(0, 0),
        **{"origins": (), **fields},  # type: ignore[arg-type]
    )


def node(name: str, owner: Kernel, origins: tuple[str, ...]) -> SchedulerNode:
    return SchedulerNode(
        name,
        "SchedulerNode",
        (name,),
        ("Pointwise",),
        (("arg0", 4_000),),
        (("buf0", 4_000),),
        origins,
        None,
        "cpu",
        owner.id,
        iterations=250,
    )


TIMED = KernelTime(2, (0.9e-3, 1.0e-3, 1.1e-3), 1, (2.2e-3,), "warm")
GELU = kernel(
    "cpp_fused_gelu_0",
    KernelCall(10, TIMED),
    origins=("view", "mul_1", "erf"),
    bytes_read=4_000_000,
    bytes_written=4_000_000,
)
MM = kernel(
    "extern_kernels.mm",
    KernelCall(20, KernelTime(1, (2.5e-3, 2.5e-3), 1, (3e-3,), "warm")),
    extern=True,
    origins=("mm",),
    bytes_read=50_000,
    bytes_written=50_000,
    flops=2_000_000_000,
)
SCHEDULE = Schedule(
    graph_id=0,
    direction="inference",
    before=(node("op0", GELU, ("view", "mul_1", "erf")),),
    after=(),
    rounds=(),
    buffers=(
        Buffer("arg0", "float32", ("10", "100"), ("100", "1"), True, False),
        Buffer("buf0", "float32", ("10", "100"), ("100", "1"), False, True),
    ),
    modules={"mm": Module("L['self'].up", "Linear"), "erf": Module("L['self']", "MLP")},
)
ITEM = Compilation(
    id="0/0",
    frame=LINE,
    stack=(),
    attempts=1,
    status="ok",
    error="",
    graphs=(),
    guards=(),
    guard_latency_us=None,
    symbols=(),
    schedules=(SCHEDULE,),
    kernels=(GELU, MM),
    wrapper_times=(WrapperTime("inference", (5.4e-3,), 1),),
)
UNTIMED = replace(ITEM, kernels=(replace(GELU, calls=(KernelCall(10),)), replace(MM, calls=(KernelCall(20),))))
TIMING = SideTimes({"eager": (9e-3,) * 4, "compiled": (6e-3,) * 4})
REPORT = Report(Setting(torch="2.13.0", job={}), (ITEM,), timing=TIMING, roofline=LIMITS, back_to_back_s=(5.8e-3,))
