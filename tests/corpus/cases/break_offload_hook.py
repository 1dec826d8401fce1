r"""A hook that loads the weights of a layer calls a function that the compiler must not trace.

Source: https://github.com/hao-ai-lab/FastVideo/pull/1365
Finds: graph breaks
Cause: disable
Cure: hook|disable|outside
Expects: breaks 0
"""

import torch


class Store:
    def __init__(self):
        self.loads = 0

    @torch.compiler.disable
    def load(self, layer):
        self.loads += 1


store = Store()
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU(), torch.nn.Linear(4, 2)).eval()
for each in (model[0], model[2]):
    each.register_forward_pre_hook(lambda layer, args: store.load(layer))
inputs = (torch.randn(3, 4),)

# Cured
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU(), torch.nn.Linear(4, 2)).eval()
