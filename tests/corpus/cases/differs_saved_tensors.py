"""Hooks on saved tensors change what backward gets in eager, and not in compiled code.

Source: https://github.com/pytorch/pytorch/issues/116221
Run: --backend aot_eager
Finds: graph breaks at line 26 or not compiled: given up
Cause: context manager
Cure: outside of the compiled function|around the call
Expects: skipped 0, breaks 0
"""

import torch


def kept(tensor):
    return tensor


def doubled(tensor):
    return 2 * tensor


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([3.0, 2.0]))

    def forward(self, rows):
        with torch.autograd.graph.saved_tensors_hooks(kept, doubled):
            return (self.weight * rows).sum()


model = Net()
inputs = (torch.ones(2, requires_grad=True),)
training = True

# Cured


class Inner(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([3.0, 2.0]))

    def forward(self, rows):
        return (self.weight * rows).sum()


model = Inner()


def calls():
    with torch.autograd.graph.saved_tensors_hooks(kept, doubled):
        yield (torch.ones(2, requires_grad=True),)
