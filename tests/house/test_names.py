"""One name means one thing."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

import pytest

from tests.support.documents import blocks
from tests.support.imports import FILES, tree_of
from tests.support.places import ROOT

# Classes that share a name with another, and why each may.
TWICE = {
    "Edge": "of a graph as it is looked at, and of boxes that are laid out, which know of no graph",
    "Resources": "what a kernel takes, by its assembly and by its binary",
    "Source": "the user's file in a report, and a kernel's source in the worker",
    "Wrapper": "Inductor's wrapper, as it is read and as it is timed",
}
# Files that stand alone, to be read and changed.
EXAMPLES = ("core/samples/", "core/accelerator/backends/")


def test_no_public_class_has_the_name_of_another() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for name in FILES:
        for node in tree_of(name).body if not name.startswith(EXAMPLES) else ():
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(name)
    assert {name: found for name, found in places.items() if len(found) > 1 and name not in TWICE} == {}


# Parameters that say how a value came about, or that it is another, and not what it is.
EMPTY = frozenset(
    [
        "found",
        "one",
        "ones",
        "other",
        "others",
        "item",
        "said",
        "told",
        "tell",
        "here",
        "held",
        "hold",
        "kept",
        "given",
        "asked",
        "ask",
    ]
)
PARTICIPLE = re.compile(r"(?<!Spe)(?<!Se)ed$|(?:Met|Anew|Begun|Told|Found|Taken|Given|Known|Left|Said|Kept|Held|Made)$")
TOPS = ("core", "pages", "benchmarks", "docs/make", "dashboard.py")
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@pytest.mark.parametrize("top", TOPS)
def test_a_parameter_is_named_by_what_it_is(top: str) -> None:
    empty = [f"{name}:{line} {parameter}" for name, line, parameter in _parameters(top) if parameter in EMPTY]
    assert empty == []


def test_a_class_is_named_by_a_noun() -> None:
    classes = [
        f"{name}:{node.lineno} {node.name}"
        for top in TOPS
        for name in _files(top)
        for node in ast.walk(tree_of(name))
        if isinstance(node, ast.ClassDef) and PARTICIPLE.search(node.name)
    ]
    examples = [
        f"{path.name} {node.name}"
        for path in sorted((ROOT / "docs").glob("*.md"))
        for block in blocks(path.relative_to(ROOT).as_posix(), "python")
        for node in ast.walk(ast.parse(block))
        if isinstance(node, ast.ClassDef) and PARTICIPLE.search(node.name)
    ]
    assert classes + examples == []


def _files(top: str) -> list[str]:
    path = ROOT / top
    files = [path] if path.is_file() else sorted(path.rglob("*.py"))
    assert files
    return [file.relative_to(ROOT).as_posix() for file in files]


def _parameters(top: str) -> Iterator[tuple[str, int, str]]:
    """Yield the file, the line and the name of each parameter of each function."""
    for name in _files(top):
        for node in ast.walk(tree_of(name)):
            if isinstance(node, Function):
                arguments = node.args
                extra = [argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
                for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *extra):
                    yield name, argument.lineno, argument.arg
