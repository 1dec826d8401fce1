"""Rules for branches and assertions on a tensor's value; each takes the line of the graph break."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from core.analysis.repairs.reads import assigned_name, has_read, number_at, unread
from core.analysis.repairs.repair import CodeFix
from core.analysis.repairs.source import LONGEST_LINE, Edit, UserCode, dotted, edited

COMPARES = ("any", "all", "isnan", "isinf", "isfinite", "eq", "ne", "gt", "ge", "lt", "le")
# Functions that return one bool for two tensors → the op with a result per pair of elements.
PAIRS = {"equal": "eq", "allclose": "isclose"}
BOTH_COMPUTED = "Both branches are computed, and must have one shape and dtype."
SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.MatMult: "@", ast.FloorDiv: "//",
    ast.Mod: "%",
}  # fmt: skip


class Branches(NamedTuple):
    """Range of a branch in the text, the code before its value, and both values as code."""

    start: int
    end: int
    lead: str
    if_true: str
    if_false: str


def where(code: UserCode, line: str) -> CodeFix | None:
    """Compute both branches, and select the result with a tensor."""
    return _choice_fix(code, int(line), "where")


def cond(code: UserCode, line: str) -> CodeFix | None:
    """Put both branches into the graph, which runs one of them."""
    return _choice_fix(code, int(line), "cond")


def check(code: UserCode, line: str) -> CodeFix | None:
    """Turn an assertion into one that Dynamo can trace: on a bool tensor, with a fixed message."""
    for node in code.on_line(int(line), ast.Assert):
        test = _tensor_test(code, node.test)
        if not test or node.lineno > int(line):
            continue
        edits = [Edit(code.start(node.test), code.end(node.test), test)]
        if node.msg is not None and not _is_text(node.msg):
            edits.append(Edit(code.start(node.msg), code.end(node.msg), _fixed_text(code, node.msg)))
        why = "Dynamo traces an assertion of a tensor whose message is a fixed text: the graph then checks it."
        doubt = "The message cannot name values any more." if len(edits) > 1 else ""
        return CodeFix("Assert a tensor.", why, (*edits, *_torch_edits(code, test)), doubt=doubt)
    return None


def _torch_edits(code: UserCode, text: str) -> list[Edit]:
    name, more = code.with_torch()
    return more if f"{name}." in text else []


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _fixed_text(code: UserCode, message: ast.expr) -> str:
    """Return a message as a literal, with code instead of the values that it names."""
    if not isinstance(message, ast.JoinedStr):
        return repr(code.says(message))
    parts = (
        str(part.value) if isinstance(part, ast.Constant) else f"{{{ast.unparse(part.value)}}}"
        for part in message.values if isinstance(part, (ast.Constant, ast.FormattedValue))
    )  # fmt: skip
    return repr("".join(parts))


def _choice_fix(code: UserCode, line: int, how: str) -> CodeFix | None:
    torch, more = code.with_torch()
    for node, reads in _branchings(code, line):
        parts = _branches(code, node)
        test = _tensor_test(code, node.test) if parts else ""
        if not parts or not test:
            continue
        if how == "cond" and (parts.if_true.isidentifier() or parts.if_false.isidentifier()):
            # `torch.cond` refuses a branch that returns its input.
            return None
        values = (
            f"lambda: {parts.if_true}, lambda: {parts.if_false}, ()"
            if how == "cond"
            else f"{parts.if_true}, {parts.if_false}"
        )
        call = f"{torch}.{how}({test}, {values})"
        indent = " " * (parts.start - code.line_start(node.lineno))
        text = "".join(
            [parts.lead, call, _fitting_comments(code, parts.start, parts.end, f"{indent}{parts.lead}{call}")]
        )
        why = "The choice is then an op of the graph, made from the tensor's value when it runs."
        doubt = BOTH_COMPUTED if how == "where" else "The branches must return tensors of one shape and dtype."
        edits = (Edit(parts.start, parts.end, text), *reads, *more)
        return CodeFix(f"Choose with `{torch}.{how}`.", why, edits, "may change", doubt)
    return None


def _branchings(code: UserCode, line: int) -> Iterator[tuple[ast.If | ast.IfExp, list[Edit]]]:
    """Yield the branches whose condition is on a line, or uses the value that the line reads.

    Each comes with the edits that keep that value a tensor.
    """
    candidates: list[ast.If | ast.IfExp] = [*code.on_line(line, ast.IfExp), *code.on_line(line, ast.If)]
    tests = [node for node in candidates if node.test.lineno <= line <= (node.test.end_lineno or 0)]
    reading = any(has_read(call) for call in code.on_line(line, ast.Call) if call.lineno == line)
    if not reading or any(has_read(node.test) for node in tests):
        yield from ((node, []) for node in tests if not reading or has_read(node.test))
        return
    yield from _later_branchings(code, line)


def _later_branchings(code: UserCode, line: int) -> Iterator[tuple[ast.If | ast.IfExp, list[Edit]]]:
    """Yield the single branch on a name that a line assigns a read value to."""
    statement = code.statement(line)
    function = next(iter(code.around(statement, ast.FunctionDef)), None) if statement else None
    if not isinstance(statement, ast.Assign) or function is None:
        return
    name = assigned_name(code, statement.value)
    inside = list(ast.walk(function))
    stored = [node for node in inside if isinstance(node, ast.Name) and node.id == name and not _loads(node)]
    loads = [node for node in inside if isinstance(node, ast.Name) and node.id == name and _loads(node)]
    branchings = [node for node in inside if isinstance(node, (ast.If, ast.IfExp)) and name in _names(node.test)]
    if len(stored) == len(loads) == len(branchings) == 1:
        yield branchings[0], list(unread(code, statement.value))


def _loads(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def _names(node: ast.AST) -> set[str]:
    return {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}


def _branches(code: UserCode, node: ast.If | ast.IfExp) -> Branches | None:
    if isinstance(node, ast.IfExp):
        branches = Branches(code.start(node), code.end(node), "", _value(code, node.body), _value(code, node.orelse))
        return branches if _is_pure([node.body, node.orelse]) else None
    body = node.body[0] if len(node.body) == 1 else None
    orelse = node.orelse[0] if len(node.orelse) == 1 else None if node.orelse else _next_statement(code, node)
    if _is_elif(code, node) or body is None:
        return None
    if isinstance(body, ast.Return) and isinstance(orelse, ast.Return) and body.value and orelse.value:
        if not _is_pure([body.value, orelse.value]):
            return None
        values = (_value(code, body.value), _value(code, orelse.value))
        return Branches(code.start(node), code.end(orelse), "return ", *values)
    name, value = _assignment(code, body)
    second = _assignment(code, orelse) if node.orelse and orelse is not None else (name, name)
    if not name or second[0] != name:
        return None
    return Branches(code.start(node), code.end(node), f"{name} = ", value, second[1])


def _assignment(code: UserCode, node: ast.stmt) -> tuple[str, str]:
    """Return the name that a statement assigns to, and the value as code; empty for other statements."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return (node.targets[0].id, _value(code, node.value)) if _is_pure([node.value]) else ("", "")
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and type(node.op) in SIGNS:
        simple = isinstance(node.value, (ast.Constant, ast.Name, ast.Call, ast.Attribute, ast.Subscript))
        value = _value(code, node.value) if simple else f"({_value(code, node.value)})"
        text = f"{node.target.id} {SIGNS[type(node.op)]} {value}"
        return (node.target.id, text) if _is_pure([node.value]) else ("", "")
    return "", ""


