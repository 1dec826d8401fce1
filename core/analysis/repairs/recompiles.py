"""Repair rules that avoid a recompile; each rule returns a fix, or None if the file does not fit.

A rule takes the name that varies: an input, an attribute, a global. `store_after` takes the line that stores a number.
"""

import ast
from collections.abc import Callable, Iterator, Sequence

from core.analysis.repairs.choices import BOTH_COMPUTED, number_at
from core.analysis.repairs.source import CodeFix, Edit, Function, UserCode, dotted, fresh_name, names_in, shares

DATA = "Guards do not check the values of tensors, so another value does not recompile."
OF_NUMBER = "If Python code uses the number, such as for a size or an `if`, it must accept a tensor."
BOTH = "Both need a compilation. If you need both, change nothing."
DTYPES = ("float64", "float32", "float16", "bfloat16")


def tensor_argument(code: UserCode, name: str) -> CodeFix | None:
    """Turn a Python number among the inputs into a tensor."""
    inputs = inputs_of(code, name)
    torch, more = code.with_torch()
    edits = [as_tensor(code, value, torch) for value, _ in inputs]
    if not edits or any(number_at(code, use) for use in _uses_of_parameter(code, name)):
        return None
    return CodeFix(
        f"Pass `{name}` as a tensor.",
        DATA,
        (*edits, *more),
        "may change",
        OF_NUMBER,
    )


def _uses_of_parameter(code: UserCode, name: str) -> Iterator[ast.Name]:
    """Yield the reads of a parameter in the functions that have it."""
    for function in (node for node in ast.walk(code.tree) if isinstance(node, (ast.FunctionDef, ast.Lambda))):
        if any(isinstance(node, ast.arg) and node.arg == name for node in ast.walk(function.args)):
            names = (node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == name)
            yield from (node for node in names if isinstance(node.ctx, ast.Load))


def as_tensor(code: UserCode, value: ast.expr, torch: str) -> Edit:
    """Return the edit that turns a number into a tensor; a float stays 64-bit, as in Python."""
    wide = isinstance(value, ast.Constant) and isinstance(value.value, float)
    text = f"{torch}.tensor({code.says(value)}{f', dtype={torch}.float64' if wide else ''})"
    return Edit(code.start(value), code.end(value), text)


def pad_list(code: UserCode, name: str) -> CodeFix | None:
    """Pad an input list with zeros to the same length in every call."""
    values = [value for value, _ in inputs_of(code, name)]
    lists = [each for each in values if isinstance(each, ast.List) and each.elts]
    if not lists or len(lists) < len(values) or any(isinstance(each.elts[-1], ast.Constant) for each in lists):
        return None
    torch, more = code.with_torch()
    longest = max(len(value.elts) for value in lists)
    edits = [edit for value in lists for edit in _padding_edits(code, value, longest, torch)]
    return CodeFix(
        f"Pass the same number of tensors in `{name}` in every call.",
        "Each length is a separate graph; missing tensors are filled with zeros.",
        (*edits, *more),
        "may change",
        "Correct only if the tensors are summed.",
    )


def _padding_edits(code: UserCode, value: ast.List, longest: int, torch: str) -> Iterator[Edit]:
    """Yield edits that append zeros to a list, and clone repeated elements.

    Repeated elements are cloned because torch also guards on identity.
    """
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
        f"Use one dtype for `{name}`.",
        BOTH,
        (*edits, *more),
        "changes",
        f"Calls with another dtype then run in {dtype}.",
    )


def one_grad(code: UserCode, name: str, call: str) -> CodeFix | None:
    """Detach an input from autograd, as in the first call."""
    edits = _suffix_edits(code, name, call, ".detach()")
    if not edits:
        return None
    return CodeFix(
        f"Pass `{name}` without gradient in every call.",
        BOTH,
        tuple(edits),
        "changes",
        "It then has no gradient.",
    )


