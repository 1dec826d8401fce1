r"""A layer waits for a reduction over all processes that it starts asynchronously.

Source: https://github.com/pytorch/pytorch/issues/145574
Finds: graph breaks
Cause: async_op
Cure: async_op|synchron
Expects: breaks 0
"""

import torch
import torch.distributed as dist

if not dist.is_initialized():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)


class Summed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)

    def forward(self, rows):
        part = self.linear(rows).abs() * 2
        work = dist.all_reduce(part, async_op=True)
        work.wait()
        return part + 1


with torch.no_grad():
    model, inputs = Summed().requires_grad_(False), (torch.randn(4, 4),)

# Cured


class Waiting(Summed):
    def forward(self, rows):
        part = self.linear(rows).abs() * 2
        dist.all_reduce(part)
        return part + 1


torch.manual_seed(0)
model = Waiting().requires_grad_(False)
