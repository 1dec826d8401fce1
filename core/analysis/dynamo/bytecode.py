"""Bytecode as Python's `dis` lists it: which row is of which line, and which calls a compiled graph or goes on after a
break.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.report import Bytecode, Compilation, Report

# Up to Python 3.12 a row has its line, then its offset; from 3.13 on the line alone, and labels.
ROW = re.compile(
    r"^\s*(?:-->)?\s*(?P<first>\d+|--)?\s+(?:L\d+:\s+)?(?:>>\s+)?(?P<offset>\d+\s+)?(?P<op>[A-Z][A-Z0-9_]+)(?P<rest>.*)$"
)
GRAPH = re.compile(r"\b__compiled_fn_\d+\w*")
RESUME = re.compile(r"\b__resume_at_\d+_\d+\b|\btorch_dynamo_resume_in_\w+_at_\d+\b")


@dataclass(frozen=True, slots=True)
class Instruction:
    """One row of a listing: its line in the user's file, None where the listing gives none, its offset (empty from
    Python 3.13 on), its op, and what it is about.

    `graph` and `resume` are the names of the compiled graph or of the function that goes on after a break, where it is
    about one.
    """

    line: int | None
    offset: str
    op: str
    about: str
    graph: str = ""
    resume: str = ""


def instructions(text: str) -> tuple[Instruction, ...]:
    """The instructions of a listing; other rows, such as those of the exception table, are left out."""
    found = [match for item in text.split("\n") if (match := ROW.match(item))]
    offsets = any(match["offset"] for match in found)
    line: int | None = None
    made = []
    for match in found:
        says_line = match["first"] and (match["offset"] or not offsets)
        if says_line:
            line = int(match["first"]) if match["first"].isdigit() else None
        offset = match["offset"] or (match["first"] if offsets else "") or ""
        rest = match["rest"].strip()
        graph, resume = GRAPH.search(rest), RESUME.search(rest)
        made.append(
            Instruction(
                line,
                offset.strip(),
                match["op"],
                _about(rest),
                graph.group() if graph else "",
                resume.group() if resume else "",
            )
        )
    return tuple(made)


def _about(rest: str) -> str:
    """The value that an argument stands for, where the listing tells it; else the number itself."""
    value = rest.partition(" (")[2].removesuffix(")")
    return value or rest


def resume_compilations(report: Report, found: Compilation) -> dict[str, tuple[Compilation, ...]]:
    """Name of a function that goes on after a break, in the modified code and in its own → its compilations."""
    bytecode = found.bytecode or Bytecode()
    by_name: dict[str, list[Compilation]] = {}
    for other in report.compilations:
        if other.frame.file == found.frame.file:
            by_name.setdefault(other.frame.name, []).append(other)
    named = {**{name: name for name in by_name}, **bytecode.resumes}
    return {name: tuple(by_name.get(function, ())) for name, function in named.items()}
