r"""A script reads an attribute of its model from `__dict__`, which the compiled module does not share.

Source: https://github.com/pytorch/pytorch/issues/106125
Finds: raised in a script
Cause: OptimizedModule|wrapper|_orig_mod|__dict__
Cure: getattr|_orig_mod|\.compile\(\)|attribute|before
Expects: breaks 0
Run: --script
Lacks: explained, cured
"""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
        self.width = 4

    def forward(self, x):
        return self.layer(x)


net = torch.compile(Net(), backend="eager")
net(torch.ones(2, net.__dict__["width"]))

# Cured
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
        self.width = 4

    def forward(self, x):
        return self.layer(x)


net = torch.compile(Net(), backend="eager")
net(torch.ones(2, net.width))
