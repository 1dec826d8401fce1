"""Rules for lines that branch on a tensor's value, assert it, or read it into Python.

Each rule takes the line of the graph break. `needs_number` returns True if Python needs the value as a number.
"""

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from core.analysis.repairs.source import LONGEST_LINE, CodeFix, Edit, Risk, UserCode, dotted, edited, names_in
from core.base.syntax import expression

COMPARES = ("any", "all", "isnan", "isinf", "isfinite", "eq", "ne", "gt", "ge", "lt", "le")
# Functions that return one bool for two tensors → the op with a result per pair of elements.
PAIRS = {"equal": "eq", "allclose": "isclose"}
BOTH_COMPUTED = "Both branches are computed, and must have the same shape and dtype."
SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.MatMult: "@", ast.FloorDiv: "//",
    ast.Mod: "%",
}  # fmt: skip
READS = ("item", "tolist")
AS_TENSOR = "Results have the tensor's dtype; a Python number has 64 bits."
MATHS = (
    *("sqrt", "exp", "log", "log2", "log10", "log1p", "expm1", "sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "tanh", "erf", "fabs"),
)
# Functions that take tensors as well as numbers; operators do, too.
TAKES_TENSORS = ("float", "abs", "sum", "min", "max", "pow")
# Python's functions that need a number, and functions that turn a number into a size or text.
NUMBERS = ("range", "str", "repr", "int", "bool", "len", "round", "print", "list", "tuple", "divmod", "hash")
# Methods of a logger, which turns its arguments into text.
LEVELS = ("debug", "info", "warning", "error", "exception", "critical")
SIZES = (
    *("zeros", "ones", "empty", "full", "arange", "randn", "rand", "view", "reshape", "expand", "repeat", "narrow"),
    *("format", "append"),
)


# Expressions and constants that are neither tensors nor numbers.
CONTAINERS = (
    *(ast.Tuple, ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp),
    *(ast.JoinedStr, ast.Lambda),
)
NO_NUMBERS = (str, bytes, type(None), type(...))
TESTS = (ast.If, ast.IfExp, ast.While, ast.Assert)


class Branches(NamedTuple):
    """A branch to replace: its range in the text, and the code of both values.

    `lead` is the code before the chosen value, such as `return `; empty for a conditional expression.
    """

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
        why = "Dynamo traces the assertion of a tensor if its message is a constant: the graph then checks it."
        doubt = "The message can no longer contain values." if len(edits) > 1 else ""
        return CodeFix("Assert a tensor.", why, (*edits, *_torch_edits(code, test)), doubt=doubt)
    return None


def _torch_edits(code: UserCode, text: str) -> list[Edit]:
    name, more = code.with_torch()
    return more if f"{name}." in text else []


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _fixed_text(code: UserCode, message: ast.expr) -> str:
    """Return a message as a literal; the values of an f-string are replaced by their code in braces."""
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
        number, read = _split_test(code, node)
        test = _tensor_test(code, read) if parts else ""
        if not parts or not test or (number and not _keeps_name(parts)) or _changes_state(code, parts):
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
        lead = f"if {number}:\n{indent}    {parts.lead}" if number else parts.lead
        text = "".join([lead, call, _fitting_comments(code, parts.start, parts.end, f"{indent}{parts.lead}{call}")])
        why = "The graph then chooses by the tensor's value when it runs."
        doubt = BOTH_COMPUTED if how == "where" else "The branches must return tensors of one shape and dtype."
        edits = (Edit(parts.start, parts.end, text), *reads, *more)
        return CodeFix(f"Choose with `{torch}.{how}`.", why, edits, "may change", doubt)
    return None


def _changes_state(code: UserCode, parts: Branches) -> bool:
    """Return True if a branch calls a function of the file that writes what outlives the call."""
    calls = [node.func for text in parts[3:] for node in ast.walk(expression(text)) if isinstance(node, ast.Call)]
    names = {dotted(each).removeprefix("self.") for each in calls}
    inside = [
        node
        for function in ast.walk(code.tree)
        if isinstance(function, ast.FunctionDef) and function.name in names
        for node in ast.walk(function)
    ]
    written = (node for node in inside if isinstance(node, (ast.Attribute, ast.Subscript)))
    return any(isinstance(node.ctx, ast.Store) for node in written) or any(
        isinstance(node, ast.Global) for node in inside
    )


def _split_test(code: UserCode, node: ast.If | ast.IfExp) -> tuple[str, ast.expr]:
    """Return the conditions before an `and` that read no tensor, as code or empty, and the last."""
    test = node.test
    if not isinstance(node, ast.If) or not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And):
        return "", test
    *numbers, last = test.values
    if not has_read(last) or any(has_read(value) for value in numbers):
        return "", test
    return " and ".join(code.says(value) for value in numbers), last


