"""A decoder appends a token in each iteration of a Python loop.

Source: https://github.com/pytorch/pytorch/issues/115626
Finds: unrolled loop
Cause: loop
Cure: body|scan|nested_compile_region
Expects: graphs 1
Run: --backend inductor
"""

import torch

cell = torch.nn.GRUCell(4, 4)


def model(x):
    state = torch.zeros(1, 4)
    for number in range(60):
        state = cell(x[:, number], state)
    return state


inputs = (torch.ones(1, 60, 4),)


# Cured
@torch.compiler.nested_compile_region
def advanced(token, state):
    return cell(token, state)


def model(x):
    state = torch.zeros(1, 4)
    for number in range(60):
        state = advanced(x[:, number], state)
    return state


def confirmed():
    import torch._inductor.metrics

    return torch._inductor.metrics.generated_kernel_count < 10
