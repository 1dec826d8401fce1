"""Rule that marks input dimensions as dynamic before the first call."""

from __future__ import annotations

import ast

from core.analysis.repairs.recompiles import calls_of, inputs_of, parameters_of, place_of
from core.analysis.repairs.repair import CodeFix
from core.analysis.repairs.source import Edit, UserCode, dotted


def mark_dynamic(code: UserCode, *arguments: str) -> CodeFix | None:
    """Mark input dimensions before the first call.

    The arguments alternate between names and indices; a number as a name is the position of a positional argument.
    """
    names, indices = arguments[::2], arguments[1::2]
    marks = [_mark_edits(code, *pair) for pair in zip(names, indices, strict=False)]
    if not marks or len(names) != len(indices) or not all(index.isdecimal() for index in indices) or not all(marks):
        return None
    _, more = code.with_torch()
    dimensions = ", ".join(f"{index} of `{name}`" for name, index in zip(names, indices, strict=True))
    return CodeFix(
        f"Mark {'dimensions' if len(names) > 1 else 'dimension'} {dimensions} as dynamic.",
        "The first graph is then made for every size of it, where torch would make one for this size alone.",
        (*(edit for edits in marks for edit in edits), *more),
    )


def _mark_edits(code: UserCode, name: str, index: str) -> list[Edit]:
    inputs = inputs_of(code, name)
    if not inputs or code.indent(inputs[0][1]).strip():
        return []
    mark = f"{code.with_torch()[0]}._dynamo.mark_dynamic({{}}, {index})\n"
    first, statement = inputs[0]
    return _edits_after(code, statement, name, mark) or _edits_before(code, first, statement, name, mark)


def _edits_after(code: UserCode, statement: ast.stmt, name: str, mark: str) -> list[Edit]:
    """Return a line below the list of calls, or below the inputs, that marks a part of it."""
    if not isinstance(statement, ast.Assign):
        return []
    call, _ = next(calls_of(code))
    base = "calls[0]" if dotted(statement.targets[0]) == "calls" else "inputs"
    place = f'["{name}"]' if isinstance(call, ast.Dict) else ""
    if isinstance(call, (ast.Tuple, ast.List)):
        place = f"[{place_of(name, parameters_of(code))}]"
    at = code.line_start((statement.end_lineno or statement.lineno) + 1)
    lead = "" if code.text[:at].endswith("\n") else "\n"
    return [Edit(min(at, len(code.text)), min(at, len(code.text)), lead + mark.format(base + place))]


def _edits_before(code: UserCode, value: ast.expr, statement: ast.stmt, name: str, mark: str) -> list[Edit]:
    """Return lines before a call that mark its input; an unnamed input gets a name."""
    indent, at = code.indent(statement), code.line_start(statement.lineno)
    if isinstance(value, ast.Name):
        return [Edit(at, at, indent + mark.format(value.id))]
    fresh = f"dynamic_{'input_' if name.isdecimal() else ''}{name}"
    lines = f"{indent}{fresh} = {code.says(value)}\n{indent}{mark.format(fresh)}"
    return [Edit(at, at, lines), Edit(code.start(value), code.end(value), fresh)]
