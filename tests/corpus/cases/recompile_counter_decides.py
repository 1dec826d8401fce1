r"""A module changes its behaviour after a number of steps.

Source: https://github.com/pytorch/pytorch/issues/128319
Finds: recompiles
Cause: done
Cure: [Cc]ompute `self\.done < 3` outside
Expects: recompiles 1
"""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.done = 0

    def forward(self, x):
        self.done += 1
        return x.sin() if self.done < 3 else x.cos()


model = Net()
x = torch.randn(3, 4)
calls = [(x,)] * 5


# Cured
class Net(torch.nn.Module):
    def forward(self, x, early):
        return x.sin() if early else x.cos()


model = Net()
calls = [(x, step < 2) for step in range(5)]
