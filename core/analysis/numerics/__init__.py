"""Accuracy of compiled and eager results, both compared with float64, in words."""

from core.analysis.numerics.nodes import (
    STANDINGS,
    GraphStanding,
    first_inaccurate,
    graph_sentence,
    left_out_words,
    node_errors,
    node_standings,
    node_words,
    numerics_lines,
    numerics_of,
    outputs_words,
)
from core.analysis.numerics.results import (
    Numerics,
    ResultStanding,
    narrowed_words,
    numerics,
    numerics_sentence,
    result_standings,
)
from core.analysis.numerics.standing import Standing, of_tolerance, standing

__all__ = [
    "STANDINGS",
    "GraphStanding",
    "Numerics",
    "ResultStanding",
    "Standing",
    "first_inaccurate",
    "graph_sentence",
    "left_out_words",
    "narrowed_words",
    "node_errors",
    "node_standings",
    "node_words",
    "numerics",
    "numerics_lines",
    "numerics_of",
    "numerics_sentence",
    "of_tolerance",
    "outputs_words",
    "result_standings",
    "standing",
]
