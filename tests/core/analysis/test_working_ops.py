"""What a scheduler node does, in the user's ops."""

import pytest

from core.analysis.work import working_ops
from core.report import FxNode, Schedule, SchedulerNode

TARGETS = {
    "view": "torch.ops.aten.view.default",
    "add": "torch.ops.aten.add.Tensor",
    "add_1": "torch.ops.aten.add.Tensor",
    "mul": "torch.ops.aten.mul.Tensor",
}
NODES = {name: FxNode(name, "call_function", target, "", (), None, 1) for name, target in TARGETS.items()}


@pytest.mark.parametrize(
    ("origins", "ops"),
    [
        (("view", "add", "mul", "add_1"), ("add", "mul")),
        (("view",), ("view",)),
        (("elsewhere",), ()),
    ],
)
def test_views_are_named_only_where_there_is_nothing_else(origins: tuple[str, ...], ops: tuple[str, ...]) -> None:
    node = SchedulerNode("op0", "SchedulerNode", ("op0",), ("Pointwise",), (), (), origins, None, "cpu", "")
    assert working_ops(Schedule(0, "inference", (node,), (node,), (), (), {}), NODES) == {"op0": ops}
