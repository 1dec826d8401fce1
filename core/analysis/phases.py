"""Where compile time went: torch's phases in the classes that have a colour."""

from __future__ import annotations

from dataclasses import dataclass

from core.report import Phase

CLASSES = (
    ("compile", ("compile_file", "async_compile", "triton", "load_by_key_path", "PyCodeCache", "precompile")),
    ("codegen", ("code_gen", "GraphLowering.codegen", "GraphLowering.compile_to", "Scheduler", "PythonWrapperCodegen")),
    ("inductor", ("inductor", "fx_codegen", "compile_fx", "GraphLowering", "pass.", "_recursive_", "pad_mm", "joint_", "post_grad", "pre_grad")),
    ("aot_autograd", ("create_aot", "aot_", "aot", "AOT", "backward_state", "min_cut", "partition")),
    ("dynamo", ("dynamo", "entire_frame", "compile_attempt", "bytecode", "build_guards", "backend_compile", "entire_backward", "fullgraph_capture", "symbolic", "pgo", "get_user")),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PhaseTotal:
    """All spans of one name in one compilation: how many, seconds in all, and seconds outside of their own children."""

    name: str
    compilation: str
    count: int
    total_s: float
    self_s: float


def phase_class(name: str) -> str:
    """dynamo, aot_autograd, inductor, codegen, compile, or other."""
    return next((kind for kind, prefixes in CLASSES if name.startswith(prefixes)), "other")


def phase_totals(phases: tuple[Phase, ...]) -> tuple[PhaseTotal, ...]:
    """Sums by name and compilation, the most time of its own first; spans that never ended are left out."""
    own = _self_times(phases)
    sums: dict[tuple[str, str], list[float]] = {}
    for index, phase in enumerate(phases):
        if phase.duration_s is not None:
            entry = sums.setdefault((phase.name, phase.compilation), [0, 0.0, 0.0])
            entry[0] += 1
            entry[1] += phase.duration_s
            entry[2] += own[index]
    found = [PhaseTotal(name, item, int(count), total, self) for (name, item), (count, total, self) in sums.items()]
    return tuple(sorted(found, key=lambda total: -total.self_s))


def _self_times(phases: tuple[Phase, ...]) -> list[float]:
    """Seconds of each span that none of its children covers. Spans are in the order in which they began."""
    own = [phase.duration_s or 0.0 for phase in phases]
    stack: list[int] = []
    for index, phase in enumerate(phases):
        del stack[phase.depth :]
        if stack and phase.duration_s is not None:
            own[stack[-1]] -= phase.duration_s
        stack.append(index)
    return [max(0.0, seconds) for seconds in own]
