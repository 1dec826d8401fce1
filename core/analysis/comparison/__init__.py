"""Comparison of two runs: options, compiled graphs and kernels, and times."""

from core.analysis.comparison.compilations import (
    CompilationComparison,
    GraphDifference,
    kernel_comparison,
)
from core.analysis.comparison.figures import Figure, PhasePair, TimeComparison
from core.analysis.comparison.graphs import BOTH, Change, GraphUnion, UnionNode, graph_union
from core.analysis.comparison.matching import GuardDifference, MatchedPair, OptionDifference, RunSide, SourceDifference
from core.analysis.comparison.run import (
    RunComparison,
    compare_runs,
    comparison_data,
    comparison_sentence,
    differs,
    seconds_words,
    speed_words,
)

__all__ = [
    "BOTH",
    "Change",
    "CompilationComparison",
    "Figure",
    "GraphDifference",
    "GraphUnion",
    "GuardDifference",
    "MatchedPair",
    "OptionDifference",
    "PhasePair",
    "RunComparison",
    "RunSide",
    "SourceDifference",
    "TimeComparison",
    "UnionNode",
    "compare_runs",
    "comparison_data",
    "comparison_sentence",
    "differs",
    "graph_union",
    "kernel_comparison",
    "seconds_words",
    "speed_words",
]
