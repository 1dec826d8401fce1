"""Rules for lines that read a tensor's value into Python; each takes the line. Checks if Python needs the number."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from core.analysis.repairs.repair import CodeFix
from core.analysis.repairs.source import Edit, UserCode, dotted

READS = ("item", "tolist")
AS_TENSOR = "What is computed from it has the tensor's dtype, where a Python number has 64 bits."
MATHS = (
    *("sqrt", "exp", "log", "log2", "log10", "log1p", "expm1", "sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "tanh", "erf", "fabs"),
)
# Functions that take tensors as well as numbers; operators do, too.
TAKES_TENSORS = ("float", "abs", "sum", "min", "max", "pow")
# Python's functions that need a number, and functions that turn a number into a size or text.
NUMBERS = ("range", "str", "repr", "int", "bool", "len", "round", "print", "list", "tuple", "divmod", "hash")
SIZES = (
    *("zeros", "ones", "empty", "full", "arange", "randn", "rand", "view", "reshape", "expand", "repeat", "narrow"),
    *("format", "append"),
)


def keep_tensor(code: UserCode, line: str) -> CodeFix | None:
    """Keep a tensor instead of reading it into Python."""
    calls = list(_reads(code, int(line)))
    if not calls or any(needs_number(code, call) for call in calls):
        return None
    edits = [edit for call in calls for edit in unread(code, call)]
    why = "Its value stays in the graph, instead of being waited for and read into Python."
    return CodeFix("Keep the tensor.", why, tuple(edits), "may change", AS_TENSOR)


def torch_math(code: UserCode, line: str) -> CodeFix | None:
    """Replace a function of `math` with torch's."""
    calls = [call for call in code.on_line(int(line), ast.Call) if _math_name(call)]
    if not calls or any(needs_number(code, call) for call in calls):
        return None
    torch, more = code.with_torch()
    edits = [
        Edit(code.start(call.func), code.end(call.func), f"{torch}.{_math_name(call).replace('fabs', 'abs')}")
        for call in calls
    ]
    names = ", ".join(f"`{dotted(call.func)}`" for call in calls)
    why = "`math` takes Python's numbers, so that the tensor's value would have to be read."
    return CodeFix(f"Call torch's function in place of {names}.", why, (*edits, *more), "may change", AS_TENSOR)


def clone(code: UserCode, line: str) -> CodeFix | None:
    """Turn a deep copy of a tensor into an op."""
    top = {name.id for node in code.tree.body if isinstance(node, ast.Assign) for name in node.targets
           if isinstance(name, ast.Name)}  # fmt: skip
    for call in code.on_line(int(line), ast.Call):
        copied = call.args[0] if len(call.args) == 1 and not call.keywords else None
        is_copy = dotted(call.func) in ("copy.deepcopy", "deepcopy", "copy.copy")
        if not is_copy or not isinstance(copied, (ast.Name, ast.Call, ast.Subscript)) or dotted(copied) in top:
            continue
        edits = (
            Edit(code.start(call), code.start(copied), ""),
            Edit(code.end(copied), code.end(call), ".detach().clone()"),
        )
        why = "`copy.deepcopy` of a tensor is no op; `clone` is one."
        doubt = "Right for a tensor: an object that holds tensors has no `clone`."
        return CodeFix("Clone the tensor.", why, edits, "may change", doubt)
    return None


def unread(code: UserCode, node: ast.expr) -> Iterator[Edit]:
    """Yield the edits that keep tensors wherever an expression reads them."""
    for call in (child for child in ast.walk(node) if isinstance(child, ast.Call)):
        func = call.func
        if _is_read(call) and isinstance(func, ast.Attribute):
            yield Edit(code.end(func.value), code.end(call), "")
        elif _is_cast(call):
            yield Edit(code.start(call), code.start(call.args[0]), "(")
            yield Edit(code.end(call.args[0]), code.end(call), ").long()" if dotted(func) == "int" else ")")


