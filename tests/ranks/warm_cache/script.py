"""Rank 0 compiles first, and rank 1 takes the code from the cache that both share."""

import torch
import torch.distributed as dist

dist.init_process_group("gloo")


@torch.compile
def step(x: torch.Tensor) -> torch.Tensor:
    return x.sin().sum(0)


if dist.get_rank() == 0:
    step(torch.ones(8, 4))
dist.barrier()
if dist.get_rank() == 1:
    step(torch.ones(8, 4))
dist.destroy_process_group()
