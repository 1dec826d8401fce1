"""Questions over a Report. Pure functions."""

from core.analysis.fusion import Step, groups_after, kernel_groups, reasons_between, rejections, shared_bytes, steps
from core.analysis.op_class import OP_CLASSES, aten_name, op_class
from core.analysis.phases import PhaseTotal, phase_class, phase_totals
from core.analysis.speed import Speed, break_even_calls, compile_cost_s, speed
from core.analysis.verdict import Verdict, ordinal, scheduled_graphs, sentence, verdict

__all__ = [
    "OP_CLASSES",
    "PhaseTotal",
    "Speed",
    "Step",
    "Verdict",
    "aten_name",
    "break_even_calls",
    "compile_cost_s",
    "groups_after",
    "kernel_groups",
    "op_class",
    "ordinal",
    "phase_class",
    "phase_totals",
    "reasons_between",
    "rejections",
    "scheduled_graphs",
    "sentence",
    "shared_bytes",
    "speed",
    "steps",
    "verdict",
]
