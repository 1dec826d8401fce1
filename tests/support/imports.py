"""What the files of core and pages import, read off their trees."""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import TypeVar

from tests.support.places import ROOT

FILES = [
    "dashboard.py",
    *sorted(path.relative_to(ROOT).as_posix() for top in ("core", "pages") for path in (ROOT / top).rglob("*.py")),
]


@cache
def tree_of(name: str) -> ast.Module:
    return ast.parse((ROOT / name).read_text(encoding="utf-8"))


@cache
def nodes_of(name: str) -> tuple[ast.AST, ...]:
    """All nodes of a file's tree."""
    return tuple(ast.walk(tree_of(name)))


@cache
def dotted(name: str) -> frozenset[str]:
    """The names with dots that stand in a file, such as `st.session_state`."""
    attributes = (node for node in nodes_of(name) if isinstance(node, ast.Attribute))
    return frozenset(found for node in attributes if (found := _dotted(node)))


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    before = _dotted(node.value) if isinstance(node, ast.Attribute) else ""
    return f"{before}.{node.attr}" if isinstance(node, ast.Attribute) and before else ""


Found = TypeVar("Found")


def offending(names: Iterable[str], found_in: Callable[[str], Found]) -> dict[str, Found]:
    """The files of which a law finds something, with what it finds."""
    return {name: found for name in names if (found := found_in(name))}


@cache
def imports(name: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """What a file imports, wherever in it: the full name of a module, and the names that are taken from it, if any."""
    found: list[tuple[str, tuple[str, ...]]] = []
    for node in nodes_of(name):
        if isinstance(node, ast.Import):
            found += ((alias.name, ()) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: relative import"
            found.append((node.module or "", tuple(alias.name for alias in node.names)))
    return tuple(found)


def imported(name: str) -> Iterator[str]:
    """Full names of the modules that a file imports; for `from core import x`, `core`."""
    return (module for module, _ in imports(name))


def tops(name: str) -> set[str]:
    """What those names begin with."""
    return {module.split(".")[0] for module in imported(name)}


def modules_of(name: str) -> Iterator[str]:
    """The same, but for `from core import x`, `core.x` if x is a module."""
    for module, taken in imports(name):
        folder = ROOT / module.replace(".", "/")
        for one in taken:
            is_module = (folder / one).is_dir() or (folder / f"{one}.py").exists()
            yield f"{module}.{one}" if is_module else module
        if not taken:
            yield module


def in_a_circle(below: Mapping[str, set[str]]) -> set[str]:
    """What is left when all that has nothing below it is taken away, again and again."""
    left = dict(below)
    while lowest := [name for name, needed in left.items() if not needed & set(left)]:
        for name in lowest:
            del left[name]
    return set(left)