def _keeps_name(parts: Branches) -> bool:
    """Return True if one branch leaves the assigned name as it is."""
    return bool(parts.lead) and parts.lead == f"{parts.if_false} = "


def _branchings(code: UserCode, line: int) -> Iterator[tuple[ast.If | ast.IfExp, list[Edit]]]:
    """Yield the branches of a line's condition or number, with the edits that keep it a tensor."""
    candidates: list[ast.If | ast.IfExp] = [*code.on_line(line, ast.IfExp), *code.on_line(line, ast.If)]
    tests = [node for node in candidates if node.test.lineno <= line <= (node.test.end_lineno or 0)]
    reading = any(has_read(call) for call in code.on_line(line, ast.Call) if call.lineno == line)
    if not reading or any(has_read(node.test) for node in tests):
        yield from ((node, []) for node in tests if not reading or has_read(node.test))
        return
    yield from _later_branchings(code, line)


def _later_branchings(code: UserCode, line: int) -> Iterator[tuple[ast.If | ast.IfExp, list[Edit]]]:
    """Yield the branch that alone uses the name a line assigns, with the edits for a tensor."""
    statement = code.statement(line)
    function = next(iter(code.around(statement, ast.FunctionDef)), None) if statement else None
    if not isinstance(statement, ast.Assign) or function is None:
        return
    name = assigned_name(code, statement.value)
    inside = list(ast.walk(function))
    stored = [node for node in inside if isinstance(node, ast.Name) and node.id == name and not _loads(node)]
    loads = [node for node in inside if isinstance(node, ast.Name) and node.id == name and _loads(node)]
    branchings = [node for node in inside if isinstance(node, (ast.If, ast.IfExp)) and name in names_in(node.test)]
    if len(stored) == len(loads) == len(branchings) == 1:
        yield branchings[0], list(unread(code, statement.value))


def _loads(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def _branches(code: UserCode, node: ast.If | ast.IfExp) -> Branches | None:
    if isinstance(node, ast.IfExp):
        branches = Branches(code.start(node), code.end(node), "", _value(code, node.body), _value(code, node.orelse))
        return branches if _is_pure([node.body, node.orelse]) else None
    body = node.body[0] if len(node.body) == 1 else None
    orelse = node.orelse[0] if len(node.orelse) == 1 else None if node.orelse else _next_statement(code, node)
    if _is_elif(code, node) or body is None or len(node.orelse) > 1:
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
    """Return a branch's value as code, with tensors instead of the numbers read from them.

    The reads stay if Python needs a number.
    """
    reads = [child for child in ast.walk(node) if isinstance(child, ast.Call) and has_read(child)]
    return code.says(node) if any(number_at(code, child) for child in reads) else _without_reads(code, node)


def _is_elif(code: UserCode, node: ast.If) -> bool:
    return code.text[code.start(node) :].startswith("elif")


def _next_statement(code: UserCode, node: ast.stmt) -> ast.stmt | None:
    """Return the next statement in the same block; None for the last statement."""
    above = code.parents[node]
    blocks = [block for _, block in ast.iter_fields(above) if isinstance(block, list) and node in block]
    block = blocks[0] if blocks else [node]
    place = block.index(node) + 1
    return block[place] if place < len(block) else None


def _is_pure(values: Sequence[ast.expr]) -> bool:
    """Return True if each expression may be a tensor or a number, and none assigns to a name."""
    changing = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)
    others = [isinstance(each, CONTAINERS) or isinstance(getattr(each, "value", 0), NO_NUMBERS) for each in values]
    return not any(others) and not any(isinstance(node, changing) for value in values for node in ast.walk(value))


def _tensor_test(code: UserCode, test: ast.expr) -> str:
    """Return the condition as a bool tensor; empty if that is impossible, such as with `and` and `or`."""
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
    # In parentheses the condition parses even with line breaks.
    edits = [Edit(edit.start - start + 1, edit.end - start + 1, edit.text) for edit in unread(code, test)]
    return (edited(f"({code.text[start:end]})", edits) or "")[1:-1]