def _value(code: UserCode, node: ast.expr) -> str:
    """Return a branch's value, with tensors instead of the numbers that it reads unless Python needs them."""
    reads = [child for child in ast.walk(node) if isinstance(child, ast.Call) and has_read(child)]
    return code.says(node) if any(number_at(code, child) for child in reads) else _without_reads(code, node)


def _is_elif(code: UserCode, node: ast.If) -> bool:
    return code.text[code.start(node) :].startswith("elif")


def _next_statement(code: UserCode, node: ast.stmt) -> ast.stmt | None:
    """Return the next statement in the same block."""
    above = code.parents[node]
    blocks = [block for _, block in ast.iter_fields(above) if isinstance(block, list) and node in block]
    block = blocks[0] if blocks else [node]
    place = block.index(node) + 1
    return block[place] if place < len(block) else None


def _is_pure(values: Iterable[ast.expr]) -> bool:
    """Return True if evaluating the expressions changes no name."""
    changing = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)
    return not any(isinstance(node, changing) for value in values for node in ast.walk(value))


def _tensor_test(code: UserCode, test: ast.expr) -> str:
    """Return the condition as a bool tensor; empty if Python's `and` or `or` decides."""
    if isinstance(test, ast.BoolOp) or not _is_pure([test]):
        return ""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _tensor_test(code, test.operand)
        return inner and f"~({inner})"
    text = _without_reads(code, test)
    if isinstance(test, ast.Compare):
        plain = len(test.ops) == 1 and not isinstance(test.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn))
        return text if plain else ""
    if isinstance(test, ast.Call):
        return _call_test(code, test, text)
    return f"({text}).bool()"


def _call_test(code: UserCode, test: ast.Call, text: str) -> str:
    name = dotted(test.func).rpartition(".")[2] or (test.func.attr if isinstance(test.func, ast.Attribute) else "")
    if name in PAIRS and dotted(test.func) == f"{code.torch}.{name}" and len(test.args) >= 2:
        function = f"{code.torch}.{PAIRS[name]}"
        return f"{function}{code.text[code.end(test.func) : code.end(test)]}.all()"
    if name in PAIRS:
        return ""
    inner = dotted(test.func) == "bool" and len(test.args) == 1
    if inner and isinstance(test.args[0], (ast.Compare, ast.Call)):
        return _tensor_test(code, test.args[0])
    return text if name in COMPARES else f"({text}).bool()"


def _without_reads(code: UserCode, test: ast.expr) -> str:
    """Return a condition without `.item()` and casts to Python numbers."""
    start, end = code.start(test), code.end(test)
    # Parenthesized, it parses wherever its lines break.
    edits = [Edit(edit.start - start + 1, edit.end - start + 1, edit.text) for edit in unread(code, test)]
    return (edited(f"({code.text[start:end]})", edits) or "")[1:-1]


def _fitting_comments(code: UserCode, start: int, end: int, line: str) -> str:
    """Return the comments of the replaced text that fit behind the new line."""
    comments = "".join(f"  {comment}" for comment in code.comments(start, end))
    return comments if len(line + comments) <= LONGEST_LINE else ""
