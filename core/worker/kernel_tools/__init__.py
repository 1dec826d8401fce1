"""Kernel tools: each takes a tool request and a separate directory, and returns a result.

A tool raises ToolError with the compiler's message.
"""

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.base.errors import ToolError
from core.runs.store import Run
from core.runs.tools.tasks import (
    Answer,
    Assembly,
    Configs,
    Interpret,
    Ladder,
    Passes,
    Reproduce,
    Task,
    Trouble,
    write_answer,
)
from core.worker.kernel_tools.cpp_assembly import assembly, interpret, reproduce
from core.worker.kernel_tools.triton_ladder import configs, ladder, passes
from core.worker.run import DONE

TOOLS: dict[type[Any], Callable[[Task, Path], Answer]] = {
    Ladder: ladder,
    Passes: passes,
    Configs: configs,
    Assembly: assembly,
    Reproduce: reproduce,
    Interpret: interpret,
}
MAX_DETAIL_CHARS = 20_000  #: the output of a tool


def run_tool(tool: Run, task: Task) -> int:
    """Do one tool request and store its result, which may be an error; return the exit code."""
    try:
        result = TOOLS[type(task.request)](task, tool.path)
    except ToolError as error:
        message, _, detail = str(error).partition("\n")
        result = Trouble(message, detail[-MAX_DETAIL_CHARS:])
    except Exception as error:
        trace = "".join(traceback.format_exception(error))
        result = Trouble(f"{type(error).__name__}: {error}".split("\n")[0][:600], trace[-MAX_DETAIL_CHARS:])
    write_answer(tool, result)
    return DONE
