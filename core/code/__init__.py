"""Generated code and compiler output: definitions, calls, loops, resources, locations, differences."""

from core.code.cpp import CppFacts, cpp_facts
from core.code.diff import TextDiff, diff_texts, without_locations
from core.code.memory_plan import MemoryPlan, PlannedMemory
from core.code.output_code import AROUND_CALL, kernel_code, lines_of
from core.code.stages import Residency, occupancy, residency

__all__ = [
    "AROUND_CALL",
    "CppFacts",
    "MemoryPlan",
    "PlannedMemory",
    "Residency",
    "TextDiff",
    "cpp_facts",
    "diff_texts",
    "kernel_code",
    "lines_of",
    "occupancy",
    "residency",
    "without_locations",
]
