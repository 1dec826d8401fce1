"""Exercises: models that are broken in one way, each with the checks that a solution passes.

An exercise is a file in `core/samples/exercises/`, whose docstring has the title and the task, and a row of
`EXERCISES`. A solution is compiled, and compared with the exercise's own code in eager.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from core.base.errors import JobError
from core.base.syntax import module
from core.job.model import CompileJob, CompileOptions, Model

FILES = Path(__file__).parents[1] / "samples" / "exercises"
# Enough where Inductor has no part in the fault, and fast.
UP_TO_ATEN = CompileOptions(backend="aot_eager")


@dataclass(frozen=True, slots=True)
class Exercise:
    """A broken model. `name` is the name of its file, and `hints` are shown one after the other, as Markdown.

    `checks` are limits by the names of the checks in `core.views.exercises`; `compile` and `training` are set by the
    exercise, whatever the solution's code says.
    """

    name: str
    topic: str
    checks: Mapping[str, int]
    hints: tuple[str, ...]
    compile: CompileOptions = field(default_factory=CompileOptions)
    training: bool = False

    @property
    def title(self) -> str:
        """The first line of its docstring."""
        return _docstring(self.name).partition("\n")[0]

    @property
    def task(self) -> str:
        """The rest of its docstring."""
        return " ".join(_docstring(self.name).partition("\n")[2].split())

    @property
    def code(self) -> str:
        """The broken code: the file without its docstring."""
        return _code(self.name)

    def job(self, code: str) -> CompileJob:
        """Return the job that checks a solution."""
        job = CompileJob(Model("code", code), training=self.training, compile=self.compile, exercise=self.name)
        return replace(job, measure=False, from_file=())

    def is_checked_by(self, job: CompileJob) -> bool:
        """Return True if a job checks a solution of this exercise, within any limits."""
        check = self.job(job.model.value)
        return job == replace(check, time_limit_s=job.time_limit_s, memory_limit_bytes=job.memory_limit_bytes)


def exercise(name: str) -> Exercise:
    """Return the exercise with a name; raises JobError, with the most similar name, if there is none."""
    if name in BY_NAME:
        return BY_NAME[name]
    close = difflib.get_close_matches(name[:100], BY_NAME, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(BY_NAME)}"
    raise JobError("exercise", f"there is no exercise `{name[:100]}`; {hint}")


def exercise_problem(name: str) -> str:
    """Return why this can't be an exercise's name, in any version; empty if it can, or if there is none."""
    return "" if re.fullmatch(r"\w{0,100}", name) else f"`{name[:60]}` is no name of an exercise"


@cache
def _docstring(name: str) -> str:
    return ast.get_docstring(module(_text(name))) or ""


@cache
def _code(name: str) -> str:
    text = _text(name)
    end = module(text).body[0].end_lineno or 0
    return "\n".join(text.splitlines()[end:]).strip() + "\n"


def _text(name: str) -> str:
    return (FILES / f"{name}.py").read_text(encoding="utf-8")


# From easy to hard, by the order of the steps in torch.compile.
EXERCISES = (
    Exercise(
        "print_inside",
        "Graph breaks",
        {"calls": 1, "captured_ops": 3, "graph_breaks": 0},
        ("`print` needs the values of `y`, and a graph has values only when it runs.", "Delete the line."),
        UP_TO_ATEN,
    ),
    Exercise(
        "number_from_tensor",
        "Graph breaks",
        {"calls": 1, "captured_ops": 3, "graph_breaks": 0},
        (
            "`.item()` moves a value from the graph into Python: Dynamo ends the graph there.",
            "Stay with tensors: `torch.sqrt` takes one, and `x` can be divided by a tensor with one element.",
        ),
        UP_TO_ATEN,
    ),
    Exercise(
        "data_branch",
        "Graph breaks",
        {"calls": 2, "captured_ops": 4, "graph_breaks": 0},
        (
            "`if` needs a Python value, so Dynamo ends the graph before it.",
            "Compute both results, and let `torch.where(condition, a, b)` choose.",
        ),
        UP_TO_ATEN,
    ),
    Exercise(
        "counter",
        "Recompiles",
        {"calls": 4, "captured_ops": 2, "graph_breaks": 0, "recompiles": 0},
        (
            "Dynamo treats a number of a module as a constant, and guards on its value.",
            "Keep the counter in a tensor: `self.register_buffer('step', torch.zeros((), dtype=torch.int64))`.",
        ),
        UP_TO_ATEN,
    ),
    Exercise(
        "loop_over_number",
        "Recompiles",
        {"calls": 4, "captured_ops": 3, "graph_breaks": 0, "recompiles": 1},
        (
            "`range(rows)` needs a constant. A slice does not: `rows` becomes a symbol after its first change.",
            "The loop is a sum: `x[:rows].sum(dim=0)`.",
        ),
        UP_TO_ATEN,
    ),
    Exercise(
        "batch_sizes",
        "Dynamic shapes",
        {"calls": 4, "captured_ops": 4, "graph_breaks": 0, "recompiles": 0},
        (
            "Torch assumes that sizes stay as they are, until one changes.",
            "`torch._dynamo.mark_dynamic(x, 0)` marks dimension 0 of a tensor. Mark the input of the first call.",
        ),
        UP_TO_ATEN,
    ),
    Exercise(
        "size_as_number",
        "Dynamic shapes",
        {"calls": 3, "captured_ops": 2, "graph_breaks": 0, "recompiles": 0},
        (
            "`range(x.shape[0])` makes a constant of the batch size, which the mark forbids.",
            "Weights as a tensor need no loop: `torch.arange(1, x.shape[0] + 1)`, with a second dimension.",
        ),
        UP_TO_ATEN,
    ),
    Exercise(
        "opaque_op",
        "Fusion",
        {"calls": 1, "captured_ops": 4, "graph_breaks": 0, "kernels": 1},
        (
            "Inductor fuses ops that it can generate code for. A custom op is a call of an unknown function.",
            "Call plain torch functions in `model`, without the decorator.",
        ),
    ),
    Exercise(
        "topk_for_max",
        "Fusion",
        {"calls": 1, "captured_ops": 4, "graph_breaks": 0, "kernels": 1},
        (
            "Inductor fuses what it computes in loops: pointwise ops, and reductions such as a sum or a maximum.",
            "With `k=1`, `topk` is a reduction: `torch.amax(scaled, dim=-1, keepdim=True)`.",
        ),
    ),
    Exercise(
        "saved_values",
        "Memory",
        {"calls": 1, "captured_ops": 12, "graph_breaks": 0, "saved_bytes": 50_000},
        (
            "AOTAutograd saves the result of a matrix product, since computing it again is expensive.",
            "Compute a block again: `torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)`.",
        ),
        training=True,
    ),
    Exercise(
        "backend_once",
        "Backends",
        {"calls": 2, "captured_ops": 3, "graph_breaks": 0, "backend_calls": 1, "executions": 2},
        (
            "`torch.compile` calls the backend once, and the callable that it returns in each call.",
            "The graph is callable itself: `return graph.forward`.",
        ),
        CompileOptions(backend="backend"),
    ),
    Exercise(
        "blind_pass",
        "Passes",
        {"calls": 1, "captured_ops": 4, "graph_breaks": 0, "removed_negations": 2},
        (
            "After AOTAutograd, a graph has ATen ops: *Graph* shows their names at each stage.",
            "The target of the nodes is `torch.ops.aten.neg.default`.",
        ),
    ),
)
BY_NAME = {row.name: row for row in EXERCISES}
