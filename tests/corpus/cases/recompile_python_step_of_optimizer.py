r"""An update of an optimizer gets its step as a Python integer.

Source: https://github.com/huggingface/pytorch-image-models/pull/2704
Finds: recompiles or near the recompile limit or not compiled: over the limit
Cause: (?i)\bstep\b|integer|\bint\b
Cure: (?i)tensor
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch


def model(parameter, gradient, average, square, step):
    average = average * 0.9 + gradient * 0.1
    square = square * 0.999 + gradient * gradient * 0.001
    correction = 1 - 0.9**step
    correction_of_square = 1 - 0.999**step
    return parameter - 0.01 * (average / correction) / ((square / correction_of_square) ** 0.5 + 1e-8)


tensors = tuple(torch.rand(8) + 0.1 for i in range(4))
calls = [(*tensors, step) for step in range(1, 7)]
inputs = calls[0]

# Cured
calls = [(*tensors, torch.tensor(float(step))) for step in range(1, 7)]
inputs = calls[0]
