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


class Renamed(Block):
    """A block whose method names its first argument in another way."""

    def forward(this, x: torch.Tensor) -> torch.Tensor:
        return x + torch.nn.functional.gelu(this.up(this.norm(x)))


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize(("kind", "root"), [(Block, "L['self']"), (Renamed, "L['this']")])
def test_a_function_that_the_model_calls_is_of_no_layer(kind: type[Block], root: str, grad: bool) -> None:
    found: dict[str, str] = {}

    def compiler(graph: GraphModule, inputs: object) -> GraphModule:
        modules = Modules().of(graph.graph)
        found.update({name: module.path for name, module in modules.items()})
        return graph

    torch._dynamo.reset()
    model = kind()
    with torch.set_grad_enabled(grad):
        torch.compile(model, backend=aot_autograd(fw_compiler=compiler))(torch.randn(2, 8))

    of = {name.partition("_")[0]: path for name, path in found.items()}
    assert of["addmm"] == f"{root}.up"
    assert of["gelu"] == of["add"] == root
