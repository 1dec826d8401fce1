"""Rules that spare a recompile, each given the name of what varies: an input, an attribute, a global."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from core.analysis.repairs.breaks import BOTH_COMPUTED
from core.analysis.repairs.repair import Mend
from core.analysis.repairs.source import Edit, Function, UserCode, dotted

DATA = "A tensor's value is data, and no guard looks at it."
DTYPES = ("float64", "float32", "float16", "bfloat16")


def mark_dynamic(code: UserCode, name: str, index: str) -> Mend | None:
    """A dimension of an input is marked before the first call."""
    given = _inputs(code, name)
    if not given or code.indent(given[0][1]).strip():
        return None
    torch, more = code.with_torch()
    mark = f"{torch}._dynamo.mark_dynamic({{}}, {index})\n"
    first, statement = given[0]
    edits = _marked_after(code, statement, name, mark) or _marked_before(code, first, statement, name, mark)
    return Mend(
        f"Mark dimension {index} of `{name}` as dynamic.",
        "The first code is then made for every size of it, where torch would make one for this size alone.",
        (*edits, *more),
    )


def _marked_after(code: UserCode, statement: ast.stmt, name: str, mark: str) -> list[Edit]:
    """A line below the list of calls, or below the inputs, that marks a part of it."""
    if not isinstance(statement, ast.Assign):
        return []
    item, _ = next(_calls(code))
    base = "calls[0]" if dotted(statement.targets[0]) == "calls" else "inputs"
    place = f'["{name}"]' if isinstance(item, ast.Dict) else ""
    if isinstance(item, (ast.Tuple, ast.List)):
        place = f"[{_parameters(code).index(name)}]"
    at = code.line_start((statement.end_lineno or statement.lineno) + 1)
    lead = "" if code.text[:at].endswith("\n") else "\n"
    return [Edit(min(at, len(code.text)), min(at, len(code.text)), lead + mark.format(base + place))]


def _marked_before(code: UserCode, value: ast.expr, statement: ast.stmt, name: str, mark: str) -> list[Edit]:
    """Lines before a call that mark its input; one without a name is given one."""
    indent, at = code.indent(statement), code.line_start(statement.lineno)
    if isinstance(value, ast.Name):
        return [Edit(at, at, indent + mark.format(value.id))]
    fresh = f"dynamic_{name}"
    made = f"{indent}{fresh} = {code.says(value)}\n{indent}{mark.format(fresh)}"
    return [Edit(at, at, made), Edit(code.start(value), code.end(value), fresh)]


def tensor_argument(code: UserCode, name: str) -> Mend | None:
    """A Python number among the inputs becomes a tensor."""
    given = _inputs(code, name)
    torch, more = code.with_torch()
    edits = [_as_tensor(code, value, torch) for value, _ in given]
    if not edits:
        return None
    return Mend(
        f"Pass `{name}` as a tensor.",
        DATA,
        (*edits, *more),
        "may change",
        "Where Python's number decides, such as a size or an `if`, the code behind it must take a tensor.",
    )


def _as_tensor(code: UserCode, value: ast.expr, torch: str) -> Edit:
    wide = isinstance(value, ast.Constant) and isinstance(value.value, float)
    text = f"{torch}.tensor({code.says(value)}{f', dtype={torch}.float64' if wide else ''})"
    return Edit(code.start(value), code.end(value), text)


def tensor_global(code: UserCode, name: str) -> Mend | None:
    """A global number becomes a tensor, wherever the file sets it."""
    values = list(_stored(code, lambda target: dotted(target) == name))
    numbers = [value for value in values if isinstance(value, ast.Constant) and type(value.value) in (int, float)]
    if not numbers or len(numbers) < len(values):
        return None
    torch, more = code.with_torch()
    edits = [_as_tensor(code, value, torch) for value in numbers]
    return Mend(f"Hold `{name}` as a tensor.", DATA, (*edits, *more), "may change", "An op must take it as a tensor.")


def _stored(code: UserCode, is_one: object) -> Iterator[ast.expr | None]:
    """What is assigned to a target, wherever it is; None where a part of something is."""
    assert callable(is_one)
    for node in ast.walk(code.tree):
        if isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.For)) and is_one(node.target):
            yield None
        for target in node.targets if isinstance(node, ast.Assign) else ():
            assert isinstance(node, ast.Assign)
            if is_one(target):
                yield node.value
            elif isinstance(target, ast.Tuple):
                whole = isinstance(node.value, ast.Tuple) and not _starred([*target.elts, *node.value.elts])
                pairs = whole and isinstance(node.value, ast.Tuple) and len(node.value.elts) == len(target.elts)
                for place, item in enumerate(target.elts):
                    if is_one(item):
                        yield node.value.elts[place] if pairs and isinstance(node.value, ast.Tuple) else None


def flag_attribute(code: UserCode, name: str) -> Mend | None:
    """An attribute that chooses between two values becomes a tensor that does."""
    tests = [node for node in ast.walk(code.tree) if isinstance(node, ast.Compare) and _tests(node, name)]
    literals = {repr(_literal(node)) for node in tests}
    values = list(_stored(code, lambda target: isinstance(target, ast.Attribute) and target.attr == name))
    fixed = [value for value in values if isinstance(value, ast.Constant)]
    loads = [
        node
        for node in ast.walk(code.tree)
        if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load)
    ]
    choices = [above for node in tests if isinstance(above := code.parents[node], ast.IfExp) and above.test is node]
    if not tests or len(literals) != 1 or len(loads) != len(tests) or len(choices) != len(tests):
        return None
    if not fixed or len(fixed) < len(values):
        return None
    torch, more = code.with_torch()
    literal = _literal(tests[0])
    edits = [Edit(code.start(value), code.end(value), f"{torch}.tensor({value.value == literal})") for value in fixed]
    edits += [
        Edit(
            code.start(choice),
            code.end(choice),
            f"{torch}.where({code.says(test.left)}, {code.says(choice.body)}, {code.says(choice.orelse)})",
        )
        for test, choice in zip(tests, choices, strict=True)
    ]
    return Mend(f"Hold `{name}` as a tensor, and choose with it.", DATA, (*edits, *more), "may change", BOTH_COMPUTED)


def _tests(node: ast.Compare, name: str) -> bool:
    left = isinstance(node.left, ast.Attribute) and node.left.attr == name
    return (
        left
        and len(node.ops) == 1
        and isinstance(node.ops[0], ast.Eq)
        and isinstance(node.comparators[0], ast.Constant)
    )


def _literal(node: ast.Compare) -> object:
    return node.comparators[0].value if isinstance(node.comparators[0], ast.Constant) else None


def pad_list(code: UserCode, name: str) -> Mend | None:
    """A list among the inputs is as long in every call, filled with zeros."""
    lists = [value for value, _ in _inputs(code, name)]
    if not lists or not all(isinstance(value, ast.List) and value.elts for value in lists):
        return None
    longest = max(len(value.elts) for value in lists if isinstance(value, ast.List))
    torch, more = code.with_torch()
    edits = [edit for value in lists if isinstance(value, ast.List) for edit in _padded(code, value, longest, torch)]
    return Mend(
        f"Give `{name}` as many tensors in every call.",
        "A list of another length is another graph; what is missing is filled with zeros.",
        (*edits, *more),
        "may change",
        "Zeros change nothing only where the tensors are added up.",
    )


def _padded(code: UserCode, value: ast.List, longest: int, torch: str) -> Iterator[Edit]:
    """Zeros behind a list, and a copy of what it holds twice, which torch has a guard for, too."""
    said = [code.says(item) for item in value.elts]
    for place, item in enumerate(value.elts):
        if said[place] in said[:place] and isinstance(item, (ast.Name, ast.Attribute)):
            yield Edit(code.end(item), code.end(item), ".clone()")
    zeros = f", {torch}.zeros_like({said[-1]})" * (longest - len(said))
    if zeros:
        at = code.end(value.elts[-1])
        yield Edit(at, at, zeros)


def one_dtype(code: UserCode, name: str, call: str, dtype: str) -> Mend | None:
    """An input keeps the dtype of the first call."""
    torch, more = code.with_torch()
    edits = _suffixed(code, name, call, f".to({torch}.{dtype})") if dtype in DTYPES else []
    if not edits:
        return None
    return Mend(
        f"Give `{name}` one dtype.",
        "Two dtypes take two codes, as they must; where the second was meant, leave it so.",
        (*edits, *more),
        "changes",
        f"The calls with another dtype are then made in {dtype}.",
    )


def one_grad(code: UserCode, name: str, call: str) -> Mend | None:
    """An input requires no gradient, as in the first call."""
    edits = _suffixed(code, name, call, ".detach()")
    if not edits:
        return None
    return Mend(
        f"Let `{name}` require no gradient in any call.",
        "With and without a gradient are two codes, as they must be; where both are meant, leave it so.",
        tuple(edits),
        "changes",
        "There is then no gradient of it.",
    )


def _suffixed(code: UserCode, name: str, call: str, suffix: str) -> list[Edit]:
    """Something behind an input from one call on; nothing where calls are made in a loop, and cannot be told apart."""
    given = _inputs(code, name)
    loops = (ast.For, ast.While, ast.ListComp)
    if any(True for value, _ in given for _ in code.around(value, *loops)):
        return []
    values = [value for value, _ in given][int(call) :]
    simple = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
    if not all(isinstance(value, simple) for value in values):
        return []
    return [Edit(code.end(value), code.end(value), suffix) for value in values]


def _inputs(code: UserCode, name: str) -> list[tuple[ast.expr, ast.stmt]]:
    """What each call gives to a parameter of the model, with the statement that it stands in; nothing unless all
    calls are written out.
    """
    parameters = _parameters(code)
    found = []
    for item, statement in _calls(code):
        value = _argument(item, parameters, name)
        if value is None:
            return []
        found.append((value, statement))
    return found


def _argument(item: ast.expr, parameters: Sequence[str], name: str) -> ast.expr | None:
    if isinstance(item, ast.Dict):
        pairs = zip(item.keys, item.values, strict=True)
        return next((value for key, value in pairs if isinstance(key, ast.Constant) and key.value == name), None)
    if name not in parameters:
        return None
    place = parameters.index(name)
    if isinstance(item, (ast.Tuple, ast.List)):
        return item.elts[place] if place < len(item.elts) and not _starred(item.elts) else None
    return item if place == 0 else None


def _starred(items: Sequence[ast.expr]) -> bool:
    return any(isinstance(item, ast.Starred) for item in items)


def _calls(code: UserCode) -> Iterator[tuple[ast.expr, ast.stmt]]:
    """What `calls` yields or lists, or `inputs` is."""
    by_name = {node.name: node for node in code.tree.body if isinstance(node, Function)}
    if "calls" in by_name:
        yield from sorted(_yielded(by_name["calls"]), key=lambda pair: pair[1].lineno)
        return
    for node in code.tree.body:
        named = [dotted(target) for target in node.targets] if isinstance(node, ast.Assign) else []
        assert not named or isinstance(node, ast.Assign)
        if "calls" in named and isinstance(node, ast.Assign) and isinstance(node.value, (ast.List, ast.Tuple)):
            yield from ((item, node) for item in node.value.elts)
        elif "calls" in named and isinstance(node, ast.Assign) and isinstance(node.value, ast.ListComp):
            yield node.value.elt, node
        elif "inputs" in named and isinstance(node, ast.Assign):
            yield node.value, node


def _yielded(function: Function) -> Iterator[tuple[ast.expr, ast.stmt]]:
    for node in ast.walk(function):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield) and node.value.value is not None:
            yield node.value.value, node


def _parameters(code: UserCode) -> list[str]:
    """The positional parameters of what is called `model`: a function, or an object of a class of the file."""
    for node in code.tree.body:
        if isinstance(node, Function) and node.name == "model":
            return [item.arg for item in (*node.args.posonlyargs, *node.args.args)]
        made = isinstance(node, ast.Assign) and any(dotted(target) == "model" for target in node.targets)
        if made and isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            return _forward(code, dotted(node.value.func))
    return []


def _forward(code: UserCode, name: str) -> list[str]:
    for node in code.tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            for method in node.body:
                if isinstance(method, Function) and method.name in ("forward", "__call__"):
                    return [item.arg for item in (*method.args.posonlyargs, *method.args.args)][1:]
    return []
