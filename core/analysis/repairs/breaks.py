"""Rules for explicit graph breaks, and for a helper that runs eagerly; each takes a line."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from core.analysis.repairs.repair import CodeFix
from core.analysis.repairs.source import Edit, Function, UserCode, dotted, shares


def remove_break(code: UserCode, line: str) -> CodeFix | None:
    """Remove an explicit graph break from the file."""
    statement = code.statement(int(line))
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call) or shares(code, statement):
        return None
    if not dotted(statement.value.func).endswith("graph_break"):
        return None
    block = next(
        body for _, body in ast.iter_fields(code.parents[statement]) if isinstance(body, list) and statement in body
    )
    last_line = (statement.end_lineno or statement.lineno) + 1
    removal = Edit(code.line_start(statement.lineno), code.line_start(last_line), "")
    edit = removal if len(block) > 1 else Edit(code.start(statement), code.end(statement), "pass")
    return CodeFix("Take the break out.", "The file asks for it itself.", (edit,))


def undisable(code: UserCode, line: str) -> CodeFix | None:
    """Remove `torch.compiler.disable` from a function."""
    called = {dotted(call.func).rpartition(".")[2] for call in code.on_line(int(line), ast.Call)}
    for function in _functions(code):
        for decorator in function.decorator_list if function.name in called else ():
            name = dotted(decorator.func if isinstance(decorator, ast.Call) else decorator)
            if name.endswith((".disable", "_dynamo.skip")):
                edit = Edit(
                    code.line_start(decorator.lineno),
                    code.line_start((decorator.end_lineno or decorator.lineno) + 1),
                    "",
                )
                words = f"Let Dynamo trace `{function.name}`."
                return CodeFix(words, "The file itself keeps it out of the graph.", (edit,))
    return None


def disable(code: UserCode, line: str) -> CodeFix | None:
    """Run a helper eagerly as a whole: a single graph break instead of several inside it."""
    statement = code.statement(int(line))
    functions = list(code.around(statement, ast.FunctionDef)) if statement else []
    if len(functions) != 1 or functions[0] not in code.tree.body or functions[0].name in ("model", "forward"):
        return None
    called = {dotted(node.func) for node in ast.walk(code.tree) if isinstance(node, ast.Call)}
    if functions[0].name not in called:
        return None
    torch, more = code.with_torch()
    at = code.before(functions[0])
    return CodeFix(
        f"Run `{functions[0].name}` eagerly as a whole.",
        "One break around it is left, and none within it: fewer resume functions.",
        (Edit(at, at, f"@{torch}.compiler.disable\n"), *more),
    )


def _functions(code: UserCode) -> Iterator[Function]:
    return (node for node in ast.walk(code.tree) if isinstance(node, Function))
