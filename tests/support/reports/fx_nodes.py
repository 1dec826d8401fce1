"""Nodes of FX graphs in few words."""

from collections.abc import Sequence

from core.graph.model import GraphModel
from core.report import FxNode, Kernel, Payload, Place, TensorMeta

FILE = "/m.py"


def fx(
    name: str,
    inputs: Sequence[str] = (),
    module: str = "",
    kind: str = "",
    *,
    op: str = "call_function",
    target: str = "torch.ops.aten.relu.default",
    args: str | None = None,
    meta: str | None = "f32 4 8",
    line: int = 0,
    code: str = "",
) -> FxNode:
    """A node in few words; `meta` is its dtype and sizes."""
    parts = meta.split() if meta is not None else []
    tensor = TensorMeta(parts[0], tuple(parts[1:])) if parts else None
    text = ", ".join(inputs) if args is None else args
    source = Place(FILE, line) if line else None
    return FxNode(name, op, target, text, tuple(inputs), tensor, 1, source, code, module, kind)  # type: ignore[arg-type]


def kernel(kernel_id: str) -> Kernel:
    """A kernel of which only the id matters."""
    return Kernel(
        kernel_id, kernel_id, "inference", "cpp", False, "C++ loops", "g", nodes=(), origins=(), lines=(1, 2), calls=(),
        stacks=(), output_code=Payload(0, 0),
    )  # fmt: skip


def overlay(model: GraphModel, name: str) -> tuple[object, ...]:
    """What an overlay says of each node, categories by their words."""
    found = next(item for item in model.overlays if item.name == name)
    if found.kind == "number":
        return found.values
    return tuple(None if value is None else found.categories[int(value)] for value in found.values)
