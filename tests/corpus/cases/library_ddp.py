"""A compiled DistributedDataParallel breaks the graph in its own code.

Source: https://github.com/pytorch/pytorch/issues/104674
Finds: graph breaks
Cause: DistributedDataParallel
Cure: nothing to change
Expects: breaks 3
"""

import tempfile

import torch
import torch.distributed as dist

torch.manual_seed(0)
if not dist.is_initialized():
    dist.init_process_group("gloo", init_method=f"file://{tempfile.mkdtemp()}/rendezvous", rank=0, world_size=1)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))
inputs = (torch.randn(2, 8),)
training = True

# Cured: it stays as it is
