"""The parts of the page Forward and backward: the saved activations, and the partitioner's reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from core.analysis import saved_bytes, saved_values, tensor_bytes
from core.base import words as fmt
from core.report import Decision, FxNode, KeptValue, Partition, SavedValue, tensor_text
from pages.look.sizes import SHORT
from pages.look.text import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line, plain
from pages.session import url
from pages.session.tables import in_words, newly_picked

VALUE, SAVED = "value", "saved values"
DECISIONS: dict[Decision, str] = {
    "forward": "Computed in the forward, and not needed after it.",
    "backward": "Computed in the backward.",
    "saved": "Computed in the forward and kept in memory for the backward.",
    "recomputed": "Computed in the forward, and again in the backward rather than kept.",
}


def decision_counts(partition: Partition) -> str:
    """Count the nodes per decision, in torch's words."""
    counts = Counter(partition.decisions.values())
    words = [f"{fmt.number(counts[decision])} {decision}" for decision in DECISIONS if counts[decision]]
    if partition.dropped:
        words.append(f"{fmt.number(len(partition.dropped))} dropped")
    told = "as the partitioner decided" if partition.recorded else "derived from the three graphs; reasons not recorded"
    return f"{', '.join(words)} ({told})"


def kept_words(partition: Partition) -> str:
    """Describe the activations that the forward keeps: as compiled if that was recorded, else from the graphs."""
    values = partition.saved if partition.kept is None else partition.kept
    verb = "Before Inductor, the forward keeps" if partition.kept is None else "The forward keeps"
    return f"{verb} {_activations(values)}, for the backward."


def planned_words(partition: Partition) -> str:
    """Return the partitioner's plan compared with the compiled code: Inductor may save a copy of an input in its own
    layout.
    """
    if partition.kept is None:
        return "What Inductor made of that was not recorded."
    copies = {value.name for value in partition.saved if value.kind == "input"}
    copied = [value for value in partition.kept if value.kind == "activation" and value.name in copies]
    planned = f"Before Inductor that was {_activations(partition.saved)}"
    if not copied:
        return f"{planned}."
    return f"{planned}; Inductor keeps {fmt.count(len(copied), 'copy of an input', 'copies of inputs')} besides."


def _activations(values: Sequence[SavedValue | KeptValue]) -> str:
    number = sum(value.kind == "activation" for value in values)
    return f"{fmt.count(number, 'activation')}, {fmt.bytes_(saved_bytes(values, 'activation'))}"


def saved_table(partition: Partition, nodes: Mapping[str, FxNode], *, key: str) -> None:
    """Draw the saved values, largest first.

    A click on a row selects its node when the page runs again.
    """
    values = saved_values(partition)
    kept = {value.name: value for value in partition.kept or ()}
    table = pd.DataFrame([_row(value, nodes.get(value.name), kept.get(value.name)) for value in values])
    name = newly_picked(
        in_words(table, {"bytes": fmt.bytes_}),
        [value.name for value in values],
        key,
        height="auto" if len(values) <= 10 else SHORT,
        column_config={"bytes": st.column_config.NumberColumn(help="None where a size is symbolic")},
    )
    if name is not None:
        url.select(f"n:{name}")
        st.rerun()


def _row(value: SavedValue, node: FxNode | None, kept: KeptValue | None) -> dict[str, object]:
    return {
        "value": one_line(value.name, LONGEST_NAME),
        "bytes": value.bytes,
        "shape": tensor_text(node.meta.dtype, node.meta.shape) if node and node.meta else "",
        "kind": value.kind,
        "kept as": _kept_as(value, kept),
        "why": one_line("; ".join([*([value.policy] if value.policy else []), *value.reasons]), LONGEST_LINE),
        "your line": one_line(node.code, LONGEST_LINE) if node else "",
    }


def _kept_as(value: SavedValue, kept: KeptValue | None) -> str:
    if kept is None:
        return ""
    return f"{kept.buffer}, a copy" if (value.kind, kept.kind) == ("input", "activation") else kept.buffer


def value_details(partition: Partition, nodes: Mapping[str, FxNode], selected: str | None) -> None:
    """Draw the partitioner's decision on the selected node."""
    name = (selected or "").removeprefix("n:")
    node = nodes.get(name)
    if node is None:
        st.caption("Click a node, or a row, to see what was decided on it and why.")
        return
    decision = partition.decisions.get(name)
    size = tensor_bytes(node)
    reasons = [*partition.reasons.get(name, ()), *([partition.policies[name]] if name in partition.policies else [])]
    st.table(
        {
            "node": code(f"{node.name} = {node.target}({node.args})", LONGEST_TEXT),
            "decision": f"**{decision}**: {DECISIONS[decision]}" if decision else _undecided(partition, name),
            "size": fmt.bytes_(size) if size is not None else "symbolic, or no tensor",
            "torch's reasons": "; ".join(plain(reason, LONGEST_TEXT) for reason in reasons) or _unreasoned(partition),
        },
        border="horizontal",
    )


def _undecided(partition: Partition, name: str) -> str:
    return "dropped: dead, or equal to another node" if name in partition.dropped else "not recorded"


def _unreasoned(partition: Partition) -> str:
    return "none given" if partition.recorded else "not recorded"
