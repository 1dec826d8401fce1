"""Kernel tools on one kernel of a stored run, on request: requests, results, and their storage."""

from core.code.cpp import Loop, Region
from core.code.resources import Resources
from core.job.targets import TARGETS
from core.runs.tools.answers import (
    Answer,
    AssemblyAnswer,
    CachedFile,
    ConfigFigures,
    ConfigsAnswer,
    InterpretAnswer,
    LadderAnswer,
    PassChange,
    PassesAnswer,
    ReproduceAnswer,
    Rung,
    TouchedElements,
    Trouble,
)
from core.runs.tools.ask import find_kernel, reproduction_of, task_for
from core.runs.tools.requests import Assembly, Configs, Interpret, Ladder, Passes, Reproduce, Request
from core.runs.tools.tasks import Task, create, forget, has_answer, read_task, result, tool_run, write_answer

__all__ = [
    "TARGETS",
    "Answer",
    "Assembly",
    "AssemblyAnswer",
    "CachedFile",
    "ConfigFigures",
    "Configs",
    "ConfigsAnswer",
    "Interpret",
    "InterpretAnswer",
    "Ladder",
    "LadderAnswer",
    "Loop",
    "PassChange",
    "Passes",
    "PassesAnswer",
    "Region",
    "Reproduce",
    "ReproduceAnswer",
    "Request",
    "Resources",
    "Rung",
    "Task",
    "TouchedElements",
    "Trouble",
    "create",
    "find_kernel",
    "forget",
    "has_answer",
    "read_task",
    "reproduction_of",
    "result",
    "task_for",
    "tool_run",
    "write_answer",
]
