"""Groups of a graph: a tree from the recorded origins of nodes, and the resulting order of nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from core.base.words import first_of, ranges_words
from core.graph.model import TOP, GroupKind
from core.ops.costs import UNKNOWN, Cost
from core.report import FxNode, Module, ModulePath, Place, module_path
from core.report.nodes import MOST_REMEMBERED

LONGEST_LABEL = 120  #: a module's label
MOST_CALLED = 2  #: files named that the lines of a launch call


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
    """Return the tree of modules; the tree of source lines if no module was recorded.

    `source` is the path of the user's file.
    """
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
        """Return the tree's branch for a module, in the forward or backward direction."""
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
    """Return the group of consecutive nodes that come from one line of the source.

    A line in a loop may have several groups; the first group has the line's own id.
    """
    base = f"l:{place.line}" if place.file == source else f"l:{place.file}:{place.line}"
    seen[base] = seen.get(base, 0) + 1
    group_id = base if seen[base] == 1 else f"{base}#{seen[base]}"
    text = code.strip()[:LONGEST_LABEL]
    return Branch(group_id, text or place.short, place.short if text else "", kind="line", members=list(numbers))


MOST_MEMBERS = 400  #: nodes of a group before it is split
CHUNK = 200
SYMBOL = re.compile(r"\b[a-z]+\d+\b")
STATIC = "static"


@dataclass(slots=True, eq=False)
class Branch:
    """A future group: `members` are its direct nodes (by number) and branches, in graph order."""

    id: str
    label: str = ""
    detail: str = ""
    kind: GroupKind = "module"
    segment: str = ""
    modules: str = ""
    badge: str = ""
    links: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    members: list[int | Branch] = field(default_factory=list)
    first: int = 0
    last: int = 0
    index: int = TOP
    end: int = 0

    @property
    def branches(self) -> Iterator[Branch]:
        """Yield the direct subbranches."""
        return (member for member in self.members if isinstance(member, Branch))


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Final order of the nodes and groups.

    `order` has the node numbers, and `group_of` the group of each node in this order. `branches` are the groups,
    parents first, and `parents` has the parent of each group.
    """

    order: list[int]
    group_of: list[int]
    branches: list[Branch]
    parents: list[int]


def arrange(root: Branch) -> Arrangement:
    """Return the depth-first order of nodes and groups, and set each branch's ranges of nodes and groups."""
    arrangement = Arrangement([], [], [], [])
    _number(root, TOP, arrangement)
    return arrangement


def _number(branch: Branch, index: int, arrangement: Arrangement) -> None:
    branch.first, branch.index = len(arrangement.order), index
    for member in branch.members:
        if isinstance(member, Branch):
            arrangement.branches.append(member)
            arrangement.parents.append(index)
            _number(member, len(arrangement.branches) - 1, arrangement)
        else:
            arrangement.order.append(member)
            arrangement.group_of.append(index)
    branch.last, branch.end = len(arrangement.order), len(arrangement.branches)


def simplify(branch: Branch) -> None:
    """Drop groups of a single node, and groups that contain only another group.

    If the only member is a module, its new name has both names: `layers.0`.
    """
    for child in branch.branches:
        simplify(child)
    branch.members = [_simplified(member) for member in branch.members]


def _simplified(member: int | Branch) -> int | Branch:
    if isinstance(member, int) or member.kind == "direction" or len(member.members) != 1:
        return member
    only = member.members[0]
    if isinstance(only, Branch) and only.kind == "module":
        only.segment = f"{member.segment}.{only.segment}"
        only.label = only.segment
    return only


def chunk(branch: Branch) -> None:
    """Split large groups into subgroups of consecutive members."""
    for child in branch.branches:
        chunk(child)
    count = len(branch.members)
    if count <= MOST_MEMBERS:
        return
    size = max(CHUNK, -(-count // MOST_MEMBERS))
    starts = range(0, count, size)
    branch.members = [_chunk(branch, start, branch.members[start : start + size]) for start in starts]
    for child in branch.branches:
        chunk(child)


def _chunk(branch: Branch, start: int, members: Sequence[int | Branch]) -> Branch:
    name = f"{start + 1}–{start + len(members)}"
    noun = "ops" if all(isinstance(member, int) for member in members) else "items"
    return Branch(f"{branch.id}#{name}", f"{noun} {name}", kind="line", members=list(members))


def ancestors(group: int, parents: Sequence[int]) -> Iterator[int]:
    """Yield a group and its ancestors, innermost first."""
    while group != TOP:
        yield group
        group = parents[group]


class Trait(NamedTuple):
    """Data of one node; `op` is True if the node computes.

    `dtype` and `shapes` are empty and `seconds` is None if not recorded. `shapes` is "static" or "dynamic: s33".
    `parameters` are the names of the parameters that the node reads.
    """

    op: bool = True
    cost: Cost = UNKNOWN
    dtype: str = ""
    shapes: str = ""
    module_class: str = ""
    seconds: float | None = None
    parameters: tuple[str, ...] = ()


def line_words(nodes: Iterable[FxNode]) -> str:
    """Return the user's lines of nodes, `m.py:64–66, 306; loss.py:9`, and the code of a single line.

    The file with most nodes comes first. Lines of other files that these lines call are last: `; calls sdpa.py:28`.
    """
    places = ((node.place, node.source or node.place, node.code) for node in nodes)
    return _line_words(tuple((at, inner, code) for at, inner, code in places if at and inner))


@lru_cache(maxsize=MOST_REMEMBERED)
def _line_words(places: tuple[tuple[Place, Place, str], ...]) -> str:
    """Return the words of lines, each with the line that it calls and its code; layers have equal ones."""
    called = first_of(_file_words(inner for at, inner, _ in places if at.file != inner.file), MOST_CALLED)
    words = "; ".join([*_file_words(at for at, _, _ in places), *([f"calls {called}"] if called else [])])
    code = {code for at, inner, code in places if at.short == inner.short} if len({*places}) == 1 else ()
    return ": ".join(filter(None, [words, *code]))


def _file_words(places: Iterable[Place]) -> list[str]:
    files: dict[str, list[int]] = {}
    for place in places:
        files.setdefault(place.file, []).append(place.line)
    names = {file: Place(file, lines[0]).short.removesuffix(str(lines[0])) for file, lines in files.items()}
    return [
        names[file] + ranges_words(sorted({*lines}))
        for file, lines in sorted(files.items(), key=lambda it: -len(it[1]))
    ]


@lru_cache(maxsize=MOST_REMEMBERED)
def shape_words(sizes: tuple[str, ...]) -> str:
    """Return "dynamic" with the symbols in the sizes, or "static"."""
    symbols = {name for size in sizes if not size.isdecimal() for name in SYMBOL.findall(size)}
    return f"dynamic: {', '.join(sorted(symbols))}" if symbols else STATIC
