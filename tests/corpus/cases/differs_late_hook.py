r"""A backward hook is registered after the first compiled call, and never runs.

Source: https://github.com/pytorch/pytorch/issues/115750
Run: --backend aot_eager
Finds: results differ
Cause: misses a hook
Cure: torch\._dynamo\.reset
Expects: skipped 0
"""

import torch

torch.manual_seed(0)


def doubled(_module, grad_input, _grad_output):
    return tuple(grad * 2 for grad in grad_input)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 3, bias=False)

    def forward(self, rows):
        return self.layer(rows).sum()


model = Net()
training = True


def calls():
    yield (torch.ones(2, 3, requires_grad=True),)
    model.layer.register_full_backward_hook(doubled)
    yield (torch.ones(2, 3, requires_grad=True),)


# Cured


def calls():
    yield (torch.ones(2, 3, requires_grad=True),)
    model.layer.register_full_backward_hook(doubled)
    torch._dynamo.reset()
    yield (torch.ones(2, 3, requires_grad=True),)
