"""A state space model scans its sequence in a Python loop, which is unrolled step by step.

Source: https://github.com/pytorch/pytorch/issues/128153
Finds: unrolled loop
Cause: unroll|loop
Cure: scan|step|cell|vector|cumsum|chunk
Expects: graphs 1
"""

import torch


def model(x, decay):
    state = torch.zeros(x.shape[0], x.shape[2])
    states = []
    for index in range(x.shape[1]):
        state = state * decay + x[:, index]
        states.append(state)
    return torch.stack(states, 1)


inputs = (torch.ones(2, 200, 4), torch.full((4,), 0.5))

# Cured


def model(x, decay):
    steps = torch.arange(x.shape[1])
    age = (steps[:, None] - steps[None]).clamp(min=0)
    kernel = torch.where(steps[:, None] >= steps[None], 1.0, 0.0)[..., None] * decay ** age[..., None]
    return torch.einsum("ijd,bjd->bid", kernel, x)
