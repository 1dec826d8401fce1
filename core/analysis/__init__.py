"""Questions over a Report. Pure functions."""

from core.analysis.breaks import BreakCost, break_costs
from core.analysis.bytecode import Instruction, instructions, resume_compilations
from core.analysis.compilations import Entry, compilation_tree, flattened, scope_words, tree_sentence
from core.analysis.disturbance import busy, kernels_disturbed
from core.analysis.failures import Failure, FailureKind, failure_counts, failure_sentence, failures
from core.analysis.film import FilmEdge, FilmNode, Segment, film, graph_at
from core.analysis.frame_names import frame_names
from core.analysis.frames import FilmStep
from core.analysis.fusion import Step, groups_after, kernel_groups, rejections, steps, working_ops
from core.analysis.guards import GuardFamilyShare, GuardRow, guard_families, guard_rows, guards_on, mentions
from core.analysis.interval import Interval, median_ratio
from core.analysis.partition import partitions, saved_bytes, saved_values, tensor_bytes
from core.analysis.phases import (
    COMPILE_TIME,
    PhaseTotal,
    compile_seconds,
    compile_time_s,
    parallel_totals,
    phase_class,
    phase_totals,
    self_seconds,
)
from core.analysis.pipeline import memory_words, pipeline_lines, pipeline_sentence, pipelines
from core.analysis.recompiles import CallUse, FrameLineage, LineageNode, RecompileEdge, lineage, lineages
from core.analysis.results import Results, compared_words, difference_words, results, results_words
from core.analysis.speed import Speed, break_even_calls, compile_cost_s, speed
from core.analysis.symbols import SymbolRow, symbol_rows, users_frames
from core.analysis.target import ended_words, target_of, target_words
from core.analysis.verdict import Verdict, pays_words, sentence, verdict
from core.analysis.why_apart import WhyApart, reasons_between, refused_pair, why_apart
from core.analysis.work import (
    UNEVEN,
    Traffic,
    Work,
    captured_ops,
    computing_ops,
    counted_words,
    distinct_kernels,
    heaviest,
    kernel_words,
    saved_words,
    traffic_within,
    traffic_words,
    work_words,
)

__all__ = [
    "COMPILE_TIME",
    "UNEVEN",
    "BreakCost",
    "CallUse",
    "Entry",
    "Failure",
    "FailureKind",
    "FilmEdge",
    "FilmNode",
    "FilmStep",
    "FrameLineage",
    "GuardFamilyShare",
    "GuardRow",
    "Instruction",
    "Interval",
    "LineageNode",
    "PhaseTotal",
    "RecompileEdge",
    "Results",
    "Segment",
    "Speed",
    "Step",
    "SymbolRow",
    "Traffic",
    "Verdict",
    "WhyApart",
    "Work",
    "break_costs",
    "break_even_calls",
    "busy",
    "captured_ops",
    "compared_words",
    "compilation_tree",
    "compile_cost_s",
    "compile_seconds",
    "compile_time_s",
    "computing_ops",
    "counted_words",
    "difference_words",
    "distinct_kernels",
    "ended_words",
    "failure_counts",
    "failure_sentence",
    "failures",
    "film",
    "flattened",
    "frame_names",
    "graph_at",
    "groups_after",
    "guard_families",
    "guard_rows",
    "guards_on",
    "heaviest",
    "instructions",
    "kernel_groups",
    "kernel_words",
    "kernels_disturbed",
    "lineage",
    "lineages",
    "median_ratio",
    "memory_words",
    "mentions",
    "parallel_totals",
    "partitions",
    "pays_words",
    "phase_class",
    "phase_totals",
    "pipeline_lines",
    "pipeline_sentence",
    "pipelines",
    "reasons_between",
    "refused_pair",
    "rejections",
    "results",
    "results_words",
    "resume_compilations",
    "saved_bytes",
    "saved_values",
    "saved_words",
    "scope_words",
    "self_seconds",
    "sentence",
    "speed",
    "steps",
    "symbol_rows",
    "target_of",
    "target_words",
    "tensor_bytes",
    "traffic_within",
    "traffic_words",
    "tree_sentence",
    "users_frames",
    "verdict",
    "why_apart",
    "work_words",
    "working_ops",
]