def has_read(node: ast.AST) -> bool:
    """Return True if an expression reads a tensor's value."""
    return any(isinstance(child, ast.Call) and (_is_read(child) or _is_cast(child)) for child in ast.walk(node))


def decides(code: UserCode, line: int) -> bool:
    """Return True if a value read on a line decides what runs next, or comes from Python's or NumPy's random."""
    drawn = any("random" in dotted(call.func).split(".") for call in code.on_line(line, ast.Call))
    return drawn or any(_decides(code, use) for call in _all_reads(code, line) for use in _uses(code, call))


def needs_number(code: UserCode, node: ast.expr) -> bool:
    """Return True if Python needs the number of an expression: for a branch, an index, a text, a loop count."""
    return any(number_at(code, use) for use in _uses(code, node))


def _uses(code: UserCode, node: ast.expr) -> Iterator[ast.AST]:
    """Yield the uses of a value: its own position, and the reads of the single name assigned to it."""
    yield node
    name = assigned_name(code, node)
    function = next(iter(code.around(node, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)), None)
    for use in ast.walk(function) if name and function is not None else ():
        if isinstance(use, ast.Name) and use.id == name and isinstance(use.ctx, ast.Load):
            yield use


def assigned_name(code: UserCode, node: ast.AST) -> str:
    """Return the local name that a statement assigns an expression to; empty without one."""
    statement = next(iter(code.around(node, ast.Assign, ast.NamedExpr, ast.AnnAssign)), None)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    target = targets[0] if len(targets) == 1 else getattr(statement, "target", None)
    return target.id if isinstance(target, ast.Name) else ""


def _decides(code: UserCode, use: ast.AST) -> bool:
    tests = [branch.test for branch in code.around(use, ast.If)]
    tests += [choice.test for choice in code.around(use, ast.IfExp)]
    tests += [loop.test for loop in code.around(use, ast.While)]
    return any(use in set(ast.walk(test)) for test in tests)


def number_at(code: UserCode, use: ast.AST) -> bool:
    """Return True if Python needs the number in this use."""
    below: ast.AST = use
    while (above := code.parents.get(below)) is not None and not isinstance(below, ast.stmt):
        if isinstance(above, (ast.If, ast.IfExp, ast.While, ast.Assert)) and above.test is below:
            return True
        if isinstance(above, ast.Subscript) and above.slice is below:
            return True
        if isinstance(above, (ast.FormattedValue, ast.comprehension, ast.Raise)):
            return True
        if isinstance(above, ast.Call) and below is not above.func and _takes_number(above):
            return True
        if isinstance(above, ast.For) and above.iter is below:
            return True
        below = above
    return False


def _takes_number(call: ast.Call) -> bool:
    """Return True if a call needs a number: Python functions without tensor support, and functions that take sizes."""
    name = dotted(call.func)
    if name in TAKES_TENSORS:
        return False
    called = call.func.attr if isinstance(call.func, ast.Attribute) else name
    return called in SIZES or name in NUMBERS or name.startswith("math.")


def _reads(code: UserCode, line: int) -> Iterator[ast.Call]:
    for call in code.on_line(line, ast.Call):
        if _is_read(call) or (_is_cast(call) and dotted(call.func) == "float"):
            yield call


def _all_reads(code: UserCode, line: int) -> Iterator[ast.Call]:
    return (call for call in code.on_line(line, ast.Call) if _is_read(call) or _is_cast(call))


def _is_read(call: ast.Call) -> bool:
    func = call.func
    return isinstance(func, ast.Attribute) and func.attr in READS and not call.args and not call.keywords


def _is_cast(call: ast.Call) -> bool:
    single = len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], (ast.Constant, ast.Starred))
    return single and dotted(call.func) in ("float", "int", "bool")


def _math_name(call: ast.Call) -> str:
    module, _, name = dotted(call.func).rpartition(".")
    return name if module == "math" and name in MATHS and len(call.args) == 1 else ""
