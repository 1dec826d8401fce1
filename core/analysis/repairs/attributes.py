"""Rules for attributes and globals whose value changes between calls; each takes the name."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from core.analysis.repairs.choices import BOTH_COMPUTED
from core.analysis.repairs.reads import number_at
from core.analysis.repairs.recompiles import DATA, as_tensor, starred
from core.analysis.repairs.repair import CodeFix
from core.analysis.repairs.source import Edit, UserCode, dotted


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
        f"Hold `{name}` as a tensor.", DATA, (*edits, *more), "may change", "An op must take it as a tensor."
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
    doubt = "Where Python's number decides, such as a size or an `if`, the code behind it must take a tensor."
    return CodeFix(
        f"Keep `{name}` in a buffer.",
        f"{DATA} The buffer is in no checkpoint, so that those that you have still load.",
        (Edit(code.start(statement), code.end(statement), text), *more),
        "may change",
        doubt,
    )


def _attribute_test(name: str) -> Callable[[ast.expr], bool]:
    def is_target(target: ast.expr) -> bool:
        return isinstance(target, ast.Attribute) and target.attr == name

    return is_target


def _initial_numbers(code: UserCode, name: str) -> Iterator[tuple[ast.Constant, ast.stmt]]:
    """Yield each number that `__init__` assigns to an attribute after torch's module setup, with its statement."""
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
    """Return the numbers assigned to a target anywhere in the file; empty if anything else is assigned."""
    values = list(_assigned_values(code, is_target))
    numbers = [value for value in values if isinstance(value, ast.Constant) and _is_number(value)]
    integers = any(type(value.value) is int for value in numbers)
    return numbers if len(numbers) == len(values) and _updates_fit(code, is_target, integers) else []


def _is_number(value: ast.Constant) -> bool:
    return type(value.value) in (int, float)


def _updates_fit(code: UserCode, is_target: Callable[[ast.expr], bool], integers: bool) -> bool:
    """Return True if a target is updated in place only in functions, by numbers that fit its tensor's dtype."""
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
    """Yield every value assigned to a target; None if it is a part of something."""
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
        f"Hold `{name}` as a tensor, and choose with it.", DATA, (*edits, *more), "may change", BOTH_COMPUTED
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
