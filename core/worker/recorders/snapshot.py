"""An FX graph between two passes: what changed, and torch's own print of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from torch.fx import Graph, Node
from torch.fx.graph import _Namespace
from torch.fx.node import _format_arg

# By name: the node, and its target, args and kwargs. FX never changes args in place, so identity says that they are the
# same.
Snapshot = dict[str, tuple[Node, Any, Any, Any]]


@dataclass
class Change:
    """Changes of a pass: names of nodes in graph order; `after` are the nodes that precede the added ones.

    `order` are all names, set only if remaining nodes changed places.
    """

    added: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    rewritten: list[str] = field(default_factory=list)
    order: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.rewritten or self.order)


def snapshot(graph: Graph) -> Snapshot:
    """A graph as it is now."""
    return {node.name: (node, node.target, node.args, node.kwargs) for node in graph.nodes}


def change(old: Snapshot, new: Snapshot) -> Change:
    """Return the changes from one snapshot to the next."""
    if list(old) == list(new):
        return Change(rewritten=_rewritten(old, new))
    names = list(new)
    added = [name for name in names if name not in old]
    places = {name: index for index, name in enumerate(names)}
    stayed = [name for name in old if name in new]
    return Change(
        added=added,
        after=[names[places[name] - 1] if places[name] else "" for name in added],
        removed=[name for name in old if name not in new],
        rewritten=_rewritten(old, new),
        order=names if stayed != [name for name in names if name in old] else [],
    )


def _rewritten(old: Snapshot, new: Snapshot) -> list[str]:
    """Nodes of both whose text is another now. Most are the very same, which is seen first: this runs around every
    pass.
    """
    touched = [
        name
        for name, (node, target, args, kwargs) in new.items()
        if (was := old.get(name)) is not None
        and not (was[2] is args and was[3] is kwargs and was[0] is node and was[1] is target)
    ]
    found = {name for name in touched if _differs(old[name], new[name])}
    found |= {user.name for name, (node, *_) in old.items() if node.name != name for user in node.users}
    return [name for name in new if name in found and name in old]


def _differs(old: tuple[Any, ...], new: tuple[Any, ...]) -> bool:
    return old[0].op != new[0].op or old[1] != new[1] or _text(old) != _text(new)


def _text(state: tuple[Any, ...]) -> tuple[str, list[tuple[str, str]]]:
    """Arguments as text: comparing them as they are could add guards on symbolic sizes."""
    _, _, args, kwargs = state
    return _format_arg(args), [(name, _format_arg(value)) for name, value in kwargs.items()]


def printed(graph: Graph, names: list[str]) -> str:
    """The statements of some nodes, as torch prints them in the whole graph; empty if it cannot print them."""
    wanted = set(names)
    nodes: Any = [node for node in graph.nodes if node.name in wanted]
    try:
        code = graph._codegen._gen_python_code(
            nodes, "self", _Namespace(), verbose=True, include_stride=True, include_device=True
        )
    except Exception:
        return ""
    return code.src
