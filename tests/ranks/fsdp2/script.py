"""Two training steps of blocks that are compiled one by one, their parameters sharded by FSDP2 (`fully_shard`)."""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(32, 32)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.linear(x).relu()


dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (dist.get_world_size(),))
torch.manual_seed(0)
model = nn.Sequential(Block(), Block())
for block in model:
    block.compile()
    fully_shard(block, mesh=mesh)
fully_shard(model, mesh=mesh)
for _ in range(2):
    model(torch.randn(16, 32)).square().mean().backward()
dist.destroy_process_group()
