"""Rules that avoid a recompile; each takes the name that varies: an input, an attribute, a global."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from core.analysis.repairs.repair import CodeFix
from core.analysis.repairs.source import Edit, Function, UserCode, dotted

DATA = "A tensor's value is data, and no guard looks at it."
DTYPES = ("float64", "float32", "float16", "bfloat16")


def tensor_argument(code: UserCode, name: str) -> CodeFix | None:
    """Turn a Python number among the inputs into a tensor."""
    inputs = inputs_of(code, name)
    torch, more = code.with_torch()
    edits = [as_tensor(code, value, torch) for value, _ in inputs]
    if not edits:
        return None
    return CodeFix(
        f"Pass `{name}` as a tensor.",
        DATA,
        (*edits, *more),
        "may change",
        "Where Python's number decides, such as a size or an `if`, the code behind it must take a tensor.",
    )


def as_tensor(code: UserCode, value: ast.expr, torch: str) -> Edit:
    """Return the edit that turns a number into a tensor; a float stays 64-bit, as in Python."""
    wide = isinstance(value, ast.Constant) and isinstance(value.value, float)
    text = f"{torch}.tensor({code.says(value)}{f', dtype={torch}.float64' if wide else ''})"
    return Edit(code.start(value), code.end(value), text)


def pad_list(code: UserCode, name: str) -> CodeFix | None:
    """Pad an input list with zeros to the same length in every call."""
    lists = [value for value, _ in inputs_of(code, name)]
    if not lists or not all(isinstance(value, ast.List) and value.elts for value in lists):
        return None
    longest = max(len(value.elts) for value in lists if isinstance(value, ast.List))
    torch, more = code.with_torch()
    edits = [
        edit for value in lists if isinstance(value, ast.List) for edit in _padding_edits(code, value, longest, torch)
    ]
    return CodeFix(
        f"Give `{name}` as many tensors in every call.",
        "A list of another length is another graph; what is missing is filled with zeros.",
        (*edits, *more),
        "may change",
        "Zeros change nothing only where the tensors are added up.",
    )


def _padding_edits(code: UserCode, value: ast.List, longest: int, torch: str) -> Iterator[Edit]:
    """Yield zeros behind a list, and copies of repeated elements, since torch guards on identical elements, too."""
    texts = [code.says(element) for element in value.elts]
    for place, element in enumerate(value.elts):
        if texts[place] in texts[:place] and isinstance(element, (ast.Name, ast.Attribute)):
            yield Edit(code.end(element), code.end(element), ".clone()")
    zeros = f", {torch}.zeros_like({texts[-1]})" * (longest - len(texts))
    if zeros:
        at = code.end(value.elts[-1])
        yield Edit(at, at, zeros)


def one_dtype(code: UserCode, name: str, call: str, dtype: str) -> CodeFix | None:
    """Convert an input to the dtype of the first call."""
    torch, more = code.with_torch()
    edits = _suffix_edits(code, name, call, f".to({torch}.{dtype})") if dtype in DTYPES else []
    if not edits:
        return None
    return CodeFix(
        f"Give `{name}` one dtype.",
        "Two dtypes take two codes, as they must; where the second was meant, leave it so.",
        (*edits, *more),
        "changes",
        f"The calls with another dtype are then made in {dtype}.",
    )


def one_grad(code: UserCode, name: str, call: str) -> CodeFix | None:
    """Detach an input from autograd, as in the first call."""
    edits = _suffix_edits(code, name, call, ".detach()")
    if not edits:
        return None
    return CodeFix(
        f"Let `{name}` require no gradient in any call.",
        "With and without a gradient are two codes, as they must be; where both are meant, leave it so.",
        tuple(edits),
        "changes",
        "There is then no gradient of it.",
    )


def _suffix_edits(code: UserCode, name: str, call: str, suffix: str) -> list[Edit]:
    """Return edits that append a suffix to an input from one call on; empty if a loop makes the calls."""
    inputs = inputs_of(code, name)
    loops = (ast.For, ast.While, ast.ListComp)
    if any(True for value, _ in inputs for _ in code.around(value, *loops)):
        return []
    values = [value for value, _ in inputs][int(call) :]
    simple = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
    if not all(isinstance(value, simple) for value in values):
        return []
    return [Edit(code.end(value), code.end(value), suffix) for value in values]


def inputs_of(code: UserCode, name: str) -> list[tuple[ast.expr, ast.stmt]]:
    """Return each call's argument for a parameter of the model, with its statement; empty unless calls are explicit."""
    parameters = parameters_of(code)
    inputs = []
    for call, statement in calls_of(code):
        value = _argument(call, parameters, name)
        if value is None:
            return []
        inputs.append((value, statement))
    return inputs


def _argument(call: ast.expr, parameters: Sequence[str], name: str) -> ast.expr | None:
    if isinstance(call, ast.Dict):
        pairs = zip(call.keys, call.values, strict=True)
        return next((value for key, value in pairs if isinstance(key, ast.Constant) and key.value == name), None)
    place = place_of(name, parameters)
    if place is None:
        return None
    if isinstance(call, (ast.Tuple, ast.List)):
        return call.elts[place] if place < len(call.elts) and not starred(call.elts) else None
    return call if place == 0 else None


def place_of(name: str, parameters: Sequence[str]) -> int | None:
    """Return the position of a positional argument, by name or number."""
    if name.isdecimal():
        return int(name)
    return parameters.index(name) if name in parameters else None


def starred(expressions: Sequence[ast.expr]) -> bool:
    """Return True if any of the expressions is starred."""
    return any(isinstance(element, ast.Starred) for element in expressions)


def calls_of(code: UserCode) -> Iterator[tuple[ast.expr, ast.stmt]]:
    """Yield the elements of `calls`, yielded or listed, or the value of `inputs`, with their statements."""
    by_name = {node.name: node for node in code.tree.body if isinstance(node, Function)}
    if "calls" in by_name:
        yield from sorted(_yielded_calls(by_name["calls"]), key=lambda pair: pair[1].lineno)
        return
    for node in code.tree.body:
        named = [dotted(target) for target in node.targets] if isinstance(node, ast.Assign) else []
        assert not named or isinstance(node, ast.Assign)
        if "calls" in named and isinstance(node, ast.Assign) and isinstance(node.value, (ast.List, ast.Tuple)):
            yield from ((element, node) for element in node.value.elts)
        elif "calls" in named and isinstance(node, ast.Assign) and isinstance(node.value, ast.ListComp):
            yield node.value.elt, node
        elif "inputs" in named and isinstance(node, ast.Assign):
            yield node.value, node


def _yielded_calls(function: Function) -> Iterator[tuple[ast.expr, ast.stmt]]:
    for node in ast.walk(function):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield) and node.value.value is not None:
            yield node.value.value, node


def parameters_of(code: UserCode) -> list[str]:
    """Return the positional parameters of `model`: a function, or an object of a class in the file."""
    for node in code.tree.body:
        if isinstance(node, Function) and node.name == "model":
            return [parameter.arg for parameter in (*node.args.posonlyargs, *node.args.args)]
        is_model = isinstance(node, ast.Assign) and any(dotted(target) == "model" for target in node.targets)
        if is_model and isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            return _forward_parameters(code, dotted(node.value.func))
    return []


def _forward_parameters(code: UserCode, name: str) -> list[str]:
    for node in code.tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            for method in node.body:
                if isinstance(method, Function) and method.name in ("forward", "__call__"):
                    return [parameter.arg for parameter in (*method.args.posonlyargs, *method.args.args)][1:]
    return []