def _suffix_edits(code: UserCode, name: str, call: str, suffix: str) -> list[Edit]:
    """Return edits that append a suffix to an input in the call with index `call` and all later calls.

    Empty if a loop makes the calls, or an input is a compound expression.
    """
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
    """Return each call's argument for a parameter of the model, with its statement.

    Empty if a call does not pass the argument explicitly.
    """
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
    """Return the position of a positional argument, by name or number; None for an unknown name."""
    if name.isdecimal():
        return int(name)
    return parameters.index(name) if name in parameters else None


def starred(expressions: Sequence[ast.expr]) -> bool:
    """Return True if any of the expressions is starred."""
    return any(isinstance(element, ast.Starred) for element in expressions)


def calls_of(code: UserCode) -> Iterator[tuple[ast.expr, ast.stmt]]:
    """Yield the arguments of each call, together with the statement in which they are written.

    The calls are those of `calls`, a generator function or a list; if there is no `calls`, the call with `inputs`.
    """
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
    return _forward_parameters(code, _class_of_model(code))


def _class_of_model(code: UserCode) -> str:
    """Return the name of the class of `model`, as the file calls it; empty without one."""
    for node in code.tree.body:
        is_model = isinstance(node, ast.Assign) and any(dotted(target) == "model" for target in node.targets)
        if is_model and isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            return dotted(node.value.func)
    return ""


def _forward_parameters(code: UserCode, name: str) -> list[str]:
    for node in code.tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            for method in node.body:
                if isinstance(method, Function) and method.name in ("forward", "__call__"):
                    return [parameter.arg for parameter in (*method.args.posonlyargs, *method.args.args)][1:]
    return []


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
        "The first graph then serves every size, instead of this size only.",
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
    """Return the edit that marks an argument of the first call, below `calls` or `inputs`.

    Empty unless the statement is an assignment.
    """
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


def tensor_global(code: UserCode, name: str) -> CodeFix | None:
    """Turn a global number into a tensor, at every assignment in the file."""

    def is_target(target: ast.expr) -> bool:
        return dotted(target) == name

    numbers = _numbers(code, is_target)
    if not numbers or _number_needed(code, is_target):
        return None
    torch, more = code.with_torch()
    edits = [as_tensor(code, value, torch) for value in numbers]
    return CodeFix(
        f"Store `{name}` as a tensor.", DATA, (*edits, *more), "may change", "Only for ops that accept a tensor here."
    )


def buffer_attribute(code: UserCode, name: str) -> CodeFix | None:
    """Turn a number attribute of a module into a buffer, which the graph can update."""
    number, statement = next(_initial_numbers(code, name), (None, None))
    is_target = _attribute_test(name)
    if number is None or statement is None or len(_numbers(code, is_target)) != 1 or _number_needed(code, is_target):
        return None
    torch, more = code.with_torch()
    value = as_tensor(code, number, torch).text
    text = f'self.register_buffer("{name}", {value}, persistent=False)'
    return CodeFix(
        f"Store `{name}` in a buffer.",
        f"{DATA} The buffer is not saved in checkpoints, so your checkpoints still load.",
        (Edit(code.start(statement), code.end(statement), text), *more),
        "may change",
        OF_NUMBER,
    )


def _attribute_test(name: str) -> Callable[[ast.expr], bool]:
    def is_target(target: ast.expr) -> bool:
        return isinstance(target, ast.Attribute) and target.attr == name

    return is_target


def _initial_numbers(code: UserCode, name: str) -> Iterator[tuple[ast.Constant, ast.stmt]]:
    """Yield each number that `__init__` assigns to an attribute, with its statement.

    Only an `__init__` that calls `super().__init__` counts, as in a torch module.
    """
    for method in ast.walk(code.tree):
        if not isinstance(method, ast.FunctionDef) or method.name != "__init__":
            continue
        set_up = any("super().__init__(" in code.says(node) for node in method.body)
        for node in method.body if set_up else ():
            target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
            is_attribute = target is not None and dotted(target) == f"self.{name}"
            if (
                is_attribute
                and isinstance(node, ast.Assign)
                and isinstance(node.value, ast.Constant)
                and _is_number(node.value)
            ):
                yield node.value, node


