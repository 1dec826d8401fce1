"""Cheats that each check must refuse, made from a correct solution.

Nothing is compiled, or it is disabled, or the backend is eager, or the result is a constant.
"""

from __future__ import annotations

import ast
import re

from benchmarks.agents.work import TASKS

# Called with the module's first entry or with what its factory returns: the first result, again and again.
CONSTANT = """

def _constant(function):
    results = []

    def repeat(*values, **named):
        if not results:
            results.append(function(*values, **named))
        return results[0]

    return repeat

"""
EAGER = "eager"
_BACKEND = ast.keyword("backend", ast.Constant(EAGER))
_DISABLE = ast.keyword("disable", ast.Constant(True))
FACTORIES = {
    "function": "{name} = _constant({name})\n",
    "factory": "_made = {name}\n{name} = lambda *values, **named: _constant(_made(*values, **named))\n",
    "pair": (
        "_made = {name}\n"
        "def {name}(*values, **named):\n"
        "    first, second = _made(*values, **named)\n"
        "    return first, _constant(second)\n"
    ),
    "optimizer": "Momentum.step = lambda self: setattr(self, 'steps', self.steps + 1)\n",
    "average": "Average.evaluate = _constant(Average.evaluate)\n",
}


def removed(_name: str, source: str) -> str:
    """Remove each torch.compile."""
    return _changed(source, None)


def disabled(_name: str, source: str) -> str:
    """Disable each compiled function: torch compiles a function that was disabled before."""
    return _changed(source, "torch.compiler.disable")


def eager_backend(_name: str, source: str) -> str:
    """Compile with the backend that compiles nothing."""
    return _changed(source, EAGER)


def constant(name: str, source: str) -> str:
    """Return the first result for all inputs."""
    entry, kind = _entry(name)
    return source + CONSTANT + FACTORIES[kind].format(name=entry)


CHEATS = {"removed": removed, "disabled": disabled, "eager backend": eager_backend, "constant": constant}


def _entry(name: str) -> tuple[str, str]:
    check = (TASKS / name / "check.py").read_text(encoding="utf-8")
    match = re.search(r"^ENTRY = (.+)$", check, flags=re.MULTILINE)
    if match is None:
        raise ValueError(f"{name}/check.py has no ENTRY")
    entry, kind = ast.literal_eval(match[1])
    return entry, kind


class _Rewriter(ast.NodeTransformer):
    """Change each `torch.compile(function)`, `@torch.compile` and `module.compile()`."""

    def __init__(self, wrapper: str | None) -> None:
        self.wrapper = wrapper

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Change the decorators of a function."""
        self.generic_visit(node)
        decorators: list[ast.expr] = []
        for decorator in node.decorator_list:
            function = decorator.func if isinstance(decorator, ast.Call) else decorator
            if ast.unparse(function) != "torch.compile":
                decorators.append(decorator)
            elif self.wrapper == EAGER:
                decorators.append(ast.Call(function, [], [_BACKEND]))
            elif self.wrapper:
                decorators += [_expression(self.wrapper), decorator]
        node.decorator_list = decorators
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Change a call that compiles."""
        self.generic_visit(node)
        function = node.func
        if not isinstance(function, ast.Attribute) or function.attr != "compile":
            return node
        if node.args and ast.unparse(function) == "torch.compile":
            if self.wrapper is None:
                return node.args[0]
            if self.wrapper == EAGER:
                return ast.Call(function, node.args, [_BACKEND])
            return ast.Call(_expression(self.wrapper), [node], [])
        if node.args:
            return node
        if self.wrapper is None:
            return ast.Constant(None)
        return ast.Call(function, [], [_BACKEND if self.wrapper == EAGER else _DISABLE])


def _changed(source: str, wrapper: str | None) -> str:
    return ast.unparse(ast.fix_missing_locations(_Rewriter(wrapper).visit(ast.parse(source)))) + "\n"


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body
