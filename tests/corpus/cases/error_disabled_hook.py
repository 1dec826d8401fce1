"""A hook is marked as disabled, and fullgraph=True refuses its call.

Source: https://github.com/pytorch/pytorch/issues/173452
Run: --backend eager --fullgraph
Finds: not compiled: failed
Cause: torch.compiler.disable
Cure: Without `fullgraph=True`
Expects: skipped 0
"""

import torch

kept = {}


@torch.compiler.disable
def keep(_module, _inputs, output):
    kept["hidden"] = output.detach()


model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
model[0].register_forward_hook(keep)
inputs = (torch.randn(2, 4),)
