"""Which private names of torch and Triton a file of ours uses, read off its tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

PRIVATE = re.compile(r"^_(?!_)\w")
NAME = re.compile(r"^[A-Za-z_]\w*$")


def is_private(name: str) -> bool:
    """Whether a full name belongs to Triton, which does not say what is public, or has a part with an underscore."""
    parts = name.split(".")
    return parts[0] == "triton" or (parts[0] == "torch" and any(map(PRIVATE.match, parts)) and parts[-1] != "__file__")


def private_uses(path: Path) -> set[str]:
    """Full names that are imported, read, or named to `getattr` and `patch.object` after their owner; where the owner
    is not known, `*.` and the name.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    known = dict(_imported(tree))
    found = {name for name in _chains(tree, known) if is_private(name)}
    found |= {name for name in _by_text(tree, known) if is_private(name)}
    return found | {f"*.{name}" for name in _unowned(tree, known)}


def defined(path: Path) -> set[str]:
    """Private names that a file defines itself."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    found = {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    found |= {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
    return {name for name in found if PRIVATE.match(name)}


def _imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Name in the file → full name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield (alias.asname, alias.name) if alias.asname else (alias.name.split(".")[0],) * 2
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


def _chains(tree: ast.AST, known: dict[str, str]) -> Iterator[str]:
    """Every imported name, and every attribute that is read from one, with its full name; the longest alone."""
    inside = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    yield from known.values()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Attribute) and id(node) not in inside and (name := _full(node, known)):
            yield name


def _full(node: ast.AST, known: dict[str, str]) -> str:
    """`torch._inductor.config` of a node that says so; empty where it starts with no imported name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    start = known.get(node.id, "") if isinstance(node, ast.Name) else ""
    return ".".join([start, *reversed(parts)]) if start else ""


def _by_text(tree: ast.AST, known: dict[str, str]) -> Iterator[str]:
    """An owner and a text beside it, in a call or a tuple."""
    for node in ast.walk(tree):
        items = node.args if isinstance(node, ast.Call) else node.elts if isinstance(node, ast.Tuple) else []
        for owner, text in pairwise(items):
            if isinstance(text, ast.Constant) and isinstance(text.value, str) and NAME.match(text.value):
                start = _full(owner, known) if isinstance(owner, (ast.Name, ast.Attribute)) else ""
                if start:
                    yield f"{start}.{text.value}"


def _unowned(tree: ast.AST, known: dict[str, str]) -> Iterator[str]:
    """Private attributes of values that are no import, and texts that are private names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and PRIVATE.match(node.attr) and not _full(node, known):
            if not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")):
                yield node.attr
        elif (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and re.match(r"^_[a-z]\w*[a-z]$", node.value)
        ):
            yield node.value
