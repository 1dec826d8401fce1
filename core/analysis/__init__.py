"""Questions over a Report. Pure functions."""

from core.analysis.op_class import OP_CLASSES, op_class
from core.analysis.speed import Speed, break_even_calls, speed
from core.analysis.verdict import Verdict, sentence, verdict

__all__ = [
    "OP_CLASSES",
    "Speed",
    "Verdict",
    "break_even_calls",
    "op_class",
    "sentence",
    "speed",
    "verdict",
]
