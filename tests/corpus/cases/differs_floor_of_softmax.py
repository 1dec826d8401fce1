r"""The sum of a softmax is rounded down: Inductor takes it for exactly 1.

Source: https://github.com/pytorch/pytorch/issues/189787
Run: --backend inductor
Finds: results differ
Cause: floor|softmax|round
Cure: tolerance|round|float64|ones|eager
Expects: graphs 1
"""

import torch


def model(scores):
    return torch.floor(torch.softmax(scores, -1).sum(-1))


inputs = (torch.randn(400, 37),)

# Cured
torch_compile = {"backend": "aot_eager"}
