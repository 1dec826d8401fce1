"""Names in the syntax tree of a file, imported, bound or assigned, and the code that a call runs."""

import ast
import re
from collections.abc import Iterable, Iterator

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef
# Names that compile a callable in any library: `jit`, `maybe_compile`, `dynamo.optimize`.
COMPILES = re.compile(r"(?:^|_)(?:jit|compile)(?:_|$)", re.IGNORECASE)


def nodes_below(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and the nodes below it, without the bodies of functions but lambdas as arguments."""
    yield node
    if isinstance(node, Function):
        children: Iterable[ast.AST] = node.decorator_list
    elif isinstance(node, ast.Lambda):
        children = ()
    elif isinstance(node, ast.Call):
        lambdas = [each.body for each in node.args if isinstance(each, ast.Lambda)]
        children = (*ast.iter_child_nodes(node), *(lambdas if not COMPILES.search(last_name(node.func)) else ()))
    else:
        children = ast.iter_child_nodes(node)
    for child in children:
        yield from nodes_below(child)


def called_body(node: Definition) -> list[ast.stmt]:
    """Return the statements that a call runs: the body of a function, or of a class's `__init__`."""
    if isinstance(node, Function):
        return node.body
    return [part for each in node.body if isinstance(each, Function) and each.name == "__init__" for part in each.body]


def parameters(function: Function) -> list[str]:
    """Return the positional parameters of a function, without a method's `self`."""
    names = [parameter.arg for parameter in (*function.args.posonlyargs, *function.args.args)]
    return names[1:] if names[:1] == ["self"] else names


def bound_names(body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """Yield the names that plain statements bind, without those of loops and of `__main__`."""
    for statement in body:
        if isinstance(statement, Definition):
            yield statement.name, statement
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            for name in statement.names:
                yield (name.asname or name.name).partition(".")[0], statement
        elif isinstance(statement, ast.Assign):
            yield from ((name, statement) for name in target_names(statement.targets))
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            yield from ((name, statement) for name in target_names([statement.target]))
        elif isinstance(statement, ast.If) and not _is_main(statement.test):
            yield from bound_names([*statement.body, *statement.orelse])
        elif isinstance(statement, (ast.With, ast.AsyncWith)):
            yield from bound_names(statement.body)
        elif isinstance(statement, ast.Try):
            handled = [part for handler in statement.handlers for part in handler.body]
            yield from bound_names([*statement.body, *handled, *statement.orelse, *statement.finalbody])


def _is_main(test: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "__name__" for node in ast.walk(test))


def target_names(targets: Iterable[ast.expr]) -> Iterator[str]:
    """Yield assigned names and paths such as `self.net`; for an element, the name of its list."""
    for target in targets:
        if isinstance(target, (ast.Tuple, ast.List)):
            yield from target_names(target.elts)
        elif isinstance(target, ast.Starred):
            yield from target_names([target.value])
        elif isinstance(target, ast.Subscript):
            yield root_name(target)
        elif isinstance(target, ast.Attribute):
            yield ast.unparse(target)
            yield root_name(target)
        elif isinstance(target, ast.Name):
            yield target.id


def root_name(node: ast.expr) -> str:
    """Return the name that attributes and elements begin with; empty if there is none."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def last_name(node: ast.expr) -> str:
    """Return the last name of a callee."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def imported_paths(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield imported names with the paths of what they name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                root = name.name.partition(".")[0]
                yield (name.asname, name.name) if name.asname else (root, root)
        elif isinstance(node, ast.ImportFrom):
            for name in node.names:
                yield name.asname or name.name, f"{node.module or ''}.{name.name}"