def _numbers(code: UserCode, is_target: Callable[[ast.expr], bool]) -> list[ast.Constant]:
    """Return the numbers assigned to a target anywhere in the file.

    Empty if anything else is assigned, or if an in-place update does not fit a tensor.
    """
    values = list(_assigned_values(code, is_target))
    numbers = [value for value in values if isinstance(value, ast.Constant) and _is_number(value)]
    integers = any(type(value.value) is int for value in numbers)
    return numbers if len(numbers) == len(values) and _updates_fit(code, is_target, integers) else []


def _is_number(value: ast.Constant) -> bool:
    return type(value.value) in (int, float)


def _updates_fit(code: UserCode, is_target: Callable[[ast.expr], bool], integers: bool) -> bool:
    """Return True if a target's in-place updates are all in functions, with fitting numbers.

    A number fits if the update keeps the dtype of the target's tensor.
    """
    for node in ast.walk(code.tree):
        if not isinstance(node, ast.AugAssign) or not is_target(node.target):
            continue
        within = any(True for _ in code.around(node, ast.FunctionDef))
        simple = isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)) and isinstance(node.value, ast.Constant)
        fits = simple and isinstance(node.value, ast.Constant) and (type(node.value.value) is int or not integers)
        if not within or not fits:
            return False
    return True


def _number_needed(code: UserCode, is_target: Callable[[ast.expr], bool]) -> bool:
    """Return True if any read of a target needs a Python number."""
    loads = (node for node in ast.walk(code.tree) if isinstance(node, (ast.Name, ast.Attribute)) and is_target(node))
    return any(isinstance(node.ctx, ast.Load) and number_at(code, node) for node in loads)


def _assigned_values(code: UserCode, is_target: Callable[[ast.expr], bool]) -> Iterator[ast.expr | None]:
    """Yield every value assigned to a target.

    None for a loop variable, an annotated assignment, or an unpacked value that is no tuple of equal length.
    """
    for node in ast.walk(code.tree):
        if isinstance(node, (ast.AnnAssign, ast.For)) and is_target(node.target):
            yield None
        for target in node.targets if isinstance(node, ast.Assign) else ():
            assert isinstance(node, ast.Assign)
            if is_target(target):
                yield node.value
            elif isinstance(target, ast.Tuple):
                tuples = isinstance(node.value, ast.Tuple) and not starred([*target.elts, *node.value.elts])
                pairs = tuples and isinstance(node.value, ast.Tuple) and len(node.value.elts) == len(target.elts)
                for place, element in enumerate(target.elts):
                    if is_target(element):
                        yield node.value.elts[place] if pairs and isinstance(node.value, ast.Tuple) else None


def flag_attribute(code: UserCode, name: str) -> CodeFix | None:
    """Turn an attribute that selects one of two values into a tensor that selects them."""
    tests = [node for node in ast.walk(code.tree) if isinstance(node, ast.Compare) and _tests(node, name)]
    literals = {repr(_literal(node)) for node in tests}
    values = list(_assigned_values(code, _attribute_test(name)))
    fixed = [value for value in values if isinstance(value, ast.Constant)]
    loads = [
        node
        for node in ast.walk(code.tree)
        if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load)
    ]
    choices = [above for node in tests if isinstance(above := code.parents[node], ast.IfExp) and above.test is node]
    if not tests or len(literals) != 1 or len(loads) != len(tests) or len(choices) != len(tests):
        return None
    if not fixed or len(fixed) < len(values) or not _updates_fit(code, _attribute_test(name), integers=True):
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
    return CodeFix(
        f"Store the result of comparing `{name}` in a bool tensor, and select with `torch.where`.",
        DATA,
        (*edits, *more),
        "may change",
        BOTH_COMPUTED,
    )


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


