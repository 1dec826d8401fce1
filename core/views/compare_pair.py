"""Two matched compilations of two runs: their graphs and their guards."""

from __future__ import annotations

from dataclasses import dataclass

from core.analysis.comparison import Change, CompilationComparison, GraphDifference, RunSide
from core.base import words as fmt
from core.views.graph_union import GraphUnionView
from core.views.markdown import LONGEST_LINE, LONGEST_TEXT, one_line

SIGNS: dict[Change, str] = {"only right": "+", "only left": "−", "changed": "~", "moved": "↕"}


@dataclass(frozen=True)
class PairView:
    """A compilation of the left run and its counterpart in the right run."""

    comparison: CompilationComparison
    left_run: RunSide
    right_run: RunSide

    @property
    def left(self) -> str:
        """The id of the left compilation."""
        return self.comparison.left

    @property
    def right(self) -> str:
        """The id of the right compilation."""
        return self.comparison.right

    @property
    def stages(self) -> dict[str, str]:
        """The label of each graph that both have, by the id of the left graph: "graph · +4 −12 ~4"."""
        return {graph.left: f"{graph.left} · {_changes_words(graph)}" for graph in _common(self.comparison)}

    @property
    def first_stage(self) -> str:
        """The id of the first graph that differs, else of the first one."""
        graphs = _common(self.comparison)
        return next((graph.left for graph in graphs if not graph.same), graphs[0].left)

    @property
    def lone_stages(self) -> str:
        """The number of stages that only one of the two has; empty if there are none."""
        graphs = self.comparison.graphs
        counts = {"left": sum(not graph.right for graph in graphs), "right": sum(not graph.left for graph in graphs)}
        return "; ".join(f"only on the {side}: {fmt.count(count, 'stage')}" for side, count in counts.items() if count)

    def union(self, graph_id: str) -> GraphUnionView:
        """Return a graph of the left compilation and its counterpart as one graph."""
        right_id = next(graph.right for graph in _common(self.comparison) if graph.left == graph_id)
        left, right = self.left_run.report.compilation(self.left), self.right_run.report.compilation(self.right)
        assert left is not None
        assert right is not None
        left_graph, right_graph = left.graph(graph_id), right.graph(right_id)
        assert left_graph is not None
        assert right_graph is not None
        nodes = self.left_run.nodes(left, left_graph), self.right_run.nodes(right, right_graph)
        return GraphUnionView(*nodes, self.left_run.report)

    @property
    def guards_sentence(self) -> str:
        """The numbers of guards in both and on one side; empty if there are none to compare."""
        guards = self.comparison.guards
        if guards is None:
            return ""
        return (
            f"{fmt.count(guards.both, 'guard')} in both; {fmt.number(len(guards.only_left))} only on the left, "
            f"{fmt.number(len(guards.only_right))} only on the right."
        )

    @property
    def guard_rows(self) -> list[dict[str, str]]:
        """A row for each guard that only one of the two compilations has."""
        guards = self.comparison.guards
        if guards is None:
            return []
        return [
            {
                "in": side,
                "kind": one_line(guard.kind, LONGEST_LINE),
                "value": one_line(guard.source, LONGEST_LINE),
                "expression": one_line(guard.expression, LONGEST_TEXT),
            }
            for side, lone in (("only left", guards.only_left), ("only right", guards.only_right))
            for guard in lone
        ]

    def unlike_graphs(self) -> int:
        """Count the stages that both have and that differ."""
        return sum(not graph.same for graph in _common(self.comparison))

    def unlike_kernels(self) -> int:
        """Count the kernels that differ, or that only one of the two has."""
        kernels = self.comparison.kernels
        return sum(not pair.both or bool(pair.differs) for pair in kernels.pairs) if kernels is not None else 0

    def unlike_guards(self) -> int:
        """Count the guards of one side only, on the side that has more of them."""
        guards = self.comparison.guards
        return max(len(guards.only_left), len(guards.only_right)) if guards is not None else 0


def _common(pair: CompilationComparison) -> list[GraphDifference]:
    """Return the graphs of the stages that both have."""
    return [graph for graph in pair.graphs if graph.left and graph.right]


def common_nodes(pair: CompilationComparison) -> int:
    """Count the nodes in graphs of the stages that both have."""
    return sum(sum(graph.changes.values()) for graph in _common(pair))


def _changes_words(graph: GraphDifference) -> str:
    """Return the counts of changed nodes ("+4 −12 ~4"), or "the same"."""
    counts = {sign: count for change, sign in SIGNS.items() if (count := graph.changes.get(change))}
    return " ".join(f"{sign}{fmt.number(count)}" for sign, count in counts.items()) or "the same"
