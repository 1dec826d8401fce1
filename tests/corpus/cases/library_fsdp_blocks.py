r"""A sharded model of one process is compiled as a whole, with the hooks that gather its weights.

Source: https://github.com/PrimeIntellect-ai/prime-rl/pull/923
Run: --script
Finds: graph breaks or nothing compiled
Cause: FSDP|fully_shard|hook
Cure: before.*(shard|FSDP)|each (block|layer)
Expects: breaks 0
"""

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

if not dist.is_initialized():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
mesh = init_device_mesh("cpu", (1,))
network = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 2))
for block in network:
    fully_shard(block, mesh=mesh)
fully_shard(network, mesh=mesh)
compiled = torch.compile(network, backend="eager")
print(compiled(torch.ones(2, 3)).shape)

# Cured
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

if not dist.is_initialized():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
mesh = init_device_mesh("cpu", (1,))
network = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 2))
for block in network:
    block.forward = torch.compile(block.forward, backend="eager")
    fully_shard(block, mesh=mesh)
fully_shard(network, mesh=mesh)
print(network(torch.ones(2, 3)).shape)


def confirmed():
    return torch._dynamo.utils.counters["stats"]["unique_graphs"] > 0
