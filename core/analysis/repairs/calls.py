"""Rules for the line of a graph break; each returns a fix, or None if the line does not fit.

The rules cover calls that Dynamo can't trace, explicit graph breaks, helpers that should run eagerly, and
calls that only report something: prints, warnings, logging.
"""

import ast
import builtins
import copy
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from core.analysis.repairs.choices import LEVELS
from core.analysis.repairs.source import CodeFix, Edit, Function, UserCode, dotted, fresh_name, names_in, shares
from core.report import GraphBreak

# Calls with varying results or side effects, by module or full name.
VARYING = frozenset(
    (
        *("time", "random", "datetime", "uuid", "secrets", "threading", "multiprocessing", "subprocess", "socket"),
        *("tempfile", "inspect", "traceback", "gc", "logging", "shutil", "signal", "asyncio", "contextlib", "pickle"),
        *("numpy.random", "os.urandom", "os.getpid", "os.times", "os.system", "os.remove", "os.environ.get", "sys"),
        *("open", "input", "next", "iter", "id", "locals", "globals", "setattr", "delattr", "exec", "eval", "print"),
        *("range", "warnings", "enumerate", "zip", "map", "filter", "object", "super", "vars", "dir", "torch.save"),
        *("io", "heapq", "bisect.insort", "bisect.insort_left", "bisect.insort_right"),
    )
)
FOR_GOOD = "The first result is used forever, for any later arguments."
LOGS = ("print", "warnings.warn")
LOGGERS = ("logging", "log", "logger", "_logger", "LOG", "LOGGER", "_log")
# Dynamo's classes of values that it can pass on until after the graph, or turn into constant text.
ORDERED = ("TensorVariable", "ConstantVariable", "StringFormatVariable")
TEXTS = ("SizeVariable", "SymNodeVariable", "TorchVariable", "NNModuleVariable", "DeviceVariable")
FIXED = ("shape", "dtype", "device", "layout")
LATER = "The printed values leave the graph as outputs, and the call runs after the graph, in the same order."
# Around a shape in the template of a print op, whose number of fields is known when the code is traced.
RANK = "\0"
CONSTANT = """@{torch}.compiler.assume_constant_result
def {fresh}(*args, **kwargs):
    return {name}(*args, **kwargs)


"""
IF_EAGER = "if not {torch}.compiler.is_compiling():\n{indent}"
LOG_OP = """@{torch}.library.custom_op("{op}::log", mutates_args=("calls",))
def {op}({parameters}) -> None:
    {body}


{op}.register_fake(lambda *_: None)
{op}_calls = {torch}.zeros(())


"""
ARGUMENTS = re.compile(r"^builtin \w+ \[(.*)\]")
CLASS = re.compile(r"\.(\w+)'>")


def hoist(code: UserCode, line: str) -> CodeFix | None:
    """Call a function with a constant result once, before the model runs."""
    return _hoist_fix(code, _opaque_calls(code, int(line)))


def hoist_tensor(code: UserCode, line: str) -> CodeFix | None:
    """Create a parameter, or a tensor that requires grad, once, before the model runs."""
    calls = [call for call in code.on_line(int(line), ast.Call) if _makes_leaf(call)]
    fix = _hoist_fix(code, sorted(calls, key=lambda call: call.col_offset))
    doubt = "All calls then share one tensor: gradients accumulate in it, and in-place changes persist."
    return fix and replace(fix, doubt=doubt)


def _makes_leaf(call: ast.Call) -> bool:
    grad = any(keyword.arg == "requires_grad" for keyword in call.keywords)
    return bool(dotted(call.func)) and (grad or dotted(call.func).endswith(".Parameter"))


