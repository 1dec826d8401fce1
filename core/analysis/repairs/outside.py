"""Rules for calls that Dynamo can't trace; each takes the line of the graph break."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable
from dataclasses import replace

from core.analysis.repairs.repair import CodeFix
from core.analysis.repairs.source import Edit, Function, UserCode, dotted

# Calls with varying results or side effects, by module or full name.
VARYING = frozenset(
    (
        *("time", "random", "datetime", "uuid", "secrets", "threading", "multiprocessing", "subprocess", "socket"),
        *("tempfile", "inspect", "traceback", "gc", "logging", "shutil", "signal", "asyncio", "contextlib", "pickle"),
        *("numpy.random", "os.urandom", "os.getpid", "os.times", "os.system", "os.remove", "os.environ.get", "sys"),
        *("open", "input", "next", "iter", "id", "locals", "globals", "setattr", "delattr", "exec", "eval", "print"),
        *("range", "warnings", "enumerate", "zip", "map", "filter", "object", "super", "vars", "dir", "torch.save"),
    )
)
FOR_GOOD = "What it returns the first time counts for good: another argument, or another day, changes nothing any more."


def hoist(code: UserCode, line: str) -> CodeFix | None:
    """Call a function with a constant result once, before the model runs."""
    return _hoist_fix(code, _opaque_calls(code, int(line)))


def hoist_tensor(code: UserCode, line: str) -> CodeFix | None:
    """Create a parameter, or a tensor that requires grad, once, before the model runs."""
    calls = [call for call in code.on_line(int(line), ast.Call) if _makes_leaf(call)]
    fix = _hoist_fix(code, sorted(calls, key=lambda call: call.col_offset))
    doubt = "One tensor then serves all calls: its gradients add up, and what changes it in place is kept."
    return fix and replace(fix, doubt=doubt)


def _makes_leaf(call: ast.Call) -> bool:
    grad = any(keyword.arg == "requires_grad" for keyword in call.keywords)
    return bool(dotted(call.func)) and (grad or dotted(call.func).endswith(".Parameter"))


def _hoist_fix(code: UserCode, calls: Iterable[ast.Call]) -> CodeFix | None:
    constant = _constants(code)
    for call in calls:
        expression: ast.expr = call
        for above in code.around(call, ast.BinOp, ast.Call, ast.UnaryOp, ast.Subscript):
            if isinstance(above, (ast.BinOp, ast.UnaryOp, ast.Call)) and _names(above) <= constant:
                expression = above
        function = next(iter(code.around(call, ast.FunctionDef, ast.AsyncFunctionDef)), None)
        if (
            function is None
            or _varies(code, expression)
            or _is_entered(code, expression)
            or not _names(expression) <= constant
        ):
            continue
        name = _fresh_name(code, dotted(call.func).rpartition(".")[2].upper())
        at = code.before(code.top(call))
        return CodeFix(
            f"Call `{dotted(call.func)}` once, outside of the model.",
            "It is given what never changes, so that it need not be called by what is compiled.",
            (
                Edit(at, at, f"{name} = {code.says(expression)}\n\n\n"),
                Edit(code.start(expression), code.end(expression), name),
            ),
            "may change",
            "Right where it returns the same each time.",
        )
    return None


def constant(code: UserCode, line: str) -> CodeFix | None:
    """Call a function during tracing, and put its result into the graph as a constant."""
    for call in _opaque_calls(code, int(line)):
        torch, more = code.with_torch()
        name = dotted(call.func)
        if _varies(code, call) or _is_entered(code, call) or _takes_locals(code, call):
            continue
        fresh = _fresh_name(code, f"traced_{name.rpartition('.')[2]}")
        at = code.before(code.top(call))
        wrapper = f"@{torch}.compiler.assume_constant_result\ndef {fresh}(*args, **kwargs):\n"
        return CodeFix(
            f"Take the result of `{name}` as constant.",
            "Dynamo calls it once while it traces, and puts what it returns into the graph.",
            (
                Edit(at, at, f"{wrapper}    return {name}(*args, **kwargs)\n\n\n"),
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
        takes_tensors = not _names(call) <= _constants(code)
        if _varies(code, call) or not takes_tensors or (not imported and name not in top):
            continue
        if imported:
            edits = code.setting(f"{{torch}}.compiler.allow_in_graph({name})")
        else:
            function = next(node for node in code.tree.body if isinstance(node, Function) and node.name == name)
            torch, more = code.with_torch()
            at = code.before(function)
            edits = [Edit(at, at, f"@{torch}.compiler.allow_in_graph\n"), *more]
        return CodeFix(
            f"Put `{name}` into the graph as it is.",
            "Dynamo does not look into it: it must take and return tensors, and do nothing else.",
            tuple(edits),
            "may change",
            "What it does beside what it returns happens while it is traced, and not in later calls.",
        )
    return None


def _opaque_calls(code: UserCode, line: int) -> list[ast.Call]:
    """Return the calls of names on a line, from left to right; torch's own functions are traced and left out."""
    calls = [call for call in code.on_line(line, ast.Call) if dotted(call.func)]
    user_calls = [call for call in calls if dotted(call.func).partition(".")[0] not in (code.torch or "torch",)]
    local = (
        _imported_names(code)
        | {node.name for node in code.tree.body if isinstance(node, Function)}
        | set(dir(builtins))
    )
    return sorted(
        (call for call in user_calls if dotted(call.func).partition(".")[0] in local), key=lambda call: call.col_offset
    )


def _varies(code: UserCode, node: ast.AST) -> bool:
    """Return True if an expression calls a function with varying results or with side effects."""
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
    """Return True if a call uses arguments of the surrounding function: a tensor is not a constant."""
    function = next(iter(code.around(call, ast.FunctionDef)), None)
    arguments = function.args if function else None
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs] if arguments else []
    return bool(_names(call) & {parameter.arg for parameter in parameters})


def _imported_names(code: UserCode) -> set[str]:
    names = set()
    for node in code.tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return names


def _constants(code: UserCode) -> set[str]:
    """Return names with one meaning from the top of the file on: imports, builtins, constants assigned once."""
    stored = [
        node.id for node in ast.walk(code.tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    ]
    arguments = {node.arg for node in ast.walk(code.tree) if isinstance(node, ast.arg)}
    changed = {name for node in ast.walk(code.tree) if isinstance(node, ast.Global) for name in node.names}
    assigned_once = {
        target.id
        for node in code.tree.body
        if isinstance(node, ast.Assign) and _is_fixed(node.value)
        for target in node.targets
        if isinstance(target, ast.Name) and stored.count(target.id) == 1
    }
    reserved = _imported_names(code) | set(dir(builtins))
    return ((assigned_once - reserved) | (reserved - set(stored))) - changed - arguments


def _is_fixed(value: ast.expr) -> bool:
    """Return True if a value is immutable: numbers, texts, and tuples of them."""
    immutable = (ast.Constant, ast.Tuple, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop, ast.expr_context)
    return all(isinstance(node, immutable) for node in ast.walk(value))


def _names(node: ast.AST) -> set[str]:
    return {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}


def _fresh_name(code: UserCode, wanted: str) -> str:
    """Return a name that the file does not use."""
    used = set(re.findall(r"\w+", code.text))
    names = (f"{wanted}{number or ''}" for number in range(len(used) + 1))
    return next(name for name in names if name not in used)
