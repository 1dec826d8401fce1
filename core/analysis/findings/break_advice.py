"""Advice for a graph break: torch's hint if it fits the run, otherwise advice for a line in a library."""

from __future__ import annotations

import re

from core.analysis.findings.finding import Proposal, RunFacts
from core.analysis.repairs.settings import SETTINGS, settings_of_break
from core.report import Frame, GraphBreak

# Files that the user can't edit: installed packages and Python's standard library.
LIBRARY = re.compile(r"(?:^|/)(?:site-packages|dist-packages|lib/python3\.\d+)/|(?:^|/)torch/(?:_\w+|nn|optim|utils)/")
OPTIMIZER = re.compile(r"(?:^|/)torch/optim/")
# Hint that asks for a setting only, so that it helps for any line.
SETTING = re.compile(r"torch\._dynamo\.config\.|torch\.compiler\.(?!set_stance)|ignore_logging|reorderable_logging")
WITHOUT_FULLGRAPH = re.compile(r"fullgraph\s*=\s*False")
OF_OPTIMIZER = (
    "torch's optimizers ask for this break themselves, so that no line of yours takes it out. Compile the step by "
    "itself, `torch.compile(optimizer.step)`: its update is one graph, and forward and backward keep theirs."
)
# Part of the worker's explanation of a Triton kernel launched without a GPU; torch's hint would be to allow it.
INTERPRETED = "Triton's interpreter runs this kernel"
ON_GPU = "On a GPU the kernel is part of the graph: choose a target, or compile there."
UNKNOWN_CAUSE = "The page has torch's explanation and the lines that lead there."


def break_advice(facts: RunFacts, graph_break: GraphBreak) -> str:
    """Return the advice for a graph break, in words."""
    if INTERPRETED in graph_break.explanation:
        return ON_GPU
    hints = fitting_hints(facts, graph_break)
    if not is_library(graph_break.place.file):
        return next(iter(hints), graph_break.explanation or UNKNOWN_CAUSE)
    if OPTIMIZER.search(graph_break.place.file) and "graph_break()" in graph_break.reason:
        return OF_OPTIMIZER
    setting = next((hint for hint in hints if SETTING.search(hint)), "")
    line = users_line(graph_break)
    at = f"`{line.short}` leads there" if line else "your call leads there"
    code = f", `{line.text}`" if line and line.text else ""
    return (
        f"The line is in a library and not yours to edit; {at}{code}. "
        + (f"{setting.rstrip('.')}. " if setting else "")
        + f"Otherwise keep that call out of the compiled function{_moved_out(facts, graph_break, line)}."
    )


def _moved_out(facts: RunFacts, graph_break: GraphBreak, line: Frame | None) -> str:
    """Return how to move the break around the call; empty for a skipped frame, since that break would skip it, too."""
    if gives_up(facts, graph_break):
        return ""
    if line is None:
        name = graph_break.stack[-1].name if graph_break.stack else ""
        called = f"`{name}` of `{graph_break.place.short}`" if name else "the library's function"
        return f", or mark {called} with `torch.compiler.disable`: one break around it, and none within"
    return (
        ", or put that line into a function of its own, marked with `torch.compiler.disable`: one break around it, and "
        "none within"
    )


def gives_up(facts: RunFacts, graph_break: GraphBreak) -> bool:
    """Return True if Dynamo skipped the whole frame at this break and compiled nothing of it."""
    compilations = [
        compilation for compilation in facts.report.compilations if compilation.id in graph_break.compilations
    ]
    return bool(compilations) and all(compilation.status == "failed" for compilation in compilations)


def setting_advice(graph_break: GraphBreak) -> tuple[str, Proposal] | None:
    """Return a `torch._dynamo.config` setting that lets Dynamo trace the line, in words and as a job.

    None if none does.
    """
    names = settings_of_break(graph_break)
    if not names:
        return None
    setting = SETTINGS[names[0]]
    return f"`{setting.line}`: {setting.why} {setting.cost}", Proposal(
        setting.line, dynamo={setting.name: setting.value}
    )


def is_library(file: str) -> bool:
    """Return True if a file belongs to an installed package or to Python itself."""
    return LIBRARY.search(file) is not None


def users_line(graph_break: GraphBreak) -> Frame | None:
    """Return the innermost stack frame in the user's code; None if the log has none."""
    return next((frame for frame in reversed(graph_break.stack) if frame.file and not is_library(frame.file)), None)


def fitting_hints(facts: RunFacts, graph_break: GraphBreak) -> list[str]:
    """Return torch's hints except those the run already follows; hints to report an issue come last."""
    fullgraph = bool(facts.options.get("fullgraph"))
    hints = [hint for hint in graph_break.hints if fullgraph or not WITHOUT_FULLGRAPH.search(hint)]
    return sorted(hints, key=lambda hint: "file an issue" in hint)
