"""A compiled MLP in tensor parallel, split by columns and by rows, with all that torch logs for tlparse."""

import torch
import torch.distributed as dist
from torch import nn
from torch._inductor.debug import record_and_log_graph_execution_order
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module


class Mlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(32, 64)
        self.down = nn.Linear(64, 32)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(self.up(x).relu())


# Adds the estimated run time and the tensor metadata of each op to the log.
torch._inductor.config.log_tlparse = True
dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (dist.get_world_size(),))
torch.manual_seed(0)
model = parallelize_module(Mlp(), mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
with record_and_log_graph_execution_order():
    torch.compile(model)(torch.randn(16, 32)).square().mean().backward()
dist.destroy_process_group()