def _hoist_fix(code: UserCode, calls: Iterable[ast.Call]) -> CodeFix | None:
    constant = _constants(code)
    for call in calls:
        expression: ast.expr = call
        for above in code.around(call, ast.BinOp, ast.Call, ast.UnaryOp, ast.Subscript):
            if isinstance(above, (ast.BinOp, ast.UnaryOp, ast.Call)) and names_in(above) <= constant:
                expression = above
        function = next(iter(code.around(call, ast.FunctionDef, ast.AsyncFunctionDef)), None)
        if (
            function is None
            or _varies(code, expression)
            or _is_entered(code, expression)
            or not names_in(expression) <= constant
        ):
            continue
        name = fresh_name(code, dotted(call.func).rpartition(".")[2].upper())
        at = code.before(code.top(call))
        return CodeFix(
            f"Call `{dotted(call.func)}` once, outside the model.",
            "Its arguments never change, so compiled code need not call it.",
            (
                Edit(at, at, f"{name} = {code.says(expression)}\n\n\n"),
                Edit(code.start(expression), code.end(expression), name),
            ),
            "may change",
            "Correct only if it returns the same value each time.",
        )
    return None


def constant(code: UserCode, line: str) -> CodeFix | None:
    """Call a function during tracing, and put its result into the graph as a constant."""
    for call in _opaque_calls(code, int(line)):
        torch, more = code.with_torch()
        name = dotted(call.func)
        if _varies(code, call) or _is_entered(code, call) or _takes_locals(code, call):
            continue
        fresh = fresh_name(code, f"traced_{name.rpartition('.')[2]}")
        at = code.before(code.top(call))
        return CodeFix(
            f"Treat the result of `{name}` as a constant.",
            "Dynamo calls it once while tracing and stores the result in the graph.",
            (
                Edit(at, at, CONSTANT.format(torch=torch, fresh=fresh, name=name)),
                Edit(code.start(call.func), code.end(call.func), fresh),
                *more,
            ),
            "may change",
            FOR_GOOD,
        )
    return None


def allow_in_graph(code: UserCode, line: str) -> CodeFix | None:
    """Put a function from tensors to tensors into the graph as one op, without tracing it."""
    top = {node.name for node in code.tree.body if isinstance(node, Function)}
    for call in _opaque_calls(code, int(line)):
        name = dotted(call.func)
        imported = name.partition(".")[0] in _imported_names(code)
        is_pythons = _full_name(code, call).partition(".")[0] in sys.stdlib_module_names
        if _varies(code, call) or is_pythons or names_in(call) <= _constants(code) or not (imported or name in top):
            continue
        if imported:
            edits = code.setting(f"{{torch}}.compiler.allow_in_graph({name})")
        else:
            function = next(node for node in code.tree.body if isinstance(node, Function) and node.name == name)
            torch, more = code.with_torch()
            at = code.before(function)
            edits = [Edit(at, at, f"@{torch}.compiler.allow_in_graph\n"), *more]
        return CodeFix(
            f"Allow `{name}` in the graph.",
            "Dynamo does not trace into it: it must take and return tensors and have no side effects.",
            tuple(edits),
            "may change",
            "Side effects happen while tracing, not in later calls.",
        )
    return None


def _opaque_calls(code: UserCode, line: int) -> list[ast.Call]:
    """Return a line's calls of functions that are imported, builtin or defined in the file, in order.

    Calls of torch are left out, since Dynamo traces them, and of coroutines, which give no result.
    """
    calls = [call for call in code.on_line(line, ast.Call) if dotted(call.func)]
    user_calls = [call for call in calls if _full_name(code, call).partition(".")[0] not in (code.torch, "torch")]
    local = (
        _imported_names(code)
        | {node.name for node in code.tree.body if isinstance(node, ast.FunctionDef)}
        | set(dir(builtins))
    )
    return sorted(
        (call for call in user_calls if dotted(call.func).partition(".")[0] in local), key=lambda call: call.col_offset
    )


def _varies(code: UserCode, node: ast.AST) -> bool:
    """Return True if a call varies or has side effects, as an unused result or a `while` loop shows."""
    if isinstance(code.parents[node], ast.Expr) or any(code.around(node, ast.While)):
        return True
    names = [_full_name(code, call) for call in ast.walk(node) if isinstance(call, ast.Call)]
    return any(part in VARYING for name in names for part in _prefixes(name))


def _full_name(code: UserCode, call: ast.Call) -> str:
    """Return the called function's full name, by its import."""
    first, dot, rest = dotted(call.func).partition(".")
    return f"{_origins(code).get(first, first)}{dot}{rest}"


