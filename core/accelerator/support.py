"""Nodes that the accelerator supports, and the reason for each unsupported node."""

from __future__ import annotations

from collections.abc import Mapping
from operator import getitem
from typing import Any

import torch
from torch.fx import Node
from torch.fx.passes.operator_support import OperatorSupportBase

from core.accelerator.builder import TORCH_DTYPES
from core.accelerator.lowering import KERNELS
from core.accelerator.program import MAX_RANK

OFF = "switched off"


class Support(OperatorSupportBase):
    """Operator support for torch's partitioner; stores the reasons by node name."""

    def __init__(self, without: frozenset[str] = frozenset()) -> None:
        self._without = without
        self.reasons: dict[str, str] = {}

    def is_node_supported(self, submodules: Mapping[str, torch.nn.Module], node: Node) -> bool:  # noqa: ARG002
        """Return True if there is a kernel for this call of the op."""
        if node.op != "call_function":
            return False
        reason = self.refusal(node)
        if reason:
            self.reasons[node.name] = reason
        return not reason

    def refusal(self, node: Node) -> str:
        """Return why the node stays with torch; empty if it does not."""
        if node.target is getitem:
            source = node.args[0]
            return self.refusal(source) if source.op == "call_function" else "an item of what is not computed here"
        if {op_name(node.target), str(node.target)} & self._without:
            return OFF
        kernel = KERNELS.get(node.target)
        if kernel is None:
            return self._unknown(node)
        return _refusal_of_values(node, kernel.indices) or kernel.refuse(node)

    def _unknown(self, node: Node) -> str:
        if not isinstance(node.target, torch._ops.OpOverload):
            return "works on sizes, not on tensors"
        return f"no kernel for {node.target}"


def op_name(target: Any) -> str:
    """Return an op's name without namespace and overload, as used to switch it off."""
    return str(target).removeprefix("aten.").partition(".")[0]


def _refusal_of_values(node: Node, indices: bool) -> str:
    """Return why the input and output tensors are not supported; empty if they are."""
    for value in [
        *_tensors(node.meta.get("val")),
        *(v for n in node.all_input_nodes for v in _tensors(n.meta.get("val"))),
    ]:
        if value.device.type != "cpu":
            return f"on {value.device}, and the runtime is for the CPU"
        if value.layout != torch.strided:
            return f"layout {value.layout}"
        if value.dtype not in TORCH_DTYPES or (value.dtype == torch.int64 and not indices):
            return f"dtype {str(value.dtype).removeprefix('torch.')}"
        if len(value.shape) > MAX_RANK:
            return f"more than {MAX_RANK} dimensions"
    return "" if list(_tensors(node.meta.get("val"))) else "its result is no tensor"


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    return [item for item in value if isinstance(item, torch.Tensor)] if isinstance(value, (tuple, list)) else []
