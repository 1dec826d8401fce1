"""Uses of a number in a file: where an attribute is set, and what the code does with its value.

`attribute_use` describes an attribute, `key_of` finds a subscript with a value, and `scheduler_steps` finds the steps
of learning-rate schedulers.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from core.analysis.repairs.choices import number_at
from core.analysis.repairs.source import UserCode, dotted, read_code

SETS_UP = ("__init__", "__post_init__", "__new__", "setup", "configure_model")
SCHEDULER = re.compile(r"(?:LR|WarmRestarts|Plateau|Scheduler)$")
TESTS = (ast.If, ast.IfExp, ast.While, ast.Assert)


@dataclass(frozen=True, slots=True)
class AttributeUse:
    """An attribute in a file.

    `changed` are the lines that set it outside of `__init__`; empty if it differs only between instances. `key` is a
    subscript with the attribute as key, such as `table[self.level]`; empty without one, or if the object may be a
    tensor. `condition` is a condition with it; `needed` is True if Python needs the number in any other way.
    """

    changed: tuple[int, ...]
    key: str
    condition: str
    needed: bool


def attribute_use(text: str, name: str) -> AttributeUse | None:
    """Return the uses of an attribute in a file; None if the file does not set it, or is not valid Python."""
    code = read_code(text)
    if code is None:
        return None
    nodes = [node for node in ast.walk(code.tree) if isinstance(node, ast.Attribute) and node.attr == name]
    stored = [node for node in nodes if isinstance(node.ctx, ast.Store)]
    if not stored or any(_sets_by_name(node, name) for node in ast.walk(code.tree)):
        return None
    loads = [node for node in nodes if isinstance(node.ctx, ast.Load)]
    return AttributeUse(
        changed=tuple(sorted(node.lineno for node in stored if not _sets_up(code, node))),
        key=next(_keys(code, loads), ""),
        condition=next(_conditions(code, loads), ""),
        needed=any(number_at(code, node) for node in loads),
    )


def _sets_up(code: UserCode, node: ast.AST) -> bool:
    function = next(code.around(node, ast.FunctionDef), None)
    return function is not None and function.name in SETS_UP


def _sets_by_name(node: ast.AST, name: str) -> bool:
    """Return True if a call gets the name as text, such as `setattr` or `register_buffer`."""
    arguments = node.args if isinstance(node, ast.Call) else []
    return any(isinstance(argument, ast.Constant) and argument.value == name for argument in arguments)


def key_of(line: str, name: str) -> str:
    """Return the subscript of a line whose key has a name or an attribute; empty without one.

    The line may be the head of a block, such as `if x in table[n]:`.
    """
    head = re.match(r"\s*(?:el)?(?:if|while|for)\b.*:$", line)
    code = read_code(f"{line.strip().removeprefix('el')}\n    pass" if head else line.strip())
    if code is None:
        code = read_code(line.strip().removeprefix("return").strip())
    nodes = ast.walk(code.tree) if code else iter(())
    uses = [node for node in nodes if _named(node) == name and isinstance(getattr(node, "ctx", None), ast.Load)]
    return next(_keys(code, uses), "") if code else ""


def _named(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _keys(code: UserCode, uses: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the subscripts with these values as keys; not of a local name, which may be a tensor."""
    for use in uses:
        below = use
        for above in code.around(use, ast.Subscript, ast.Call):
            if isinstance(above, ast.Subscript) and use in set(ast.walk(above.slice)) and not _is_local(code, above):
                yield code.says(above)
            if isinstance(above, ast.Call) and below is not above.func:
                break
            below = above


def _is_local(code: UserCode, subscript: ast.Subscript) -> bool:
    """Return True if the object is a parameter or a local name of the function around it."""
    root = dotted(subscript.value).partition(".")[0]
    function = next(iter(code.around(subscript, ast.FunctionDef, ast.AsyncFunctionDef)), None)
    if function is None or root == "self":
        return not root
    stored = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    parameters = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    return not root or root in stored | parameters


def _conditions(code: UserCode, loads: Iterable[ast.AST]) -> Iterator[str]:
    for load in loads:
        for above in code.around(load, ast.If, ast.IfExp, ast.While, ast.Assert):
            if isinstance(above, TESTS) and load in set(ast.walk(above.test)):
                compared = next(iter(code.around(load, ast.Compare)), None)
                yield code.says(compared or above.test)


def scheduler_steps(text: str) -> Iterator[tuple[str, int]]:
    """Yield the class of each learning-rate scheduler, with the line of its first `step()`."""
    code = read_code(text)
    if code is None:
        return
    calls = [node for node in ast.walk(code.tree) if isinstance(node, ast.Call)]
    for node in ast.walk(code.tree):
        made = node.value if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) else None
        kind = dotted(made.func).rpartition(".")[2] if made else ""
        if not SCHEDULER.search(kind) or not isinstance(node, ast.Assign):
            continue
        steps = {f"{dotted(target)}.step" for target in node.targets if dotted(target)}
        lines = sorted(call.lineno for call in calls if dotted(call.func) in steps)
        if lines:
            yield kind, lines[0]
