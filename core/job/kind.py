"""Kinds of a file, script or model, decided by its code without running it.

A model's file binds `model` and its inputs by plain statements at module level, and leaves the calls to
Compileboard. A file that calls compiled code itself, or runs a backward, is a script, whatever names it binds.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from core.base.syntax import NOT_READ, module
from core.job.notebook import place_of
from core.job.scopes import (
    COMPILES,
    Definition,
    Function,
    bound_names,
    called_body,
    imported_paths,
    last_name,
    nodes_below,
    parameters,
    root_name,
    target_names,
)

MODEL = "model"
# Names of the inputs of a model, in the order in which they are searched.
INPUTS = (f"{MODEL}_calls", "calls", f"{MODEL}_inputs", "inputs")
TORCHS = re.compile(r"torch\.compile|torch\.compiler\.compile|torch\._dynamo\.(?:optimize\w*|\w+\.optimize\w*)")
# Compilers of other kinds, which torch.compile has no part in.
OTHERS = ("re", "regex", "builtins", "triton", "numba", "jax", "py_compile", "torch.jit")
# Methods that run a compiled module, and methods of libraries that return one.
RUNS = {"forward", "generate", "__call__"}
PREPARES = {"accelerate": {"prepare", "prepare_model"}, "lightning": {"setup", "setup_module"}}
TIMERS = {"Timer", "timeit"}
GRADIENTS = {"torch.autograd.grad", "torch.autograd.backward"}
SHOWN_CHARS = 60


@dataclass(frozen=True, slots=True)
class FileKind:
    """A kind, script or model, and the reason with the deciding lines as a clause."""

    is_script: bool
    reason: str


def file_kind(code: str, has_calls: bool = False) -> FileKind:
    """Return what a file's code is.

    If `has_calls`, the job has the inputs, and a file that binds a `model` is a model's. Code that is not Python
    counts as a model's: loading it shows the error.
    """
    try:
        file = _File(module(code), code)
    except NOT_READ:
        return FileKind(False, "the file is not Python")
    bound = file.bound
    model, inputs = bound.get(MODEL), next((bound[name] for name in INPUTS if name in bound), None)
    if has_calls and model is not None:
        return FileKind(False, f"{model.text} is a model")
    if file.running is not None:
        return FileKind(True, file.running)
    if model is not None and inputs is not None:
        return FileKind(False, f"{model.text} and {inputs.text} are a model and its inputs")
    missing = "no `model`" if model is None else "neither `inputs` nor `calls`"
    lone = model or inputs
    if lone is None or file.acts:
        return FileKind(True, f"it defines {missing} by a plain statement at module level")
    return FileKind(False, f"{lone.text} belongs to a model, and the file does nothing else")


@dataclass(frozen=True, slots=True)
class _Name:
    """A bound name, with its line or its place in a notebook."""

    name: str
    place: str

    @property
    def text(self) -> str:
        return f"`{self.name}` in {self.place}"


class _File:
    """A file's tree with the code that runs when it is executed as a script."""

    def __init__(self, tree: ast.Module, code: str) -> None:
        self._tree = tree
        self._code = code
        self._imports = dict(imported_paths(tree))
        self._defined: dict[str, list[Definition]] = {}
        for node in ast.walk(tree):
            if isinstance(node, Definition):
                self._defined.setdefault(node.name, []).append(node)
        self._compilers = {
            name for name, nodes in self._defined.items() if any(self._has_compiler(node.body) for node in nodes)
        }
        self._compilers |= set(self._aliases())
        self._compiled = set(self._compiled_names())
        # Twice, for a callable that is passed on.
        for _ in range(2):
            self._compiled.update(self._passed_names())

    @cached_property
    def bound(self) -> dict[str, _Name]:
        """Names that plain statements at module level bind, star imports included, with their first lines."""
        names: dict[str, _Name] = {}
        for name, node in bound_names(self._tree.body):
            wanted = (MODEL, *INPUTS) if name == "*" and not self.acts else (name,)
            for each in wanted:
                names.setdefault(each, _Name(name, place_of(self._code, node.lineno)))
        return names

    @property
    def running(self) -> str | None:
        """A clause about the first line that calls compiled code or runs a backward; None without such a line."""
        for call in self._calls:
            what = self._effect(call)
            if what:
                return f"`{ast.unparse(call)[:SHOWN_CHARS]}` in {place_of(self._code, call.lineno)} {what}"
        return None

    @cached_property
    def acts(self) -> bool:
        """True if the file loops, or calls a function without using the result."""
        return any(
            isinstance(node, (ast.For, ast.AsyncFor, ast.While))
            or (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Call)
                and isinstance(node.value.func, ast.Name)
            )
            or (isinstance(node, ast.Call) and self._compiles(node.func))
            for node in self._executed
        )

    def _effect(self, call: ast.Call) -> str:
        """Return what a call does that only a script does; empty for other calls."""
        function = call.func
        if self._returns_compiled(function) or self._is_compiled(function) or self._times(call):
            return "calls compiled code"
        if self._path(function) in GRADIENTS:
            return "runs a backward"
        if not isinstance(function, ast.Attribute):
            return ""
        if function.attr in RUNS and root_name(function) in self._compiled:
            return "calls compiled code"
        if function.attr == "backward":
            return "runs a backward"
        owner = ast.unparse(function.value).lower()
        if "trainer" in owner:
            return "trains" if function.attr in {"train", "fit"} else ""
        # The body of a method of the file says more than its name.
        is_own = isinstance(function.value, ast.Name) and any(
            [each.arg for each in method.args.args[:1]] == ["self"] for method in self._functions(function)
        )
        return "trains" if function.attr == "fit" and not is_own else ""

    def _times(self, call: ast.Call) -> bool:
        """Return True for a timer of a statement in a string, in a file that compiles: `Timer("step(x)")`."""
        texts = [part for part in call.args if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        return bool(texts) and self._compiles_anything and last_name(call.func) in TIMERS

    def _returns_compiled(self, node: ast.expr) -> bool:
        """Return True for a call that returns a compiled callable, not a decorator: `torch.compile(f)`."""
        if (
            not isinstance(node, ast.Call)
            or not self._compiles(node.func)
            or self._path(node.func).endswith("optimize")
        ):
            return False
        return bool(node.args) or any(keyword.arg == "model" for keyword in node.keywords)

    def _is_compiled(self, node: ast.expr) -> bool:
        """Return True for a compiled callable: a name, a path such as `self.net`, or an element."""
        if isinstance(node, ast.Subscript):
            return root_name(node) in self._compiled
        if isinstance(node, ast.Name) and node.id == MODEL and self._compiles_anything:
            return True
        return isinstance(node, (ast.Name, ast.Attribute)) and ast.unparse(node) in self._compiled

    @cached_property
    def _compiles_anything(self) -> bool:
        return any(isinstance(node, ast.Call) and self._compiles(node.func) for node in self._executed)

    def _compiles(self, node: ast.expr) -> bool:
        """Return True if a callee or a decorator compiles: torch.compile under any name, or what calls it."""
        if isinstance(node, ast.Call):
            return self._compiles(node.func)
        path = self._path(node)
        if TORCHS.fullmatch(path) or path in self._compilers:
            return True
        if any(path == other or path.startswith(f"{other}.") for other in OTHERS) or path == "compile":
            return False
        return bool(COMPILES.search(path.rpartition(".")[2])) or self._prepares(node)

    def _prepares(self, node: ast.expr) -> bool:
        """Return True for a method by which an imported library returns a model that it may have compiled."""
        named = " ".join(self._imports.values())
        return isinstance(node, ast.Attribute) and any(
            node.attr in methods and library in named for library, methods in PREPARES.items()
        )

    def _path(self, node: ast.expr) -> str:
        """Return the dotted path of a name, with imported names as their modules' paths."""
        if not isinstance(node, (ast.Name, ast.Attribute)):
            return ast.unparse(node) if isinstance(node, ast.Subscript) else ""
        root, dot, rest = ast.unparse(node).partition(".")
        return f"{self._imports.get(root, root)}{dot}{rest}"

    def _has_compiler(self, nodes: Iterable[ast.AST]) -> bool:
        return any(
            isinstance(node, (ast.Name, ast.Attribute)) and TORCHS.fullmatch(self._path(node))
            for part in nodes
            for node in ast.walk(part)
        )

    def _aliases(self) -> Iterator[str]:
        """Yield names of torch.compile itself, or of a function made of it: `jit = partial(torch.compile)`."""
        for node in ast.walk(self._tree):
            if (
                isinstance(node, ast.Assign)
                and self._has_compiler([node.value])
                and not self._calls_compiler(node.value)
            ):
                yield from (target.id for target in node.targets if isinstance(target, ast.Name))

    def _calls_compiler(self, value: ast.AST) -> bool:
        return any(isinstance(node, ast.Call) and self._compiles(node.func) and node.args for node in ast.walk(value))

    def _compiled_names(self) -> Iterator[str]:
        """Yield the names and paths of compiled callables."""
        for node in (*self._executed, *ast.walk(self._tree)):
            if isinstance(node, Definition) and any(map(self._compiles, node.decorator_list)):
                yield node.name
            elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
                if self._calls_compiler(node.value):
                    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                    yield from target_names(targets)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "compile":
                # `net.compile()` compiles a module; `torch.compile(f)` is no method.
                yield from {root_name(node.func)} - {*self._imports, ""}

    def _passed_names(self) -> Iterator[str]:
        """Yield the parameters and the loop variables that are compiled callables."""
        for node in self._executed:
            if isinstance(node, (ast.For, ast.comprehension)):
                iterated = [part for part in ast.walk(node.iter) if isinstance(part, ast.expr)]
                if any(self._is_compiled(part) or self._returns_compiled(part) for part in iterated):
                    yield from target_names([node.target])
            elif isinstance(node, ast.Call):
                by_name = [(keyword.arg or "", keyword.value) for keyword in node.keywords]
                for function in self._functions(node.func):
                    passed = [*zip(parameters(function), node.args, strict=False), *by_name]
                    yield from (
                        name for name, value in passed if self._is_compiled(value) or self._returns_compiled(value)
                    )

    def _functions(self, callee: ast.expr) -> list[Function]:
        return [node for node in self._defined.get(last_name(callee), ()) if isinstance(node, Function)]

    @cached_property
    def _calls(self) -> list[ast.Call]:
        return sorted((node for node in self._executed if isinstance(node, ast.Call)), key=lambda call: call.lineno)

    @cached_property
    def _executed(self) -> list[ast.AST]:
        """The nodes that run: those at module level, and the bodies of the file's functions that they call."""
        nodes: list[ast.AST] = []
        entered: set[str] = set()
        pending: list[ast.AST] = list(self._tree.body)
        while pending:
            for node in nodes_below(pending.pop(0)):
                nodes.append(node)
                name = last_name(node.func) if isinstance(node, ast.Call) else ""
                if name and name not in entered:
                    entered.add(name)
                    pending += [part for entry in self._defined.get(name, ()) for part in called_body(entry)]
        return nodes
