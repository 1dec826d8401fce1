"""Rules that take a graph break out of a file, each given the line at which Dynamo stopped."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from core.analysis.repairs.outside import LOGS
from core.analysis.repairs.repair import Mend
from core.analysis.repairs.source import LONGEST_LINE, Edit, Function, UserCode, dotted

COMPARES = ("any", "all", "isnan", "isinf", "isfinite", "eq", "ne", "gt", "ge", "lt", "le", "equal")
LEVELS = ("debug", "info", "warning", "error", "critical")
READS = ("item", "tolist")
BOTH_COMPUTED = "Both branches are computed, and must have one shape and dtype."
AS_TENSOR = "What is computed from it has the tensor's dtype, where a Python number has 64 bits."


def reorder(code: UserCode, line: str) -> Mend | None:
    """A print or log call is put off until the graph has run."""
    # Dynamo looks for the function itself, so that a method of an object is never found.
    name = next((name for call in code.on_line(int(line), ast.Call) if (name := dotted(call.func)) in LOGS), "")
    if not name:
        return None
    setting = f"{{torch}}._dynamo.config.reorderable_logging_functions.add({name})"
    return Mend(
        f"Let Dynamo call `{name}` after the graph.",
        "The graph hands out what is printed, and the call is made once it has run: later, and in the same order.",
        tuple(code.setting(setting)),
    )


def _log_call(call: ast.Call) -> str:
    """The name of what is called, if it only tells something."""
    name = dotted(call.func)
    module, _, level = name.rpartition(".")
    return name if name in LOGS or (module in ("logging", "log", "logger") and level in LEVELS) else ""


def eager_only(code: UserCode, line: str) -> Mend | None:
    """A statement that only tells something is left out of what is compiled."""
    statement = code.statement(int(line))
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call) or _shares(code, statement):
        return None
    if not _log_call(statement.value):
        return None
    torch, more = code.with_torch()
    indent, name = code.indent(statement), dotted(statement.value.func)
    rest = [
        Edit(at, at, "    ")
        for row in range(statement.lineno + 1, (statement.end_lineno or 0) + 1)
        for at in [code.line_start(row)]
    ]
    start = code.start(statement)
    guard = Edit(start, start, f"if not {torch}.compiler.is_compiling():\n{indent}    ")
    return Mend(
        f"Call `{name}` in eager mode alone.",
        "What is compiled has no such line, so that nothing has to be handed out of it; it says nothing, either.",
        (guard, *rest, *more),
    )


def _shares(code: UserCode, statement: ast.stmt) -> bool:
    """Whether another statement stands on its line."""
    return bool(code.indent(statement).strip()) or code.text[code.end(statement) :].lstrip(" \t").startswith(";")


def where(code: UserCode, line: str) -> Mend | None:
    """Both branches are computed, and a tensor chooses between them."""
    return _chosen(code, int(line), "where")


def cond(code: UserCode, line: str) -> Mend | None:
    """The graph holds both branches, and runs one."""
    return _chosen(code, int(line), "cond")


def _chosen(code: UserCode, line: int, how: str) -> Mend | None:
    torch, more = code.with_torch()
    for node in _branchings(code, line):
        parts = _branches(code, node)
        test = _tensor_test(code, node.test) if parts else ""
        if not parts or not test:
            continue
        start, end, lead, one, other = parts
        call = f"{torch}.where({test}, {one}, {other})"
        if how == "cond" and (one.isidentifier() or other.isidentifier()):
            # A branch that returns what it is given is refused.
            return None
        if how == "cond":
            call = f"{torch}.cond({test}, lambda: {one}, lambda: {other}, ())"
        indent = " " * (start - code.line_start(node.lineno))
        text = "".join([lead, call, _kept(code, start, end, f"{indent}{lead}{call}")])
        words = f"Choose with `{torch}.{how}`."
        why = "The choice is then an op of the graph, made from the tensor's value when it runs."
        doubt = BOTH_COMPUTED if how == "where" else "The branches must return tensors of one shape and dtype."
        return Mend(words, why, (Edit(start, end, text), *more), "may change", doubt)
    return None


def _branchings(code: UserCode, line: int) -> list[ast.If | ast.IfExp]:
    return [*code.on_line(line, ast.IfExp), *code.on_line(line, ast.If)]


def _branches(code: UserCode, node: ast.If | ast.IfExp) -> tuple[int, int, str, str, str] | None:
    """From where to where a branching stands, what its value is given to, and both values."""
    if isinstance(node, ast.IfExp):
        start, end = code.start(node), code.end(node)
        return (start, end, "", code.says(node.body), code.says(node.orelse)) if _plain(node) else None
    one = node.body[0] if len(node.body) == 1 else None
    other = node.orelse[0] if len(node.orelse) == 1 else None if node.orelse else _next(code, node)
    last: ast.stmt = node
    if isinstance(one, ast.Return) and isinstance(other, ast.Return) and one.value and other.value:
        lead, values, last = "return ", (one.value, other.value), other
    elif isinstance(one, ast.Assign) and len(one.targets) == 1 and isinstance(one.targets[0], ast.Name):
        name = one.targets[0]
        same = isinstance(other, ast.Assign) and [ast.dump(item) for item in other.targets] == [ast.dump(name)]
        if node.orelse and not same:
            return None
        rest = other.value if node.orelse and isinstance(other, ast.Assign) else name
        lead, values = f"{name.id} = ", (one.value, rest)
    else:
        return None
    if not all(map(_plain, values)) or _is_elif(code, node):
        return None
    return code.start(node), code.end(last), lead, code.says(values[0]), code.says(values[1])


def _is_elif(code: UserCode, node: ast.If) -> bool:
    return code.text[code.start(node) :].startswith("elif")


def _next(code: UserCode, node: ast.stmt) -> ast.stmt | None:
    """The statement after one, in the same block."""
    above = code.parents[node]
    blocks = [block for _, block in ast.iter_fields(above) if isinstance(block, list) and node in block]
    block = blocks[0] if blocks else [node]
    place = block.index(node) + 1
    return block[place] if place < len(block) else None


def _plain(node: ast.AST) -> bool:
    """Whether computing an expression changes no name by itself."""
    return not any(isinstance(item, (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)) for item in ast.walk(node))


def _tensor_test(code: UserCode, test: ast.expr) -> str:
    """The condition as a tensor of bools; empty where Python's `and` or `or` decides."""
    if isinstance(test, ast.BoolOp):
        return ""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _tensor_test(code, test.operand)
        return inner and f"~({inner})"
    said = code.says(test)
    if isinstance(test, ast.Compare):
        return (
            said if len(test.ops) == 1 and not isinstance(test.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)) else ""
        )
    is_bool = isinstance(test, ast.Call) and dotted(test.func).rpartition(".")[2] in COMPARES
    called = isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute) and test.func.attr in COMPARES
    return said if is_bool or called else f"({said}).bool()"


