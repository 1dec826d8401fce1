"""Bytecode as listed by Python's `dis`: source line per row, and calls of compiled graphs and resume functions."""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.report import Bytecode, Compilation, Report

# Up to Python 3.12, a row has its line and offset; from 3.13 on, its line and labels.
ROW = re.compile(
    r"^\s*(?:-->)?\s*(?P<first>\d+|--)?\s+(?:L\d+:\s+)?(?:>>\s+)?(?P<offset>\d+\s+)?(?P<op>[A-Z][A-Z0-9_]+)(?P<rest>.*)$"
)
GRAPH = re.compile(r"\b__compiled_fn_\d+\w*")
RESUME = re.compile(r"\b__resume_at_\d+_\d+\b|\btorch_dynamo_resume_in_\w+_at_\d+\b")


@dataclass(frozen=True, slots=True)
class Instruction:
    """A row of a bytecode listing: source line (None if the listing has none), offset, op, and argument.

    `offset` is empty from Python 3.13 on. `graph` and `resume` are the names of the compiled graph or resume function
    that the row refers to.
    """

    line: int | None
    offset: str
    op: str
    about: str
    graph: str = ""
    resume: str = ""


def instructions(text: str) -> tuple[Instruction, ...]:
    """Return the instructions of a listing; skips other rows, such as the exception table."""
    matches = [match for row in text.split("\n") if (match := ROW.match(row))]
    offsets = any(match["offset"] for match in matches)
    line: int | None = None
    listed = []
    for match in matches:
        says_line = match["first"] and (match["offset"] or not offsets)
        if says_line:
            line = int(match["first"]) if match["first"].isdigit() else None
        offset = match["offset"] or (match["first"] if offsets else "") or ""
        rest = match["rest"].strip()
        graph, resume = GRAPH.search(rest), RESUME.search(rest)
        listed.append(
            Instruction(
                line,
                offset.strip(),
                match["op"],
                _argument_value(rest),
                graph.group() if graph else "",
                resume.group() if resume else "",
            )
        )
    return tuple(listed)


def _argument_value(rest: str) -> str:
    """Return the value of an argument if the listing has it, otherwise the number."""
    value = rest.partition(" (")[2].removesuffix(")")
    return value or rest


def resume_compilations(report: Report, compilation: Compilation) -> dict[str, tuple[Compilation, ...]]:
    """Return resume function name → its compilations, for the modified code and its resume functions."""
    bytecode = compilation.bytecode or Bytecode()
    by_name: dict[str, list[Compilation]] = {}
    for candidate in report.compilations:
        if candidate.frame.file == compilation.frame.file:
            by_name.setdefault(candidate.frame.name, []).append(candidate)
    named = {**{name: name for name in by_name}, **bytecode.resumes}
    return {name: tuple(by_name.get(function, ())) for name, function in named.items()}
