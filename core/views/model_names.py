"""Names of a model: from the syntax tree of its code, and from guards, stacks and modules in a log."""

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Sequence

from core.views.identifying import NEUTRAL_WORDS, PUBLIC, is_installed

OF_TORCH = NEUTRAL_WORDS["torch"]

# Sources of guards, such as `L['self']._modules['norm1'].eps`; a payload in JSON may escape the quotes.
CHAIN = re.compile(r"""\b[LG]\[\\?['"](\w+)\\?['"]\]((?:\.\w+|\[\\?['"][^'"\]\n]+['"]\]|\[\d+\])*)""")
LINK = re.compile(r"""\.(\w+)|\[\\?['"]([^'"\]\n\\]+)\\?['"]\]""")
CLASS = re.compile(r"<class '([\w.]+)'>")
IMPORTED = re.compile(r"__import_(\w+)")
MODULE = re.compile(r"""\["(?:L|G)\['[^"]*", "(\w+)"\]""")
FRAME = re.compile(r'\["((?:[^"\\\n]|\\.)+\.\w+)", \d+, "(\w+)"\]')
STRING = re.compile(r'\{"str": \["((?:[^"\\\n]|\\.)*)", (\d+)\]\}')
STACK_FRAME = re.compile(r'"name": "(\w+)", "filename": (\d+)')
IN_FUNCTION = re.compile(r'(?:File "([^"\n]+)", line \d+,|(\S+\.py):\d+) in (\w+)')


def log_names(log: str) -> list[str]:
    """Return names of modules, attributes, globals, classes and functions in guards and stacks of a log."""
    names: dict[str, None] = {}
    for root, chain in dict.fromkeys(CHAIN.findall(log)):
        names.update(dict.fromkeys([root, *(name for pair in LINK.findall(chain) for name in pair if name)]))
    for path in dict.fromkeys(CLASS.findall(log)):
        names.update(dict.fromkeys(() if "." not in path or path.partition(".")[0] in _STANDARD else path.split(".")))
    for path in dict.fromkeys(IMPORTED.findall(log)):
        parts = path.split("_dot_")
        names.update(dict.fromkeys(() if parts[0] in _STANDARD else parts))
    for name in MODULE.findall(log):
        names[name] = None
    names.update(dict.fromkeys(_functions(log)))
    return [name for name in names if not _is_common(name)]


_STANDARD = PUBLIC | sys.stdlib_module_names | {"builtins"}


def _is_common(name: str) -> bool:
    return name.strip("_") in OF_TORCH or name.startswith(("__", "_global_", "torch_dynamo", "compileboard_"))


def _functions(log: str) -> Iterator[str]:
    """Yield the names of functions in stacks, without those of installed files."""
    for path, name in FRAME.findall(log):
        if not is_installed(path):
            yield name
    own = {number for path, number in STRING.findall(log) if not is_installed(path)}
    yield from (name for name, number in STACK_FRAME.findall(log) if number in own)
    for quoted, bare, name in IN_FUNCTION.findall(log):
        if not is_installed(quoted or bare):
            yield name


SCOPES = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
# Calls with names of attributes, and calls with names as keywords.
NAMING = re.compile(r"register_(?:buffer|parameter|module)|add_module|(?:set|get|has|del)attr")
KEYED = ("dict", "OrderedDict", "ModuleDict", "ParameterDict", "BufferDict")


def code_names(node: ast.AST) -> Iterator[str]:
    """Yield the names of classes, functions, arguments, attributes and keys in a node of a syntax tree."""
    match node:
        case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
            yield node.name
            yield from _bound(node.body) if isinstance(node, ast.ClassDef) else ()
        case ast.Module():
            yield from _bound(node.body)
        case ast.arguments():
            every = (*node.posonlyargs, *node.args, *node.kwonlyargs, node.vararg, node.kwarg)
            yield from (each.arg for each in every if each is not None and each.arg not in ("self", "cls"))
        case ast.Attribute(ctx=ast.Store()):
            yield node.attr
        case ast.Dict():
            yield from _keys(node.keys)
        case ast.Subscript():
            yield from _keys([node.slice])
        case ast.Tuple(elts=[first, _]):
            yield from _keys([first])
        case ast.Call():
            yield from _of_call(node)
        case ast.Global():
            yield from node.names
        case ast.Import():
            yield from (part for alias in node.names for part in _of_module(alias.name))
        case ast.ImportFrom():
            parts = _of_module(node.module or "", node.level)
            yield from parts
            yield from (alias.name for alias in node.names if parts or node.level)


def _bound(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield the names that the statements of a module or class assign."""
    for statement in body:
        targets: list[ast.expr] = []
        match statement:
            case ast.Assign():
                targets = statement.targets
            case ast.AnnAssign() | ast.AugAssign() | ast.For() | ast.AsyncFor():
                targets = [statement.target]
            case ast.With() | ast.AsyncWith():
                targets = [item.optional_vars for item in statement.items if item.optional_vars is not None]
        yield from (each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name))
        yield from _bound(_inner(statement)) if not isinstance(statement, SCOPES) else ()


def _inner(statement: ast.stmt) -> list[ast.stmt]:
    parts = (getattr(statement, name, []) for name in ("body", "orelse", "finalbody"))
    handlers = (handler.body for handler in getattr(statement, "handlers", []))
    return [each for part in (*parts, *handlers) for each in part if isinstance(each, ast.stmt)]


def _keys(nodes: Iterable[ast.expr | None]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            yield node.value


def _of_call(node: ast.Call) -> Iterator[str]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if NAMING.fullmatch(name):
        yield from _keys((*node.args, *(keyword.value for keyword in node.keywords if keyword.arg == "name")))
    if name in KEYED:
        yield from (keyword.arg for keyword in node.keywords if keyword.arg)


def _of_module(name: str, level: int = 0) -> list[str]:
    """Return the parts of an imported module's name; none of a public module."""
    parts = [part for part in name.split(".") if part]
    return [] if parts and not level and parts[0] in _STANDARD else parts