def _kept(code: UserCode, start: int, end: int, line: str) -> str:
    """The comments of what is replaced, where they have room behind the new line."""
    found = "".join(f"  {comment}" for comment in code.comments(start, end))
    return found if len(line + found) <= LONGEST_LINE else ""


def keep_tensor(code: UserCode, line: str) -> Mend | None:
    """A tensor stays a tensor where it was read into Python."""
    edits: list[Edit] = []
    for call in code.on_line(int(line), ast.Call):
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr in READS and not call.args and not call.keywords:
            edits.append(Edit(code.end(func.value), code.end(call), ""))
        elif isinstance(func, ast.Name) and func.id == "float" and len(call.args) == 1:
            edits += [
                Edit(code.start(call), code.start(call.args[0]), "("),
                Edit(code.end(call) - 1, code.end(call), ")"),
            ]
    if not edits:
        return None
    return Mend(
        "Keep the tensor.",
        "Its value stays in the graph, instead of being waited for and read into Python.",
        tuple(edits),
        "may change",
        AS_TENSOR,
    )


def capture_scalars(code: UserCode, line: str) -> Mend | None:
    """Dynamo traces what reads a number out of a tensor."""
    return _config(code, line, "capture_scalar_outputs", "The number becomes a symbol of the graph, an unbacked one.")


def capture_shapes(code: UserCode, line: str) -> Mend | None:
    """Dynamo traces ops whose output's shape depends on data."""
    why = "The size that depends on data becomes a symbol of the graph, an unbacked one."
    return _config(code, line, "capture_dynamic_output_shape_ops", why)


def _config(code: UserCode, line: str, name: str, why: str) -> Mend | None:
    if code.statement(int(line)) is None:
        return None
    return Mend(f"Set `{name}`.", why, tuple(code.setting(f"{{torch}}._dynamo.config.{name} = True")))


def remove_break(code: UserCode, line: str) -> Mend | None:
    """A break that the file itself asks for is taken out."""
    statement = code.statement(int(line))
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call) or _shares(code, statement):
        return None
    if not dotted(statement.value.func).endswith("graph_break"):
        return None
    block = next(
        one for _, one in ast.iter_fields(code.parents[statement]) if isinstance(one, list) and statement in one
    )
    last_line = (statement.end_lineno or statement.lineno) + 1
    whole = Edit(code.line_start(statement.lineno), code.line_start(last_line), "")
    edit = whole if len(block) > 1 else Edit(code.start(statement), code.end(statement), "pass")
    return Mend("Take the break out.", "The file asks for it itself.", (edit,))


def undisable(code: UserCode, line: str) -> Mend | None:
    """A function that the file keeps from Dynamo is given to it."""
    called = {dotted(call.func).rpartition(".")[2] for call in code.on_line(int(line), ast.Call)}
    for function in _functions(code):
        for item in function.decorator_list if function.name in called else ():
            name = dotted(item.func if isinstance(item, ast.Call) else item)
            if name.endswith((".disable", "_dynamo.skip")):
                edit = Edit(code.line_start(item.lineno), code.line_start((item.end_lineno or item.lineno) + 1), "")
                words = f"Let Dynamo trace `{function.name}`."
                return Mend(words, "The file itself keeps it out of the graph.", (edit,))
    return None


def disable(code: UserCode, line: str) -> Mend | None:
    """A helper runs eagerly as a whole: one break in place of those within it."""
    statement = code.statement(int(line))
    functions = list(code.around(statement, ast.FunctionDef)) if statement else []
    if len(functions) != 1 or functions[0] not in code.tree.body or functions[0].name in ("model", "forward"):
        return None
    called = {dotted(node.func) for node in ast.walk(code.tree) if isinstance(node, ast.Call)}
    if functions[0].name not in called:
        return None
    torch, more = code.with_torch()
    at = code.before(functions[0])
    return Mend(
        f"Run `{functions[0].name}` eagerly as a whole.",
        "One break around it is left, and none within it: fewer functions to go on after a break.",
        (Edit(at, at, f"@{torch}.compiler.disable\n"), *more),
    )


def _functions(code: UserCode) -> Iterator[Function]:
    return (node for node in ast.walk(code.tree) if isinstance(node, Function))