def _prefixes(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[: length + 1]) for length in range(len(parts))]


def _origins(code: UserCode) -> dict[str, str]:
    origins = {}
    for node in code.tree.body:
        for alias in node.names if isinstance(node, (ast.Import, ast.ImportFrom)) else ():
            module = f"{node.module}." if isinstance(node, ast.ImportFrom) and node.module else ""
            origins[alias.asname or alias.name] = f"{module}{alias.name}"
    return origins


def _is_entered(code: UserCode, node: ast.expr) -> bool:
    """Return True if a value is the context manager of a `with`."""
    return isinstance(code.parents[node], ast.withitem)


def _takes_locals(code: UserCode, call: ast.Call) -> bool:
    """Return True if a call uses arguments of the surrounding function, which may be tensors."""
    function = next(iter(code.around(call, ast.FunctionDef)), None)
    arguments = function.args if function else None
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs] if arguments else []
    return bool(names_in(call) & {parameter.arg for parameter in parameters})


def _imported_names(code: UserCode) -> set[str]:
    names = set()
    for node in code.tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return names


def _constants(code: UserCode, more: str = "") -> set[str]:
    """Return the names that mean the same in the whole file: imports, builtins, and constants.

    A constant is assigned once; the name `more` may have any value then.
    """
    stored = [
        node.id for node in ast.walk(code.tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    ]
    arguments = {node.arg for node in ast.walk(code.tree) if isinstance(node, ast.arg)}
    changed = {name for node in ast.walk(code.tree) if isinstance(node, ast.Global) for name in node.names}
    assigned_once = {
        target.id
        for node in code.tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and stored.count(target.id) == 1
        if target.id == more or _is_fixed(node.value)
    }
    reserved = _imported_names(code) | set(dir(builtins))
    return ((assigned_once - reserved) | (reserved - set(stored))) - changed - arguments


def _is_fixed(value: ast.expr) -> bool:
    """Return True if a value is immutable: numbers, texts, and tuples of them."""
    immutable = (ast.Constant, ast.Tuple, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop, ast.expr_context)
    return all(isinstance(node, immutable) for node in ast.walk(value))


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
    return CodeFix("Remove the graph break.", "The code itself requests this graph break.", (edit,))


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
                return CodeFix(words, "The code itself excludes it from the graph.", (edit,))
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
        "One graph break remains at its call, none inside: fewer resume functions.",
        (Edit(at, at, f"@{torch}.compiler.disable\n"), *more),
    )


def _functions(code: UserCode) -> Iterator[Function]:
    return (node for node in ast.walk(code.tree) if isinstance(node, Function))


def reorder(code: UserCode, line: str) -> CodeFix | None:
    """Run a print or a warning after the graph."""
    call = _log_call(code, int(line))
    if call is None or any(map(_is_fixed_text, call.args)):
        return None
    return CodeFix(f"Let Dynamo call `{dotted(call.func)}` after the graph.", LATER, tuple(_setting(code, call)))


def print_op(code: UserCode, line: str, texts: str) -> CodeFix | None:
    """Turn the prints of a line into ops of the graph.

    `texts` are positions of arguments of the first print, joined by `_`. These arguments are turned into text.
    """
    calls = sorted((call for call in code.on_line(int(line), ast.Call) if dotted(call.func) == "print"), key=code.start)
    torch, more = code.with_torch()
    edits = []
    for number, call in enumerate(calls):
        places = [int(place) for place in texts.split("_") if place.isdecimal() and number == 0]
        text = _print_arguments(code, call, places)
        if not text:
            return None
        edits.append(Edit(code.start(call), code.end(call), f"{torch}._higher_order_ops.print({text})"))
    why = "The print becomes an op of the graph and prints in the same order."
    doubt = "It is an internal op of torch."
    return CodeFix("Print with torch's print op.", why, (*edits, *more), doubt=doubt) if edits else None