def _fitting_comments(code: UserCode, start: int, end: int, line: str) -> str:
    """Return the comments of the replaced text; empty if they do not fit behind the new line."""
    comments = "".join(f"  {comment}" for comment in code.comments(start, end))
    return comments if len(line + comments) <= LONGEST_LINE else ""


def keep_tensor(code: UserCode, line: str) -> CodeFix | None:
    """Keep a tensor instead of reading it into Python."""
    calls = list(_reads(code, int(line)))
    if not calls or any(needs_number(code, call) for call in calls):
        return None
    edits = [edit for call in calls for edit in unread(code, call)]
    why = "The value stays in the graph; Python does not wait for it."
    # A number that outlives the call, as a tensor, keeps its graph alive.
    risk: Risk = "changes" if any(_is_stored(code, call) for call in calls) else "may change"
    return CodeFix("Keep the tensor.", why, tuple(edits), risk, AS_TENSOR)


def _is_stored(code: UserCode, node: ast.expr) -> bool:
    """Return True if a statement stores an expression in an attribute, or in an element of one."""
    statement = next(iter(code.around(node, ast.Assign, ast.AnnAssign, ast.AugAssign)), None)
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    owners = (target.value if isinstance(target, ast.Subscript) else target for target in targets)
    return any(isinstance(owner, ast.Attribute) for owner in owners)


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
    why = "`math` takes Python numbers, so Dynamo would have to read the tensor's value."
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
        doubt = "Only for a tensor: an object that contains tensors has no `clone`."
        return CodeFix("Clone the tensor.", why, edits, "may change", doubt)
    return None


def unread(code: UserCode, node: ast.expr) -> Iterator[Edit]:
    """Yield the edits that remove reads of tensors, such as `.item()`, from an expression."""
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
    """Return True if a value read on a line is used in a branch condition, or may be random.

    It may be random if the line calls a function of a `random` module.
    """
    drawn = any("random" in dotted(call.func).split(".") for call in code.on_line(line, ast.Call))
    return drawn or any(_decides(code, use) for call in _all_reads(code, line) for use in _uses(code, call))


def decides_by_size(code: UserCode, line: int) -> bool:
    """Return True if a condition of the function needs a result of a line, or a value computed from it."""
    statements = (each for each in ast.walk(code.tree) if isinstance(each, ast.Assign) and each.lineno == line)
    for statement in statements:
        function = next(iter(code.around(statement, ast.FunctionDef)), None)
        names = names_stored(statement)
        for later in ast.walk(function) if function is not None else ():
            if isinstance(later, ast.Assign) and later.lineno > line and names_in(later.value) & names:
                names |= names_stored(later)
        tests = [each.test for each in ast.walk(function or statement) if isinstance(each, TESTS)]
        if any(names_in(test) & names for test in tests):
            return True
    return False


def names_stored(statement: ast.Assign) -> set[str]:
    """Return the names that a statement assigns."""
    return {each.id for target in statement.targets for each in ast.walk(target) if isinstance(each, ast.Name)}


def indexes(code: UserCode) -> bool:
    """Return True if a number that the file reads is one of several indices, where torch takes no symbol."""
    reads = [node for node in ast.walk(code.tree) if isinstance(node, ast.Call) and _is_read(node)]
    uses = [use for call in reads for use in _uses(code, call)]
    return any(
        isinstance(above.slice, ast.Tuple)
        and any(not isinstance(part, ast.Slice) and use in ast.walk(part) for part in above.slice.elts)
        for use in uses
        for above in code.around(use, ast.Subscript)
    )


def needs_number(code: UserCode, node: ast.expr) -> bool:
    """Return True if Python needs an expression's value as a number, for a branch, index or loop count."""
    return any(number_at(code, use) for use in _uses(code, node))


def _uses(code: UserCode, node: ast.expr) -> Iterator[ast.AST]:
    """Yield the uses of a value: the expression itself, and each read of the name assigned to it."""
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
    """Return True if a call needs a number: a Python function without tensor support, or a size."""
    name = dotted(call.func)
    if name in TAKES_TENSORS:
        return False
    called = call.func.attr if isinstance(call.func, ast.Attribute) else name
    return called in SIZES or called in LEVELS or name in NUMBERS or name.startswith("math.")


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
