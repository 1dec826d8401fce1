"""Partition of a joint graph into forward and backward: the decisions, and the values saved for the backward."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from core.analysis import partitions, saved_bytes, saved_values, tensor_bytes
from core.base import words as fmt
from core.report import Compilation, Decision, FxGraph, FxNode, KeptValue, Partition, SavedValue, tensor_text
from core.views.glossary import GLOSSARY
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line, plain

__all__ = ["PartitionView"]

DECISIONS: dict[Decision, str] = {
    "forward": "Computed in the forward, and not needed after it.",
    "backward": "Computed in the backward.",
    "saved": "Computed in the forward and kept in memory for the backward.",
    "recomputed": "Computed in the forward, and again in the backward rather than kept.",
}


@dataclass(frozen=True, slots=True)
class PartitionView:
    """Partition of one joint graph; `nodes` are the graph's nodes by name, empty if the log does not have it."""

    partition: Partition
    nodes: Mapping[str, FxNode]

    @staticmethod
    def partitions(
        compilation: Compilation, nodes_of: Callable[[FxGraph], tuple[FxNode, ...]]
    ) -> tuple[Partition, ...]:
        """Return the partition of each joint graph of a compilation; `nodes_of` reads the nodes of a graph."""
        return partitions(compilation, nodes_of)

    @property
    def title(self) -> str:
        """Activations that the forward keeps: as compiled if that was recorded, else from the graphs."""
        compiled = self.partition.kept
        if compiled is None:
            return f"Before Inductor, the forward keeps {_activations(self.partition.saved)}, for the backward."
        return f"The forward keeps {_activations(compiled)}, for the backward."

    @property
    def help(self) -> str:
        """Meaning of a partition."""
        return GLOSSARY["partition"]

    @property
    def caption(self) -> str:
        """Number of nodes per decision, and the partitioner's plan beside the compiled code."""
        return f"{self._decision_counts}. {self._plan}"

    @property
    def values(self) -> tuple[SavedValue, ...]:
        """Values saved for the backward, largest first."""
        return saved_values(self.partition)

    @property
    def rows(self) -> list[dict[str, object]]:
        """Table of the saved values; `bytes` is None for a symbolic size."""
        compiled = {value.name: value for value in self.partition.kept or ()}
        return [self._row(value, compiled.get(value.name)) for value in self.values]

    def node_rows(self, node: FxNode) -> dict[str, str]:
        """Return the partitioner's decision on a node, with its reasons, as Markdown."""
        partition, name = self.partition, node.name
        decision, size = partition.decisions.get(name), tensor_bytes(node)
        policies = [partition.policies[name]] if name in partition.policies else []
        reasons = "; ".join(plain(reason, LONGEST_TEXT) for reason in [*partition.reasons.get(name, ()), *policies])
        undecided = "dropped: dead, or equal to another node" if name in partition.dropped else "not recorded"
        return {
            "node": code(f"{name} = {node.target}({node.args})", LONGEST_TEXT),
            "decision": f"**{decision}**: {DECISIONS[decision]}" if decision else undecided,
            "size": fmt.bytes_(size) if size is not None else "symbolic, or no tensor",
            "torch's reasons": reasons or ("none given" if partition.recorded else "not recorded"),
        }

    @property
    def _decision_counts(self) -> str:
        counts = Counter(self.partition.decisions.values())
        parts = [f"{fmt.number(counts[decision])} {decision}" for decision in DECISIONS if counts[decision]]
        if self.partition.dropped:
            parts.append(f"{fmt.number(len(self.partition.dropped))} dropped")
        derived = "derived from the three graphs; reasons not recorded"
        return f"{', '.join(parts)} ({'as the partitioner decided' if self.partition.recorded else derived})"

    @property
    def _plan(self) -> str:
        """The partitioner's plan compared with the compiled code: Inductor may save a copy of an input in its own
        layout.
        """
        if self.partition.kept is None:
            return "What Inductor made of that was not recorded."
        inputs = {value.name for value in self.partition.saved if value.kind == "input"}
        copies = sum(value.kind == "activation" and value.name in inputs for value in self.partition.kept)
        plan = f"Before Inductor that was {_activations(self.partition.saved)}"
        if not copies:
            return f"{plan}."
        return f"{plan}; Inductor keeps {fmt.count(copies, 'copy of an input', 'copies of inputs')} besides."

    def _row(self, value: SavedValue, compiled: KeptValue | None) -> dict[str, object]:
        node = self.nodes.get(value.name)
        return {
            "value": one_line(value.name, LONGEST_NAME),
            "bytes": value.bytes,
            "shape": tensor_text(node.meta.dtype, node.meta.shape) if node and node.meta else "",
            "kind": value.kind,
            "kept as": _buffer_words(value, compiled),
            "why": one_line("; ".join([*([value.policy] if value.policy else []), *value.reasons]), LONGEST_LINE),
            "your line": one_line(node.code, LONGEST_LINE) if node else "",
        }


def _buffer_words(value: SavedValue, compiled: KeptValue | None) -> str:
    if compiled is None:
        return ""
    is_copy = (value.kind, compiled.kind) == ("input", "activation")
    return f"{compiled.buffer}, a copy" if is_copy else compiled.buffer


def _activations(values: Sequence[SavedValue | KeptValue]) -> str:
    number = sum(value.kind == "activation" for value in values)
    return f"{fmt.count(number, 'activation')}, {fmt.bytes_(saved_bytes(values, 'activation'))}"
