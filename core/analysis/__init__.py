"""Questions over a Report. Pure functions."""

from core.analysis.comparison import ASPECTS, Comparison, KernelPair, KernelSide, Side, compare
from core.analysis.cpp_facts import CppFacts, cpp_facts
from core.analysis.disturbance import busy, kernels_disturbed
from core.analysis.failures import Failure, FailureKind, failure_counts, failure_sentence, failures
from core.analysis.film import FilmEdge, FilmNode, Segment, film, graph_at
from core.analysis.frames import FilmFrame
from core.analysis.fusion import Step, groups_after, kernel_groups, rejections, steps
from core.analysis.interval import Interval, median_ratio
from core.analysis.kernel_time import kernel_seconds
from core.analysis.ledger import LedgerRow, direction, kernel_kind, ledger
from core.analysis.ledger_sum import LedgerSum, summary
from core.analysis.occupancy import Residency, occupancy, residency
from core.analysis.op_class import OP_CLASSES, aten_name, op_class
from core.analysis.partition import partitions, saved_bytes, saved_values, tensor_bytes
from core.analysis.phases import PhaseTotal, compile_seconds, phase_class, phase_totals
from core.analysis.results import Results, compared_words, difference_words, results, results_words
from core.analysis.roofline import allowed_s, ceilings, peak_flops, ridge
from core.analysis.rungs import TextDiff, diff_texts, without_locations
from core.analysis.speed import Speed, break_even_calls, compile_cost_s, speed
from core.analysis.target import ended_words, target_of, target_words
from core.analysis.verdict import Verdict, ordinal, pays_words, sentence, verdict
from core.analysis.why_apart import WhyApart, reasons_between, refused_pair, why_apart
from core.analysis.work import (
    UNEVEN,
    Traffic,
    Work,
    counted_words,
    distinct_kernels,
    kernel_words,
    saved_words,
    scheduled_graphs,
    traffic_within,
    traffic_words,
    work_words,
)

__all__ = [
    "ASPECTS",
    "OP_CLASSES",
    "UNEVEN",
    "Comparison",
    "CppFacts",
    "Failure",
    "FailureKind",
    "FilmEdge",
    "FilmFrame",
    "FilmNode",
    "Interval",
    "KernelPair",
    "KernelSide",
    "LedgerRow",
    "LedgerSum",
    "PhaseTotal",
    "Residency",
    "Results",
    "Segment",
    "Side",
    "Speed",
    "Step",
    "TextDiff",
    "Traffic",
    "Verdict",
    "WhyApart",
    "Work",
    "allowed_s",
    "aten_name",
    "break_even_calls",
    "busy",
    "ceilings",
    "compare",
    "compared_words",
    "compile_cost_s",
    "compile_seconds",
    "counted_words",
    "cpp_facts",
    "diff_texts",
    "difference_words",
    "direction",
    "distinct_kernels",
    "ended_words",
    "failure_counts",
    "failure_sentence",
    "failures",
    "film",
    "graph_at",
    "groups_after",
    "kernel_groups",
    "kernel_kind",
    "kernel_seconds",
    "kernel_words",
    "kernels_disturbed",
    "ledger",
    "median_ratio",
    "occupancy",
    "op_class",
    "ordinal",
    "partitions",
    "pays_words",
    "peak_flops",
    "phase_class",
    "phase_totals",
    "reasons_between",
    "refused_pair",
    "rejections",
    "residency",
    "results",
    "results_words",
    "ridge",
    "saved_bytes",
    "saved_values",
    "saved_words",
    "scheduled_graphs",
    "sentence",
    "speed",
    "steps",
    "summary",
    "target_of",
    "target_words",
    "tensor_bytes",
    "traffic_within",
    "traffic_words",
    "verdict",
    "why_apart",
    "without_locations",
    "work_words",
]