def _print_arguments(code: UserCode, call: ast.Call, texts: Sequence[int]) -> str:
    """Return the arguments of torch's print op, if it prints as Python: a template and values."""
    if not call.args or call.keywords or not isinstance(code.parents[call], ast.Expr):
        return ""
    parts = [_field(code, value, place in texts) for place, value in enumerate(call.args)]
    template = " ".join(part[0] for part in parts if part)
    values = "".join(f", {value}" for part in parts if part for value in part[1])
    return "" if None in parts else f"{_literal(template)}{values}"


Field = tuple[str, list[str]]


def _field(code: UserCode, value: ast.expr, as_text: bool) -> Field | None:
    """Return a print argument as a part of a `str.format` template, with its values; None if impossible."""
    if isinstance(value, ast.Constant):
        return _escaped(str(value.value)), []
    if isinstance(value, ast.JoinedStr):
        pieces = [_piece(code, piece) for piece in value.values]
        fields = [piece for piece in pieces if piece is not None]
        joined = (
            "".join(template for template, _ in fields),
            [expression for _, expressions in fields for expression in expressions],
        )
        return joined if len(fields) == len(pieces) else None
    if isinstance(value, ast.Starred):
        return None
    if as_text and isinstance(value, ast.Attribute) and value.attr == "shape":
        # As text, a size that is a symbol would be a graph break.
        shape = ast.unparse(value)
        return f"torch.Size([{RANK}{shape}{RANK}])", [f"*{shape}"]
    return "{!s}", [_value(code, value, as_text)]


def _piece(code: UserCode, piece: ast.expr) -> Field | None:
    if isinstance(piece, ast.Constant):
        return _escaped(str(piece.value)), []
    if not isinstance(piece, ast.FormattedValue):
        return None
    spec = piece.format_spec.values if isinstance(piece.format_spec, ast.JoinedStr) else []
    if not all(isinstance(part, ast.Constant) for part in spec):
        return None
    letters = "".join(str(part.value) for part in spec if isinstance(part, ast.Constant))
    how = f"!{chr(piece.conversion)}" if piece.conversion > 0 else ""
    return f"{{{how}{f':{letters}' if letters else ''}}}", [_value(code, piece.value, False)]


def _value(code: UserCode, value: ast.expr, as_text: bool) -> str:
    # Python 3.11 reports wrong columns within an f-string.
    text = ast.unparse(value)
    return f"str({text})" if as_text or _is_fixed_text(value) else text


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _literal(text: str) -> str:
    """Return a template as code: literals, in double quotes where possible, and fields of shapes."""
    literals = [repr(part) for part in text.split(RANK)]
    quoted = [f'"{part[1:-1]}"' if part[0] == "'" and '"' not in part else part for part in literals]
    shapes = [f'", ".join(["{{!s}}"] * len({shape}))' for shape in text.split(RANK)[1::2]]
    return " + ".join(part for pair in zip_longest(quoted[::2], shapes) for part in pair if part)


def eager_only(code: UserCode, line: str) -> CodeFix | None:
    """Return a fix that skips a reporting call in compiled code; None if the fix does not apply."""
    statement = code.statement(int(line))
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call) or shares(code, statement):
        return None
    name = _log_name(statement.value)
    if not name:
        return None
    torch, more = code.with_torch()
    indent = code.indent(statement)
    step = "\t" if "\t" in indent else "    "
    rows = range(statement.lineno + 1, (statement.end_lineno or 0) + 1)
    rest = [Edit(at, at, step) for row in rows if not code.in_text(row) for at in [code.line_start(row)]]
    start = code.start(statement)
    guard = Edit(start, start, IF_EAGER.format(torch=torch, indent=f"{indent}{step}"))
    return CodeFix(
        f"Call `{name}` only in eager mode.",
        "Compiled code skips the call, so nothing has to leave the graph.",
        (guard, *rest, *more),
        "changes",
        doubt="Compiled, it reports nothing.",
    )


