"""Two graphs as one: its drawing, the frames of its film, and the rows of changed nodes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from core.analysis.comparison import BOTH, UnionNode, graph_union
from core.graph import DIFFERENCE, source_path, union_model
from core.report import FxNode, Report, TensorMeta, tensor_text
from core.views.graph import GraphFrame, GraphView
from core.views.markdown import LONGEST_LINE, LONGEST_TEXT, code, one_line


class GraphUnionView:
    """Every node of either graph once, with its change from left to right."""

    overlay, both_frame = DIFFERENCE, BOTH

    def __init__(self, left: Sequence[FxNode], right: Sequence[FxNode], report: Report) -> None:
        """Unite the graphs of two runs; `report` is that of the left one."""
        self._union, self._source = graph_union(left, right), source_path(report)

    @property
    def picture(self) -> GraphView:
        """The drawing: a film of the left graph, both, and the right graph."""
        added, removed = self._ids("only right"), self._ids("only left")
        rewritten = (*self._ids("changed"), *self._ids("moved"))
        frames = (
            GraphFrame("left", "the shown run"),
            GraphFrame("both", "every node of either graph", added, removed, rewritten),
            GraphFrame("right", "the other run", (), removed),
        )
        return GraphView(union_model(self._union, self._source), frames=frames)

    def _ids(self, change: str) -> tuple[str, ...]:
        return tuple(f"n:{node.name}" for node in self._union.nodes if node.change == change)

    @cached_property
    def changed(self) -> list[str]:
        """The ids of the nodes that differ, in the order of `change_rows`."""
        return [f"n:{node.name}" for node in self._union.nodes if node.change != "same"]

    @property
    def change_rows(self) -> list[dict[str, str]]:
        """A row for each node that differs: its change, and the call on either side."""
        return [
            {
                "change": node.change,
                "node": one_line(node.name, LONGEST_LINE),
                "left": _call(node.left),
                "right": _call(node.right),
            }
            for node in self._union.nodes
            if node.change != "same"
        ]

    def node_title(self, node_id: str | None) -> str:
        """Return a node's change and name as Markdown; empty if neither graph has it."""
        node = self._node(node_id)
        return f"**{node.change}** {code(node.name)}" if node is not None else ""

    def node_facts(self, node_id: str | None) -> dict[str, str]:
        """Return what a node is in both graphs, as Markdown by name: once if it is the same, else "left → right"."""
        node = self._node(node_id)
        if node is None:
            return {}
        left, right = (_facts(version) if version else {} for version in (node.left, node.right))
        return {name: _both(left.get(name, ""), right.get(name, "")) for name in dict.fromkeys((*left, *right))}

    def _node(self, node_id: str | None) -> UnionNode | None:
        name = (node_id or "").removeprefix("n:")
        return next((node for node in self._union.nodes if node.name == name), None)


def _both(left: str, right: str) -> str:
    return left if left == right else " → ".join(filter(None, (left, right)))


def _facts(node: FxNode) -> dict[str, str]:
    facts = {
        "name": code(node.name),
        "target": code(node.target),
        "value": code(_value(node.meta)),
        "arguments": code(node.args, LONGEST_TEXT),
        "line": f"{code(node.code)} at {code(node.source.short)}" if node.source else "",
        "module": f"{code(node.module)} {code(node.module_class)}".strip(),
    }
    return {name: text for name, text in facts.items() if text}


def _value(meta: TensorMeta | None) -> str:
    return tensor_text(meta.dtype, meta.shape) if meta else ""


def _call(node: FxNode | None) -> str:
    return one_line(f"{node.name} = {node.target}({node.args})", LONGEST_LINE) if node else ""


__all__ = ["GraphUnionView"]
