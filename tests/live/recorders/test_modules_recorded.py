"""Which module an op is recorded to be of, as torch compiles it."""

import pytest
import torch
from torch._dynamo.backends.common import aot_autograd
from torch.fx import GraphModule

from core.worker.recorders.stacks import Modules

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]


class Block(torch.nn.Module):
    """A layer, and functions that are called beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(8)
        self.up = torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.nn.functional.gelu(self.up(self.norm(x)))


@pytest.mark.parametrize("grad", [False, True])
def test_a_function_that_the_model_calls_is_of_no_layer(grad: bool) -> None:
    found: dict[str, str] = {}

    def compiler(graph: GraphModule, inputs: object) -> GraphModule:
        modules = Modules().of(graph.graph)
        found.update({name: module.path for name, module in modules.items()})
        return graph

    torch._dynamo.reset()
    model = Block()
    with torch.set_grad_enabled(grad):
        torch.compile(model, backend=aot_autograd(fw_compiler=compiler))(torch.randn(2, 8))

    of = {name.partition("_")[0]: path for name, path in found.items()}
    assert of["addmm"] == "L['self'].up"
    assert of["gelu"] == of["add"] == "L['self']"
