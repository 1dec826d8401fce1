"""A model whose weights were folded and discarded gets a batch of another size.

Source: https://github.com/pytorch/pytorch/issues/103990
Finds: weights discarded
Cause: freezing|discard|frozen
Cure: freezing_discard_parameters|discard|dynamic|same size|freezing
Expects: breaks 0
Run: --script
"""

import torch
import torch._inductor.config

torch._inductor.config.freezing = True
torch._inductor.config.freezing_discard_parameters = True
net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU()).eval()
compiled = torch.compile(net, dynamic=False)
with torch.no_grad():
    compiled(torch.ones(4, 8))
    compiled(torch.ones(2, 8))

# Cured
import torch
import torch._inductor.config

torch._inductor.config.freezing = True
torch._inductor.config.freezing_discard_parameters = False
net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU()).eval()
compiled = torch.compile(net, dynamic=False)
with torch.no_grad():
    compiled(torch.ones(4, 8))
    compiled(torch.ones(2, 8))
