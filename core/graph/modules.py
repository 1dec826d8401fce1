"""Groups from recorded node origins: direction, nn.Module, or source line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from core.graph.tree import Branch
from core.report import Module, ModulePath, Place, module_path

LONGEST_LABEL = 120


class Origin(NamedTuple):
    """Recorded origin of a node; empty for inputs and outputs."""

    module: str = ""
    module_class: str = ""
    direction: str = ""
    source: Place | None = None
    code: str = ""


def module_at(path: ModulePath, classes: Mapping[ModulePath, str]) -> Module:
    """Return the module of a path, with its class if `classes` has it."""
    if not path:
        return Module("", "")
    return Module(f"L['{path[0]}']" + "".join(f"['{name}']" for name in path[1:]), classes.get(path, ""))


def classes_of(modules: Iterable[Module]) -> dict[ModulePath, str]:
    """Return the class of each module by its path."""
    return {module_path(module.path): module.kind for module in modules if module.path and module.kind}


def grow(origins: Sequence[Origin], source: str = "") -> Branch:
    """Return the tree of modules, or of source lines if no module was recorded; `source` is the user's own file."""
    if any(origin.module for origin in origins):
        return _module_tree(origins)
    return _line_tree(origins, source)


def _module_tree(origins: Sequence[Origin]) -> Branch:
    roots = {module_path(origin.module)[0] for origin in origins if origin.module}
    tree = _Tree(0 if len(roots) > 1 else 1)
    for number, origin in enumerate(origins):
        tree.branch(origin.direction, origin.module, origin.module_class).members.append(number)
    return tree.root


class _Tree:
    """Branches by direction and path, created on request."""

    def __init__(self, skip: int) -> None:
        self.root = Branch("m:")
        self._skip = skip
        self._branches: dict[tuple[str, ModulePath], Branch] = {("", ()): self.root}
        self._by_module: dict[tuple[str, str], Branch] = {}

    def branch(self, direction: str, module: str, module_class: str) -> Branch:
        """Return the branch of a module in a direction."""
        branch = self._by_module.get((direction, module))
        if branch is None:
            branch = self._branch_at(direction, module_path(module)[self._skip :] if module else ())
            self._by_module[direction, module] = branch
        if module and not branch.detail and branch.kind == "module" and branch is not self.root:
            branch.detail = module_class
        return branch

    def _branch_at(self, direction: str, path: ModulePath) -> Branch:
        branch = self._branches.get((direction, path))
        if branch is None:
            branch = self._new_branch(direction, path)
            self._branches[direction, path] = branch
        return branch

    def _new_branch(self, direction: str, path: ModulePath) -> Branch:
        if not path:
            branch = Branch(f"m:{direction}/", direction, kind="direction")
            self.root.members.append(branch)
            return branch
        parent = self._branch_at(direction, path[:-1])
        segment = path[-1][:LONGEST_LABEL]
        named = segment.isdecimal() and len(path) > 1
        prefix = f"{direction}/" if direction else ""
        branch = Branch(f"m:{prefix}{'.'.join(path)}", f"{path[-2]}.{segment}" if named else segment, segment=segment)
        parent.members.append(branch)
        return branch


def _line_tree(origins: Sequence[Origin], source: str) -> Branch:
    root = Branch("l:")
    tops = {"": root}
    seen: dict[str, int] = {}
    for (direction, *_), run in groupby(range(len(origins)), lambda number: _line_of(origins[number])):
        if direction not in tops:
            tops[direction] = Branch(f"m:{direction}/", direction, kind="direction")
            root.members.append(tops[direction])
        numbers = list(run)
        top = tops[direction]
        first = origins[numbers[0]]
        if first.source is None or len(numbers) == 1:
            top.members.extend(numbers)
        else:
            top.members.append(_line(first.source, first.code, source, seen, numbers))
    return root


def _line_of(origin: Origin) -> tuple[str, str, int]:
    return (origin.direction, origin.source.file, origin.source.line) if origin.source else (origin.direction, "", 0)


def _line(place: Place, code: str, source: str, seen: dict[str, int], numbers: list[int]) -> Branch:
    """Return the branch for consecutive nodes of one line.

    The line's own id belongs to its first branch, since a loop may create several.
    """
    base = f"l:{place.line}" if place.file == source else f"l:{place.file}:{place.line}"
    seen[base] = seen.get(base, 0) + 1
    group_id = base if seen[base] == 1 else f"{base}#{seen[base]}"
    text = code.strip()[:LONGEST_LABEL]
    return Branch(group_id, text or place.short, place.short if text else "", kind="line", members=list(numbers))
