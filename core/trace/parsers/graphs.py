"""FX graphs at every stage: the place of their text, and their counts by op."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from core.base.syntax import NOT_READ, TooDenseError
from core.report import FxGraph, Stage
from core.report.schedule import Direction
from core.trace import TraceRecord
from core.trace.parsers.draft import CompilationDraft, ReportDraft
from core.trace.parsers.fx_text import parse_graphs

DIRECTIONS: dict[Stage, Direction] = {
    "dynamo_output_graph": "",
    "before_pre_grad_graph": "",
    "after_pre_grad_graph": "",
    "aot_joint_graph": "joint",
    "before_joint_graph": "joint",
    "after_joint_graph": "joint",
    "aot_forward_graph": "forward",
    "aot_backward_graph": "backward",
    "aot_inference_graph": "inference",
}


def fx_graph(stage: Stage) -> Callable[[ReportDraft, TraceRecord], None]:
    """Return the parser for one stage. A stage after AOTAutograd gets its direction from the output code
    that follows.
    """

    def parse(draft: ReportDraft, record: TraceRecord) -> None:
        compilation = draft.compilation(record)
        direction = DIRECTIONS.get(stage)
        if direction is None:
            compilation.undirected.append(len(compilation.graphs))
        ops, targets = _count_nodes(draft, record)
        if _is_twice(compilation, stage, record.attempt, targets):
            compilation.undirected.pop()
            return
        graph_id = compilation.fresh_id(stage, direction or "")
        compilation.graphs.append(
            FxGraph(graph_id, stage, direction or "", record.attempt, draft.payload(record), ops, targets)
        )

    return parse


def _is_twice(compilation: CompilationDraft, stage: Stage, attempt: int, targets: dict[str, int]) -> bool:
    """Return True if torch wrote Inductor's input by both of its names, `after_` and `inductor_post_grad_graph`."""
    if stage != "inductor_post_grad_graph":
        return False
    graphs = [compilation.graphs[index] for index in compilation.undirected[:-1]]
    return any((graph.stage, graph.attempt, graph.targets) == (stage, attempt, targets) for graph in graphs)


def _count_nodes(draft: ReportDraft, record: TraceRecord) -> tuple[dict[str, int], dict[str, int]]:
    """Count the outer graph's nodes by op, and the targets that all of its graphs call."""
    try:
        graphs = parse_graphs(draft.text(record))
    except TooDenseError as error:
        draft.problem(f"graph text was not parsed: {error}", record.offset)
        return {}, {}
    except NOT_READ:
        draft.problem("graph text is not Python", record.offset)
        return {}, {}
    targets = Counter(node.target for nodes in graphs for node in nodes if node.op.startswith("call_"))
    return dict(Counter(node.op for nodes in graphs[:1] for node in nodes)), dict(targets)
