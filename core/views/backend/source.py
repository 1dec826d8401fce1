"""The code of a backend's call: `gm.code` with its nodes, and the file that defines the backend."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.accelerator.backends import SHIPPED
from core.graph import source_path
from core.job import CompileJob
from core.report import BackendNode, Invocation, Report

# `add = x + 1`, `relu: "f32[8]" = …` and `return (add,)` in `gm.code`.
ASSIGNED = re.compile(r"^\s*(\w+)(?:\s*:[^=]*)?\s*=(?!=)")
RETURNED = re.compile(r"^\s*return\b")
OWN_FILE = "backend.py"


@dataclass(frozen=True, slots=True)
class BackendSource:
    """A file that defines a backend, with its notes by line."""

    title: str
    code: str
    notes: dict[int, str]


def code_links(text: str, nodes: Sequence[BackendNode]) -> dict[int, tuple[str, ...]]:
    """Return the ids of the nodes that a line of `gm.code` computes, by line."""
    names = {node.name for node in nodes}
    ends = {kind: tuple(f"n:{n.name}" for n in nodes if n.op == kind) for kind in ("placeholder", "output")}
    links: dict[int, tuple[str, ...]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        assigned = ASSIGNED.match(line)
        if assigned and assigned[1] in names:
            links[number] = (f"n:{assigned[1]}",)
        elif RETURNED.match(line):
            links[number] = ends["output"]
        elif line.startswith("def forward"):
            links[number] = ends["placeholder"]
    return links


def backend_source(
    report: Report, invocation: Invocation, job: CompileJob | None, read: Callable[[str], str]
) -> BackendSource | None:
    """Return the backend's own file, with the failure at its line; None if there is none."""
    title, text = _source(report, invocation, job, read)
    line = invocation.place[1] if invocation.place else 0
    return BackendSource(title, text, {line: invocation.problem} if line else {}) if text else None


def _source(
    report: Report, invocation: Invocation, job: CompileJob | None, read: Callable[[str], str]
) -> tuple[str, str]:
    """Return the title and the text of the code, as it was when it ran if the log holds it."""
    logged = [source.path for source in report.sources]
    if invocation.place and invocation.place[0] in logged:
        return _file_name(invocation.place[0]), read(invocation.place[0])
    if job is None:
        return "", ""
    options = job.compile
    own = OWN_FILE if options.backend_code else f"{options.backend}.py"
    path = next((path for path in logged[1:] if _file_name(path) == own), "")
    if path:
        return own, read(path)
    if options.backend_code:
        return own, options.backend_code
    if options.backend in SHIPPED:
        return own, SHIPPED[options.backend].path.read_text(encoding="utf-8")
    return _model_source(report, invocation.backend, read)


def _model_source(report: Report, backend: str, read: Callable[[str], str]) -> tuple[str, str]:
    """Return the model's file if it defines the backend: a function, a class or a variable with its name."""
    path = source_path(report)
    text, name = read(path), re.escape(backend)
    is_defined = re.search(rf"^(def|class) {name}\b|^{name}\s*[:=]", text, re.MULTILINE)
    return (_file_name(path), text) if is_defined else ("", "")


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]