def log_op(code: UserCode, line: str) -> CodeFix | None:
    """Return a fix that logs in a custom op; None if the call reads more than tensors and constants."""
    statement = code.statement(int(line))
    call = statement.value if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) else None
    name = _log_name(call) if call is not None else ""
    root, reads = name.partition(".")[0], _TensorReads()
    if call is None or statement is None or name in (*LOGS, "") or shares(code, statement):
        return None
    logging = reads.visit(copy.deepcopy(call))
    body = ast.unparse(logging)
    if not names_in(logging) <= _constants(code, root) | {*reads.values}:
        return None
    torch, more = code.with_torch()
    op, at = fresh_name(code, f"log_line_{line}"), code.before(code.top(statement))
    values = "".join(f"{ast.unparse(value)}.detach(), " for value in reads.values.values())
    parameters = ", ".join(f"{value}: {torch}.Tensor" for value in (*reads.values, "calls"))
    text = LOG_OP.format(torch=torch, op=op, parameters=parameters, body=body)
    logged = Edit(code.start(statement), code.end(statement), f"{op}({values}{op}_calls)")
    return CodeFix(
        f"Call `{name}` in a custom op.",
        "The op is part of the graph and logs in each call, in the same order. As an op that writes `calls`, it stays.",
        (Edit(at, at, text), logged, *more),
        doubt="It logs the values of compiled code, whose rounding may differ.",
    )


class _TensorReads(ast.NodeTransformer):
    """Transformer of a call: names stand for tensors read as numbers, and `values` has their expressions."""

    def __init__(self) -> None:
        self.values: dict[str, ast.expr] = {}

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Replace the tensor of `tensor.item()` or `tensor.tolist()`."""
        if not isinstance(node.func, ast.Attribute) or node.func.attr not in ("item", "tolist") or node.args:
            return self.generic_visit(node)
        number = len(self.values)
        name = f"value_{number}"
        self.values[name] = node.func.value
        return ast.Call(ast.Attribute(ast.Name(name, ast.Load()), node.func.attr, ast.Load()), [], [])


def rules_for_log(graph_break: GraphBreak, code: UserCode, line: int) -> list[str]:
    """Return the repair ids for a reporting call, selected by the argument classes that torch logs."""
    call = _log_call(code, line)
    classes = _classes(graph_break)
    if call is None:
        return [f"eager_only:{line}"]
    if len(classes) != len(call.args):
        classes = ["" if not _is_display(value) else "ListVariable" for value in call.args]
    texts = [place for place, name in enumerate(classes) if name in TEXTS]
    unordered = [place for place, name in enumerate(classes) if name and name not in (*ORDERED, *TEXTS)]
    ids = [] if any(not _is_fixed_text(call.args[place]) for place in unordered) else [
        f"print_op:{line}:{'_'.join(map(str, texts)) or 'x'}",
        # Torch loses the output of a print in an inlined function.
        *([f"reorder:{line}"] if len(graph_break.stack) < 2 and not texts else []),
    ]  # fmt: skip
    return [*ids, f"eager_only:{line}"]


def _is_display(value: ast.expr) -> bool:
    return isinstance(value, (ast.List, ast.Tuple, ast.Dict, ast.Set))


def _classes(graph_break: GraphBreak) -> list[str]:
    """Return Dynamo's classes of the arguments; empty if torch does not log them."""
    match = ARGUMENTS.match(graph_break.context)
    return CLASS.findall(match.group(1)) if match else []


def _is_fixed_text(value: ast.expr) -> bool:
    """Return True if an argument is a shape, dtype or device, which Dynamo can only turn into text."""
    if isinstance(value, ast.Attribute):
        return value.attr in FIXED
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "size"


def _log_call(code: UserCode, line: int) -> ast.Call | None:
    # Dynamo compares the function object, so that a bound method never matches.
    return next((call for call in code.on_line(line, ast.Call) if dotted(call.func) in LOGS), None)


def _setting(code: UserCode, call: ast.Call) -> list[Edit]:
    return code.setting(f"{{torch}}._dynamo.config.reorderable_logging_functions.add({dotted(call.func)})")


def _log_name(call: ast.Call) -> str:
    """Return the name of a called function that only reports something; otherwise empty."""
    name = dotted(call.func)
    module, _, level = name.rpartition(".")
    is_log = level in (*LEVELS, "log") and module.rpartition(".")[2] in LOGGERS
    return name if name in LOGS or is_log else ""
