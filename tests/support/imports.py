"""What the files of core and pages import, read off their trees."""

import ast
from collections.abc import Iterator, Mapping
from functools import cache

from tests.support.places import ROOT

FILES = [
    "dashboard.py",
    *sorted(path.relative_to(ROOT).as_posix() for top in ("core", "pages") for path in (ROOT / top).rglob("*.py")),
]


@cache
def tree_of(name: str) -> ast.Module:
    return ast.parse((ROOT / name).read_text(encoding="utf-8"))


def imports(name: str) -> Iterator[tuple[str, list[str]]]:
    """What a file imports, wherever in it: the full name of a module, and the names that are taken from it, if any."""
    for node in ast.walk(tree_of(name)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, []) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: relative import"
            yield node.module or "", [alias.name for alias in node.names]


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