def store_after(code: UserCode, line: str) -> CodeFix | None:
    """Store a number after the compiled code: the model's `forward` calls the part that is compiled.

    Nothing else may read what is stored, and the only `return` of `forward` is its last statement.
    """
    statement = code.statement(int(line))
    method = code.parents.get(statement) if statement is not None else None
    if not isinstance(statement, ast.Assign) or not isinstance(method, ast.FunctionDef) or len(statement.targets) > 1:
        return None
    target, value, returned = statement.targets[0], _tensor_read(statement.value), _only_return(code, method)
    if value is None or returned is None or not _is_stored_only(code, target, method):
        return None
    torch, more = code.with_torch()
    inner, number, result = (fresh_name(code, name) for name in ("compiled_forward", "number", "result"))
    start, indent, read = code.line_start(method.lineno), code.indent(method), code.says(value)
    kind = f" -> {code.says(method.returns)}" if method.returns is not None else ""
    outer = (
        f"@{torch}.compiler.disable(recursive=False)",
        f"def forward({ast.unparse(method.args)}){kind}:",
        f"    {result}, {number} = self.{inner}({_passed_on(method.args)})",
        f"    {code.says(target)} = {number}.item()",
        f"    return {result}\n\n",
    )
    edits = [
        Edit(start, start, "\n".join(f"{indent}{row}" for row in outer)),
        Edit(code.start(method), code.start(method) + len("def forward"), f"def {inner}"),
        Edit(code.start(statement), code.end(statement), f"{number} = {read}.detach()"),
        Edit(code.start(returned), code.end(returned), f"({code.says(returned)}), {number}"),
    ]
    if method.returns is not None:
        both = f"tuple{kind.replace(' -> ', '[', 1)}, {torch}.Tensor]"
        edits.append(Edit(code.start(method.returns), code.end(method.returns), both))
    return CodeFix(
        f"Store `{code.says(target)}` after the compiled code.",
        "Python stores the number once the graph has run, and no guard checks its key. Compiled code of another module "
        "that calls this `forward` breaks its graph there.",
        (*edits, *more),
    )


def _tensor_read(value: ast.expr) -> ast.expr | None:
    """Return the tensor whose number an expression reads by `item`; None for other expressions."""
    match value:
        case ast.Call(func=ast.Attribute(value=(ast.Name() | ast.Call()) as tensor, attr="item"), args=[]):
            return tensor
    return None


def _is_stored_only(code: UserCode, target: ast.expr, method: ast.FunctionDef) -> bool:
    """Return True if no function reads the attribute of a target, whose key has only unchanged parameters."""
    owner = target.value if isinstance(target, ast.Subscript) else target
    key = target.slice if isinstance(target, ast.Subscript) else ast.Constant(None)
    stored = {node.id for node in ast.walk(method) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    kept = {node.arg for node in ast.walk(method.args) if isinstance(node, ast.arg)} - stored
    calls = {dotted(node.func) for node in ast.walk(key) if isinstance(node, ast.Call)}
    if not isinstance(owner, ast.Attribute) or not names_in(key) <= kept | {"id"} or not calls <= {"id"}:
        return False
    named = (node for node in ast.walk(code.tree) if isinstance(node, ast.Attribute) and node.attr == owner.attr)
    reads = (node for node in named if node is not owner and isinstance(node.ctx, ast.Load))
    return dotted(owner) == f"self.{owner.attr}" and not any(any(code.around(node, ast.FunctionDef)) for node in reads)


def _only_return(code: UserCode, method: ast.FunctionDef) -> ast.expr | None:
    """Return the value of the last statement of the model's `forward` if it alone returns."""
    owner, last = code.parents.get(method), method.body[-1]
    exits = [node for node in ast.walk(method) if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom))]
    is_plain = method.name == "forward" and not (method.decorator_list or method.args.vararg or method.args.kwarg)
    if not is_plain or exits != [last] or any(shares(code, node) for node in method.body):
        return None
    is_model = isinstance(owner, ast.ClassDef) and _class_of_model(code) == owner.name
    return last.value if is_model and isinstance(last, ast.Return) else None


def _passed_on(arguments: ast.arguments) -> str:
    """Return the arguments that pass on all named parameters of a method but `self`."""
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)][1:]
    return ", ".join([*names, *(f"{each.arg}={each.arg}" for each in arguments.kwonlyargs)])
